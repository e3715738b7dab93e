"""Decides how many threads of a block compute."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import Array
from mirage_mlir.decisions.wgmma import (
    FEWER_SUMS,
    GROUP_COUNTS,
    GROUP_THREADS,
    GROUPS_IN_FLIGHT,
    WGMMA_ROWS,
)
from mirage_mlir.layouts.layout import MMA_COLUMNS, MMA_ROWS
from mirage_mlir.targets.target import Target

ACCUMULATORS_PER_THREAD = 64
"""Accumulator registers above which a block gets more threads: a thread has 255 registers, and
operands, addresses and the elements of other tiles need the rest."""

ELEMENTS_PER_THREAD = 16
"""Elements of a tile that a thread of a block without tensor cores works on: two 16-byte pieces
of f16, enough loads in flight to hide the latency of device memory."""

MIN_THREADS, MATRIX_THREADS, MAX_THREADS = 32, 128, 512
"""128 is one warp for each of the four schedulers of a multiprocessor."""

BUSY_THREADS = 1024
"""Threads of a multiprocessor below which a block gets twice as many, each with half the elements:
half of those that it can have. On an H200 RMSNorm of 1003x1000 in f32 took 3.41 us with 256
threads, 3.56 with 128."""

LOOPED_THREADS = 256
"""Threads of blocks with a loop that are doubled where no tensor copies fill its tiles."""

MANY_BLOCKS, WIDE_THREADS, WIDE_BYTES = 8, 256, 64
"""With so many blocks for each multiprocessor a block has at most so many threads while each loads
at most so many bytes of a tensor: the next block starts sooner. RMSNorm of 32768x8192 in bf16 took
250.6 us with 256 threads, 257.9 with 512; of 4,096 columns 126.9 with 128 and 126.3 with 256."""


WALKING_ELEMENTS, WALKING_THREADS = 32, 128
"""Elements for each thread of a loop that reads and writes whole rows, and threads that it has at
least: its warps wait for each other at every row, and fewer wait less. On an H200 the gradient of
RMSNorm of 32,768 rows took 205.5 us for 218.9 of 4,096 columns in f16 (128 threads for 512), 397
for 410 of 8,192 in bf16 (256 for 512), 205.4 for 215.4 of 2,048 in f32 (128 for 512)."""

LOOP_ELEMENTS, LOOP_THREADS = 80, 128
"""The same of other loops, such as a matmul of one row by threads: each iteration has one step for
all warps, and a thread's sums stay in its registers. Of 28 such kernels on an H200, with 512 to 96
blocks of 2,048 to 16,384 elements, none was slower with 128 threads than with 512, up to 96
elements for each; with a norm before the matmul 9.85 us for 10.74 (weights [4096, 4096], [out,
in]), 8.10 for 9.47 ([6144, 2048]). With 64 threads they took up to 10 % longer. Their
tiles come by tensor copies: of GPUs that have none nothing was timed, and nothing changes."""

COMPUTED_BYTES = 4
"""Of an element that waits in a register: f32."""

WAITING_BYTES = 128
"""Bytes for each thread where rows lie over a cluster: with `MEETING_THREADS` of them a
multiprocessor has enough on its way while blocks wait for each other. RMSNorm of 512 rows of 65,536
in f16, in clusters of four, took 41 us on an H200 with 256 threads, 49 with 512."""


def elementwise_threads(
    elements: ArrayLike,
    blocks: ArrayLike,
    looped: ArrayLike,
    walks: ArrayLike,
    waiting: ArrayLike,
    item: int,
    target: Target,
) -> Array:
    """
    The threads of a block without matmuls.

    Args:
        elements: of its largest tile.
        blocks: of the grid.
        looped: whether it has a loop.
        walks: whether that loop reads and writes whole rows (`walks_rows`).
        waiting: bytes that it keeps while it waits for sums of rows that lie over the blocks of a
            cluster, which has no loop; 0 elsewhere.
        item: bytes of an element that it loads, the largest.
        target: the GPU.
    """
    size, loops = np.asarray(elements, np.float64), np.asarray(looped)
    walking = np.maximum(_shared_out(size, WALKING_ELEMENTS), WALKING_THREADS)
    summing = np.maximum(_shared_out(size, LOOP_ELEMENTS), LOOP_THREADS)
    threads = _shared_out(size, ELEMENTS_PER_THREAD)
    on_each = np.ceil(np.asarray(blocks) / target.sm_count)
    fits = size * item <= WIDE_THREADS * WIDE_BYTES
    wide = ~loops & (on_each >= MANY_BLOCKS) & (threads > WIDE_THREADS) & fits
    doubled = ~loops | ((threads == LOOPED_THREADS) & (not target.has_tma))
    idle = doubled & (threads * on_each < BUSY_THREADS) & (size > ELEMENTS_PER_THREAD * MIN_THREADS)
    threads = np.where(idle, np.minimum(2 * threads, MAX_THREADS), threads)
    threads = np.where(wide, float(WIDE_THREADS), threads)
    most = np.where(walks, walking, summing if target.has_tma else MAX_THREADS)
    threads = np.where(loops, np.minimum(most, threads), threads)
    kept = np.asarray(waiting, np.float64)
    few = np.maximum(_shared_out(np.maximum(kept, 1.0), WAITING_BYTES), MATRIX_THREADS)
    return np.where(kept > 0, np.minimum(few, threads), threads)


def _shared_out(elements: Array, each: int) -> Array:
    """The threads of which each has at most so many elements, a power of two."""
    threads = 2 ** np.ceil(np.log2(np.ceil(elements / each)))
    return np.clip(threads, MIN_THREADS, MAX_THREADS)


def matrix_threads(matmuls: Sequence[tuple[ArrayLike, ArrayLike]], *, grouped: bool) -> Array:
    """
    The threads of a block whose matmuls are in no chain.

    A second warpgroup takes other rows: a single matmul of the 64 rows that one has is left to it.
    On an H200 a matmul of 64 rows and 10,240 columns took 19.0 us in tiles of 192 columns with 256
    threads, which wgmma cannot share, and 17.6 with 128.

    Args:
        matmuls: the rows and columns of each.
        grouped: whether warpgroups can compute matmuls of their elements.
    """
    accumulators = np.float64(0)
    for rows, columns in matmuls:
        fragments = np.ceil(np.asarray(rows) / MMA_ROWS) * np.ceil(
            np.asarray(columns) / MMA_COLUMNS
        )
        accumulators = accumulators + fragments * (MMA_ROWS * MMA_COLUMNS)
    ((rows, _), *others) = matmuls
    alone = (grouped and not others) & (np.asarray(rows) == WGMMA_ROWS)
    allowed = np.where(alone, FEWER_SUMS, ACCUMULATORS_PER_THREAD)
    many = accumulators > allowed * MATRIX_THREADS
    return np.where(many, 2.0 * MATRIX_THREADS, float(MATRIX_THREADS))


def chain_threads(
    rows: ArrayLike,
    blocks: ArrayLike,
    groups_fit: Sequence[ArrayLike],
    warps_fit: ArrayLike,
    target: Target,
) -> Array:
    """
    The threads of a block whose matmuls are all in chains; 0 where they cannot be.

    Warps take as many rows as they can, so that they read right operands less often. Warpgroups
    take 64 rows each where a block has more: each then computes whole matmuls of its rows.

    Args:
        rows: the most of a matmul.
        blocks: of the grid.
        groups_fit: for each of `GROUP_COUNTS` whether so many warpgroups can compute all chains;
            empty where the target has none.
        warps_fit: whether the single warps of `MATRIX_THREADS` can.
        target: the GPU.
    """
    wanted = np.asarray(rows) // WGMMA_ROWS
    few = np.asarray(blocks) <= target.sm_count
    wanted = np.where(few, np.maximum(wanted, GROUPS_IN_FLIGHT), wanted)
    groups = np.zeros_like(wanted, np.float64)
    for count, fits in zip(GROUP_COUNTS, groups_fit, strict=False):
        # The fewest that are enough, or else the most that fit.
        groups = np.where(np.logical_and(fits, groups < np.maximum(wanted, 1)), count, groups)
    alone = np.where(warps_fit, float(MATRIX_THREADS), 0.0)
    return np.where(groups > 0, groups * GROUP_THREADS, alone)
