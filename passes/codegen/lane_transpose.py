"""
Lane transposes: exchanges accumulators between lanes, for wider stores to device memory.

Four neighbouring lanes hold 8 columns of a row of a result, two each. If they stored them so, each
store of a warp would write 16 bytes of 8 rows, half a sector each. Four such tiles are transposed
instead, so that each lane has 8 columns of one tile: it stores 16 bytes, and four lanes 64 bytes.
Where there are but two, or rows are aligned to 8 bytes, two lanes exchange halves of two tiles:
each stores 8 bytes, and four lanes a sector. Two products of 64 by 64 in f16 took 4.4 us on an
H200, and 5.1 with half sectors.
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.codegen.access import global_width
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.fragments import as_word, packed, unpacked
from mirage_mlir.passes.codegen.single_elements import exchange

LANES = 4
"""Lanes that share 8 columns of a row."""

LANE_BITS = ((0, 2), (0, 4))
"""The steps of the two lowest bits of the lane in the layout of a result, in rows and columns."""


def gathered(
    ctx: KernelContext,
    op: threadblock.StoreOp,
    slots: list[SSAValue],
    layout: RegisterLayout,
) -> tuple[list[SSAValue], RegisterLayout]:
    """The same tile, transposed to runs of 8 or 4 columns in each lane where that widens stores."""
    if byte_width(slots[0].type) != 2:
        return slots, layout
    for together in (LANES, LANES // 2):
        wide = widened(layout, together)
        if wide is not None and global_width(ctx, op, wide.vector) >= wide.vector:
            return _exchanged(ctx, slots, layout, together), wide
    return slots, layout


def _exchanged(
    ctx: KernelContext, slots: list[SSAValue], layout: RegisterLayout, together: int
) -> list[SSAValue]:
    """The slots after so many tiles of 8 columns were transposed together."""
    emit, kind = ctx.emit, slots[0].type
    words = [as_word(emit, packed(ctx, slots[n : n + 2])) for n in range(0, len(slots), 2)]
    (tiles, _, _), (height, _, _) = layout.slots[-3:-1]
    found: list[SSAValue] = []
    # The index of a word: leading slots, then tiles of 8 columns, then the halves 8 rows apart.
    for before in range(0, len(words), tiles * height):
        for first in range(before, before + tiles * height, together * height):
            for row in range(height):
                own = words[first + row : first + together * height : height]
                found += unpacked(emit, transposed(ctx, own), kind)
    return found


def widened(layout: RegisterLayout, together: int = LANES) -> RegisterLayout | None:
    """
    The layout with two columns of each of so many tiles in each lane, side by side.

    None unless `layout` is that of an MMA, with so many tiles or a multiple.
    """
    if layout.threads[:2] != LANE_BITS or len(layout.slots) < 3:
        return None
    *before, tiles, rows, pair = layout.slots
    if tiles[1:] != (0, 8) or tiles[0] % together or rows[2] or pair != (2, 0, 1):
        return None
    bits = ((0, 8), (0, 16)) if together == LANES else ((0, 8), (0, 4))
    return RegisterLayout(
        (*bits, *layout.threads[2:]),
        (*before, (tiles[0] // together, 0, 8 * together), rows, (2 * together, 0, 1)),
        layout.parts,
    )


def transposed(ctx: KernelContext, words: Sequence[SSAValue]) -> list[SSAValue]:
    """Transpose words of as many lanes: word j of lane i becomes word i of lane j."""
    emit, found = ctx.emit, list(words)
    for bit in (1, 2)[: len(words).bit_length() - 1]:
        odd = emit.negate(emit.equal(emit.bits(ctx.lane, bit), 0))
        for low in (number for number in range(len(words)) if not number & bit):
            here, there = found[low], found[low | bit]
            come = exchange(ctx, emit.select(odd, here, there), bit)
            found[low] = emit.select(odd, come, here)
            found[low | bit] = emit.select(odd, there, come)
    return found
