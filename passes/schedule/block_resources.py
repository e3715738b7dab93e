"""Shared memory, producer warps and registers that a schedule asks of a block."""

from math import prod

from mirage_mlir.decisions.schedule import MAX_REGISTERS, most_registers, producer_warps
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import WARP_THREADS, round_up
from mirage_mlir.passes.analysis.buffers import (
    LARGEST_ALIGNMENT,
    buffer_bytes,
    buffer_count,
    is_staged,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import cut_axes, uses_wgmma
from mirage_mlir.passes.schedule.order import in_shared

BESIDE_SUMS = 56
"""Registers of a thread for what is not a matmul's sum: with 96 sums and more to choose from,
ptxas uses 151 in all."""

FEWEST_BESIDE = 32
"""The same where ptxas has to find room: a chain of 64 sums assembles for 96 without spills."""


def iteration_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that one iteration of the loop loads."""
    return sum(buffer_bytes(op) for op in graph.body.block.ops if is_staged(op))


def unshared_bytes(graph: kernel.GraphDefinedOp) -> int:
    """
    Bytes that one iteration loads; of those that several blocks load, one block's share.

    Device memory is asked for what is shared once.
    """
    total = 0
    for op in graph.body.block.ops:
        if is_staged(op):
            cut = cut_axes(op)
            sharing = [n for axis, n in enumerate(graph.grid_sizes) if axis not in cut]
            total += buffer_bytes(op) // prod(sharing)
    return total


def follows_kernel(graph: kernel.GraphDefinedOp) -> bool:
    """Whether the loop loads what another kernel of the function writes."""
    loads = [op for op in graph.body.block.ops if is_staged(op)]
    roots = [view_of(op.source).root for op in loads]
    return any(isinstance(root.owner, kernel.GraphDefinedOp) for root in roots)


def other_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that other tiles take while the loop runs, in whole swizzles."""
    stages = threadblock.stages(graph)
    return sum(
        buffer_count(op) * round_up(buffer_bytes(op), LARGEST_ALIGNMENT)
        for op in graph.body.block.ops
        if not isinstance(op, threadblock.TransposeOp)
        and any(in_shared(result) and stages[result] != Stage.POST for result in op.results)
        and not is_staged(op)
    )


def is_followed(graph: kernel.GraphDefinedOp) -> bool:
    """Whether another kernel runs behind this one: behind the last the first of the next call."""
    block = graph.parent_block()
    assert block is not None
    return any(isinstance(op, kernel.GraphDefinedOp) and op is not graph for op in block.ops)


def producers_of(graph: kernel.GraphDefinedOp) -> int:
    """Warps that copy the tiles of the loop."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    needed = min(MAX_REGISTERS, BESIDE_SUMS + sum(map(registers_for, matmuls)))
    return producer_warps(graph.schedule.threads, needed)


def registers_side_by_side(graph: kernel.GraphDefinedOp, share: int) -> int:
    """The most of each thread with which so many blocks fit; 0 where that may not be enough."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    present = graph.schedule.threads + producers_of(graph) * WARP_THREADS
    limit = most_registers(share * present)
    fits = FEWEST_BESIDE + sum(map(registers_for, matmuls)) <= limit
    return limit if share > 1 and matmuls and fits else 0


def registers_for(op: threadblock.MatmulOp) -> int:
    """Registers of a thread for the sums of a matmul; single warps hold operands as well."""
    attribute = layout_of(op.result)
    if not uses_wgmma(op) or not isinstance(attribute, RegistersAttr):
        return MAX_REGISTERS - BESIDE_SUMS
    return len(attribute.layout.offsets)
