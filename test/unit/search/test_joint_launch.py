"""The modelled time of kernels that share a launch."""

from dataclasses import replace
from math import ceil, isclose

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.search.cost_model.joint_launch import (
    ANOTHER_KERNEL,
    KernelTime,
    seconds_together,
)
from mirage_mlir.targets.target import target_named

MICROSECOND = 1e-6

H200 = target_named("H200")


def in_seconds(times: KernelTime) -> KernelTime:
    """Times that are given in microseconds."""
    return replace(
        times,
        alone=times.alone * MICROSECOND,
        shared=times.shared * MICROSECOND,
        moved=times.moved * MICROSECOND,
        work=times.work * MICROSECOND,
    )


@st.composite
def times(draw: st.DrawFn) -> KernelTime:
    alone, side_by_side = draw(st.floats(0.5, 50)), draw(st.integers(1, 8))
    shared = draw(st.floats(0, 1)) * alone
    moved = draw(st.floats(0, 1)) * shared
    blocks, places = draw(st.integers(1, 5000)), draw(st.sampled_from([120, 132]))
    work = draw(st.floats(0, 1)) * alone / ceil(blocks / places)
    times = KernelTime(alone, shared, moved, work, blocks, places, side_by_side)
    return in_seconds(times)


@given(st.lists(times(), min_size=1, max_size=5))
def test_between_the_slowest_and_all(kernels: list[KernelTime]) -> None:
    together, rounding = seconds_together(kernels), 1e-12
    assert together >= max(time.alone for time in kernels) - rounding
    assert together >= sum(time.moved for time in kernels) - rounding
    assert together <= sum(time.alone for time in kernels) + rounding


@given(times())
def test_one_kernel(time: KernelTime) -> None:
    assert isclose(seconds_together([time]), time.alone)


def kernel(alone: float, moved: float, work: float, blocks: int, **others: int) -> KernelTime:
    """Times in microseconds; room for two blocks on each of 132 multiprocessors."""
    shared = max(moved, work * blocks / 132)
    places, room = others.get("places", 132), others.get("side_by_side", 2)
    return in_seconds(KernelTime(alone, shared, moved, work, blocks, places, room))


def test_bytes_add_up() -> None:
    """Two kernels at the rate of device memory gain a launch; two small ones nearly all."""
    large = kernel(10, 9, 8, 132)
    together = seconds_together([large, large])
    assert isclose(together, 19 * MICROSECOND + ANOTHER_KERNEL)
    small = kernel(3, 0.1, 2, 16)
    assert seconds_together([small, small]) < 3.2 * MICROSECOND


def test_the_busiest_multiprocessor() -> None:
    """Blocks of two kernels wait for each other only where a multiprocessor has both."""
    kernels = [kernel(5, 2, 4, 66)] * 2
    assert isclose(seconds_together(kernels), 5 * MICROSECOND + ANOTHER_KERNEL)
    # Large clusters reach fewer of them.
    in_clusters = [kernel(5, 2, 4, 66, places=120)] * 2
    assert isclose(seconds_together(in_clusters), 9 * MICROSECOND + ANOTHER_KERNEL)


def test_blocks_that_wait_for_room() -> None:
    """Where the blocks of two kernels do not fit side by side, some begin behind others."""
    fits = [kernel(10, 3, 4, 66)] * 4
    one_more = [*fits[1:], replace(fits[0], blocks=67)]
    assert seconds_together(fits) < seconds_together(one_more)
    one_at_a_time = [*one_more[1:], replace(one_more[0], side_by_side=1)]
    assert seconds_together(one_more) < seconds_together(one_at_a_time)


def test_large_clusters_have_room_on_fewer_multiprocessors() -> None:
    """Of 384 blocks three fit on each of 132, and not on each of 120: some begin behind others."""
    fits = [kernel(10, 3, 2, 192, side_by_side=3)] * 2
    in_clusters = [replace(one, places=120) for one in fits]
    assert seconds_together(fits) < seconds_together(in_clusters)
