"""
Decides pipeline stages, how far copies run ahead, and the shared memory that spreads blocks evenly.
"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirage_mlir.targets.target import Target

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

BYTES_IN_FLIGHT = 48 * 1024
"""Bytes that a block keeps on their way: with one block on each of 132 multiprocessors, 4.3 TB/s
times a loaded latency of 1 us asks for 33 KB each; half more rides out uneven answers. More are
slower where rows are read and written: the gradient of RMSNorm of 32,768 rows took 109, 113 and
216 us on an H200 (1024 columns of f32, 2048 and 4096 of f16; two or three blocks on each
multiprocessor) with so many bytes for each block, and 104, 105 and 210 with as many together."""

MAX_BUFFER_BYTES = 128 * 1024
"""Shared memory that the loop's buffers may take in all: an A100's block has 163 KB, and what
follows the loop, or stays through it, needs some."""

STAGE_COUNTS = (2, 3, 4, 8)
"""Three where four would leave no room for a second block; more than eight gained nothing."""

ENOUGH_STAGES = 4
"""Buffers of the loop's tiles that are left where what it computes has two of its own."""

MAX_PIPELINE_STAGES = 16
"""Buffers of each tile that such a loop has at most: one thread prepares the barriers of all."""

MIN_PIPELINE_STAGES = 3
"""Fewer only where these do not fit: one is read, one arrives, one may be late. Two are enough in
each of MAX_SIDE_BY_SIDE blocks: a gated MLP of 14,336 and 16 rows, in 512 blocks, took 55.6 us on
an H200 with two buffers in each of four blocks, and 58.3 with three in each of three."""

MAX_SIDE_BY_SIDE = 4
"""Blocks that share a multiprocessor's memory by plan: of more, some start when others end."""

MIN_AHEAD = 2
"""Iterations: while one is waited for the next must be on its way."""

LONG_BYTES = 896 * 1024
"""Bytes that a multiprocessor reads in all from which on its steady rate counts more than how fast
it starts, and how evenly blocks end."""

FLIGHT_BYTES, LONG_FLIGHT_BYTES = 52 * 1024, 80 * 1024
"""Bytes of copies that a multiprocessor has in flight, in a short and in a long loop. What is asked
for too early queues, and multiprocessors that are served last end last. Behind another library 8
rows of 6,144 columns took 14.5 us on an H200 with 128 KB, 13.9 with 80, 13.2 with 64: four
iterations of 16 KB, as of 52 KB and `PARTLY_READ`. One row of 4,096 columns took 9.98 and 9.73 us,
LoRA 11.8 and 11.4. In a chain of calls multiprocessors that end early begin with the next one:
there it does not matter, and 14,336 columns took 26.6 us with 64 KB and 27.1 with 96."""

PARTLY_READ = 0.5
"""Of an iteration's tiles, which are waited for as a whole: half has come on average. 8 rows of
6,144 columns with 32 KB in an iteration took 14.5 us with two of them in flight, and 13.6 with
three; with tiles of 32 KB that two blocks load 15.1 us with four, and 14.3 with five."""

SOON_BYTES, MOST_SOON_BYTES = 48 * 1024, 96 * 1024
"""Bytes in flight before an earlier kernel of the function has ended, whose results queue behind
these: for each multiprocessor where all have blocks, and at most, where few have. With 64 KB on
each LayerNorm and a linear layer took 9.8 us in a chain, and 9.3 with 48; Q, K and V of one norm,
on 96 multiprocessors, 15.7 us behind another library with 33 KB on each, 14.7 with 66."""

RESERVED_BYTES = 1024
"""Shared memory that the hardware takes for each block."""

FOLLOWER_BYTES = 16 * 1024
"""Shared memory that a kernel leaves to the one behind it, whose blocks can then be there when it
ends: 0.5 us of attention in two kernels. It is left where `MIN_PIPELINE_STAGES` still fit: a norm
and the gated half of an MLP, 640 rows of 2,560 columns, took 175 us on an H200 with two buffers of
72 KB, and 113 with three."""

MAX_EVEN_SHARE, SHARED_STEP = 8, 128
"""Blocks for each multiprocessor up to which they are spread evenly by the shared memory that they
ask for, and what that is a multiple of."""

LARGE_CLUSTER = 4
"""Blocks of a cluster from which on some multiprocessors have too few neighbours for it."""

MBARRIER_BYTES, BUFFER_BARRIERS = 8, 3
"""Of one transaction barrier, and how many each buffer of an iteration has: it is full, it is
empty, it has what could be copied before the previous grid had ended."""


def copy_stages(iteration_bytes: ArrayLike, iterations: ArrayLike, share: ArrayLike = 1) -> Array:
    """
    The pipeline stages of a loop with `cp.async`: the fewest that keep enough bytes in flight.

    Args:
        iteration_bytes: of the tiles of one iteration.
        iterations: iterations of the loop.
        share: blocks that keep these bytes in flight together.
    """
    size = np.asarray(iteration_bytes, np.float64)
    wanted = BYTES_IN_FLIGHT / np.minimum(share, MAX_SIDE_BY_SIDE)
    stages = np.full_like(size, float(STAGE_COUNTS[0]))
    enough = size * (stages - 1) >= wanted
    for count in STAGE_COUNTS[1:]:
        fitting = ~enough & (count * size <= MAX_BUFFER_BYTES)
        stages = np.where(fitting, float(count), stages)
        enough = enough | (fitting & (size * (count - 1) >= wanted))
    return np.where(size > 0, np.minimum(stages, iterations), 1.0)


def may_double_buffer(
    before: ArrayLike, after: ArrayLike, shared_bytes: ArrayLike, target: Target
) -> Mask:
    """
    Whether the tiles that the loop computes are double-buffered.

    Args:
        before: stages of the tiles that the loop loads where it has one.
        after: the same where it has two.
        shared_bytes: of the whole block in the loop, with two.
        target: whose shared memory it is.
    """
    left = np.asarray(after) >= np.minimum(before, ENOUGH_STAGES)
    return left & (np.asarray(shared_bytes) <= target.shared_memory_per_block)


def side_by_side(blocks: ArrayLike, cluster: ArrayLike, target: Target) -> Array:
    """The blocks of a grid on each multiprocessor, if they are spread evenly."""
    large = np.asarray(cluster) >= LARGE_CLUSTER
    places = np.where(large, target.sm_count_in_clusters, target.sm_count)
    return np.ceil(np.asarray(blocks) / np.maximum(1, places))


def pipeline_stages(
    iteration_bytes: ArrayLike,
    other_bytes: ArrayLike,
    iterations: ArrayLike,
    share: Array,
    target: Target,
    *,
    followed: bool = False,
) -> Array:
    """
    The pipeline stages of a loop with TMA producers: as many as fit in shared memory.

    A producer refills a buffer as soon as it is free, while with `cp.async` computing threads do.
    On an H200 a matmul of 16 rows that read 50 MB took 15.8 us with 74 KB of buffers in each block,
    15.0 with 123 KB, and 14.4 with 164 KB, where blocks of the next kernel start when others end.

    Args:
        iteration_bytes: of the tiles of one iteration.
        other_bytes: what the block keeps in shared memory besides, in the loop.
        iterations: of the loop.
        share: blocks that each multiprocessor gets (`side_by_side`).
        target: whose shared memory they share.
        followed: whether another kernel follows, for which some is left.
    """
    stages = _stages_beside(iteration_bytes, other_bytes, share, target)
    if followed:
        more = np.asarray(other_bytes) + FOLLOWER_BYTES
        fewer = _stages_beside(iteration_bytes, more, share, target)
        stages = np.where(fewer < np.minimum(stages, MIN_PIPELINE_STAGES), stages, fewer)
    return np.minimum(stages, np.asarray(iterations))


def _stages_beside(
    iteration_bytes: ArrayLike, other_bytes: ArrayLike, share: Array, target: Target
) -> Array:
    """The stages of a loop of any length that fit beside other bytes."""
    parts = np.minimum(share, MAX_SIDE_BY_SIDE)
    fair = target.shared_memory_per_sm / parts - RESERVED_BYTES
    each = np.maximum(1, np.asarray(iteration_bytes)) + BUFFER_BARRIERS * MBARRIER_BYTES
    most = np.floor((target.shared_memory_per_block - np.asarray(other_bytes)) / each)
    room = np.floor(
        (np.minimum(fair, target.shared_memory_per_block) - np.asarray(other_bytes)) / each
    )
    fewest = np.where((parts == MAX_SIDE_BY_SIDE) & (room >= 2), 2, MIN_PIPELINE_STAGES)
    wanted = np.maximum(room, np.minimum(most, fewest))
    return np.clip(wanted, 2, MAX_PIPELINE_STAGES)


def iterations_in_flight(
    iteration_bytes: int, own_bytes: int, iterations: int, share: int, *, apart: bool
) -> int:
    """
    The iterations whose copies are in flight.

    Where blocks read along lines of their own, device memory answers less evenly, and long loops
    have as many as short ones: a matmul of 14,336 columns with weights [out, in] and 32 KB in an
    iteration took 29.2 us on an H200 with two of them in flight, and 28.4 with three.

    Args:
        iteration_bytes: of the tiles of one iteration.
        own_bytes: those of them that come from device memory for this block, and for no other.
        iterations: of the loop.
        share: blocks that each multiprocessor gets.
        apart: whether blocks begin with different iterations.
    """
    together = max(1, own_bytes) * share
    if together * iterations >= LONG_BYTES and not apart:
        return max(MIN_AHEAD, round(LONG_FLIGHT_BYTES / together))
    read = PARTLY_READ * iteration_bytes * share
    return max(MIN_AHEAD, ceil((FLIGHT_BYTES + read) / together))


def iterations_before(iteration_bytes: int, blocks: int, target: Target) -> int:
    """
    The iterations whose available tiles are copied before an earlier kernel of the function ends.

    Args:
        iteration_bytes: of such tiles of one iteration.
        blocks: of the launch.
        target: the GPU.
    """
    wanted = round(SOON_BYTES * target.sm_count / (max(1, iteration_bytes) * blocks))
    return max(1, min(wanted, MOST_SOON_BYTES // max(1, iteration_bytes)))


def is_spread(shared_bytes: ArrayLike, share: Array, target: Target) -> Mask:
    """
    Whether the blocks of a grid are spread evenly, in whatever order they are placed.

    They are if a multiprocessor has shared memory for no more blocks than its even share. Only then
    may they be placed while the previous grid still runs; else some multiprocessors would get
    several blocks and others none: a matmul of 192 blocks took 19.3 us that way, and 16.8 after the
    previous grid.
    """
    needed = np.asarray(shared_bytes) + RESERVED_BYTES
    return np.floor(target.shared_memory_per_sm / needed) <= share


def occupancy_limit_bytes(share: int, target: Target) -> int:
    """
    The shared memory per block with which a multiprocessor holds `share` blocks and not one more.

    A kernel that starts while the previous grid runs is placed on the few multiprocessors that are
    free. Attention whose second kernel has 512 small blocks took 9.1 us on an H200 that way, and
    5.7 spread evenly. With a share above eight nothing was gained: then it is 0, and a launch asks
    for what the kernel needs.
    """
    if share > MAX_EVEN_SHARE:
        return 0
    one_more = target.shared_memory_per_sm // (share + 1) - RESERVED_BYTES
    return (one_more // SHARED_STEP + 1) * SHARED_STEP


def bytes_beside(shared_bytes: int, share: int, target: Target) -> int:
    """The shared memory that a block may have beside `share` blocks with `shared_bytes` each."""
    taken = share * (shared_bytes + RESERVED_BYTES) + RESERVED_BYTES
    left = target.shared_memory_per_sm - taken
    return max(0, left // SHARED_STEP * SHARED_STEP)


def mbarrier_bytes(stages: int) -> int:
    """The bytes of the mbarriers of a loop with so many pipeline stages."""
    return BUFFER_BARRIERS * stages * MBARRIER_BYTES
