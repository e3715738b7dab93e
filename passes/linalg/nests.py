"""
The loops of an operation of linalg, and how they go along its operands.

A loop that only moves what is read along another one, as those of a window do, is unrolled: each of
its steps is a nest of its own, whose reads begin elsewhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from mirage_mlir.diagnostics import name_of
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg.builder import Label, LinalgBuilder, static_type
from mirage_mlir.passes.stablehlo.rearrangements import MOST_SLICES


@dataclass(frozen=True)
class Place:
    """
    Where a dimension of an operand is: along a loop, or at one index.

    Args:
        label: the loop; None of one index.
        start, step: the index in its first step, and how far the next one is.
        moved: other loops, and how far each of their steps moves the start.
    """

    label: Label
    start: int = 0
    step: int = 1
    moved: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Nest:
    """
    The loops of an operation.

    Args:
        sizes, reduced: the steps of each loop, and those that combine.
        places: one list for each operand, outputs last.
        steps: where loops are that have been unrolled.
    """

    sizes: tuple[int, ...]
    reduced: frozenset[int]
    places: Sequence[Sequence[Place]]
    steps: Mapping[int, int]

    def windows(self) -> tuple[int, ...]:
        """The loops that move what others read."""
        found = {loop for row in self.places for place in row for loop, _ in place.moved}
        return tuple(sorted(found))

    def unrolled(self, steps: Mapping[int, int]) -> "Nest":
        """The nest at one step of some loops, which then have that step alone."""
        sizes = tuple(1 if loop in steps else size for loop, size in enumerate(self.sizes))
        places = [[_at(place, steps) for place in row] for row in self.places]
        return Nest(sizes, self.reduced, places, steps)


def _at(place: Place, steps: Mapping[int, int]) -> Place:
    if place.label is not None and place.label in steps:
        return Place(None, place.start + place.step * steps[place.label])
    start = place.start + sum(far * steps[loop] for loop, far in place.moved)
    return replace(place, start=start, moved=())


def nests_of(emit: LinalgBuilder, op: Operation) -> Iterator[Nest]:
    """The nests that are run one after the other: one, or one for each place of a window."""
    nest = _nest(emit, op)
    loops = nest.windows()
    sizes = [nest.sizes[loop] for loop in loops]
    if prod(sizes) > MOST_SLICES:
        emit.fail(
            f"has windows of {prod(sizes)} elements; at most {MOST_SLICES} are read one by one"
        )
    for steps in product(*map(range, sizes)):
        yield nest.unrolled(dict(zip(loops, steps, strict=True))) if loops else nest


def _nest(emit: LinalgBuilder, op: Operation) -> Nest:
    """The loops of `op`; fails where kernels have no such loops."""
    rows = _places(emit, op)
    sizes: dict[int, int] = {}
    for value, places in zip(op.operands, rows, strict=True):
        if not places:
            continue
        shape = static_type(emit, value.type).get_shape()
        for size, place in zip(shape, places, strict=True):
            if place.label is None or place != Place(place.label):
                continue
            if sizes.setdefault(place.label, size) != size:
                emit.fail(f"has sizes {sizes[place.label]} and {size} along one loop")
    count = max(sizes, default=-1) + 1
    if {*sizes} != {*range(count)}:
        emit.fail("has a loop that goes along none of its operands")
    outputs = rows[len(op.operands) - len(op.results) :]
    written = [{place.label for place in places} for places in outputs]
    reduced = frozenset({*range(count)} - written[0])
    if any(frozenset({*range(count)} - each) != reduced for each in written):
        emit.fail("writes results along different loops")
    ordered = [[_by_windows(emit, place, reduced) for place in places] for places in rows]
    return Nest(tuple(sizes[dim] for dim in range(count)), reduced, ordered, {})


def _by_windows(emit: LinalgBuilder, place: Place, reduced: frozenset[int]) -> Place:
    """The loop of a place that results have, moved by those that they do not have."""
    if not place.moved:
        return place
    loops = [(place.label, place.step), *place.moved]
    kept = [(loop, far) for loop, far in loops if loop not in reduced]
    moving = tuple((loop, far) for loop, far in loops if loop is not None and loop in reduced)
    if len(kept) != 1:
        emit.fail("reads along a sum of loops; kernels step along one")
    return replace(place, label=kept[0][0], step=kept[0][1], moved=moving)


def integers_of(op: Operation, name: str) -> tuple[int, ...]:
    """A property of integers."""
    found = op.properties.get(name, op.attributes.get(name))
    assert isinstance(found, DenseArrayBase)
    return tuple(int(value) for value in found.iter_values())


def _along(dims: Sequence[int]) -> list[Place]:
    return [Place(dim) for dim in dims]


def _places(emit: LinalgBuilder, op: Operation) -> list[list[Place]]:
    """How the nest goes along the operands of `op`."""
    maps = op.properties.get("indexing_maps", op.attributes.get("linalg.memoized_indexing_maps"))
    if isa(maps, ArrayAttr[AffineMapAttr]):
        return [_read_map(emit, each) for each in maps]
    rank, count = len(static_type(emit, op.operands[-1].type).get_shape()), len(op.operands)
    match name_of(op):
        case "linalg.transpose":
            order = integers_of(op, "permutation")
            return [_along([order.index(dim) for dim in range(rank)]), _along(range(rank))]
        case "linalg.broadcast":
            added = integers_of(op, "dimensions")
            return [_along([d for d in range(rank) if d not in added]), _along(range(rank))]
        case "linalg.reduce":
            dims, half = integers_of(op, "dimensions"), count // 2
            whole = rank + len(dims)
            kept = [dim for dim in range(whole) if dim not in dims]
            return [*([_along(range(whole))] * half), *([_along(kept)] * (count - half))]
        case _:
            return [
                _along(range(rank)) if isa(value.type, TensorType[Attribute]) else []
                for value in op.operands
            ]


def _read_map(emit: LinalgBuilder, attribute: AffineMapAttr) -> list[Place]:
    found = [_read(emit, result) for result in attribute.data.results]
    labels = [place.label for place in found if place.label is not None]
    if len({*labels}) < len(labels):
        emit.fail(f"goes along a diagonal: {attribute.data}")
    return found


def _read(emit: LinalgBuilder, expression: AffineExpr) -> Place:
    steps: dict[int, int] = {}
    start = 0
    for each, factor in _terms(expression):
        match each:
            case AffineDimExpr(position=position):
                steps[position] = steps.get(position, 0) + factor
            case AffineConstantExpr(value=value):
                start += factor * value
            case _:
                steps = {0: 0}
                break
    if any(step < 1 for step in steps.values()):
        emit.fail(f"reads or writes at index {expression}; kernels step along dimensions")
    if not steps:
        return Place(None, start)
    (label, step), *others = steps.items()
    return Place(label, start, step, tuple(others))


def _terms(expression: AffineExpr, factor: int = 1) -> Iterator[tuple[AffineExpr, int]]:
    """What is added up, each with a factor."""
    match expression:
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            yield from _terms(lhs, factor)
            yield from _terms(rhs, factor)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)
        ):
            yield from _terms(lhs, factor * value)
        case _:
            yield expression, factor
