"""
Decides registers per thread, and the number of producer warps, which may give theirs to consumers.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import Array
from mirage_mlir.layouts.layout import WARP_THREADS

REGISTERS, MAX_REGISTERS, REGISTERS_STEP = 65536, 255, 8
"""Of a block, of a thread, and what those of a thread are a multiple of: on all our chips."""

GROUP_WARPS = 4
"""Warps of a warpgroup, whose registers are given and taken together; and quarters of a
multiprocessor, each with a fourth of its registers."""

PRODUCER_WARPS = 1
"""Warps that copy the tiles of the loop where tensor copies do that: one thread starts them all."""

FEW_REGISTERS = 24
"""Of each thread of a group of producers: the fewest that there are, the rest is for others."""

SOME_REGISTERS = 40
"""The same where the block is persistent: with 24 ptxas spilled what producers know of the next
tile."""

MAX_CONSUMER_REGISTERS = 240
"""The most that each thread of a group asks for; some more, and nobody could have it."""

MAX_FRAGMENT_REGISTERS = 144
"""Registers of a thread for the sums of all matmuls of a chain, of which one takes another's
result from registers; the rest of 255 holds operands, addresses and elements that are worked on."""

BESIDE_SUMS = 56
"""Registers of a thread for what is not a matmul's sum: with 96 sums and more to choose from,
ptxas uses 151 in all."""

FEWEST_BESIDE = 32
"""The same where ptxas has to find room: a chain of 64 sums assembles for 96 without spills."""

SUMS_OF_WARPS = MAX_REGISTERS - BESIDE_SUMS
"""What a matmul of single warps counts for, in sums: they hold operands as well."""

FEW_FOR_A_THREAD, MEETING_THREADS = 64, 1024
"""Registers of a thread, and the threads that a multiprocessor holds if none has more."""

MOST_TO_SAVE = 80
"""Registers of which ptxas may be asked to save some: of 230 programs' kernels without matmuls one
with 68 did with 64, and those with 82 and more spilled."""


def fewest_blocks(threads: int, *, meets_others: bool) -> int:
    """
    Blocks that ptxas has to leave room for on a multiprocessor; 0 where it need not.

    Blocks that load all of their tiles at once and then wait for others of their cluster leave
    device memory idle, unless there is another block to load meanwhile. On an H200 RMSNorm of rows
    of 65,536 in f32 took 112 us with 82 registers a thread, and 81 with 62. Blocks of less than a
    warp for each scheduler have room anyway.

    Args:
        threads: of a block.
        meets_others: whether it has a part of rows that lie over a cluster, and no loop.
    """
    return blocks_side_by_side(threads) if meets_others else 0


def blocks_side_by_side(threads: int) -> int:
    """Blocks of so few registers on a multiprocessor; 0 of few threads, which have room anyway."""
    large = threads >= GROUP_WARPS * WARP_THREADS
    return MEETING_THREADS // threads if large else 0


def most_registers(threads: ArrayLike) -> Array:
    """
    The most registers that each thread of a block can have.

    Warps are dealt to the four quarters of a multiprocessor, each with a fourth of the registers.
    So one warp more than a multiple of four costs as much as four.
    """
    quarters = GROUP_WARPS * WARP_THREADS
    together = np.ceil(np.asarray(threads, np.float64) / quarters) * quarters
    return np.minimum(MAX_REGISTERS, REGISTERS // together // REGISTERS_STEP * REGISTERS_STEP)


def registers_of_consumers(threads: ArrayLike, kept: int = FEW_REGISTERS) -> Array:
    """
    The registers of each of `threads` consumers, once producers have given theirs back
    (`setmaxnreg`), but for those that each of them has `kept`.
    """
    count = np.asarray(threads, np.float64)
    producers = GROUP_WARPS * WARP_THREADS
    present = count + producers
    rest = most_registers(present) * present - kept * producers
    return np.minimum(MAX_CONSUMER_REGISTERS, rest // count // REGISTERS_STEP * REGISTERS_STEP)


def registers_at_launch(threads: ArrayLike, producers: ArrayLike, registers: ArrayLike) -> Array:
    """
    The registers of each thread while a block starts: all that it can have where producers give
    theirs to consumers later, so that one block takes a multiprocessor.

    Args:
        threads: that compute.
        producers: warps that copy.
        registers: of a thread that computes.
    """
    present = np.asarray(threads) + np.asarray(producers) * WARP_THREADS
    given = np.asarray(producers) > PRODUCER_WARPS
    return np.where(given, most_registers(present), registers)


def producer_warps(threads: ArrayLike, sums: Iterable[ArrayLike], words: ArrayLike = 0.0) -> Array:
    """
    The number of producer warps: one, or a warpgroup that gives registers back.

    With one producer beside eight consumer warps, a quarter of a multiprocessor's registers serve
    three warps: 168 per thread. Where consumers need more there are four producer warps, which give
    theirs back. On an H200 attention took 4 to 12 % longer with four than with one, where one
    sufficed. Where only four leave registers for a matmul that starts one iteration later, it took
    8 % less with them (1024 keys, heads of 96).

    Args:
        threads: that compute.
        sums: registers of a thread for those of each matmul.
        words: registers of a thread for the left operand of a matmul that may start later.
    """
    needed = sum(map(np.asarray, sums), start=BESIDE_SUMS + np.asarray(words))
    needed = np.minimum(MAX_REGISTERS, needed)
    left = most_registers(np.asarray(threads) + PRODUCER_WARPS * WARP_THREADS)
    return np.where(needed <= left, PRODUCER_WARPS, GROUP_WARPS)


def may_defer(
    threads: int, producers: int, sums: Iterable[int], words: int, limit: int = 0
) -> bool:
    """
    Whether a thread has registers for a matmul that starts one iteration later than its left
    operand is computed: beside all sums, those of the left operand of the iteration before.

    Args:
        threads: that compute.
        producers: warps that copy.
        sums: registers of a thread for those of each matmul.
        words: registers of a thread for the left operand.
        limit: the registers of a thread with which several blocks fit on a multiprocessor, or 0.
    """
    needed = sum(sums) + words
    if limit:
        return FEWEST_BESIDE + needed <= limit
    present = threads + producers * WARP_THREADS
    several = producers > PRODUCER_WARPS
    left = registers_of_consumers(threads) if several else most_registers(present)
    return bool(BESIDE_SUMS + needed <= left)


def share_by_registers(
    threads: ArrayLike, producers: ArrayLike, sums: Iterable[ArrayLike], share: ArrayLike
) -> Array:
    """
    The blocks for which a multiprocessor keeps room: `share`, or 1 where registers suffice for one.

    Where producers give registers away one block takes all of them. Where sums leave none for a
    second block, shared memory that is kept for it stays empty: experts' first matmuls, with three
    buffers in the place of five, took 28.0 us on an H200, and 23.7 with five.

    Args:
        threads: that compute.
        producers: warps that copy.
        sums: registers of a thread for those of each matmul; of single warps nobody knows them.
        share: blocks that each multiprocessor gets.
    """
    each = list(map(np.asarray, sums))
    given = np.where(np.asarray(producers) > PRODUCER_WARPS, 1.0, share)
    if not each:
        return given
    present = np.asarray(threads) + np.asarray(producers) * WARP_THREADS
    alone = sum(each, start=np.asarray(FEWEST_BESIDE)) > most_registers(2 * present)
    known = np.maximum.reduce(np.broadcast_arrays(*each)) < SUMS_OF_WARPS
    return np.where(alone & known, 1.0, given)


def registers_side_by_side(
    threads: ArrayLike, producers: ArrayLike, sums: Iterable[ArrayLike], share: ArrayLike
) -> Array:
    """
    The largest register limit with which `share` blocks fit on a multiprocessor; 0 where that may
    be too few.

    Args:
        threads: that compute.
        producers: warps that copy.
        sums: registers of a thread for those of each matmul.
        share: blocks that each multiprocessor gets.
    """
    each = list(map(np.asarray, sums))
    if not each:
        return np.zeros_like(np.asarray(share))
    present = np.asarray(threads) + np.asarray(producers) * WARP_THREADS
    limit = most_registers(np.asarray(share) * present)
    fits = sum(each, start=np.asarray(FEWEST_BESIDE)) <= limit
    return np.where((np.asarray(share) > 1) & fits, limit, 0.0)
