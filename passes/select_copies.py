"""The `select-copies` pass."""

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from mirage_mlir.decisions.copies import NARROWEST_COPY, are_close
from mirage_mlir.decisions.multicast import sharing_blocks
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.dialects.threadblock_copies import EVICT_FIRST, EVICT_LAST
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.copy_shapes import (
    aligned_shape,
    may_be_realigned,
    may_be_windowed,
    walks,
)
from mirage_mlir.passes.analysis.row_sums import kept_rows
from mirage_mlir.passes.analysis.tensor_loads import boxes_of, partial_copies
from mirage_mlir.passes.analysis.tile_attributes import (
    cut_axes,
    item_bytes,
    summed_axes,
    tensor_bytes,
)
from mirage_mlir.passes.graph_pass import GraphPass
from mirage_mlir.passes.layouts.wgmma_operands import read_by_wgmma
from mirage_mlir.targets.target import Target
from mirage_mlir.targets.tensor_map import widest_swizzle


def goes_to_shared(op: threadblock.LoadOp, stages: dict[SSAValue, Stage]) -> bool:
    """Whether a tile is copied to shared memory: for MMAs, transposes, and uses in the loop."""
    users = [use.operation for use in op.result.uses]
    in_loop = any(stages[result] == Stage.LOOP for user in users for result in user.results)
    moved = (threadblock.MatmulOp, threadblock.TransposeOp)
    return is_staged(op) or in_loop or any(isinstance(user, moved) for user in users)


def select(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Select how the tile of each load of `graph` is copied; without a copy it is read in place."""
    stages, kept = threadblock.stages(graph), kept_rows(graph, target)
    loads = [
        op
        for op in graph.body.block.ops
        if isinstance(op, threadblock.LoadOp) and (op in kept or goes_to_shared(op, stages))
    ]
    staged = [op for op in loads if is_staged(op)]
    multiplies = any(isinstance(op, threadblock.MatmulOp) for op in graph.body.block.ops)
    boxed = [op for op in loads if target.has_tma and has_boxes(op, multiplies=multiplies)]
    # One thread starts all copies of an iteration, or all threads do.
    pipelined = bool(staged) and all(op in boxed for op in staged) and not walks(graph)
    for op in loads:
        op.multicast = None
        if pipelined and op in boxed:
            op.copy = StringAttr(threadblock.TENSOR_COPY)
        else:
            op.copy = StringAttr(copy_of_threads(op))
    if pipelined and target.has_multicast:
        share_loads(graph, staged)
    select_eviction_priorities(graph, target)


def has_boxes(op: threadblock.LoadOp, *, multiplies: bool) -> bool:
    """Whether tensor copies may fetch a tile, in a kernel that `multiplies` or not."""
    strides = [boxes.line_stride for boxes in boxes_of(op)]
    close = [each is not None and bool(are_close(each, multiplies=multiplies)) for each in strides]
    return not all(close)


def copy_of_threads(op: threadblock.LoadOp) -> str:
    """How all threads copy a tile."""
    if may_be_windowed(op):
        return threadblock.WINDOW_COPY
    if aligned_shape(op).piece * item_bytes(op.result) >= NARROWEST_COPY:
        return threadblock.ASYNC_COPY
    return threadblock.REALIGNED_COPY if may_be_realigned(op) else threadblock.THREAD_COPY


def select_eviction_priorities(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """
    Say when L2 evicts tiles that tensor copies fetch, that are read in place, or stored.

    A tile that tensor copies fetch for every block is evicted after others, one for a single block
    before others. Tiles that single blocks read in place are evicted after what blocks write, where
    the kernel moves more bytes than L2 holds: then results are written back early and in order. On
    an H200 RMSNorm of 32,768 rows of 4096 took 124.5 us instead of 130, of 8192 in f32 495 instead
    of 513, softmax of 1000 in f32 61.7 instead of 63.2.

    A loop that reads and writes whole rows copies them by all threads, which takes no priority:
    there L2 evicts what it stores last. The gradient of RMSNorm of 32,768 rows took 98.5 us instead
    of 103.3 (1024 columns in f32), 201.2 instead of 205.0 (4096 in f16), 778.6 instead of 789.4
    (8192 in f32); with twelve matmuls behind it that read 33 MB each, 913 instead of 920.
    """
    size = sum(map(tensor_bytes, (*graph.inputs, *graph.outputs)))
    exceeds_l2 = target.advises_l2 and size > target.l2_bytes
    axes = [axis for axis, blocks in enumerate(graph.grid_sizes) if blocks > 1]
    walking = exceeds_l2 and walks(graph)
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.StoreOp):
            op.eviction_priority = StringAttr(EVICT_LAST) if walking and op.in_loop else None
        if not isinstance(op, threadblock.LoadOp):
            continue
        cut = [axis in cut_axes(op) for axis in axes]
        op.eviction_priority = None
        if op.is_tensor_copy and cut and len({*cut}) == 1:
            op.eviction_priority = StringAttr(EVICT_FIRST if cut[0] else EVICT_LAST)
        elif op.copy is None and exceeds_l2 and len(cut_axes(op)) == len(graph.grid_sizes):
            op.eviction_priority = StringAttr(EVICT_LAST)


def share_loads(graph: kernel.GraphDefinedOp, loads: list[threadblock.LoadOp]) -> None:
    """Mark the `loads` that the blocks of a cluster share, where these do not share a sum."""
    if graph.cluster is None or summed_axes(graph):
        return
    for op in loads:
        parts = sharing_blocks(graph.cluster_sizes, cut_axes(op))
        if parts > 1 and may_be_shared(op, parts):
            op.multicast = i64_attr(parts)


def may_be_shared(op: threadblock.LoadOp, parts: int) -> bool:
    """Whether `parts` blocks can each copy a part of a tile, in a layout that its users allow."""
    possible = partial_copies(op, parts)
    if not read_by_wgmma(op.result):
        return bool(possible)
    run = threadblock.shape_of(op.result)[possible[0].axes[0]] if possible else 0
    widest = widest_swizzle(run, item_bytes(op.result))
    return any(boxes.swizzle == widest for boxes in possible)


@dataclass(frozen=True)
class SelectCopiesPass(GraphPass):
    """
    Select how each tile is copied from device memory to shared memory.

    Input (on an H200, in a loop):
        %t = threadblock.load %x grid_map [_] loop_map [1] : (...) -> !threadblock.tile<64x64xf16>

    Output:
        %t = threadblock.load %x grid_map [_] loop_map [1]
               {copy = "tensor", eviction_priority = "evict_last"} : (...)

    On a target that has tensor copies (TMA), these fetch the tiles of the loop if alignment allows
    it for all of them; then they fetch also each loop-invariant tile that alignment allows. Other
    tiles are copied by all threads: by `cp.async` (`copy = "async"`), or through registers where
    the tensor's strides and the tile's sides leave pieces of less than 4 bytes. If lines of the
    tile are whole pieces of 16 bytes, threads load such pieces from aligned addresses and shift
    them into place (`copy = "realigned"`); else they copy small ones (`copy = "threads"`). A tile
    that is one whole row is copied as the aligned pieces in which it lies (`copy = "window"`). A
    loop that reads and writes whole rows has its tiles copied by all threads, too, and so have rows
    that lie over a cluster and are read again behind their sums. A load
    without `copy` is read in place: its tile is read once, and by no MMA.

    All threads copy lines of 16 bytes next to each other, too, in a kernel without matmuls: tensor
    copies take long for each.

    Blocks along a grid axis that a tile does not depend on load the same tile. In a cluster of such
    blocks, which a graph has if it says so (`cluster [2, 1]`), each copies a part of the tile to
    all of them (`multicast = 2`).

    `eviction_priority` tells L2 to keep tiles that all blocks read, and to evict first those that
    only one block reads. In kernels that move more bytes than L2 holds, tiles read in place are
    evicted after results; in loops that read and write whole rows results are evicted last.

    Fails on a graph without threads, and on a module for another target.
    """

    name = "select-copies"

    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        if not graph.schedule.threads:
            fail(graph, "has no threads; run select-mma first")
        select(graph, target)
