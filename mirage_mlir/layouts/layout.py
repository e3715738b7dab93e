"""
How the elements of a tile are spread over the threads of a block, and over shared memory.

A tile of any rank is seen as a matrix: its last dimension is the column, the dimensions before
it, in row-major order, are the row. A register layout is additive: the element that thread `t`
holds in slot `s` is the sum of what each set bit of `t` adds and of what `s` adds. Both the
fragments of `mma.sync` and plain blocked spreads have this form (compare the linear layouts of
Zhou et al., "Linear Layouts", 2025), so one code generator serves both.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Places = TypeVar("Places", int, NDArray[np.int64])
"""Indices of one element, or of many."""

Position = tuple[int, int]
"""Row and column, in elements."""

NEIGHBOURS: tuple[Position, ...] = ((0, 1), (1, 0))
"""Steps to the next element along the columns, and along the rows."""

WARP_THREADS = 32

LANE_BITS = 5
"""Bits of the thread index that tell the lanes of a warp apart."""

MMA_ROWS, MMA_COLUMNS, MMA_DEPTH = 16, 8, 16
"""Shape of one `mma.sync.m16n8k16` (PTX ISA, section "Matrix fragments for mma.m16n8k16")."""

PIECE_BYTES = 16
"""What a swizzle keeps whole, and one lane's run of `ldmatrix` and of the widest access."""

SWIZZLES = (128, 64, 32)
"""Bytes of a line that a swizzle permutes, widest first."""

SWIZZLED_LINES, SWIZZLE_SHIFT = 8, 3
"""After eight lines a swizzle repeats; the bits that change others lie three places above them."""


@dataclass(frozen=True)
class RegisterLayout:
    """
    A tile in registers.

    Args:
        threads: what each bit of the thread index adds, lowest bit first; `(0, 0)` for a bit
            along which the tile is replicated or partial.
        slots: loops over a thread's registers, outermost first: `(count, rows, columns)`, the
            steps of one iteration of the loop. A loop of one iteration says nothing and is dropped,
            but inside of a run of neighbours: there it keeps accesses to one element.
        parts: mask of the bits of the thread index along which each group of threads holds a part
            of a sum or maximum; 0 where each holds the whole value.
    """

    threads: tuple[Position, ...]
    slots: tuple[tuple[int, int, int], ...]
    parts: int = 0

    def __post_init__(self) -> None:
        kept = tuple(loop for loop in self.slots if loop[0] > 1)
        if self.slots and self.slots[-1][0] == 1 and kept and kept[-1][1:] in NEIGHBOURS:
            kept = (*kept, self.slots[-1])
        object.__setattr__(self, "slots", kept)

    @property
    def partial(self) -> int:
        """Number of thread groups that each hold a part (1: the whole value)."""
        return 1 << self.parts.bit_count()

    @property
    def part_bits(self) -> list[int]:
        """The bits of the thread index that say which part a thread holds."""
        return [bit for bit in range(len(self.threads)) if self.parts >> bit & 1]

    @property
    def replica_bits(self) -> list[int]:
        """The bits of the thread index along which threads hold the same."""
        return [
            bit
            for bit, step in enumerate(self.threads)
            if step == (0, 0) and not self.parts >> bit & 1
        ]

    @cached_property
    def offsets(self) -> tuple[Position, ...]:
        """What each slot adds to the thread's own position, in slot order."""
        iterations = product(*(range(count) for count, _, _ in self.slots))
        return tuple(
            (
                sum(i * rows for i, (_, rows, _) in zip(iteration, self.slots, strict=True)),
                sum(i * columns for i, (_, _, columns) in zip(iteration, self.slots, strict=True)),
            )
            for iteration in iterations
        )

    @property
    def vector(self) -> int:
        """Consecutive columns that consecutive slots hold: the widest access, in elements."""
        if self.slots and self.slots[-1][1:] == (0, 1):
            return self.slots[-1][0]
        return 1

    @property
    def down(self) -> int:
        """Consecutive rows that consecutive slots hold, of one column."""
        if self.slots and self.slots[-1][1:] == (1, 0):
            return self.slots[-1][0]
        return 1

    @property
    def run(self) -> int:
        """Slots of a run of neighbours, or of a block of neighbours on both sides."""
        last = self.slots[-2:]
        return max(1, prod(count for count, *step in last if tuple(step) in NEIGHBOURS))

    def ordered(self, step: Position) -> "RegisterLayout":
        """The same elements, those at distance `step` in consecutive slots, if there are any."""
        inner = [loop for loop in self.slots if loop[1:] == step]
        if len(inner) != 1 or self.slots[-1][0] == 1:
            return self
        others = tuple(loop for loop in self.slots if loop[1:] != step)
        return replace(self, slots=(*others, *inner))

    def places_of(self, other: "RegisterLayout") -> list[int]:
        """The slot here of each slot of `other`, a layout of the same elements in another order."""
        places = {place: slot for slot, place in enumerate(self.offsets)}
        return [places[place] for place in other.offsets]

    def transposed(self) -> "RegisterLayout":
        """The same threads and slots, rows and columns exchanged."""
        threads = tuple((column, row) for row, column in self.threads)
        slots = tuple((count, column, row) for count, row, column in self.slots)
        return RegisterLayout(threads, slots, self.parts)

    @property
    def size(self) -> int:
        """Threads that the layout addresses."""
        return 1 << len(self.threads)

    def position(self, thread: int) -> Position:
        """What the bits of `thread` add up to."""
        on = [p for bit, p in enumerate(self.threads) if thread >> bit & 1]
        return sum(row for row, _ in on), sum(column for _, column in on)

    def spans(self) -> tuple[int, int]:
        """Rows and columns that the layout addresses, those past the tile's edge included."""
        rows = 1 + sum(row for row, _ in self.threads)
        columns = 1 + sum(column for _, column in self.threads)
        rows += sum((count - 1) * row for count, row, _ in self.slots)
        columns += sum((count - 1) * column for count, _, column in self.slots)
        return rows, columns

    def folded(self, rows: bool, columns: bool) -> "RegisterLayout":
        """The layout of what is left once each thread has reduced its own rows or columns."""
        kept = [
            (count, row, column)
            for count, row, column in self.slots
            if not ((rows and row) or (columns and column))
        ]
        return RegisterLayout(self.threads, tuple(kept), self.parts)

    def reduced(self, rows: bool, columns: bool, parts: int = 0) -> "RegisterLayout":
        """
        The layout of a value that is the same along all rows, or columns, of this one.

        Every thread then holds what the elements that it has here need; `parts` is the mask of the
        result's.
        """
        kept = self.folded(rows, columns)
        threads = tuple((0 if rows else r, 0 if columns else c) for r, c in self.threads)
        return RegisterLayout(threads, kept.slots, parts)

    def slots_in(self, held: "RegisterLayout", rows: bool, columns: bool) -> list[int] | None:
        """
        The slot of `held` that has what each slot here needs; None where another thread has it.

        `held` is of a tile with one row where `rows`, with one column where `columns`.
        """
        if self.reduced(rows, columns).threads != held.threads:
            return None
        places = {place: slot for slot, place in enumerate(held.offsets)}
        wanted = [(0 if rows else r, 0 if columns else c) for r, c in self.offsets]
        if any(place not in places for place in wanted):
            return None
        return [places[place] for place in wanted]


@dataclass(frozen=True)
class SharedLayout:
    """
    A tile in shared memory.

    Args:
        row, column: distance, in elements, between neighbours along rows and columns.
        size: elements of one copy, padding included.
        copies: parts that a reader combines (one per group of warps that wrote a partial sum).
        combine: how a reader combines the copies, `sum` or `max`.
        blocks: blocks of a cluster that each keep such copies; a reader combines them all.
        swizzle: bytes of a line of a panel, 32, 64 or 128, whose 16-byte pieces change places from
            line to line; 0 for none.
        panel: of a swizzled tile, elements from one panel to the next.

    A swizzled tile is cut along its run (the side whose neighbours are at distance 1) into panels
    of `swizzle` bytes, and the distance on the other side is one such line. Of the address in
    bytes, relative to a buffer that is aligned to eight lines, bits 4 and up are changed by the
    bits three places above them, as many as pieces in a line need: what the copy engine and the
    tensor cores of sm_90 do (PTX ISA, section "Swizzling modes" of tensors).
    """

    row: int
    column: int
    size: int
    copies: int = 1
    combine: str = "sum"
    blocks: int = 1
    swizzle: int = 0
    panel: int = 0

    @property
    def whole(self) -> bool:
        """Whether one copy holds the value, so that any thread may read an element at once."""
        return self.copies == self.blocks == 1

    @property
    def alignment(self) -> int:
        """Bytes to which the buffer must be aligned, so that the swizzle is one of addresses."""
        return SWIZZLED_LINES * self.swizzle or PIECE_BYTES

    @property
    def room(self) -> Position:
        """Rows and columns that one copy has memory for, where `row` and `column` say so."""
        if self.swizzle:
            pitch = max(self.row, self.column)
            lines, run = self.panel // pitch, self.size // self.panel * pitch
        else:
            run = max(self.row, self.column)
            lines = self.size // run if run else 0
        return (lines, run) if self.column == 1 else (run, lines)

    def offset(self, row: Places, column: Places, item: int) -> Places:
        """Elements from the start of a copy to an element of `item` bytes."""
        if not self.swizzle:
            return row * self.row + column * self.column
        line, at = (row, column) if self.column == 1 else (column, row)
        pitch = self.swizzle // item
        plain = at // pitch * self.panel + line * pitch + at % pitch
        return plain ^ plain >> SWIZZLE_SHIFT & swizzle_mask(self.swizzle) // item

    def transposed(self) -> "SharedLayout":
        """The same memory, rows and columns exchanged."""
        return replace(self, row=self.column, column=self.row)


def swizzle_mask(swizzle: int) -> int:
    """The bits of an address in bytes that a swizzle of so many bytes changes."""
    return swizzle - 1 & ~(PIECE_BYTES - 1)


def as_matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a tile of any rank."""
    return (prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def ceil_div(value: int, by: int) -> int:
    """The least number of pieces of size `by` that cover `value`."""
    return -(-value // by)


def round_up(value: int, to: int) -> int:
    """The least multiple of `to` that is at least `value`."""
    return ceil_div(value, to) * to


def power_of_two_at_least(value: int) -> int:
    """The least power of two that is at least `value` (1 for 0)."""
    return 1 << max(0, value - 1).bit_length()


def largest_power_of_two_divisor(value: int, limit: int) -> int:
    """The largest power of two that divides `value`, at most `limit`."""
    return min(limit, value & -value) if value else limit


def blocked(
    shape: tuple[int, ...],
    threads: int,
    widest: int = 8,
    *,
    rows_first: int = 1,
    most_across: int | None = None,
    tall: int = 1,
) -> RegisterLayout:
    """
    Threads along columns first, each with the widest run of columns that divides them.

    Args:
        shape: of the tile, in elements.
        threads: of the block or cluster; above a power of two they repeat what others have.
        widest: run of columns, in elements; 8 are 16 bytes of f16.
        rows_first: threads along the rows before any others go along columns, a power of two.
        most_across: threads along the columns, a power of two; where not given as many as there
            are columns for.
        tall: neighbouring rows of each run, a power of two that divides the rows.
    """
    rows, columns = as_matrix(shape)
    rows //= tall
    vector = largest_power_of_two_divisor(columns, widest)
    count, threads = threads, 1 << (threads.bit_length() - 1)
    first = min(threads, rows_first, power_of_two_at_least(rows))
    across = min(threads // first, power_of_two_at_least(ceil_div(columns, vector)))
    across = min(across, most_across or across)
    down = min(threads // across, power_of_two_at_least(rows))
    along: list[Position] = [(tall << k, 0) for k in range(down.bit_length() - 1)]
    bits = along[: first.bit_length() - 1]
    bits += [(0, vector << k) for k in range(across.bit_length() - 1)]
    bits += along[first.bit_length() - 1 :]
    bits += [(0, 0)] * ((count - 1).bit_length() - len(bits))
    return RegisterLayout(
        tuple(bits),
        (
            (ceil_div(rows, down), down * tall, 0),
            (ceil_div(columns, across * vector), 0, across * vector),
            (tall, 1, 0),
            (vector, 0, 1),
        ),
    )


def mma_result(rows: int, columns: int, warps: tuple[int, int, int]) -> RegisterLayout:
    """
    The accumulators of `mma.sync.m16n8k16` for a tile, over `warps` along rows, columns, depth.

    Warps along the depth hold parts of one sum. The thread index is lane, then column warps,
    then depth warps, then row warps, lowest first; each count is a power of two. So the warps
    along the columns of one matmul can be those along the depth of the next.
    """
    down, across, deep = warps
    row_tiles = ceil_div(ceil_div(rows, MMA_ROWS), down)
    column_tiles = ceil_div(ceil_div(columns, MMA_COLUMNS), across)
    bits: list[Position] = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    bits += [(0, column_tiles * MMA_COLUMNS << k) for k in range(across.bit_length() - 1)]
    parts = (deep - 1) << len(bits)
    bits += [(0, 0)] * (deep.bit_length() - 1)
    bits += [(row_tiles * MMA_ROWS << k, 0) for k in range(down.bit_length() - 1)]
    return RegisterLayout(
        tuple(bits),
        ((row_tiles, MMA_ROWS, 0), (column_tiles, 0, MMA_COLUMNS), (2, 8, 0), (2, 0, 1)),
        parts,
    )


def swizzled_tile(
    rows: int,
    columns: int,
    item_bytes: int,
    swizzle: int,
    *,
    columns_first: bool = False,
    copies: int = 1,
) -> SharedLayout:
    """
    The layout of a tile whose lines are cut into panels of `swizzle` bytes (32, 64 or 128).

    Where there are several panels, or copies, each starts at a whole number of eight lines.
    """
    lines, run = (columns, rows) if columns_first else (rows, columns)
    pitch = swizzle // item_bytes
    panels = ceil_div(run, pitch)
    if panels * copies > 1:
        lines = round_up(lines, SWIZZLED_LINES)
    row, column = (1, pitch) if columns_first else (pitch, 1)
    panel = lines * pitch
    return SharedLayout(row, column, panels * panel, copies, swizzle=swizzle, panel=panel)
