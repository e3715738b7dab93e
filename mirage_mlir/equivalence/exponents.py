"""
Whether the exponents of a program are independent of each other.

A bound is known where, in the slab that is tested, each exponent is linear in elements of inputs
that no other exponent has: q k_j in k_j, say, with all else as it may be. Given everything else,
exponents are then independent and uniform modulo q, wherever these linear forms are not zero
(docs/verification.md). Random functions of such inputs count as new unknowns, as they do in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.equivalence.slab_values import groups
from mirage_mlir.equivalence.slabs import Slab
from mirage_mlir.interpreters.operators import integer, integers, mnemonic, shape_of

Ids = NDArray[np.intp]

MORE = 2
"""Any degree above 1, and whatever is no polynomial."""

MOST_ARGUMENTS = 12
"""Arguments of which pairs are tried; a decoder layer has as many."""


@dataclass(frozen=True)
class Linear:
    """How a value depends on some inputs."""

    degree: int = 0
    apart: dict[int, Ids] = field(default_factory=dict[int, Ids])
    """Dimensions along which different numbers say that elements of different inputs are used."""

    def moved(self, places: dict[int, int]) -> Linear:
        """With dimension d at `places[d]`; those without a place are gone."""
        kept = {places[dim]: ids for dim, ids in self.apart.items() if dim in places}
        return replace(self, apart=kept)


NOTHING = Linear()


def independent_inputs(
    reference: FuncOp, slabs: Sequence[Slab], *, expand_sigmoid: bool
) -> tuple[int, ...] | None:
    """
    Arguments in which all exponents of one label's elements are independent linear forms.

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
    names = ("exp", "softmax", *(("sigmoid", "silu") if expand_sigmoid else ()))
    found = [op.operands[0] for op in function.body.block.ops if mnemonic(op) in names]
    return iter(dict.fromkeys(found))


class _Walk:
    """What all values have of some arguments."""

    def __init__(self, function: FuncOp, private: Sequence[int], slabs: Sequence[Slab]):
        self.private = tuple(private)
        self.slabs = slabs
        self.values: dict[SSAValue, Linear] = {}
        for number, argument in enumerate(function.body.block.args):
            self.values[argument] = NOTHING
            if number in private:
                apart = {dim: np.arange(size) for dim, size in enumerate(shape_of(argument))}
                self.values[argument] = Linear(1, apart)
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
            or (dim in found.apart and len(np.unique(found.apart[dim])) == size)
            for dim, size in enumerate(shape_of(value))
        )

    def _indices(self, value: SSAValue, dim: int, size: int) -> int:
        """How many indices a dimension has in one label of each slab axis."""
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
            elif mnemonic(op) in _RULES:
                self.values[result] = _RULES[mnemonic(op)](op, operands)
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


def _met(operands: Sequence[Linear]) -> dict[int, Ids]:
    """The dimensions along which all operands use different elements for different indices."""
    first, *others = [operand for operand in operands if operand.degree]
    return {
        dim: ids
        for dim, ids in first.apart.items()
        if all(dim in each.apart and np.array_equal(each.apart[dim], ids) for each in others)
    }


def _sum(op: Operation, operands: list[Linear]) -> Linear:
    aligned = _aligned(op, operands)
    return Linear(max(operand.degree for operand in aligned), _met(aligned))


def _product(op: Operation, operands: list[Linear]) -> Linear:
    aligned = _aligned(op, operands)
    return Linear(min(MORE, sum(operand.degree for operand in aligned)), _met(aligned))


def _quotient(op: Operation, operands: list[Linear]) -> Linear:
    return Linear(MORE) if operands[1].degree else _product(op, operands)


def _same(op: Operation, operands: list[Linear]) -> Linear:
    return operands[0]


def _new(op: Operation, operands: list[Linear]) -> Linear:
    """A random function, or an exponential: a new unknown."""
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
    return Linear(min(MORE, sum(each.degree for each in moved)), _met(moved))


def _reduced(op: Operation, operands: list[Linear]) -> Linear:
    dims = integers(op, "dims")
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
            apart[dim] = apart[dim][offset : offset + size * stride : stride]
    return replace(operands[0], apart=apart)


def _concat(op: Operation, operands: list[Linear]) -> Linear:
    dim = integer(op, "dim")
    if any(operand.degree != 1 for operand in operands):
        return Linear(MORE)
    apart = _met([replace(each, apart=_without(each.apart, dim)) for each in operands])
    ids: list[Ids] = []
    for number, (value, operand) in enumerate(zip(op.operands, operands, strict=True)):
        if dim not in operand.apart:
            return Linear(1, apart)
        # Parts of one input may overlap, those of different ones do not.
        same = [n for n, other in enumerate(op.operands) if _root(other) is _root(value)]
        if same != [number]:
            return Linear(1, apart)
        ids.append(operand.apart[dim] + number * (1 << 40))
    return Linear(1, {**apart, dim: np.concatenate(ids)})


def _root(value: SSAValue) -> SSAValue:
    """The argument that a value is a view of, or is computed from first of all."""
    while isinstance(value.owner, Operation) and value.owner.operands:
        value = value.owner.operands[0]
    return value


def _without(apart: dict[int, Ids], dim: int) -> dict[int, Ids]:
    return {other: ids for other, ids in apart.items() if other != dim}


def _repeated(op: Operation, operands: list[Linear]) -> Linear:
    dim, times = integer(op, "dim"), integer(op, "times")
    apart = dict(operands[0].apart)
    if dim in apart:
        whole = mnemonic(op) == "repeat"
        apart[dim] = np.tile(apart[dim], times) if whole else np.repeat(apart[dim], times)
    return replace(operands[0], apart=apart)


def _reshape(op: Operation, operands: list[Linear]) -> Linear:
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    old, apart, start = operands[0].apart, dict[int, Ids](), 0
    for sources, targets in groups(source, target):
        wide = [dim for dim in sources if source[dim] > 1]
        if all(dim in old for dim in wide):
            unique = all(len(np.unique(old[dim])) == source[dim] for dim in wide)
            for number, size in enumerate(targets):
                if unique:
                    apart[start + number] = np.arange(size)
                elif len(wide) == 1 and size == source[wide[0]]:
                    apart[start + number] = old[wide[0]]
        start += len(targets)
    return replace(operands[0], apart=apart)


_RULES: dict[str, Rule] = {
    "add": _sum,
    "broadcast": _broadcast,
    "cast": _same,
    "clamp": _new,
    "concat": _concat,
    "div": _quotient,
    "exp": _new,
    "gelu": _same,
    "layer_norm": _layer_norm,
    "log": _new,
    "matmul": _matmul,
    "max": _new,
    "mul": _product,
    "reduce_max": _new,
    "reduce_mean": _reduced,
    "reduce_sum": _reduced,
    "relu": _new,
    "repeat": _repeated,
    "repeat_interleave": _repeated,
    "reshape": _reshape,
    "rms_norm": _rms_norm,
    "rsqrt": _new,
    "scale": _same,
    "sigmoid": _new,
    "silu": _same,
    "slice": _slice,
    "softmax": _new,
    "sqrt": _new,
    "sub": _sum,
    "tanh": _new,
    "transpose": _transpose,
}
