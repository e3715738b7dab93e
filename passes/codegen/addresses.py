"""Addresses of elements of tiles in shared memory, and where tiles lie in their tensors."""

from collections.abc import Sequence

from mirage_mlir.dialects import threadblock
from mirage_mlir.layouts.layout import SWIZZLE_SHIFT, SWIZZLED_LINES, SharedLayout, swizzle_mask
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index


def shared_offset(
    ctx: KernelContext, layout: SharedLayout, item: int, row: Index, column: Index
) -> Index:
    """
    The offset of element (row, column) in a copy of a tile, in elements of `item` bytes.

    Emits what `SharedLayout.offset` computes.
    """
    emit = ctx.emit
    if not layout.swizzle:
        return emit.add(emit.mul(row, layout.row), emit.mul(column, layout.column))
    line, at = (row, column) if layout.column == 1 else (column, row)
    pitch, mask = layout.swizzle // item, swizzle_mask(layout.swizzle) // item
    start, inner = emit.mul(line, pitch), at
    panels: Index = 0
    if layout.size > layout.panel:
        panels, inner = emit.mul(emit.div(at, pitch), layout.panel), emit.rem(at, pitch)
        if layout.panel % (SWIZZLED_LINES * pitch):
            # Panels start at different lines of the swizzle pattern.
            plain = emit.add(panels, emit.add(start, inner))
            moved = emit.bits(emit.shift_right(plain, SWIZZLE_SHIFT), mask)
            return emit.exclusive_or(plain, moved)
    # The permutation of pieces depends on the line only, so all accesses to a line share it.
    moved = emit.bits(emit.shift_right(start, SWIZZLE_SHIFT), mask)
    return emit.add(panels, emit.add(start, emit.exclusive_or(inner, moved)))


def shared_place(
    ctx: KernelContext,
    layout: SharedLayout,
    item: int,
    place: tuple[Index, Index],
    plus: tuple[int, int],
) -> tuple[Index, int]:
    """
    The offset of the element `plus` rows and columns after `place`: a base and a constant.

    Neighbouring elements share the base.
    """
    if not layout.swizzle:
        constant = plus[0] * layout.row + plus[1] * layout.column
        return shared_offset(ctx, layout, item, *place), constant
    row, column = (ctx.emit.add(at, more) for at, more in zip(place, plus, strict=True))
    return shared_offset(ctx, layout, item, row, column), 0


def place_of(ctx: KernelContext, op: threadblock.LoadOp, origin: Sequence[Index]) -> Index:
    """Where a tile starts in its tensor, in elements; `origin` is where along each dimension."""
    view = ctx.view(op)
    place: Index = view.offset
    for index, stride in zip(origin, view.strides, strict=True):
        place = ctx.emit.add(place, ctx.emit.mul(index, stride))
    return place
