"""
Lane transposes: exchanges accumulators between lanes, for wider stores to device memory.

Four neighbouring lanes hold 8 columns of a row of a result, two each. If they stored them so, each
store of a warp would write 16 bytes of 8 rows, half a sector each. Four such tiles are transposed
instead, so that each lane has 8 columns of one tile: it stores 16 bytes, and four lanes 64 bytes.
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.codegen.access import global_width
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.fragments import as_word, packed, unpacked
from mirage_mlir.passes.codegen.reduction import exchange

LANES = 4
"""Lanes that share 8 columns of a row, and the tiles of 8 columns that they transpose."""

LANE_BITS = ((0, 2), (0, 4))
"""The steps of the two lowest bits of the lane in the layout of a result, in rows and columns."""


def gathered(
    ctx: KernelContext,
    op: threadblock.StoreOp,
    slots: list[SSAValue],
    layout: RegisterLayout,
) -> tuple[list[SSAValue], RegisterLayout]:
    """The same tile, transposed to runs of 8 columns in each lane where that widens stores."""
    wide = widened(layout)
    run = WIDEST_ACCESS // byte_width(slots[0].type)
    if wide is None or wide.vector != run or global_width(ctx, op, run) < run:
        return slots, layout
    emit, kind = ctx.emit, slots[0].type
    words = [as_word(emit, packed(ctx, slots[n : n + 2])) for n in range(0, len(slots), 2)]
    (tiles, _, _), (height, _, _) = layout.slots[-3:-1]
    found: list[SSAValue] = []
    # The index of a word: leading slots, then tiles of 8 columns, then the halves 8 rows apart.
    for before in range(0, len(words), tiles * height):
        for first in range(before, before + tiles * height, LANES * height):
            for row in range(height):
                own = words[first + row : first + LANES * height : height]
                found += unpacked(emit, transposed(ctx, own), kind)
    return found, wide


def widened(layout: RegisterLayout) -> RegisterLayout | None:
    """The layout with 8 columns in each of four lanes; None unless `layout` is that of an MMA."""
    if layout.threads[:2] != LANE_BITS or len(layout.slots) < 3:
        return None
    *before, tiles, rows, pair = layout.slots
    if tiles[1:] != (0, 8) or tiles[0] % LANES or rows[2] or pair != (2, 0, 1):
        return None
    return RegisterLayout(
        ((0, 8), (0, 16), *layout.threads[2:]),
        (*before, (tiles[0] // LANES, 0, 8 * LANES), rows, (8, 0, 1)),
        layout.parts,
    )


def transposed(ctx: KernelContext, words: Sequence[SSAValue]) -> list[SSAValue]:
    """Transpose four words of four lanes: word j of lane i becomes word i of lane j."""
    emit, found = ctx.emit, list(words)
    for bit in (1, 2):
        odd = emit.negate(emit.equal(emit.bits(ctx.lane, bit), 0))
        for low in (number for number in range(LANES) if not number & bit):
            here, there = found[low], found[low | bit]
            come = exchange(ctx, emit.select(odd, here, there), bit)
            found[low] = emit.select(odd, come, here)
            found[low | bit] = emit.select(odd, there, come)
    return found
