"""
How a block is set up for its tiles: threads, warps, buffers.

The lowering decides by these functions and numbers, and the search's cost model by the same
numbers, for all tile sizes at once.
"""

from collections.abc import Sequence

from mirage_mlir.graph.layout import (
    MMA_COLUMNS,
    MMA_DEPTH,
    MMA_ROWS,
    ceil_div,
    power_of_two_at_least,
    round_up,
)

ACCUMULATORS_PER_THREAD = 64
"""Accumulator registers above which a block gets more threads: a thread has 255 registers, and
operands, addresses and the elements of other tiles need the rest."""

ELEMENTS_PER_THREAD = 16
"""Elements of a tile that a thread of a block without matrix units works on: two 16-byte pieces
of f16, enough loads in flight to hide the latency of device memory."""

MIN_THREADS, MATRIX_THREADS, MAX_THREADS = 32, 128, 512
"""128 is one warp for each of the four schedulers of a multiprocessor."""

MAX_EXCHANGE_BYTES = 48 * 1024
"""Parts of a sum that warps may exchange through shared memory: more would cost occupancy."""

BYTES_IN_FLIGHT = 48 * 1024
"""Bytes that a block keeps on their way: with one block on each of 132 multiprocessors, 4.3 TB/s
times a loaded latency of 1 us asks for 33 KB each; half more rides out uneven answers."""

MAX_BUFFER_BYTES = 128 * 1024
"""Shared memory that the loop's buffers may take in all: an A100's block has 163 KB, and what
follows the loop, or stays through it, needs some."""

STAGE_COUNTS = (2, 3, 4, 8)
"""Three where four would leave no room for a second block; more than eight gained nothing."""

PRODUCER_WARPS = 1
"""Warps that copy the tiles of the loop where tensor copies do that: one thread starts them all."""

PIPELINE_BYTES = 80 * 1024
"""Bytes of buffers that such a loop has, so that as many are on their way when it starts."""

MAX_PIPELINE_BYTES = 160 * 1024
"""Shared memory that they may take in all."""

PIPELINE_STAGES = (2, 3, 4, 5, 6, 8)

MBARRIER_BYTES = 8
"""Of one transaction barrier; each buffer of a turn has two: it is full, it is empty."""


def elementwise_threads(elements: int) -> int:
    """Threads of a block without matrix products, by the elements of its largest tile."""
    threads = power_of_two_at_least(ceil_div(elements, ELEMENTS_PER_THREAD))
    return min(MAX_THREADS, max(MIN_THREADS, threads))


def matrix_threads(products: Sequence[tuple[int, int]]) -> int:
    """Threads of a block with matrix products, by the rows and columns of each."""
    accumulators = sum(round_up(m, MMA_ROWS) * round_up(n, MMA_COLUMNS) for m, n in products)
    return MATRIX_THREADS * (1 if accumulators <= ACCUMULATORS_PER_THREAD * MATRIX_THREADS else 2)


def choose_warps(sizes: tuple[int, int, int], warps: int, may_split: bool) -> tuple[int, int, int]:
    """
    Warps along rows, columns and depth with the least work for each warp.

    Work is counted in instructions of one turn of the loop: one `mma.sync` for each fragment,
    one `ldmatrix` for a left fragment and half of one for a right fragment.
    """
    rows, columns, depth = sizes
    steps = ceil_div(depth, MMA_DEPTH)
    best: tuple[float, tuple[int, int, int]] | None = None
    powers = [1 << k for k in range(warps.bit_length())]
    for down, across in ((d, a) for d in powers for a in powers if d * a <= warps):
        deep = warps // (down * across)
        row_tiles = ceil_div(ceil_div(rows, MMA_ROWS), down)
        column_tiles = ceil_div(ceil_div(columns, MMA_COLUMNS), across)
        parts = deep * down * across * row_tiles * column_tiles * MMA_ROWS * MMA_COLUMNS * 4
        if deep > 1 and (not may_split or steps % deep or parts > MAX_EXCHANGE_BYTES):
            continue
        work = (steps / deep) * (row_tiles * column_tiles + row_tiles + column_tiles / 2)
        if best is None or (work, (down, across, deep)) < best:
            best = (work, (down, across, deep))
    assert best is not None, "all warps along the rows is always possible"
    return best[1]


def choose_stages(turn_bytes: int, turns: int) -> int:
    """Buffers of each tile that a loop loads: the fewest that keep enough bytes on their way."""
    if not turn_bytes:
        return 1
    fitting = [n for n in STAGE_COUNTS if n * turn_bytes <= MAX_BUFFER_BYTES] or [STAGE_COUNTS[0]]
    enough = [n for n in fitting if (n - 1) * turn_bytes >= BYTES_IN_FLIGHT]
    return min(turns, (enough or fitting[-1:])[0])


def choose_pipeline_stages(turn_bytes: int, turns: int) -> int:
    """
    Buffers of each tile that a loop loads with tensor copies: the fewest of enough bytes.

    Unlike `cp.async` of the threads that compute, a producer fills a buffer as soon as it is free:
    all are on their way while the first is awaited.
    """
    fitting = [n for n in PIPELINE_STAGES if n * turn_bytes <= MAX_PIPELINE_BYTES]
    fitting = fitting or [PIPELINE_STAGES[0]]
    enough = [n for n in fitting if n * turn_bytes >= PIPELINE_BYTES]
    return min(turns, (enough or fitting[-1:])[0])


def mbarrier_bytes(stages: int) -> int:
    """Bytes of the transaction barriers of a loop with so many buffers of each tile."""
    return 2 * stages * MBARRIER_BYTES
