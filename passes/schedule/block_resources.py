"""Shared memory, producer warps and registers that a schedule asks of a block."""

from math import prod

from xdsl.ir import Operation

from mirage_mlir.decisions.copies import are_fetched, fetched_words
from mirage_mlir.decisions.registers import (
    SUMS_OF_WARPS,
    producer_warps,
    registers_side_by_side,
    share_by_registers,
)
from mirage_mlir.decisions.schedule import Array
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import WARP_THREADS, round_up
from mirage_mlir.passes.analysis.buffers import (
    LARGEST_ALIGNMENT,
    buffer_bytes,
    buffer_count,
    is_staged,
    is_tensor_copy,
    staged_loads,
)
from mirage_mlir.passes.analysis.launch_groups import blocks_side_by_side
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import cut_axes, item_bytes, uses_wgmma
from mirage_mlir.passes.layouts.deliveries import room_for_parts
from mirage_mlir.passes.schedule.order import in_shared
from mirage_mlir.targets.target import Target

HALVES = 2
"""16-bit elements in a register."""


def iteration_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that one iteration of the loop loads."""
    return sum(map(buffer_bytes, staged_loads(graph)))


def fetched_loads(graph: kernel.GraphDefinedOp) -> list[threadblock.LoadOp]:
    """The loads of the loop whose tiles threads keep in registers for an iteration."""
    if prod(graph.loop_sizes) < 2:
        return []
    threads, ops = graph.schedule.threads, [*graph.body.block.ops]
    found = [op for op in staged_loads(graph) if op.is_realigned_copy]
    sizes = [prod(threadblock.shape_of(op.result)) * item_bytes(op.result) for op in found]
    words = sum(float(fetched_words(size, threads)) for size in sizes)
    sums = sum(prod(threadblock.shape_of(op.results[0])) for op in ops if is_kept(op))
    return found if are_fetched(words, sums / threads) else []


def is_kept(op: Operation) -> bool:
    """Whether threads keep the result of `op` in registers through an iteration, or all of them."""
    if isinstance(op, threadblock.AccumulateOp):
        return not isinstance(op.value.owner, threadblock.MatmulOp)
    return isinstance(op, threadblock.MatmulOp)


def unshared_bytes(graph: kernel.GraphDefinedOp) -> int:
    """
    Bytes from device memory of one iteration of a block.

    A tile that several blocks load comes from device memory once; each block counts its share.
    """
    total = 0
    for op in staged_loads(graph):
        cut = cut_axes(op)
        sharing = [n for axis, n in enumerate(graph.grid_sizes) if axis not in cut]
        total += buffer_bytes(op) // prod(sharing)
    return total


def follows_kernel(graph: kernel.GraphDefinedOp) -> bool:
    """Whether the loop loads what another kernel of the function writes."""
    loads = staged_loads(graph)
    roots = [view_of(op.source).root for op in loads]
    return any(isinstance(root.owner, kernel.GraphDefinedOp) for root in roots)


def other_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory of all other tiles while the loop runs, with their alignment."""
    stages = threadblock.stages(graph)
    # Other blocks may deliver as soon as they have come to the end of their loops.
    return room_for_parts(graph) + sum(
        buffer_count(op) * round_up(buffer_bytes(op), LARGEST_ALIGNMENT)
        for op in graph.body.block.ops
        if not isinstance(op, threadblock.TransposeOp)
        and any(in_shared(result) and stages[result] != Stage.POST for result in op.results)
        and not is_staged(op)
    )


def is_followed(graph: kernel.GraphDefinedOp) -> bool:
    """Whether another kernel follows: after the last one, the first one of the next call."""
    block = graph.parent_block()
    assert block is not None
    return any(isinstance(op, kernel.GraphDefinedOp) and op is not graph for op in block.ops)


def has_producer(graph: kernel.GraphDefinedOp, target: Target) -> bool:
    """Whether tensor copies, which one thread starts, fetch all tiles of the loop."""
    staged = staged_loads(graph)
    return target.has_tma and bool(staged) and all(map(is_tensor_copy, staged))


def producers_of(graph: kernel.GraphDefinedOp) -> int:
    """Warps that copy the tiles of the loop."""
    return int(producer_warps(graph.schedule.threads, sums_of(graph), deferred_words(graph)))


def producer_share(graph: kernel.GraphDefinedOp, target: Target) -> Array:
    """Blocks of a launch with producers that each multiprocessor gets."""
    share, threads = blocks_side_by_side(graph, target), graph.schedule.threads
    return share_by_registers(threads, producers_of(graph), sums_of(graph), share)


def launched_threads(graph: kernel.GraphDefinedOp, target: Target) -> int:
    """Threads of a block, with those of the warps that copy tiles."""
    producers = producers_of(graph) if has_producer(graph, target) else 0
    return graph.schedule.threads + producers * WARP_THREADS


def sums_of(graph: kernel.GraphDefinedOp) -> list[int]:
    """Accumulator registers of a thread for each matmul."""
    ops = graph.body.block.ops
    return [registers_for(op) for op in ops if isinstance(op, threadblock.MatmulOp)]


def register_limit(graph: kernel.GraphDefinedOp, target: Target) -> int:
    """The most registers of a thread of a kernel with producers; 0 where ptxas may choose."""
    threads, share = graph.schedule.threads, int(producer_share(graph, target))
    return int(registers_side_by_side(threads, producers_of(graph), sums_of(graph), share))


def deferred_words(graph: kernel.GraphDefinedOp) -> int:
    """
    Registers of a thread for the left operand of a matmul that may start one iteration later.

    It is one of two matmuls of warpgroups, computed from the other one's result in registers, and
    each of several warpgroups has rows of its own. On an H200 it gained nothing with one warpgroup
    (87 us, 32 heads of 64 and 2048 keys); groups that share rows were not timed.
    """
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if len(matmuls) != 2 or prod(graph.loop_sizes) < 2 or not all(map(uses_wgmma, matmuls)):
        return 0
    stages, second = threadblock.stages(graph), matmuls[1]
    if any(stages[op.result] is not Stage.LOOP for op in matmuls):
        return 0
    attribute, (down, *shared) = layout_of(second.lhs), second.warp_counts
    if second.chained is None or not isinstance(attribute, RegistersAttr):
        return 0
    if down == 1 or prod(shared) > 1:
        return 0
    return len(attribute.layout.offsets) // HALVES


def registers_for(op: threadblock.MatmulOp) -> int:
    """Accumulator registers of a thread for a matmul; with `mma.sync` also operand registers."""
    attribute = layout_of(op.result)
    if not uses_wgmma(op) or not isinstance(attribute, RegistersAttr):
        return SUMS_OF_WARPS
    return len(attribute.layout.offsets)
