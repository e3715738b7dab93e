"""What a kernel asks L2 for before the kernel in front of it has ended."""

from collections.abc import Collection, Iterator
from math import prod

from xdsl.ir import BlockArgument, SSAValue

from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.dialects.layout import GlobalAttr, layout_of
from mirage_mlir.graph.layout import ceil_div
from mirage_mlir.graph.sectors import LINE_BYTES
from mirage_mlir.passes.lowering.context import KernelContext, is_staged
from mirage_mlir.passes.lowering.emitter import Index, byte_width
from mirage_mlir.passes.lowering.loads import turns_of
from mirage_mlir.passes.lowering.views import view_of

MOST_LINES = 16
"""Lines that a thread asks for: more than a multiprocessor can have on its way need no help."""


def prefetch_inputs(ctx: KernelContext, given: Collection[SSAValue]) -> None:
    """
    Have L2 fetch the tiles of the first turns, while the kernel in front still runs.

    That has no other effect, so it may be done even where that kernel writes them. What is `given`
    and goes to shared memory is loaded at once; what a kernel of this program wrote, L2 has.
    """
    left = MOST_LINES
    for op, turn in first_tiles(ctx):
        root = view_of(op.source).root
        loaded = root in given and not isinstance(layout_of(op.result), GlobalAttr)
        if loaded or not isinstance(root, BlockArgument):
            continue
        if (left := left - prefetch_tile(ctx, op, turn, left)) <= 0:
            return


def first_tiles(ctx: KernelContext) -> Iterator[tuple[threadblock.LoadOp, int]]:
    """The loads of a block in each turn whose tiles have buffers, turn after turn."""
    loads = [op for op in ctx.graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    turns = min(prod(ctx.graph.loop_sizes), max(1, ctx.stages))
    for turn in range(turns):
        yield from ((op, turn) for op in loads if turn == 0 or is_staged(op))


def prefetch_tile(ctx: KernelContext, op: threadblock.LoadOp, turn: int, most: int) -> int:
    """Ask for the lines of one tile, at most so many in each thread; returns how many it took."""
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
    turns = turns_of(ctx, turn)
    base, extents = ctx.tile_pointer(op, turns), ctx.load_extents(op, turns)
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
