"""Decides how threads copy tiles whose rows start at no multiples of 16 bytes."""

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import Array, Mask, copy_stages

WIDE_BYTES = 16
"""Bytes of the widest piece that a thread loads at once, from an address that is a multiple."""

NARROWEST_COPY = 4
"""Bytes below which `cp.async` has no form (PTX ISA, cp.async: 4, 8 or 16)."""

WINDOW_WORDS = 2 * WIDE_BYTES // 4
"""Registers that hold a piece until it is shifted: the two aligned pieces that it is a part of."""

MOST_HELD = 160
"""Registers of a thread for pieces on their way and for sums. Of its 255 registers addresses and
operands take the others: with 96 and 64 ptxas takes 240 of them; with 80 and 96
it sometimes spills a few."""

FETCHED_STAGES = 2
"""Buffers of a tile that waits in registers: one is read, the other is written."""


LEAST_WINDOW = 256
"""Bytes of the shortest line that is copied as a window, which may have a piece more than it."""


def is_windowed(tile_bytes: ArrayLike, line_bytes: ArrayLike, piece_bytes: ArrayLike) -> Mask:
    """
    Whether threads copy the aligned pieces of 16 bytes in which a tile lies, and keep its start.

    Then `cp.async` copies 16 bytes at once; else it would 4, or threads would one element.

    Args:
        tile_bytes: of the whole tile, which has to be one line.
        line_bytes: of a whole line of the tensor.
        piece_bytes: the widest pieces of it that are aligned in memory.
    """
    line = np.asarray(line_bytes)
    one_line = np.asarray(tile_bytes) == line
    return one_line & (line >= LEAST_WINDOW) & (np.asarray(piece_bytes) < WIDE_BYTES)


def walks_rows(contiguous: ArrayLike, *, stores: bool, multiplies: bool) -> Mask:
    """
    Whether a loop reads and writes whole rows: all threads copy its tiles then, not producers.

    Tensor copies bring such tiles in boxes, 128 bytes of each row. On an H200 the gradient of
    RMSNorm of 32,768 rows of 1024 took 52.8 us for 59.9 in f16, in tiles of eight rows, and 108 us
    for 121 in f32.

    Args:
        contiguous: whether all tiles that the loop loads are, in their tensors.
        stores: whether the loop stores tiles.
        multiplies: whether the kernel has matmuls.
    """
    return np.asarray(contiguous) & stores & (not multiplies)


LEAST_STRIDE = 32
"""Bytes from one line of a box to the next: a sector of L2. On an H200 sums over 1,100 rows of 16
bytes, for each of 900 points, took 28 to 32 us where tensor copies fetched the rows, nearly 4 ns
for each line of a box, and 3.4 to 4 where threads did. Lines of 16 bytes that are apart take 1."""


def are_close(stride: ArrayLike, *, multiplies: bool) -> Mask:
    """
    Whether threads copy a tile whose lines are so close that tensor copies take long.

    Args:
        stride: bytes from one line of the tile to the next.
        multiplies: whether the kernel has matmuls: these need tensor copies to run beside.
    """
    return (np.asarray(stride) < LEAST_STRIDE) & (not multiplies)


def is_realigned(run_bytes: ArrayLike, piece_bytes: ArrayLike) -> Mask:
    """
    Whether threads load aligned pieces of 16 bytes and shift them into place.

    Where `cp.async` can, it copies instead: it holds no registers.

    Args:
        run_bytes: contiguous bytes of a line of the tile.
        piece_bytes: the widest pieces of it that are aligned in memory.
    """
    narrow = np.asarray(piece_bytes) < NARROWEST_COPY
    return narrow & (np.asarray(run_bytes) % WIDE_BYTES == 0)


def fetched_words(tile_bytes: ArrayLike, threads: ArrayLike) -> Array:
    """Registers of a thread for its pieces of a tile of `tile_bytes`, until these are shifted."""
    pieces = np.ceil(np.asarray(tile_bytes, np.float64) / WIDE_BYTES / np.asarray(threads))
    return WINDOW_WORDS * pieces


def are_fetched(words: ArrayLike, sums: ArrayLike) -> Mask:
    """
    Whether threads keep the tiles of the next iteration in registers while they compute.

    Else they wait for what they load in each iteration.

    Args:
        words: registers of a thread for all tiles of the loop that are realigned.
        sums: elements of a thread that the loop adds up, or that its matmuls compute.
    """
    words = np.asarray(words)
    return (words > 0) & (words + np.asarray(sums) <= MOST_HELD)


def loop_stages(
    iteration_bytes: ArrayLike,
    iterations: ArrayLike,
    all_fetched: ArrayLike,
    share: ArrayLike = 1,
) -> Array:
    """
    The pipeline stages of a loop whose tiles threads copy.

    Args:
        iteration_bytes: of the tiles of one iteration.
        iterations: of the loop.
        all_fetched: whether all tiles are fetched into registers an iteration ahead.
        share: blocks on a multiprocessor, of a loop that reads and writes whole rows.
    """
    few = np.minimum(FETCHED_STAGES, np.asarray(iterations, np.float64))
    return np.where(all_fetched, few, copy_stages(iteration_bytes, iterations, share))
