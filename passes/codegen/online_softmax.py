"""
Online softmax: sums relative to the row maximum so far, rescaled in each iteration in which it may
grow.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), and Dao et al.,
"FlashAttention" (2022).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.layouts.layout import Position, RegisterLayout
from mirage_mlir.passes.analysis.row_maxima import state_layout
from mirage_mlir.passes.codegen.emitter import Emitter

LOG2_E = 1.4426950408889634

LOWEST = -3.4028234663852886e38
"""The least f32: the maximum before the first iteration. Unlike infinity it can be subtracted from
itself, so that iterations and blocks without elements need no case of their own."""

StateKey = tuple[SSAValue, RegisterLayout]
"""A row maximum, and the register layout of its online value."""


def state_key(op: threadblock.AccumulateOp) -> StateKey:
    """The key of the online maximum by which the sum `op`, which has a layout, is rescaled."""
    row_maximum = op.rescale
    attribute = layout_of(op.result)
    assert row_maximum is not None
    assert isinstance(attribute, RegistersAttr)
    return row_maximum, state_layout(row_maximum, op.value, attribute.layout)


@dataclass
class OnlineMaximum:
    """
    The online value of one row maximum, a slot for each place of `layout`.

    Args:
        maxima: the maxima of all iterations so far.
        factors: the factors of sums so far in the present iteration; empty before it.
        weights: the factors of the iteration's values; empty where these are computed relative to
            `maxima`.
    """

    layout: RegisterLayout
    maxima: list[SSAValue]
    factors: list[SSAValue] = field(default_factory=list[SSAValue])
    weights: list[SSAValue] = field(default_factory=list[SSAValue])

    def advance(self, emit: Emitter, found: list[SSAValue], *, weigh: bool) -> None:
        """Update the maxima with those `found` in an iteration, and the rescaling factors."""
        before = self.maxima
        self.maxima = [
            emit.result(arith.MaximumfOp(old, new)) for old, new in zip(before, found, strict=True)
        ]
        self.factors = [
            exp_of_difference(emit, old, new) for old, new in zip(before, self.maxima, strict=True)
        ]
        if weigh:
            self.weights = [
                exp_of_difference(emit, own, new)
                for own, new in zip(found, self.maxima, strict=True)
            ]

    def at(self, places: list[SSAValue], layout: RegisterLayout) -> list[SSAValue]:
        """The number of each slot of `layout`, from one number for each place of the state."""
        numbers = dict(zip(self.layout.offsets, places, strict=True))
        return [numbers[self.place(place, numbers)] for place in layout.offsets]

    @staticmethod
    def place(place: Position, numbers: dict[Position, SSAValue]) -> Position:
        """The place of the state, which may broadcast along rows or columns, for `place`."""
        row, column = place
        for candidate in ((row, column), (row, 0), (0, column), (0, 0)):
            if candidate in numbers:
                return candidate
        raise AssertionError("assign-layouts gives sums what their row maxima fit")


def exp_of_difference(emit: Emitter, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """`exp(lhs - rhs)`."""
    difference = emit.result(arith.SubfOp(lhs, rhs))
    return emit.result(nvvm.Ex2Op(emit.result(arith.MulfOp(difference, emit.f32(LOG2_E)))))


def scaled(emit: Emitter, values: list[SSAValue], factors: list[SSAValue]) -> list[SSAValue]:
    """Elementwise products in f32."""
    pairs = zip(values, factors, strict=True)
    return [emit.result(arith.MulfOp(value, factor)) for value, factor in pairs]


def lowest(emit: Emitter, layout: RegisterLayout) -> list[SSAValue]:
    """The initial row maxima, before the first iteration."""
    return [emit.f32(LOWEST)] * len(layout.offsets)
