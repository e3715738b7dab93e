"""What mutations have in common: the places that they change, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import I64, DenseArrayBase
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.hints import isa
from program_pairs.draws import Draw
from program_pairs.writer import Ops, Piece, shape_of

Op = TypeVar("Op", bound=Operation)

Item = TypeVar("Item")

Values = Callable[[], dict[SSAValue, NDArray[np.float64]]]
"""What a function computes on the oracle's inputs, by values."""


class Change(NamedTuple):
    """What was done to a function, and the size of the dimension that it concerns."""

    description: str
    size: int


@dataclass(frozen=True)
class Site:
    """One operand of one operation at kernel level."""

    op: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        """The operand."""
        return self.op.operands[self.number]

    @property
    def ops(self) -> Ops:
        """Adds operations right before."""
        return before(self.op)

    def replace(self, value: SSAValue) -> None:
        """Use another value; that of a graph may have another size."""
        self.op.operands[self.number] = value
        if isinstance(self.op, kernel.GraphDefinedOp):
            argument = self.op.body.block.args[self.number]
            if argument.type != value.type:
                Rewriter.replace_value_with_new_type(argument, value.type)

    def cut(self, dim: int, pieces: Sequence[Piece]) -> None:
        """Use pieces of the operand instead."""
        self.replace(self.ops.pieces(self.value, dim, pieces))

    def __str__(self) -> str:
        return f"operand {self.number} of {self.op.name}"


def before(op: Operation) -> Ops:
    """Adds operations right before `op`."""
    block = op.parent
    assert block is not None
    return Ops(lambda new: block.insert_op_before(new, op))


def after(op: Operation) -> Ops:
    """Adds operations behind `op`, one after the other."""
    last = [op]

    def place(new: Operation) -> None:
        block = op.parent
        assert block is not None
        block.insert_op_after(new, last[0])
        last[0] = new

    return Ops(place)


def replace(op: Operation, value: SSAValue) -> None:
    """Use `value` instead of the result of `op`, which goes."""
    op.results[0].replace_all_uses_with(value)
    Rewriter.erase_op(op)


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """A property that is a list of integers."""
    attribute = op.properties[name]
    assert isa(attribute, DenseArrayBase[I64])
    return attribute.get_values()


def set_integers(op: Operation, name: str, values: Sequence[int]) -> None:
    """Change a property that is a list of integers."""
    op.properties[name] = i64_array(values)


def of_kind(function: FuncOp, kind: type[Op]) -> list[Op]:
    """All operations of a class, those of uGraphs among them."""
    return [op for op in function.walk() if isinstance(op, kind)]


def chosen(draw: Draw, items: Sequence[Item]) -> Item | None:
    """One of them, if there is any."""
    return draw.random.choice(items) if items else None


def sites(function: FuncOp) -> list[Site]:
    """All operands of kernel-level operations."""
    ops = function.body.block.ops
    return [Site(op, number) for op in ops for number in range(len(op.operands))]


def dimension(draw: Draw, places: Sequence[Site], least: int) -> tuple[Site, int, int] | None:
    """One of the places with a dimension of at least so many elements, long ones preferred."""
    found = [
        (site, dim, size)
        for site in places
        for dim, size in enumerate(shape_of(site.value))
        if size >= least
    ]
    if not found:
        return None
    if draw.chance(0.8):
        longest = max(size for _, _, size in found)
        found = [each for each in found if each[2] * 4 >= longest]
    return draw.random.choice(found)


class Sum(NamedTuple):
    """Operands that one sum runs over, each along a dimension; all of one size."""

    operands: tuple[tuple[Site, int], ...]
    size: int
    tile: int
    """Of an iteration or block; the whole where there is none."""

    @property
    def op(self) -> Operation:
        """What adds up."""
        return self.operands[0][0].op

    def cut(self, pieces: Sequence[Piece]) -> None:
        """Sum over other indices."""
        for site, dim in self.operands:
            site.cut(dim, pieces)


def sums(function: FuncOp) -> list[Sum]:
    """All sums at kernel level, and those of uGraphs over loops and blocks."""
    found: list[Sum] = []
    for op in function.body.block.ops:
        if isinstance(op, kernel.MatmulOp):
            lhs, rhs = Site(op, 0), Site(op, 1)
            places = (lhs, len(shape_of(lhs.value)) - 1), (rhs, len(shape_of(rhs.value)) - 2)
            depth = shape_of(lhs.value)[-1]
            found.append(Sum(places, depth, depth))
        elif isinstance(op, kernel.ReduceSumOp | kernel.ReduceMeanOp):
            for dim in op.dims.get_values():
                size = shape_of(op.input)[dim]
                found.append(Sum(((Site(op, 0), dim),), size, size))
        elif isinstance(op, kernel.GraphDefinedOp):
            found += _graph_sums(op)
    return [each for each in found if each.size > 1]


def _graph_sums(graph: kernel.GraphDefinedOp) -> Iterator[Sum]:
    for number in range(len(graph.loop_sizes)):
        yield from _sum_along(graph, "loop_map", number)
    for number in range(len(graph.grid_sizes)):
        across = (set(op.across.get_values()) for op in _accumulators(graph))
        if any(number in axes for axes in across):
            yield from _sum_along(graph, "grid_map", number)


def _accumulators(graph: kernel.GraphDefinedOp) -> list[tb.AccumulateOp]:
    return [op for op in graph.body.block.ops if isinstance(op, tb.AccumulateOp)]


def _sum_along(graph: kernel.GraphDefinedOp, name: str, number: int) -> Iterator[Sum]:
    places: dict[tuple[int, int], int] = {}
    numbers: dict[SSAValue, int] = {arg: arg.index for arg in graph.body.block.args}
    for op in graph.body.block.ops:
        if isinstance(op, tb.LoadOp) and (dim := integers(op, name)[number]) >= 0:
            places[numbers[op.source], dim] = tb.shape_of(op.result)[dim]
    operands = tuple((Site(graph, index), dim) for index, dim in places)
    sizes = {shape_of(site.value)[dim] for site, dim in operands}
    if len(sizes) == 1:
        yield Sum(operands, sizes.pop(), next(iter(places.values())))
