"""
The layouts of warpgroup matmuls (`wgmma`): accumulators in registers, operands in shared memory.

A `wgmma` is computed by a warpgroup of four warps: 64 rows, a multiple of 8 columns up to 256, a
depth of 16 at a time. Source: PTX ISA 8.6, "Asynchronous warpgroup level matrix instructions",
sections "Register fragments" and "Shared memory matrix layout"; the canonical layouts are written
out in CUTLASS, `include/cute/arch/mma_sm90_desc.hpp`.
"""

from dataclasses import dataclass

from mirage_mlir.decisions.registers import (
    GROUP_WARPS,
    MAX_FRAGMENT_REGISTERS,
    most_registers,
    registers_of_consumers,
)
from mirage_mlir.layouts.layout import (
    SWIZZLED_LINES,
    WARP_THREADS,
    Position,
    RegisterLayout,
    SharedLayout,
    ceil_div,
)

WGMMA_ROWS, WGMMA_DEPTH = 64, 16

GROUP_THREADS = GROUP_WARPS * WARP_THREADS

GROUP_COUNTS = (1, 2, 4)
"""Warpgroups of a block whose matmuls are all in chains: 512 threads have 128 registers each."""

GROUPS_IN_FLIGHT = 2
"""Warpgroups that a multiprocessor needs: while one waits for its matmul, another computes."""

MAX_SUMS = 176
"""Of one matmul in a thread, which beside producers that give registers back has up to 232: 176
rows by 256 columns for two warpgroups. Addresses and what the epilogue works on need the rest."""

FEWER_SUMS = 128
"""The same in blocks of one warpgroup, and for the matmuls of a batch together: half of a thread's
registers; operands of other matmuls and elements of other tiles need the rest."""

OTHER_REGISTERS = 32
"""Of a thread, for other than the sums of a chain, where a large block leaves it fewer than 255: of
64 rows and 128 keys, with 96 sums, ptxas uses 126."""

COLUMN_STEP, MAX_COLUMNS = 8, 256
"""The columns of one matmul are a multiple of the first, and at most the second."""

ITEM_BYTES = 2
"""Of an element of both operands, f16 or bf16."""

LONGEST_LINE = 64
"""Elements of the longest line of a swizzled tile; those of others divide it."""

ADDRESS_UNIT = 16
"""Bytes in which descriptors count."""

ADDRESS_MASK = (1 << 14) - 1
"""Of a start address in a descriptor, in units."""

LEADING_SHIFT, STRIDE_SHIFT, SWIZZLE_SHIFT = 16, 32, 62
"""Where in a descriptor the distances and the kind of swizzle stand."""

SWIZZLE_KINDS = {128: 1, 64: 2, 32: 3}
"""How descriptors name swizzles, by bytes of a line."""

Groups = tuple[int, int, int]
"""Warpgroups along the rows, the columns and the depth of a matmul of tiles."""


def wgmma_result(
    rows: int, columns: int, groups: Groups, *, swapped: bool = False
) -> RegisterLayout:
    """
    The register layout of a tile's accumulators; with `swapped` the tile is computed transposed.

    The thread index consists of lane, warp, then warpgroups along columns, depth and rows, lowest
    first; each count is a power of two. Warpgroups along the depth hold partial sums.
    """
    down, across, deep = groups
    heights = (COLUMN_STEP, WGMMA_ROWS) if swapped else (WGMMA_ROWS, COLUMN_STEP)
    row_tiles = ceil_div(ceil_div(rows, heights[0]), down)
    column_tiles = ceil_div(ceil_div(columns, heights[1]), across)
    bits = [_turned((0, 2), swapped), _turned((0, 4), swapped)]
    bits += [_turned((row, 0), swapped) for row in (1, 2, 4, 16, 32)]
    bits += [(0, column_tiles * heights[1] << k) for k in range(across.bit_length() - 1)]
    parts = (deep - 1) << len(bits)
    bits += [(0, 0)] * (deep.bit_length() - 1)
    bits += [(row_tiles * heights[0] << k, 0) for k in range(down.bit_length() - 1)]
    tiles = [(row_tiles, heights[0], 0), (column_tiles, 0, heights[1])]
    inner = [(2, *_turned((8, 0), swapped)), (2, *_turned((0, 1), swapped))]
    # The instruction's rows are the outer loop, as its instructions return the columns of each.
    return RegisterLayout(tuple(bits), (*(reversed(tiles) if swapped else tiles), *inner), parts)


def _turned(place: Position, swapped: bool) -> Position:
    return (place[1], place[0]) if swapped else place


@dataclass(frozen=True)
class OperandTile:
    """
    An operand of a matmul in shared memory, as a `wgmma` descriptor describes it.

    Its two sides are the outer one (rows of the left operand, columns of the right one) and the
    depth. In shared memory neighbours lie along one of them, in lines of `swizzle` bytes; 8 lines
    are an atom, within which the swizzle permutes pieces of 16 bytes.

    Args:
        swizzle: bytes of a line.
        panel: elements from one panel of lines to the next.
        along_depth: whether neighbours lie along the depth.
    """

    swizzle: int
    panel: int
    along_depth: bool

    @property
    def pitch(self) -> int:
        """The elements of a line."""
        return self.swizzle // ITEM_BYTES

    @property
    def constant(self) -> int:
        """
        The descriptor of a tile at address 0.

        The leading distance is that between panels where neighbours lie along the outer side; else
        it is unused, as the depth of 16 of an instruction lies in one line. The stride is the
        distance between atoms.
        """
        leading = 1 if self.along_depth else self.panel * ITEM_BYTES // ADDRESS_UNIT
        stride = SWIZZLED_LINES * self.swizzle // ADDRESS_UNIT
        return (
            leading << LEADING_SHIFT
            | stride << STRIDE_SHIFT
            | SWIZZLE_KINDS[self.swizzle] << SWIZZLE_SHIFT
        )

    def start(self, outer: int, depth: int) -> int:
        """The elements, before the swizzle, from the start of the tile to a place in it."""
        line, at = (outer, depth) if self.along_depth else (depth, outer)
        return at // self.pitch * self.panel + line * self.pitch + at % self.pitch


def operand_tile(layout: SharedLayout, *, depth_along_columns: bool) -> OperandTile | None:
    """
    How `wgmma` reads a tile of 16-bit elements; None where it cannot.

    Args:
        layout: of the tile in shared memory.
        depth_along_columns: whether the depth is the tile's columns (of a left operand) or its
            rows (of a right one).
    """
    if layout.swizzle not in SWIZZLE_KINDS or not layout.whole:
        return None
    if layout.panel % (SWIZZLED_LINES * layout.swizzle // ITEM_BYTES):
        return None
    return OperandTile(layout.swizzle, layout.panel, (layout.column == 1) == depth_along_columns)


def registers_for_chain(groups: int, *, looped: bool) -> int:
    """
    The registers of a thread for the accumulators of a chain, in a block of so many warpgroups.

    Beside a loop (`looped`) there may be producer warps, which copy its tiles.
    """
    registers = registers_of_consumers if looped else most_registers
    return min(MAX_FRAGMENT_REGISTERS, int(registers(groups * GROUP_THREADS)) - OTHER_REGISTERS)
