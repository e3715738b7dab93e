"""Copies of tiles from device memory to shared memory, asynchronous where alignment allows."""

from dataclasses import dataclass
from math import gcd, prod

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.graph.layout import largest_power_of_two_divisor
from mirage_mlir.passes.lowering.access import WIDEST_ACCESS
from mirage_mlir.passes.lowering.addresses import shared_offset
from mirage_mlir.passes.lowering.context import KernelContext, shared_layout
from mirage_mlir.passes.lowering.emitter import Index, byte_width
from mirage_mlir.passes.lowering.views import view_of

NARROWEST_COPY = 4
"""Bytes below which `cp.async` has no form (PTX ISA, cp.async: 4, 8 or 16)."""


@dataclass(frozen=True)
class CopyShape:
    """
    A tile cut into pieces of neighbours.

    Args:
        lines, run: the tile, with neighbours along the run.
        piece: elements that one thread moves at once.
        columns: whether the run goes along the tile's columns (else its rows).
    """

    lines: int
    run: int
    piece: int
    columns: bool

    @property
    def pieces(self) -> int:
        """Pieces in one line."""
        return self.run // self.piece


def copy_shape(op: threadblock.LoadOp) -> CopyShape:
    """The widest pieces that the strides of the tensor and the tile's cuts allow."""
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    layout = shared_layout(op.result)
    columns = layout.column == 1
    run_dim = len(shape) - (1 if columns else 2)
    run, lines = shape[run_dim], prod(shape) // shape[run_dim]
    item = byte_width(kernel.tensor_type(view.root).element_type)
    if view.strides[run_dim] != 1 and run > 1:
        return CopyShape(lines, run, 1, columns)
    pitch = layout.row if columns else layout.column
    common = gcd(run, view.shape[run_dim], view.offset, pitch, WIDEST_ACCESS // item)
    for dim, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if dim != run_dim and size > 1:
            common = gcd(common, stride)
    widest = WIDEST_ACCESS // item
    return CopyShape(lines, run, largest_power_of_two_divisor(common, widest), columns)


def copy_to_shared(
    ctx: KernelContext, op: threadblock.LoadOp, turns: list[Index], slot: Index
) -> None:
    """Start the copy of a tile of the given turn into buffer `slot`."""
    emit, shape = ctx.emit, copy_shape(op)
    emit.location = op.location
    source = ctx.tile_pointer(op, turns)
    target = ctx.shared_pointer(op.result, slot)
    total = shape.lines * shape.pieces
    for first in range(0, total, ctx.threads):
        number = emit.add(ctx.thread, first)
        full = first + ctx.threads <= total
        with emit.when(full or emit.less(number, total)):
            line = emit.div(number, shape.pieces)
            start = emit.mul(emit.rem(number, shape.pieces), shape.piece)
            row, column = (line, start) if shape.columns else (start, line)
            copy_piece(ctx, op, turns, (row, column), shape.piece, source, target)


def copy_piece(
    ctx: KernelContext,
    op: threadblock.LoadOp,
    turns: list[Index],
    place: tuple[Index, Index],
    piece: int,
    source: SSAValue,
    target: SSAValue,
) -> None:
    """Copy `piece` neighbours from (row, column); zeros where they lie past the tensor's edge."""
    emit, view = ctx.emit, ctx.view(op)
    shape, layout = threadblock.shape_of(op.result), shared_layout(op.result)
    element = threadblock.tile_type(op.result).element_type
    indices = [*ctx.unravel(place[0], shape[:-1]), place[1]]
    valid = emit.all(
        [
            emit.less(index, extent.limit)
            for index, extent in zip(indices, ctx.load_extents(op, turns), strict=True)
            if extent
        ]
    )
    offset: Index = 0
    for index, stride in zip(indices, view.strides, strict=True):
        offset = emit.add(offset, emit.mul(index, stride))
    pointer = emit.pointer(source, emit.pick(valid, offset, 0), element)
    to = shared_offset(ctx, layout, byte_width(element), *place)
    destination = emit.pointer(target, to, element)
    width = piece * byte_width(element)
    if width >= NARROWEST_COPY:
        size = None if valid is True else emit.i32(emit.pick(valid, width, 0))
        cache = "cg" if width == WIDEST_ACCESS else "ca"
        emit.insert(nvvm.CpAsyncSharedGlobalOp(destination, pointer, width, cache, size))
        return
    with emit.when(valid):
        emit.store(destination, emit.load(pointer, element, piece))
    if valid is not True:
        with emit.when(emit.negate(valid)):
            emit.store(destination, [emit.zero(element)] * piece)
