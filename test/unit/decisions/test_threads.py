"""How many threads blocks without matmuls get."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.threads import (
    BUSY_THREADS,
    ELEMENTS_PER_THREAD,
    LOOP_ELEMENTS,
    LOOP_THREADS,
    MANY_BLOCKS,
    MATRIX_THREADS,
    MAX_THREADS,
    MIN_THREADS,
    WAITING_BYTES,
    WALKING_ELEMENTS,
    WALKING_THREADS,
    WIDE_BYTES,
    elementwise_threads,
)
from mirage_mlir.targets.target import target_named

H200, A100 = target_named("H200"), target_named("A100")


def threads_of(
    elements: int,
    blocks: int,
    item: int = 2,
    *,
    looped: bool = False,
    walks: bool = False,
    waiting: int = 0,
) -> int:
    return int(elementwise_threads(elements, blocks, looped, walks, waiting, item, H200))


@given(st.integers(1, 1 << 17), st.integers(1, 100_000), st.sampled_from([1, 2, 4]))
def test_powers_of_two(elements: int, blocks: int, item: int) -> None:
    threads = threads_of(elements, blocks, item)
    assert MIN_THREADS <= threads <= MAX_THREADS
    assert threads & (threads - 1) == 0
    each, least = elements / threads, ELEMENTS_PER_THREAD / 2
    assert threads == MIN_THREADS or each > least / 2, "no thread is there for nothing"
    assert threads == MAX_THREADS or each <= max(ELEMENTS_PER_THREAD, WIDE_BYTES / item)


@given(st.integers(1, 1 << 17), st.integers(1, 100_000), st.sampled_from([2, 4]))
def test_idle_multiprocessors_get_more_threads(elements: int, blocks: int, item: int) -> None:
    """Up to half of those that each can have, while a thread has half of what it may."""
    threads = threads_of(elements, blocks, item)
    on_each = -(-blocks // H200.sm_count)
    shared_finely = elements <= threads * ELEMENTS_PER_THREAD / 2
    busy = threads * on_each >= BUSY_THREADS
    assert busy or shared_finely or threads == MAX_THREADS or elements <= 512


@given(st.integers(1, 1 << 17), st.integers(1, 100_000))
def test_loops(elements: int, blocks: int) -> None:
    """Few threads with many sums each, as long as these fit into registers."""
    threads = threads_of(elements, blocks, looped=True)
    assert threads & (threads - 1) == 0
    assert threads <= LOOP_THREADS or elements > LOOP_ELEMENTS * threads / 2
    assert threads == MAX_THREADS or elements <= LOOP_ELEMENTS * threads
    assert threads_of(4096, blocks, looped=True) == threads_of(10240, blocks, looped=True) == 128
    assert threads_of(1024, blocks, looped=True) == 64, "no thread is there for nothing"


def test_loops_without_tensor_copies() -> None:
    """As many as before they were timed with them: of 256 twice as many."""
    for elements, threads in ((2048, 128), (4096, 512), (8192, 512), (1 << 15, 512)):
        assert int(elementwise_threads(elements, 108, True, False, 0, 2, A100)) == threads


def test_wide_rows() -> None:
    many = MANY_BLOCKS * H200.sm_count
    assert threads_of(8192, many) == 256
    assert threads_of(8192, many, item=4) == 512, "a thread would load 128 bytes"
    assert threads_of(16384, many) == 512
    assert threads_of(8192, many // 2) == 512


@given(st.integers(1, 1 << 14), st.integers(1, 1000))
def test_loops_over_whole_rows(elements: int, blocks: int) -> None:
    """Few threads, whose warps wait for each other at every row."""
    threads = threads_of(elements, blocks, looped=True, walks=True)
    assert threads <= max(WALKING_THREADS, 2 * elements / WALKING_ELEMENTS)
    assert elements <= WALKING_ELEMENTS * threads
    assert threads_of(elements, blocks, walks=True) == threads_of(elements, blocks)


@given(st.integers(1, 1 << 17), st.integers(1, 1000))
def test_rows_over_a_cluster(waiting: int, blocks: int) -> None:
    """By what they keep, whatever else: 128 bytes for each thread, in f16 64 elements."""
    threads = threads_of(1 << 14, blocks, waiting=waiting)
    assert threads == MAX_THREADS or waiting <= WAITING_BYTES * threads
    assert threads == MATRIX_THREADS or waiting > WAITING_BYTES * threads / 2
    assert threads_of(1 << 14, blocks, waiting=2 << 14) == 256
    assert threads_of(1 << 14, blocks, 4, waiting=4 << 14) == 512


@given(st.integers(1, 1 << 17), st.integers(1, 1 << 17), st.integers(1, 1000))
def test_never_more_for_rows_over_a_cluster(elements: int, waiting: int, blocks: int) -> None:
    assert threads_of(elements, blocks, waiting=waiting) <= threads_of(elements, blocks)
