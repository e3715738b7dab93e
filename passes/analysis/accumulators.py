"""Register layouts of matmul results, and of values computed from them elementwise."""

from xdsl.ir import SSAValue

from mirage_mlir.decisions.wgmma import COLUMN_STEP, wgmma_result
from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.layouts.layout import RegisterLayout, mma_result, round_up
from mirage_mlir.passes.analysis.tile_attributes import (
    broadcast_sides,
    matmul_sizes,
    uses_wgmma,
)

IN_MEMORY = threadblock.LoadOp | threadblock.TransposeOp | threadblock.ConcatOp
"""Operations whose results are never in registers."""


def accumulators(op: threadblock.MatmulOp) -> RegisterLayout:
    """The register layout of the result of `op`, after select-mma."""
    rows, columns, _ = matmul_sizes(op)
    if uses_wgmma(op):
        return wgmma_result(rows, columns, op.warp_counts, swapped=op.swapped is not None)
    return mma_result(rows, columns, op.warp_counts)


def batch_lines(op: threadblock.MatmulOp) -> int:
    """Lines of a batched matmul's left operand in shared memory, columns of the instruction."""
    return round_up(matmul_sizes(op)[0], COLUMN_STEP)


def left_fragments(op: threadblock.MatmulOp) -> RegisterLayout:
    """The register layout that the left operand of a chained `op` must have."""
    rows, _, depth = matmul_sizes(op)
    down, _, deep = op.warp_counts
    result = wgmma_result if uses_wgmma(op) else mma_result
    return result(rows, depth, (down, deep, 1))


def fragments_of(value: SSAValue) -> RegisterLayout | None:
    """
    The register layout of `value`, a matmul's result or a value computed from one elementwise.

    None for other tiles. Elementwise results have the layout of the first operand of their shape
    that is in registers as a whole.
    """
    op = value.owner
    if isinstance(op, threadblock.MatmulOp):
        return accumulators(op)
    if not isinstance(op, thread.GraphOp):
        return None
    shape = threadblock.shape_of(value)
    for operand in op.operands:
        same = broadcast_sides(threadblock.shape_of(operand), shape) == (False, False)
        if not same or isinstance(operand.owner, IN_MEMORY):
            continue
        found = fragments_of(operand)
        if found is None or found.partial == 1:
            return found
    return None
