"""
Decides whether the exponents of a program are independent of each other.

A bound is known if, in the slab that is tested, each exponent is linear in input elements that no
other exponent has; q k_j, for example, is linear in k_j if everything else is fixed. Given
everything else, exponents are then independent and uniform modulo q wherever these linear forms are
not zero (docs/verification.md). Random functions of such inputs count as new unknowns, as in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.equivalence.slabs import Slab
from mirage_mlir.interpreters.operators import (
    has_exponential,
    integer,
    integers,
    mnemonic,
    runs_over,
    shape_of,
    structure_of,
)
from mirage_mlir.operators.elementwise import Dependence
from mirage_mlir.shapes.shapes import groups

Ids = NDArray[np.intp]

MORE = 2
"""Any degree above 1, and whatever is no polynomial."""

MOST_ARGUMENTS = 12
"""Arguments of which pairs are tried; a decoder layer has as many."""


@dataclass(frozen=True)
class Apart:
    """
    Numbers of a dimension's indices: elements with different numbers depend on different inputs.
    """

    numbering: object
    """What is numbered: numbers of one kind of inputs say nothing of those of another kind."""
    ids: Ids

    def agrees(self, other: Apart) -> bool:
        """Whether indices have the same numbers of the same kind."""
        return self.numbering == other.numbering and np.array_equal(self.ids, other.ids)


@dataclass(frozen=True)
class Linear:
    """How a value depends on some arguments: its degree, and which dimensions are apart."""

    degree: int = 0
    sources: frozenset[int] = frozenset()
    """The arguments that have these inputs."""
    apart: dict[int, Apart] = field(default_factory=dict[int, Apart])
    """Dimensions along which elements are apart."""

    def moved(self, places: dict[int, int]) -> Linear:
        """
        The dependence with dimension d at `places[d]`; dimensions without a place are dropped.
        """
        kept = {places[dim]: apart for dim, apart in self.apart.items() if dim in places}
        return replace(self, apart=kept)


NOTHING = Linear()


def independent_inputs(
    reference: FuncOp, slabs: Sequence[Slab], *, expand_sigmoid: bool
) -> tuple[int, ...] | None:
    """
    Arguments in which all exponents of one label are independent linear forms.

    Returns:
        Their numbers; None where none are known. Empty where there are no exponents.
    """
    exponents = list(_exponents(reference, expand_sigmoid=expand_sigmoid))
    count = len(reference.body.block.args)
    single: list[tuple[int, ...]] = [(number,) for number in range(count)]
    pairs = combinations(range(min(count, MOST_ARGUMENTS)), 2)
    free = [_Walk(reference, choice, slabs) for choice in (*single, *pairs)]
    taken: list[_Walk] = []
    for value in exponents:
        for walk in free:
            others = {number for other in taken for number in other.private}
            if (
                walk.is_free(value)
                and others.isdisjoint(walk.private)
                and not any(other.degree(value) for other in taken)
            ):
                taken.append(walk)
                break
        else:
            return None
    return tuple(sorted(number for walk in taken for number in walk.private))


def _exponents(function: FuncOp, *, expand_sigmoid: bool) -> Iterator[SSAValue]:
    """The values whose exponentials a function computes, each once."""
    ops = [op for op in function.body.block.ops if has_exponential(op, expand_sigmoid)]
    return iter(dict.fromkeys(op.operands[0] for op in ops))


class _Walk:
    """Computes how all values depend on some arguments."""

    def __init__(self, function: FuncOp, private: Sequence[int], slabs: Sequence[Slab]):
        self.private = tuple(private)
        self.slabs = slabs
        self.values: dict[SSAValue, Linear] = {}
        for number, argument in enumerate(function.body.block.args):
            self.values[argument] = NOTHING
            if number in private:
                shape = shape_of(argument)
                apart = {d: Apart((number, d), np.arange(size)) for d, size in enumerate(shape)}
                self.values[argument] = Linear(1, frozenset([number]), apart)
        for op in function.body.block.ops:
            if not isinstance(op, ReturnOp):
                self._follow(op)

    def degree(self, value: SSAValue) -> int:
        """The degree of a value in the arguments."""
        return self.values[value].degree

    def is_free(self, value: SSAValue) -> bool:
        """Whether the elements of one label of a value are independent linear forms."""
        found = self.values[value]
        if found.degree != 1:
            return False
        return all(
            self._indices(value, dim, size) == 1
            or (dim in found.apart and len(np.unique(found.apart[dim].ids)) == size)
            for dim, size in enumerate(shape_of(value))
        )

    def _indices(self, value: SSAValue, dim: int, size: int) -> int:
        """The number of indices of a dimension within one label of each slab axis."""
        count = size
        for slab in self.slabs:
            if value in slab.located and slab.located[value][0] == dim:
                count = -(-count * slab.located[value][1] // size)
        return count

    def _follow(self, op: Operation) -> None:
        operands = [self.values[operand] for operand in op.operands]
        for result in op.results:
            if not any(operand.degree for operand in operands):
                self.values[result] = NOTHING
            elif (rule := _rule_of(op)) is not None:
                self.values[result] = rule(op, operands)
            else:
                self.values[result] = Linear(MORE)


Rule = Callable[[Operation, list[Linear]], Linear]


def _aligned(op: Operation, operands: Sequence[Linear]) -> list[Linear]:
    """Operands that are broadcast, in the dimensions of the result."""
    result = shape_of(op.results[0])
    found: list[Linear] = []
    for value, operand in zip(op.operands, operands, strict=True):
        shape = shape_of(value)
        missing = len(result) - len(shape)
        whole = {d: d + missing for d, size in enumerate(shape) if size == result[d + missing]}
        found.append(operand.moved(whole))
    return found


def _met(operands: Sequence[Linear]) -> dict[int, Apart]:
    """The dimensions along which elements computed from all operands are apart."""
    first, *others = [operand for operand in operands if operand.degree]
    return {
        dim: apart
        for dim, apart in first.apart.items()
        if all(dim in each.apart and apart.agrees(each.apart[dim]) for each in others)
    }


def _together(degree: int, operands: Sequence[Linear]) -> Linear:
    """The dependence of an elementwise result."""
    sources = frozenset[int]().union(*(operand.sources for operand in operands))
    return Linear(min(MORE, degree), sources, _met(operands))


def _sum(op: Operation, operands: list[Linear]) -> Linear:
    aligned = _aligned(op, operands)
    return _together(max(operand.degree for operand in aligned), aligned)


def _product(op: Operation, operands: list[Linear]) -> Linear:
    aligned = _aligned(op, operands)
    return _together(sum(operand.degree for operand in aligned), aligned)


def _quotient(op: Operation, operands: list[Linear]) -> Linear:
    return Linear(MORE) if operands[1].degree else _product(op, operands)


def _selected(op: Operation, operands: list[Linear]) -> Linear:
    """The dependence of a selection; by a condition on data it is a sum of parts of both values."""
    return Linear(MORE) if operands[0].degree else _sum(op, operands)


def _same(op: Operation, operands: list[Linear]) -> Linear:
    return operands[0]


def _new(op: Operation, operands: list[Linear]) -> Linear:
    """The dependence of a random function or an exponential: a new unknown."""
    return NOTHING


def _matmul(op: Operation, operands: list[Linear]) -> Linear:
    rank = len(shape_of(op.results[0]))
    moved: list[Linear] = []
    for number, (value, operand) in enumerate(zip(op.operands, operands, strict=True)):
        shape = shape_of(value)
        missing = rank - len(shape)
        contracted = len(shape) - (1 if number == 0 else 2)
        places = {
            dim: dim + missing
            for dim, size in enumerate(shape)
            if dim != contracted and size == shape_of(op.results[0])[dim + missing]
        }
        moved.append(operand.moved(places))
    return _together(sum(each.degree for each in moved), moved)


def _reduced(op: Operation, operands: list[Linear]) -> Linear:
    row = structure_of(op)
    assert row is not None
    dims = runs_over(op, row)
    rank = len(shape_of(op.results[0]))
    return operands[0].moved({dim: dim for dim in range(rank) if dim not in dims})


def _rms_norm(op: Operation, operands: list[Linear]) -> Linear:
    """`x` times a random function of its squares, times the weight."""
    return _product(op, operands)


def _layer_norm(op: Operation, operands: list[Linear]) -> Linear:
    """Differences of a row's elements, times a random function, times the weight, and the bias."""
    last = len(shape_of(op.results[0])) - 1
    x, *parameters = operands
    centred = x.moved({dim: dim for dim in range(last)})
    if any(each.degree for each in parameters):
        return Linear(MORE)
    return centred


def _transpose(op: Operation, operands: list[Linear]) -> Linear:
    order = list(integers(op, "permutation"))
    return operands[0].moved({dim: order.index(dim) for dim in range(len(order))})


def _broadcast(op: Operation, operands: list[Linear]) -> Linear:
    return _aligned(op, operands)[0]


def _slice(op: Operation, operands: list[Linear]) -> Linear:
    apart = dict(operands[0].apart)
    bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
    for dim, (offset, size, stride) in enumerate(bounds):
        if dim in apart:
            ids = apart[dim].ids[offset : offset + size * stride : stride]
            apart[dim] = replace(apart[dim], ids=ids)
    return replace(operands[0], apart=apart)


def _concat(op: Operation, operands: list[Linear]) -> Linear:
    dim = integer(op, "dim")
    if any(operand.degree != 1 for operand in operands):
        return Linear(MORE)
    sources = frozenset[int]().union(*(operand.sources for operand in operands))
    if len(sources) == sum(len(operand.sources) for operand in operands):
        # Parts have no input in common: whatever is apart in each is apart in the whole.
        operands = [_renumbered(op, operand) for operand in operands]
        offsets = np.cumsum([0, *(shape_of(value)[dim] for value in op.operands)])
    else:
        offsets = np.zeros(len(operands), np.intp)
    around = [operand.moved({d: d for d in operand.apart if d != dim}) for operand in operands]
    apart = _met(around)
    parts = [operand.apart[dim] for operand in operands if dim in operand.apart]
    if len(parts) == len(operands) and len({part.numbering for part in parts}) == 1:
        ids = [part.ids + offset for part, offset in zip(parts, offsets, strict=False)]
        apart[dim] = replace(parts[0], ids=np.concatenate(ids))
    return Linear(1, sources, apart)


def _renumbered(op: Operation, operand: Linear) -> Linear:
    """With numbers below the extents, of one kind for all operands of an operator."""
    return replace(
        operand,
        apart={
            dim: Apart((op, dim), np.unique(apart.ids, return_inverse=True)[1].reshape(-1))
            for dim, apart in operand.apart.items()
        },
    )


def _repeated(op: Operation, operands: list[Linear]) -> Linear:
    dim, times = integer(op, "dim"), integer(op, "times")
    apart = dict(operands[0].apart)
    if dim in apart:
        copies = np.tile if mnemonic(op) == "repeat" else np.repeat
        apart[dim] = replace(apart[dim], ids=copies(apart[dim].ids, times))
    return replace(operands[0], apart=apart)


def _reshape(op: Operation, operands: list[Linear]) -> Linear:
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    old, apart, start = operands[0].apart, dict[int, Apart](), 0
    for sources, targets in groups(source, target):
        wide = [dim for dim in sources if source[dim] > 1]
        if all(dim in old for dim in wide):
            unique = all(len(np.unique(old[dim].ids)) == source[dim] for dim in wide)
            for number, size in enumerate(targets, start):
                if unique:
                    apart[number] = Apart((op, number), np.arange(size))
                elif len(wide) == 1 and size == source[wide[0]]:
                    apart[number] = old[wide[0]]
        start += len(targets)
    return replace(operands[0], apart=apart)


_DEPENDENCE: dict[Dependence, Rule] = {
    Dependence.SUM: _sum,
    Dependence.PRODUCT: _product,
    Dependence.QUOTIENT: _quotient,
    Dependence.SAME: _same,
    Dependence.SELECTED: _selected,
    Dependence.NEW: _new,
}
"""The rules of elementwise operators; of others with a row nothing is known."""

_STRUCTURED: dict[Dependence, Rule] = {Dependence.SAME: _reduced, Dependence.NEW: _new}
"""The rules of operators that are not elementwise and have none in `_RULES`."""

_RULES: dict[str, Rule] = {
    "broadcast": _broadcast,
    "concat": _concat,
    "layer_norm": _layer_norm,
    "matmul": _matmul,
    "repeat": _repeated,
    "repeat_interleave": _repeated,
    "reshape": _reshape,
    "rms_norm": _rms_norm,
    "slice": _slice,
    "transpose": _transpose,
}


def _rule_of(op: Operation) -> Rule | None:
    """The rule of an operator; None where there is none."""
    if (row := row_of(op)) is not None:
        return _DEPENDENCE.get(row.dependence)
    if (rule := _RULES.get(mnemonic(op))) is not None:
        return rule
    structure = structure_of(op)
    return None if structure is None else _STRUCTURED.get(structure.dependence)
