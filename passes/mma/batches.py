"""
Batches: matmuls of few rows with the same right operand, which warpgroups compute as one.

A swapped `wgmma` has columns of the right operand as its rows (64), and rows of the left operand as
its columns (a multiple of 8). Its time depends on what it reads of the right operand, hardly on the
number of its columns. So left operands that threads write share a buffer, each from a multiple of 8
lines on, and one instruction multiplies all of them.
"""

from xdsl.ir import SSAValue

from mirage_mlir.decisions.wgmma import FEWER_SUMS, MAX_COLUMNS
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.passes.analysis.accumulators import accumulators, batch_lines
from mirage_mlir.passes.analysis.tile_attributes import adds_into, matmul_sizes, uses_wgmma
from mirage_mlir.passes.mma.chains import Warps


def batch_matmuls(graph: kernel.GraphDefinedOp) -> None:
    """Batch the matmuls with the same right operand, split and depth, where they can be."""
    found: dict[tuple[SSAValue, Warps, int], list[threadblock.MatmulOp]] = {}
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.MatmulOp) and can_be_batched(op):
            key = (op.rhs, op.warp_counts, matmul_sizes(op)[2])
            found.setdefault(key, []).append(op)
    number = 0
    for ops in found.values():
        columns = sum(batch_lines(op) for op in ops)
        slots = sum(len(accumulators(op).offsets) for op in ops)
        if len(ops) == 1 or columns > MAX_COLUMNS or slots > FEWER_SUMS:
            continue
        start = 0
        for op in ops:
            op.batched = i64_array([number, start])
            start += batch_lines(op)
        number += 1


def can_be_batched(op: threadblock.MatmulOp) -> bool:
    """Whether threads write the left operand of a swapped matmul of the loop, its only user."""
    if not uses_wgmma(op) or op.swapped is None or not adds_into(op.result):
        return False
    (use,) = op.result.uses
    alone = len(list(op.lhs.uses)) == 1 and len(use.operation.operands) == 1
    written = isinstance(op.lhs.owner, thread.GraphOp | threadblock.MatmulOp)
    return alone and written and op.warp_counts[0] == 1
