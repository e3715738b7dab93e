"""
Formulas of indices: values that follow from where an element is, and from nothing else.

The mask of causal attention is one. No tensor of it need be in memory: a kernel computes the tile
that it would load. Formulas are made of `kernel.iota`, numbers, operators that cost an instruction
or two, and views in which each dimension of a tensor is a sum of dimensions of the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.operators.elementwise import Cost

VIEWS = (kernel.TransposeOp, kernel.ReshapeOp, kernel.BroadcastOp, kernel.SliceOp)
"""Operators that strides express, a reshape only where the dims it merges lie densely."""

SIMPLE = frozenset(["relu", "clamp", "floor", "ceil", "round"])
"""Operators of formulas besides those of one instruction."""


@dataclass(frozen=True)
class IndexSum:
    """An index along one dimension, as a sum of indices of a view times strides."""

    terms: tuple[tuple[int, int], ...] = ()
    """Dimensions of the view, with strides."""
    start: int = 0

    def scaled(self, stride: int, start: int) -> IndexSum:
        """`stride` times the index, plus `start`."""
        terms = tuple((dim, step * stride) for dim, step in self.terms)
        return IndexSum(terms, self.start * stride + start)


IndexSums = tuple[IndexSum, ...]
"""For each dimension of a tensor where its index comes from."""


def places_of(shape: Sequence[int]) -> IndexSums:
    """Those of a tensor in itself."""
    return tuple(
        IndexSum(((dim, 1),)) if size > 1 else IndexSum() for dim, size in enumerate(shape)
    )


def through(op: Operation, places: IndexSums) -> IndexSums | None:
    """Those of the operand of a view, from those of its result; None where they are no sums."""
    match op:
        case kernel.TransposeOp():
            order = list(op.permutation.get_values())
            return tuple(places[order.index(dim)] for dim in range(len(order)))
        case kernel.BroadcastOp():
            return broadcast(kernel.shape_of(op.operands[0]), places)
        case kernel.SliceOp():
            cuts = zip(places, op.strides.get_values(), op.offsets.get_values(), strict=True)
            return tuple(place.scaled(step, start) for place, step, start in cuts)
        case kernel.ReshapeOp():
            return _split(kernel.shape_of(op.operands[0]), kernel.shape_of(op.results[0]), places)
        case _:
            return None


def broadcast(shape: Sequence[int], places: IndexSums) -> IndexSums:
    """Those of an operand of `shape` that is broadcast."""
    aligned = places[len(places) - len(shape) :]
    return tuple(
        place if size > 1 else IndexSum() for size, place in zip(shape, aligned, strict=True)
    )


def _split(old: Sequence[int], new: Sequence[int], places: IndexSums) -> IndexSums | None:
    """Those of a tensor each of whose dimensions is some of the dimensions of the view."""
    rest = [(size, place) for size, place in zip(new, places, strict=True) if size > 1]
    found: list[IndexSum] = []
    for size in old:
        taken: list[tuple[int, IndexSum]] = []
        while prod(each for each, _ in taken) < size and rest:
            taken.append(rest.pop(0))
        if prod(each for each, _ in taken) != size:
            return None
        total = IndexSum()
        for extent, place in taken:
            scaled = total.scaled(extent, place.start)
            total = IndexSum((*scaled.terms, *place.terms), scaled.start)
        found.append(total)
    return tuple(found)


@dataclass(frozen=True)
class FormulaPart:
    """What an operation of a formula makes, at some indices; views are no parts."""

    op: Operation
    places: IndexSums
    """For each dimension of the result where its index comes from in the formula as a whole."""

    def operands(self) -> list[FormulaPart]:
        """The parts that it is computed from."""
        return [part_of(v, broadcast(kernel.shape_of(v), self.places)) for v in self.op.operands]


def part_of(value: SSAValue, places: IndexSums) -> FormulaPart:
    """What is seen of a formula at `places`, behind all views."""
    op = value.owner
    assert isinstance(op, Operation)
    while (inner := through(op, places)) is not None:
        places, op = inner, op.operands[0].owner
        assert isinstance(op, Operation)
    return FormulaPart(op, places)


def parts_of(whole: FormulaPart) -> Iterator[tuple[FormulaPart, list[FormulaPart]]]:
    """The parts of a formula, each once, with its operands, and behind these."""
    done = set[FormulaPart]()
    pending = [whole]
    # Not by recursion: a function may have thousands of operators one after the other.
    while pending:
        operands = pending[-1].operands()
        if missing := [each for each in operands if each not in done]:
            pending += reversed(missing)
        elif (part := pending.pop()) not in done:
            done.add(part)
            yield part, operands


def is_formula(value: SSAValue) -> bool:
    """Whether a value is a formula of indices."""
    found, seen = False, {value}
    pending = [value]
    # Not by recursion: a function may have thousands of operators one after the other.
    while pending:
        op = pending.pop().owner
        if isinstance(op, kernel.IotaOp):
            found = True
            continue
        if not isinstance(op, Operation) or not _is_part(op):
            return False
        pending += [operand for operand in op.operands if operand not in seen]
        seen.update(op.operands)
    return found


def _is_part(op: Operation) -> bool:
    """Whether formulas may have an operation."""
    if isinstance(op, kernel.CastOp) and op.input.type == op.result.type:
        # A copy, which has memory.
        return False
    if isinstance(op, kernel.ConstantOp) or is_simple(op):
        return True
    if not isinstance(op, VIEWS):
        return False
    return through(op, places_of(kernel.shape_of(op.results[0]))) is not None


def makes_formula(op: Operation) -> bool:
    """Whether the result of `op` is a formula of indices."""
    return isinstance(op, kernel.TensorOp) and is_formula(op.results[0])


def is_simple(op: Operation) -> bool:
    """Whether an operator is elementwise and cheap."""
    row = row_of(op) if isinstance(op, kernel.TensorOp) else None
    return row is not None and (row.cost is Cost.ONE or row.name in SIMPLE)


def with_operands(op: Operation) -> list[Operation]:
    """An operation of a formula, behind all those that it depends on."""
    found: dict[Operation, None] = {}
    pending = [op]
    while pending:
        last = pending[-1]
        missing = [v.owner for v in last.operands if v.owner not in found]
        pending += [each for each in missing if isinstance(each, Operation)]
        if not missing:
            found[pending.pop()] = None
    return list(found)


def operators_of(value: SSAValue) -> Iterator[Operation]:
    """The elementwise operators of a formula, each once."""
    seen: set[Operation] = set()
    pending = [value]
    while pending:
        op = pending.pop().owner
        if isinstance(op, Operation) and op not in seen:
            seen.add(op)
            pending += op.operands
            if is_simple(op):
                yield op
