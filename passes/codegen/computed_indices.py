"""Emits tiles of indices: each element from where the block, the iteration and the thread are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.tile_origins import origin_of

if TYPE_CHECKING:
    from mirage_mlir.passes.codegen.context import KernelContext


def computed_indices(
    ctx: KernelContext,
    op: threadblock.IotaOp,
    layout: RegisterLayout,
    shape: tuple[int, ...],
) -> list[SSAValue]:
    """
    The elements of `op`, broadcast to `shape`, for the slots of `layout`, in f32.

    A conversion to f32 takes four times as long as a sum, so there is one for each thread, to
    which the distance of each slot is added; all these numbers are exact.
    """
    emit, strides = ctx.emit, op.strides.get_values()
    start: Index = op.start.value.data
    for index, stride in zip(origin_of(ctx, op, ctx.iterations), strides, strict=True):
        start = emit.add(start, emit.mul(index, stride))
    own = threadblock.shape_of(op.result)
    steps = _steps(own, shape, strides)
    row, column = ctx.at(layout, (0, 0))
    found: list[SSAValue] = []
    for place in layout.offsets:
        distance = 0
        if steps is None:
            row, column = ctx.at(layout, place)
        else:
            distance = place[0] * steps[0] + place[1] * steps[1]
        number = start
        for index, stride in zip(ctx.indices(shape, row, column, own), strides, strict=True):
            number = emit.add(number, emit.mul(index, stride))
        found.append(_plus(ctx, number, distance))
    return found


def _steps(
    own: tuple[int, ...], shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, int] | None:
    """By how much an index grows from row to row and from column to column; None if unevenly."""
    leading = [dim for dim, size in enumerate(shape[:-1]) if size > 1]
    if len(leading) > 1:
        return None
    padded = [(1, 0)] * (len(shape) - len(own)) + [*zip(own, strides, strict=True)]
    moved = [stride if size > 1 else 0 for size, stride in padded]
    return moved[leading[0]] if leading else 0, moved[-1]


def _plus(ctx: KernelContext, number: Index, distance: int) -> SSAValue:
    """A whole number and a constant distance, as their sum in f32."""
    emit = ctx.emit
    if isinstance(number, int):
        return emit.f32(float(number + distance))
    base = emit.result(arith.UIToFPOp(number, f32))
    if distance == 0:
        return base
    return emit.pure(arith.AddfOp, base, emit.f32(float(distance)))
