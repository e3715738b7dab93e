"""
Copies of lines that start at no multiples of 16 bytes, by `cp.async` of 16 bytes nevertheless.

A line lies in aligned pieces of its tensor, its window. These are copied as they are. Readers start
where the line does in its first piece.
"""

from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import buffer_bytes
from mirage_mlir.passes.analysis.copy_shapes import element_bytes, is_line, window_pieces
from mirage_mlir.passes.codegen.addresses import place_of
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.copies import MAX_COPIES
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.tile_origins import origin_of


def line_start(ctx: KernelContext, op: threadblock.LoadOp) -> SSAValue:
    """
    The address in shared memory of the line that the present iteration reads.

    A line that does not exist starts somewhere, too: all of its window is zeros.
    """
    element = threadblock.tile_type(op.result).element_type
    piece = WIDEST_ACCESS // element_bytes(op)
    first = ctx.emit.bits(place_of(ctx, op, origin_of(ctx, op, ctx.iterations)), piece - 1)
    return ctx.emit.pointer(ctx.shared_pointer(op.result), first, element)


def copy_window(
    ctx: KernelContext, op: threadblock.LoadOp, iterations: list[Index], slot: Index
) -> None:
    """
    Start the copies of the window of a line of the given iteration into buffer `slot`.

    Nothing behind the tensor's end is read, nor anything of a line that does not exist: zeros are
    written there.
    """
    if not is_line(op) or window_pieces(op) * WIDEST_ACCESS > buffer_bytes(op):
        fail(op, f'has copy = "{threadblock.WINDOW_COPY}", and is not one whole line of its tensor')
    emit, item = ctx.emit, element_bytes(op)
    element = threadblock.tile_type(op.result).element_type
    piece, count = WIDEST_ACCESS // item, window_pieces(op)
    source, target = ctx.pointers[ctx.view(op).root], ctx.shared_pointer(op.result, slot)
    exists = emit.all(
        [emit.less(0, extent.limit) for extent in ctx.load_extents(op, iterations) if extent]
    )
    place = place_of(ctx, op, origin_of(ctx, op, iterations))
    start = emit.pick(exists, emit.sub(place, emit.bits(place, piece - 1)), 0)
    end = emit.pick(exists, prod(kernel.shape_of(ctx.view(op).root)), 0)

    def start_copy(number: Index, *, inside: bool) -> None:
        with emit.when(True if inside else emit.less(number, count)):
            first = emit.mul(number, piece)
            at = emit.add(start, first)
            left = emit.least(emit.sub(end, at), piece)
            size = emit.mul(emit.pick(emit.less(left, 0), 0, left), item)
            here = emit.pointer(source, at, element)
            there = emit.pointer(target, first, element)
            emit.insert(
                nvvm.CpAsyncSharedGlobalOp(there, here, WIDEST_ACCESS, "cg", emit.i32(size))
            )

    def iteration(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
        start_copy(emit.add(emit.mul(number, ctx.threads), ctx.thread), inside=False)
        return []

    rounds = ceil_div(count, ctx.threads)
    if rounds > MAX_COPIES:
        emit.loop(rounds, [], iteration)
        return
    for number in range(0, count, ctx.threads):
        start_copy(emit.add(ctx.thread, number), inside=number + ctx.threads <= count)
