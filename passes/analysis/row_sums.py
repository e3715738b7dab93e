"""Rows that lie over the blocks of a cluster, and what these keep while they wait for sums."""

from math import prod

from xdsl.ir import Operation

from mirage_mlir.decisions.registers import MEETING_THREADS
from mirage_mlir.decisions.threads import COMPUTED_BYTES, WAITING_BYTES
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.analysis.copy_shapes import aligned_shape, may_be_windowed
from mirage_mlir.passes.analysis.dependences import leading_to
from mirage_mlir.passes.analysis.tile_attributes import (
    WIDEST_RUN_BYTES,
    item_bytes,
    stores_apart,
    summed_axes,
    sums_across,
)
from mirage_mlir.targets.target import Target

KEPT_SHARE = 2
"""Blocks on a multiprocessor for which rows in shared memory leave room: one loads while another
waits for its cluster."""


def finds_rows_together(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether a row lies over the blocks of a cluster, without a loop, and each of them stores a part.

    All of these blocks need whole sums of the rows, and much of what they have loaded again.
    """
    return not graph.loop_sizes and bool(summed_axes(graph)) and stores_apart(graph)


def waiting_bytes(graph: kernel.GraphDefinedOp) -> int:
    """
    The bytes that a block keeps while it waits for sums of rows with others; 0 where it does not.

    They are those of its largest loaded tile, or of all that it computes for the sums and needs
    behind them, in f32.
    """
    if not finds_rows_together(graph):
        return 0
    ops = list(graph.body.block.ops)
    sums: set[Operation] = {*sums_across(graph)}
    before = {*leading_to(ops, sums)}
    loaded, computed = 0, 0
    for op in ops:
        size = sum(prod(threadblock.shape_of(result)) for result in op.results)
        if isinstance(op, threadblock.LoadOp):
            loaded = max(loaded, size * item_bytes(op.result))
        elif op in before - sums and is_used_outside(op, before):
            computed += size * COMPUTED_BYTES
    return max(loaded, computed)


def is_used_outside(op: Operation, ops: set[Operation]) -> bool:
    """Whether a result of `op` is used by others than `ops`."""
    return any(use.operation not in ops for result in op.results for use in result.uses)


def kept_rows(graph: kernel.GraphDefinedOp, target: Target) -> list[threadblock.LoadOp]:
    """
    The loads whose tiles wait in shared memory for sums of their rows over a cluster.

    In registers they would be f32, which takes more than a thread has of them for what waits
    (`WAITING_BYTES`) if they are f16. On an H200 RMSNorm of 512 rows of 65,536 took 39.1 us so in
    f16, 40.4 where threads read the rows again from L2; in f32 73.0 with registers, 80.7 so. Where
    all blocks run at once nothing has to make room: 64 rows took 7.9 us so, 7.6 from L2.
    """
    threads = graph.schedule.threads
    at_once = prod(graph.grid_sizes) * threads <= target.sm_count * MEETING_THREADS
    if at_once or not finds_rows_together(graph):
        return []
    ops = list(graph.body.block.ops)
    before = {*leading_to(ops, {*sums_across(graph)})}
    found = [
        op
        for op in ops
        if isinstance(op, threadblock.LoadOp)
        and op in before
        and is_used_outside(op, before)
        and aligned_shape(op).piece * item_bytes(op.result) >= WIDEST_RUN_BYTES
        and not may_be_windowed(op)
    ]
    elements = sum(prod(threadblock.shape_of(op.result)) for op in found)
    held = COMPUTED_BYTES * elements <= WAITING_BYTES * threads
    size = sum(prod(threadblock.shape_of(op.result)) * item_bytes(op.result) for op in found)
    return found if not held and KEPT_SHARE * size <= target.shared_memory_per_block else []
