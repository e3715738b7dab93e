"""
What the tiles of a loop are at most and at least, as far as indices decide that.

Every value has an interval for each block along one axis of the grid and each iteration: the
elements of its tile lie in it. What inputs decide is any number. Source: interval analysis, as in
Moore, Kearfott and Cloud, "Introduction to Interval Analysis", SIAM 2009, chapter 2; values that
are -inf everywhere, as masked scores, are known as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.schedule import Mask
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.float_domain import round_to_format
from mirage_mlir.interpreters.operators import mnemonic
from mirage_mlir.passes.analysis.buffers import cuts

Numbers = NDArray[np.float64]
"""A number for each block and iteration."""


@dataclass(frozen=True)
class ElementRange:
    """
    Where the elements of a tile lie, for each block and iteration.

    Args:
        least: the lower bound, -inf for none.
        most: the upper bound, inf for none.
        lowest: whether all elements are -inf; the bounds then say nothing.
    """

    least: Numbers
    most: Numbers
    lowest: Mask

    def is_all(self, value: float) -> Mask:
        """Where all elements are one number."""
        return ~self.lowest & (self.least == value) & (self.most == value)

    def where(self, condition: Mask, other: ElementRange) -> ElementRange:
        """This one where a condition holds, else `other`."""
        pairs = ((self.least, other.least), (self.most, other.most), (self.lowest, other.lowest))
        least, most, lowest = (np.where(condition, mine, its) for mine, its in pairs)
        return ElementRange(least, most, lowest.astype(np.bool_))


class IndexRanges:
    """
    The intervals of one graph's tiles, before fusion.

    Args:
        graph: it has one loop.
        axis: of the grid, along which indices differ from block to block.
    """

    def __init__(self, graph: kernel.GraphDefinedOp, axis: int) -> None:
        self.graph = graph
        self.axis = axis
        self.shape = graph.grid_sizes[axis], graph.loop_sizes[0]
        self.found: dict[SSAValue, ElementRange] = {}
        self.rules: dict[str, Callable[[Operation, Sequence[ElementRange]], ElementRange]] = {
            "add": lambda _, x: self.sum(x[0], x[1]),
            "sub": lambda _, x: self.sum(x[0], self.scaled(x[1], -1.0)),
            "mul": lambda _, x: self.times(x[0], x[1]),
            "max": lambda _, x: self.larger(x[0], x[1]),
            "select": lambda _, x: self.selected(x[0], x[1], x[2]),
            "exp": lambda _, x: self.constant(0.0).where(x[0].lowest, self.any()),
            "matmul": lambda _, x: self.zero_or_any(x),
            "reduce_sum": lambda _, x: self.zero_or_any(x),
            "reduce_max": lambda _, x: x[0],
            "cast": lambda _, x: x[0],
            "broadcast": lambda _, x: x[0],
            "transpose": lambda _, x: x[0],
            "compare": self.compared,
            "scale": self.scale,
        }

    def run(self) -> None:
        """Find the interval of every tile."""
        for op in self.graph.body.block.ops:
            for result in op.results:
                self.found[result] = self.rounded_as(op, self.of(op))

    def of(self, op: Operation) -> ElementRange:
        """The interval of an operation's result."""
        if isinstance(op, threadblock.IotaOp):
            return self.indices(op)
        if isinstance(op, threadblock.ConstantOp):
            return self.constant(op.value.value.data)
        rule = self.rules.get(mnemonic(op))
        operands = [self.found[value] for value in op.operands if value in self.found]
        if rule is None or len(operands) < len(op.operands):
            return self.any()
        return rule(op, operands)

    # Intervals

    def any(self) -> ElementRange:
        """Any finite numbers."""
        return self.between(np.full(self.shape, -inf), np.full(self.shape, inf))

    def between(self, least: Numbers, most: Numbers) -> ElementRange:
        """Finite numbers between two; what is not known of them is not known of the numbers."""
        least, most = np.where(np.isnan(least), -inf, least), np.where(np.isnan(most), inf, most)
        return ElementRange(least, most, np.zeros(self.shape, np.bool_))

    def constant(self, value: float) -> ElementRange:
        """One number, or -inf."""
        number = np.full(self.shape, value)
        return ElementRange(number, number, np.full(self.shape, value == -inf))

    def indices(self, op: threadblock.IotaOp) -> ElementRange:
        """The smallest and the largest index of each tile."""
        least = most = np.full(self.shape, op.start.value.data, np.float64)
        tile = threadblock.shape_of(op.result)
        blocks, iterations = np.meshgrid(*map(np.arange, self.shape), indexing="ij")
        for dim, (size, stride) in enumerate(zip(op.whole, op.strides.get_values(), strict=True)):
            grid, loops = cuts(op, dim)
            number = iterations if loops else np.zeros(self.shape, np.int64)
            if grid is not None and self.graph.grid_sizes[grid] > 1:
                count = self.graph.loop_sizes[0] if loops else 1
                number = (
                    number * self.graph.grid_sizes[grid] + blocks
                    if self.graph.is_cyclic
                    else blocks * count + number
                )
            start = np.minimum(number * tile[dim], size - 1)
            least = least + start * stride
            most = most + np.minimum(start + tile[dim] - 1, size - 1) * stride
        return self.between(least, most)

    # Operators

    def sum(self, x: ElementRange, y: ElementRange) -> ElementRange:
        """-inf and a number are -inf; of two -inf nothing is said."""
        with np.errstate(invalid="ignore"):
            total = self.between(x.least + y.least, x.most + y.most)
        total = self.any().where(x.lowest | y.lowest, total)
        return self.constant(-inf).where(x.lowest ^ y.lowest, total)

    def scaled(self, x: ElementRange, factor: float) -> ElementRange:
        """A number times all elements."""
        if factor == 0.0:
            return self.constant(0.0).where(~x.lowest, self.any())
        with np.errstate(invalid="ignore"):
            ends = x.least * factor, x.most * factor
        made = self.between(np.minimum(*ends), np.maximum(*ends))
        # The negative of -inf is larger than any number: nothing is said of it.
        masked = self.constant(-inf) if factor > 0 else self.any()
        return masked.where(x.lowest, made)

    def scale(self, op: Operation, operands: Sequence[ElementRange]) -> ElementRange:
        """`threadblock.scale`."""
        assert isinstance(op, threadblock.ScaleOp)
        return self.scaled(operands[0], op.factor.value.data)

    def times(self, x: ElementRange, y: ElementRange) -> ElementRange:
        """0 times any number is 0; else the bounds are bounds of both, multiplied, in four ways."""
        with np.errstate(invalid="ignore"):
            ends = np.stack([a * b for a in (x.least, x.most) for b in (y.least, y.most)])
        made = self.between(ends.min(axis=0), ends.max(axis=0))
        made = self.constant(0.0).where(x.is_all(0.0) | y.is_all(0.0), made)
        return self.any().where(x.lowest | y.lowest, made)

    def larger(self, x: ElementRange, y: ElementRange) -> ElementRange:
        """The larger of -inf and a number is the number."""
        made = self.between(np.maximum(x.least, y.least), np.maximum(x.most, y.most))
        return y.where(x.lowest, x.where(y.lowest, made))

    def selected(self, condition: ElementRange, x: ElementRange, y: ElementRange) -> ElementRange:
        """One of two where the condition is known, else either of them."""
        either = self.between(np.minimum(x.least, y.least), np.maximum(x.most, y.most))
        either = self.any().where(x.lowest | y.lowest, either)
        return y.where(condition.is_all(0.0), x.where(condition.is_all(1.0), either))

    def zero_or_any(self, operands: Sequence[ElementRange]) -> ElementRange:
        """Matmuls and sums are 0 where an operand is."""
        zero = np.zeros(self.shape, np.bool_)
        for each in operands:
            zero |= each.is_all(0.0)
        return self.constant(0.0).where(zero, self.any())

    def rounded_as(self, op: Operation, x: ElementRange) -> ElementRange:
        """
        The range of elements in the type of a tile.

        Rounding keeps the order of numbers, so that rounded bounds are bounds.
        """
        kind = FORMATS[str(threadblock.tile_type(op.results[0]).element_type)]
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = [each.astype(np.float32).astype(np.float64) for each in (x.least, x.most)]
            least, most = (round_to_format(each, kind) for each in bounds)
        return ElementRange(least.astype(np.float64), most.astype(np.float64), x.lowest)

    def compared(self, op: Operation, operands: Sequence[ElementRange]) -> ElementRange:
        """1 or 0 where bounds decide a comparison, else between them."""
        assert isinstance(op, threadblock.CompareOp)
        x, y = operands
        always, never = self._decided(op.predicate.data, x, y)
        known = ~(x.lowest | y.lowest)
        zero, one = np.zeros(self.shape), np.ones(self.shape)
        return self.between(np.where(always & known, one, zero), np.where(never & known, zero, one))

    def _decided(self, predicate: str, x: ElementRange, y: ElementRange) -> tuple[Mask, Mask]:
        """Where a comparison holds of all elements, and where of none."""
        match predicate:
            case "lt":
                return x.most < y.least, x.least >= y.most
            case "le":
                return x.most <= y.least, x.least > y.most
            case "gt":
                return x.least > y.most, x.most <= y.least
            case "ge":
                return x.least >= y.most, x.most < y.least
            case "eq":
                return _alike(x, y), _apart(x, y)
            case _:
                assert predicate == "ne", "there are no others"
                return _apart(x, y), _alike(x, y)


def _alike(x: ElementRange, y: ElementRange) -> Mask:
    """Where all elements of both are one number."""
    return (x.least == x.most) & (y.least == y.most) & (x.least == y.least)


def _apart(x: ElementRange, y: ElementRange) -> Mask:
    """Where no number is in both ranges."""
    return (x.most < y.least) | (x.least > y.most)
