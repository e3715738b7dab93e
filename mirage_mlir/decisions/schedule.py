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
it starts."""

FLIGHT_BYTES, LONG_FLIGHT_BYTES = 128 * 1024, 80 * 1024
"""Bytes that copies of one multiprocessor have on their way once its first buffers are used up, in
a short and in a long loop. What is asked for too early queues: on an H200 the weights of a gated
MLP took 59.6 us with all buffers on their way, 58.5 with 64 KB; half a MB did not care."""

START_BYTES = 48 * 1024
"""Bytes that copies of one multiprocessor have on their way before the previous grid has ended:
what comes from that kernel waits behind them. On an H200 LayerNorm and a linear layer took 9.94 us
with 64 KB, 9.39 with 48, 9.51 with 32; the LLaMA-3-8B layer 118.5, 118.2 and 120.2."""

RESERVED_BYTES = 1024
"""Shared memory that the hardware takes for each block."""

FOLLOWER_BYTES = 16 * 1024
"""Shared memory that a kernel leaves to the one behind it, whose blocks can then be there when it
ends: 0.5 us of attention in two kernels."""

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
    """
    parts = np.minimum(share, MAX_SIDE_BY_SIDE)
    fair = target.shared_memory_per_sm / parts - RESERVED_BYTES
    each = np.maximum(1, np.asarray(iteration_bytes)) + BUFFER_BARRIERS * MBARRIER_BYTES
    most = np.floor((target.shared_memory_per_block - np.asarray(other_bytes)) / each)
    room = np.floor(
        (np.minimum(fair, target.shared_memory_per_block) - np.asarray(other_bytes)) / each
    )
    fewest = np.where((parts == MAX_SIDE_BY_SIDE) & (room >= 2), 2, MIN_PIPELINE_STAGES)
    wanted = np.maximum(room, np.minimum(most, fewest))
    return np.minimum(np.clip(wanted, 2, MAX_PIPELINE_STAGES), np.asarray(iterations))


def iterations_at_start(iteration_bytes: int, share: int, *, soon: bool) -> int:
    """
    The iterations whose available tiles are copied at once, before the previous grid has ended.

    With one iteration too few device memory may idle; with one too many, tiles that must wait for
    the previous grid queue behind. The former costs more where the previous call has to end (a
    matmul took 13.8 us with 32 KB in flight, 13.5 with 64), the latter behind a small kernel of the
    same function (Q, K and V took 15.0 us and 15.3).

    Args:
        iteration_bytes: of such tiles of one iteration.
        share: blocks that each multiprocessor gets.
        soon: whether what is waited for comes from another kernel of the function.
    """
    iterations = START_BYTES / (max(1, iteration_bytes) * share)
    return max(1, round(iterations) if soon else ceil(iterations))


def iterations_ahead(iteration_bytes: int, iterations: int, share: int, *, apart: bool) -> int:
    """
    The iterations whose copies are in flight, once the first buffers have been used.

    Where blocks read along lines of their own, device memory answers less evenly: rather one
    iteration more. On an H200 a matmul of 14,336 columns with 32 KB in an iteration took 29.2 us
    with two of them in flight, 28.8 with three; with weights [in, out] 28.2 and 28.4. These do not
    care how short the loop is: one row with 6,144 and a gated MLP of 4,096 columns took 13.7 and
    18.0 us, with FLIGHT_BYTES 14.05 and 18.3.

    Args:
        iteration_bytes: of the tiles of one iteration, as far as they come from device memory.
        iterations: of the loop.
        share: blocks that each multiprocessor gets.
        apart: whether blocks begin with different iterations.
    """
    together = max(1, iteration_bytes) * share
    if apart:
        return max(MIN_AHEAD, ceil(LONG_FLIGHT_BYTES / together))
    flight = LONG_FLIGHT_BYTES if together * iterations >= LONG_BYTES else FLIGHT_BYTES
    return max(MIN_AHEAD, round(flight / together))


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
