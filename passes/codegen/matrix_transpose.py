"""
Matrix transposes: results of matmuls with swapped operands, for wider stores to device memory.

Such a matmul computes the transpose of its tile: each lane holds two neighbours along a column, and
would store 2 bytes at a time. `movmatrix` transposes matrices of 8 by 8, so that lanes hold
neighbours along rows. Two lanes then exchange halves of two matrices that stand side by side: each
stores 8 bytes, and four lanes a whole sector of 32.
"""

from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.nvvm_device import transposed_matrix
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.codegen.access import global_width
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.fragments import as_word, packed, unpacked
from mirage_mlir.passes.codegen.reduction import exchange

LANE_BITS = ((2, 0), (4, 0), (0, 1), (0, 2), (0, 4))
"""The steps of the bits of the lane, in rows and columns, in the result of such a matmul."""

PAIR, SIDE_BY_SIDE = (2, 1, 0), (2, 0, 8)
"""The innermost loops over its registers: neighbours along a column, two matrices along a row."""

FEWEST_SLOTS = 32
"""Elements of a thread below which they are stored as they are: the exchanges would take longer."""


def with_runs_along_rows(
    ctx: KernelContext, op: threadblock.StoreOp, slots: list[SSAValue], layout: RegisterLayout
) -> tuple[list[SSAValue], RegisterLayout]:
    """The same tile with runs of 4 columns in each lane where that widens stores."""
    kind = slots[0].type
    found = layout.slots[-2:] == (SIDE_BY_SIDE, PAIR) and layout.threads[:5] == LANE_BITS
    if not found or byte_width(kind) != 2 or len(slots) < FEWEST_SLOTS:
        return slots, layout
    if global_width(ctx, op, 4) < 4:
        return slots, layout
    emit, wide = ctx.emit, list[SSAValue]()
    words = [as_word(emit, packed(ctx, slots[n : n + 2])) for n in range(0, len(slots), 2)]
    transposed = [emit.result(transposed_matrix(word)) for word in words]
    odd = emit.negate(emit.equal(emit.bits(ctx.lane, 1), 0))
    for here, there in zip(transposed[::2], transposed[1::2], strict=True):
        come = exchange(ctx, emit.select(odd, here, there), 1)
        wide += unpacked(emit, [emit.select(odd, come, here), emit.select(odd, there, come)], kind)
    threads = ((0, 8), (0, 4), (1, 0), (2, 0), (4, 0), *layout.threads[5:])
    return wide, RegisterLayout(threads, (*layout.slots[:-2], (4, 0, 1)), layout.parts)
