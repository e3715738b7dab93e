"""
How often the banks of shared memory are asked, counted from the layouts alone.

Shared memory has 32 banks of 4 bytes. Of one instruction of a warp it serves 128 bytes at a time:
all lanes at once where each has up to 4 bytes, half of them where each has 8, a quarter where each
has 16 (or gives the address of 16, as for `ldmatrix`). Such a group takes as many passes as
different words of one bank are asked for; lanes that ask for the same word share it (CUDA C++
programming guide, "Shared memory" of compute capability 5.x, which later ones refer to).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.layouts.digits import Digit, without
from mirage_mlir.layouts.layout import (
    MMA_COLUMNS,
    MMA_DEPTH,
    MMA_ROWS,
    PIECE_BYTES,
    SWIZZLES,
    WARP_THREADS,
    RegisterLayout,
    SharedLayout,
    ceil_div,
    largest_power_of_two_divisor,
    power_of_two_at_least,
    round_up,
    swizzled_tile,
)

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]

MAX_COUNTED = 128
"""Instructions of warps that are looked at one by one, for each access of a thread's run."""

BANKS, WORD_BYTES = 32, 4
GROUP_BYTES = BANKS * WORD_BYTES


@dataclass(frozen=True)
class Traffic:
    """
    What some instructions of warps ask of shared memory.

    Args:
        instructions: of warps, those without an active lane left out.
        passes: of the banks.
        least: passes that as many lanes take where no bank is asked twice.
    """

    instructions: int = 0
    passes: int = 0
    least: int = 0

    @property
    def conflicts(self) -> int:
        """Passes more than the instructions need."""
        return self.passes - self.least

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(
            self.instructions + other.instructions,
            self.passes + other.passes,
            self.least + other.least,
        )

    def __mul__(self, times: int) -> "Traffic":
        return Traffic(self.instructions * times, self.passes * times, self.least * times)


def count(addresses: Array, size: int, active: Mask | None = None) -> Traffic:
    """
    The traffic of instructions that access `size` bytes in each lane.

    `addresses` are n x 32, in bytes; where not `active` a lane does nothing.
    """
    lanes = min(WARP_THREADS, GROUP_BYTES // size)
    if active is None:
        active = np.ones(addresses.shape, np.bool_)
    words = addresses.reshape(-1, lanes, 1) // WORD_BYTES
    words = words + np.arange(max(1, size // WORD_BYTES))
    groups = len(words)
    # Lanes that do nothing ask for no word: -1.
    asked = np.where(active.reshape(-1, lanes, 1), words, -1).reshape(groups, -1)
    asked = np.sort(asked, axis=1)
    fresh = asked >= 0
    fresh[:, 1:] &= asked[:, 1:] != asked[:, :-1]
    cells = np.arange(groups)[:, None] * BANKS + asked % BANKS
    found = np.bincount(cells[fresh], minlength=groups * BANKS).reshape(groups, BANKS)
    passes = found.max(axis=1, initial=0)
    least = -(-fresh.sum(axis=1) // BANKS)
    return Traffic(int(active.any(axis=1).sum()), int(passes.sum()), int(least.sum()))


# --- who accesses a tile


@dataclass(frozen=True)
class Spread:
    """
    Threads that read a tile into registers, or write it from there, with plain instructions.

    Args:
        layout: of the registers.
        shape: rows and columns of the tile that they are a spread of.
        broadcast: whether the tile in memory has one row, and one column, for all of these.
        writes: whether they write; then one of several threads with an element does.
        start: row and column of the tile in memory where it begins.
        lacks: a digit of the row number that rows of the tile in memory have not.
    """

    layout: RegisterLayout
    shape: tuple[int, int]
    broadcast: tuple[bool, bool] = (False, False)
    writes: bool = False
    start: tuple[int, int] = (0, 0)
    lacks: Digit | None = None

    def traffic(self, shared: SharedLayout, item: int) -> Traffic:
        """What one such access of a whole tile asks for."""
        if (own := self.own) is not None:
            return own.traffic(shared, item)
        if self.down:
            return self.exchanged.traffic(shared.transposed(), item)
        width = self.width
        together = self._together(shared, width, item)
        step = 1 if self.broadcast[1] else together
        rows, columns, active = self.places
        pieces = np.arange(0, 1 if self.broadcast[1] else width, step)[:, None, None]
        at = shared.offset(rows + self.start[0], columns + self.start[1] + pieces, item)
        active = np.broadcast_to(active, at.shape)
        lanes = (-1, WARP_THREADS)
        total = count((at * item).reshape(lanes), step * item, active.reshape(lanes))
        total *= self.repeats
        return total * shared.copies if not self.writes else total

    def _together(self, shared: SharedLayout, width: int, item: int) -> int:
        """Neighbouring columns that one access takes: aligned ones."""
        if shared.column != 1:
            return 1
        aligned = gcd(width, shared.row, self.start[1] or width)
        if shared.copies > 1:
            aligned = gcd(aligned, shared.size)
        return largest_power_of_two_divisor(aligned, PIECE_BYTES // item)

    @property
    def own(self) -> "Spread | None":
        """
        The same of the tile in memory, of which a thread reads once what it has again along the
        digit that this one `lacks`; None where the layout does not keep that.
        """
        if self.lacks is None:
            return None
        (rows, columns), (step, size) = self.shape, self.lacks
        # Nothing lies above the highest digit: there may be more threads than it has values.
        most = power_of_two_at_least(size) if step * size == rows else size
        layout = without(self.layout, Digit(step, most))
        return None if layout is None else Spread(layout, (rows // size, columns))

    @property
    def down(self) -> bool:
        """Whether a thread reads neighbouring rows at once, and not columns."""
        return not self.writes and self.layout.down > 1

    @property
    def exchanged(self) -> "Spread":
        """The same seen with rows and columns exchanged."""
        (rows, columns), (same_rows, same_columns), (row, column) = (
            self.shape,
            self.broadcast,
            self.start,
        )
        layout, same = self.layout.transposed(), (same_columns, same_rows)
        return Spread(layout, (columns, rows), same, self.writes, (column, row))

    @property
    def width(self) -> int:
        """Neighbouring columns that a thread has; of those that it reads all exist, or none."""
        return self.layout.vector if self.writes else gcd(self.layout.vector, self.shape[1])

    @property
    def repeats(self) -> int:
        """
        How often all slots are as many as `places` has.

        Slots are a few steps repeated: of a large tile the first ones stand for all.
        """
        warps = ceil_div(self.layout.size, WARP_THREADS)
        slots = ceil_div(len(self.layout.offsets), self.width)
        most = max(1, MAX_COUNTED // warps)
        return next(n for n in range(1, slots + 1) if slots % n == 0 and slots // n <= most)

    @cached_property
    def places(self) -> tuple[Array, Array, Mask]:
        """Row, column and whether there is work, for each slot and warp, and each lane."""
        layout, width = self.layout, self.width
        threads = np.arange(max(layout.size, WARP_THREADS))
        row, column = np.zeros_like(threads), np.zeros_like(threads)
        for bit, (down, across) in enumerate(layout.threads):
            row += (threads >> bit & 1) * down
            column += (threads >> bit & 1) * across
        idle = sum(1 << bit for bit in layout.replica_bits) if self.writes else 0
        first = (threads & idle) == 0
        slots = np.array(layout.offsets[::width], np.int64).reshape(-1, 2)
        slots = slots[: len(slots) // self.repeats]
        rows = (slots[:, :1] + row).reshape(-1, WARP_THREADS)
        columns = (slots[:, 1:] + column).reshape(-1, WARP_THREADS)
        inside = (rows < self.shape[0]) & (columns < self.shape[1])
        active = np.broadcast_to(first, (len(slots), len(threads))).reshape(-1, WARP_THREADS)
        if self.writes:
            return rows, columns, active & inside
        rows = np.minimum(rows, self.shape[0] - 1)
        columns = np.minimum(columns, self.shape[1] - width)
        rows = rows * 0 if self.broadcast[0] else rows
        columns = columns * 0 if self.broadcast[1] else columns
        return rows, columns, active


@dataclass(frozen=True)
class Fragments:
    """
    Warps that read a side of a matmul for `mma.sync`.

    Args:
        sizes: rows, columns and depth of the matmul.
        warps: along each of them.
        right: whether they read the right side.
    """

    sizes: tuple[int, int, int]
    warps: tuple[int, int, int]
    right: bool

    def traffic(self, shared: SharedLayout, item: int) -> Traffic:
        """What one such reading of a whole tile asks for."""
        rows, columns = self._halves(shared) if item == 2 else self._words()
        at = shared.offset(rows, columns, item)
        size = PIECE_BYTES if item == 2 else WORD_BYTES
        others = self.warps[0] if self.right else self.warps[1]
        return count(at * item, size) * others

    def _starts(self) -> tuple[Array, Array]:
        """Where the fragments of all warps start, those that read the same left out."""
        rows, columns, depth = self.sizes
        down, across, deep = self.warps
        steps = ceil_div(ceil_div(depth, MMA_DEPTH), deep)
        depths = [MMA_DEPTH * (warp * steps + i) for warp in range(deep) for i in range(steps)]
        if self.right:
            tiles = ceil_div(ceil_div(columns, MMA_COLUMNS), across)
            sides = [
                MMA_COLUMNS * (warp * tiles + i)
                for warp in range(across)
                for i in range(0, tiles, 2)
            ]
        else:
            tiles = ceil_div(ceil_div(rows, MMA_ROWS), down)
            sides = [MMA_ROWS * (warp * tiles + i) for warp in range(down) for i in range(tiles)]
        starts = np.array(list(product(sides, depths)), np.int64).reshape(-1, 2)
        return starts[:, :1], starts[:, 1:]

    def _halves(self, shared: SharedLayout) -> tuple[Array, Array]:
        """Rows and columns that the lanes give to `ldmatrix`."""
        side, depth = self._starts()
        lane = np.arange(WARP_THREADS)
        inner, third, fourth = lane & 7, lane >> 3 & 1, lane >> 4
        extent = self.sizes[1] if self.right else self.sizes[0]
        if self.right == (shared.column == 1):
            # Runs along the side: `ldmatrix` transposes.
            start, down = (8 * fourth, lane & 15) if self.right else (8 * third, inner + 8 * fourth)
            side, depth = np.minimum(side + start, round_up(extent, 8) - 8), depth + down
        elif self.right:
            side = np.minimum(side + inner + 8 * fourth, extent - 1)
            depth = depth + 8 * third
        else:
            side = np.minimum(side + (lane & 15), extent - 1)
            depth = depth + 8 * fourth
        return (depth, side) if self.right else (side, depth)

    def _words(self) -> tuple[Array, Array]:
        """Rows and columns that the lanes read one by one, of f32."""
        side, depth = self._starts()
        lane = np.arange(WARP_THREADS)
        extent = self.sizes[1] if self.right else self.sizes[0]
        sides = [np.minimum(side + more + (lane >> 2), extent - 1) for more in (0, 8)]
        depths = [depth + more + (lane & 3) for more in (0, 4, 8, 12)]
        places = [np.broadcast_arrays(s, d) for s, d in product(sides, depths)]
        side = np.concatenate([place[0] for place in places])
        depth = np.concatenate([place[1] for place in places])
        return (depth, side) if self.right else (side, depth)


@dataclass(frozen=True)
class CopiedPieces:
    """
    Threads that copy a tile to shared memory, each a piece of its run at a time.

    Args:
        lines, run: of the tile, in elements.
        piece: elements.
        across: whether single elements are copied across its lines, and not along them.
    """

    lines: int
    run: int
    piece: int
    across: bool = False

    def traffic(self, shared: SharedLayout, item: int) -> Traffic:
        """What one copy of a whole tile asks for."""
        pieces = self.run // self.piece
        number = np.arange(round_up(self.lines * pieces, WARP_THREADS))
        active = number < self.lines * pieces
        number = np.minimum(number, self.lines * pieces - 1)
        at, line = divmod(number, self.lines) if self.across else divmod(number, pieces)[::-1]
        at = at * self.piece
        rows, columns = (line, at) if shared.column == 1 else (at, line)
        places = shared.offset(rows, columns, item).reshape(-1, WARP_THREADS)
        return count(places * item, self.piece * item, active.reshape(-1, WARP_THREADS))


@dataclass(frozen=True)
class Boxes:
    """
    A tile that tensor copies write, one line of a panel at a time.

    The engine is taken to need a cycle for each line, as the banks do for 128 bytes.

    Args:
        lines, run: of the tile, in elements.
    """

    lines: int
    run: int

    def traffic(self, shared: SharedLayout, item: int) -> Traffic:
        """What one copy of a whole tile asks for."""
        panel = shared.swizzle or GROUP_BYTES
        panels = ceil_div(self.run * item, panel)
        least = ceil_div(self.run * item, GROUP_BYTES)
        return Traffic(passes=self.lines * panels, least=self.lines * least)


Access = Spread | Fragments | CopiedPieces | Boxes


@lru_cache(maxsize=4096)
def traffic(access: Access, shared: SharedLayout, item: int, transposed: bool = False) -> Traffic:
    """
    What one such access of a tile of elements of `item` bytes asks for.

    With `transposed` who accesses it sees rows and columns exchanged.
    """
    return access.traffic(shared.transposed() if transposed else shared, item)


PADDINGS = (0, 4, 16, 32)
"""Bytes after each line: 4 shifts the next by a bank, 16 by a piece, 32 by eight f32."""


def candidates(
    room: tuple[int, int],
    item: int,
    *,
    columns_first: bool = False,
    unit: int = PIECE_BYTES,
    copies: int = 1,
) -> Iterator[SharedLayout]:
    """
    Layouts of a tile with `room` rows and columns: swizzled ones, then those with padding.

    Distances between lines are multiples of `unit` bytes: of 16 where pieces of 16 bytes must be
    whole.
    """
    rows, columns = room
    lines, run = (columns, rows) if columns_first else room
    for swizzle in SWIZZLES:
        if lines > 1 and run * item > swizzle // 2:
            yield swizzled_tile(
                rows, columns, item, swizzle, columns_first=columns_first, copies=copies
            )
    for padding in PADDINGS if lines > 1 else (0,):
        if padding % unit == 0:
            pitch = round_up(run * item, unit) // item + padding // item
            row, column = (1, pitch) if columns_first else (pitch, 1)
            yield SharedLayout(row, column, lines * pitch, copies)
