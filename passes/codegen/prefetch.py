"""Prefetches tiles into L2, while the previous grid still runs."""

from collections.abc import Iterator, Sequence
from math import prod

from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.overlap import PrefetchTilesOp
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.layouts.sectors import LINE_BYTES
from mirage_mlir.passes.analysis.buffers import is_staged, loads_of_tiles
from mirage_mlir.passes.analysis.tile_attributes import cut_axes
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition, Index
from mirage_mlir.passes.codegen.loads import iterations_of


def prefetch(ctx: KernelContext, op: PrefetchTilesOp) -> None:
    """Prefetch tiles, iteration by iteration, until a thread has asked for its number of lines."""
    left = op.lines.value.data
    first = op.first_blocks
    runs = True if first is None else ctx.emit.less(ctx.blocks[0], first.value.data)
    with ctx.emit.when(runs):
        for load, iteration in tiles_of_iterations(ctx, loads_of_tiles(op)):
            with ctx.emit.when(asks_for_all(ctx, load)):
                left -= prefetch_tile(ctx, load, iteration, left)
            if left <= 0:
                return


def asks_for_all(ctx: KernelContext, op: threadblock.LoadOp) -> Condition:
    """
    Whether the block is the first of those that read the same tile, which prefetches it for all.

    When all blocks prefetched a weight of 8 KB, RMSNorm of 32,768 rows took 204 us on an H200
    instead of 128: L2 serves requests for one line one after the other.
    """
    cut = cut_axes(op)
    shared = [block for axis, block in enumerate(ctx.blocks) if axis not in cut]
    return ctx.emit.all([ctx.emit.equal(block, 0) for block in shared])


def tiles_of_iterations(
    ctx: KernelContext, loads: Sequence[threadblock.LoadOp]
) -> Iterator[tuple[threadblock.LoadOp, int]]:
    """The `loads` in each iteration whose tiles have buffers, iteration after iteration."""
    # Blocks with bounds of their own may have no second iteration.
    most = 1 if ctx.graph.bounds else prod(ctx.graph.loop_sizes)
    iterations = min(most, max(1, ctx.stages))
    for iteration in range(iterations):
        yield from ((op, iteration) for op in loads if iteration == 0 or is_staged(op))


def prefetch_tile(ctx: KernelContext, op: threadblock.LoadOp, iteration: int, most: int) -> int:
    """Prefetch at most `most` lines of a tile in each thread; returns how many it prefetched."""
    emit, view = ctx.emit, ctx.view(op)
    shape = threadblock.shape_of(op.result)
    run_dim = next((dim for dim in reversed(range(len(shape))) if view.strides[dim] == 1), None)
    if run_dim is None:
        return 0
    emit.location = op.location
    element = kernel.tensor_type(view.root).element_type
    piece = LINE_BYTES // byte_width(element)
    pieces = ceil_div(shape[run_dim], piece)
    sizes = tuple(pieces if dim == run_dim else size for dim, size in enumerate(shape))
    iterations = iterations_of(ctx, iteration)
    base, extents = ctx.tile_pointer(op, iterations), ctx.load_extents(op, iterations)
    total = prod(sizes)
    count = min(most, ceil_div(total, ctx.threads))
    for number in range(count):
        place = emit.add(ctx.thread, number * ctx.threads)
        indices = ctx.unravel(place, sizes)
        indices[run_dim] = emit.mul(indices[run_dim], piece)
        exists = [
            emit.less(index, extent.limit)
            for index, extent in zip(indices, extents, strict=True)
            if extent
        ]
        if (number + 1) * ctx.threads > total:
            exists.insert(0, emit.less(place, total))
        offset: Index = 0
        for index, stride in zip(indices, view.strides, strict=True):
            offset = emit.add(offset, emit.mul(index, stride))
        with emit.when(emit.all(exists)):
            emit.insert(nvvm.PrefetchOp(emit.pointer(base, offset, element)))
    return count
