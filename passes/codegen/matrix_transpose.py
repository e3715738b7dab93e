"""
Matrix transposes: results of matmuls with swapped operands, for wider access to device memory.

Such a matmul computes the transpose of its tile: each lane holds two neighbours along a column, and
would store 2 bytes at a time. `movmatrix` transposes matrices of 8 by 8, so that lanes hold
neighbours along rows. Two lanes then exchange halves of two matrices that stand side by side: each
stores 8 bytes, and four lanes a whole sector of 32. What is added to such a result, such as a
residual, is read that way, and brought to the lanes the other way round.
"""

from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import GlobalAttr, layout_of
from mirage_mlir.dialects.nvvm_device import transposed_matrix
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.access_widths import aligned_run
from mirage_mlir.passes.codegen.access import fetch, global_width
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition
from mirage_mlir.passes.codegen.fragments import as_word, packed, unpacked
from mirage_mlir.passes.codegen.single_elements import exchange

LANE_BITS = ((2, 0), (4, 0), (0, 1), (0, 2), (0, 4))
"""The steps of the bits of the lane, in rows and columns, in the result of such a matmul."""

PAIR, SIDE_BY_SIDE = (2, 1, 0), (2, 0, 8)
"""The innermost loops over its registers: neighbours along a column, two matrices along a row."""

FEWEST_SLOTS = 8
"""
Elements of a thread below which they are stored as they are: nothing is gained.

Stores of 2 bytes write half a sector at a time, which L2 takes badly: two results of 1,024 by 256,
16 elements a thread, took 6.3 us on an H200, and 3.9 so; a linear layer with a scaled residual of
20 elements 8.1, and 4.4. Of 52 kernels none took longer.
"""


def read_along_rows(
    ctx: KernelContext, value: SSAValue, layout: RegisterLayout, shape: tuple[int, ...]
) -> list[SSAValue] | None:
    """The slots of a tile that is read in place so; None where that widens no access."""
    load = value.owner
    if not isinstance(load, threadblock.LoadOp) or not isinstance(layout_of(value), GlobalAttr):
        return None
    kind = threadblock.tile_type(value).element_type
    whole = threadblock.shape_of(value) == shape and byte_width(kind) == 2
    if not whole or not _is_swapped(layout) or len(layout.offsets) < FEWEST_SLOTS:
        return None
    if aligned_run(ctx.view(load), shape, 4) < 4:
        return None
    emit, own = ctx.emit, list[SSAValue]()
    words = _words(ctx, fetch(ctx, value, _along_rows(layout), shape))
    odd = _is_odd(ctx)
    for pair in zip(words[::2], words[1::2], strict=True):
        both = _exchanged(ctx, odd, *pair)
        own += unpacked(emit, [emit.result(transposed_matrix(word)) for word in both], kind)
    return own


def _is_swapped(layout: RegisterLayout) -> bool:
    """Whether a layout is that of a matmul with swapped operands."""
    return layout.slots[-2:] == (SIDE_BY_SIDE, PAIR) and layout.threads[:5] == LANE_BITS


def _along_rows(layout: RegisterLayout) -> RegisterLayout:
    """The layout of the same elements in runs of 4 columns."""
    threads = ((0, 8), (0, 4), (1, 0), (2, 0), (4, 0), *layout.threads[5:])
    return RegisterLayout(threads, (*layout.slots[:-2], (4, 0, 1)), layout.parts)


def _words(ctx: KernelContext, slots: list[SSAValue]) -> list[SSAValue]:
    """Each two neighbours as one word."""
    return [as_word(ctx.emit, packed(ctx, slots[n : n + 2])) for n in range(0, len(slots), 2)]


def _is_odd(ctx: KernelContext) -> Condition:
    return ctx.emit.negate(ctx.emit.equal(ctx.emit.bits(ctx.lane, 1), 0))


def _exchanged(
    ctx: KernelContext, odd: Condition, left: SSAValue, right: SSAValue
) -> list[SSAValue]:
    """
    Both halves of one of two matrices, of each of which a lane and its neighbour have one half; and
    what they have of both, again, where that is done twice.
    """
    come = exchange(ctx, ctx.emit.select(odd, left, right), 1)
    return [ctx.emit.select(odd, come, left), ctx.emit.select(odd, right, come)]


def with_runs_along_rows(
    ctx: KernelContext, op: threadblock.StoreOp, slots: list[SSAValue], layout: RegisterLayout
) -> tuple[list[SSAValue], RegisterLayout]:
    """The same tile with runs of 4 columns in each lane where that widens stores."""
    kind = slots[0].type
    if not _is_swapped(layout) or byte_width(kind) != 2 or len(slots) < FEWEST_SLOTS:
        return slots, layout
    if global_width(ctx, op, 4) < 4:
        return slots, layout
    emit, wide = ctx.emit, list[SSAValue]()
    transposed = [emit.result(transposed_matrix(word)) for word in _words(ctx, slots)]
    odd = _is_odd(ctx)
    for pair in zip(transposed[::2], transposed[1::2], strict=True):
        wide += unpacked(emit, _exchanged(ctx, odd, *pair), kind)
    return wide, _along_rows(layout)
