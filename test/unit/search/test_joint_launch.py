"""The modelled time of kernels that share a launch."""

from dataclasses import replace

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


@st.composite
def times(draw: st.DrawFn) -> KernelTime:
    alone, side_by_side = draw(st.floats(0.5, 50)), draw(st.integers(1, 8))
    shared = draw(st.floats(0, 1)) * alone
    blocks = draw(st.integers(1, 5000))
    return KernelTime(alone * MICROSECOND, shared * MICROSECOND, blocks, side_by_side)


@given(st.lists(times(), min_size=1, max_size=5))
def test_between_the_slowest_and_all(kernels: list[KernelTime]) -> None:
    together, rounding = seconds_together(kernels, H200), 1e-12
    assert together >= max(time.alone for time in kernels) - rounding
    assert together >= sum(time.shared for time in kernels) - rounding
    assert together <= sum(time.alone for time in kernels) + rounding


@given(times())
def test_one_kernel(time: KernelTime) -> None:
    assert seconds_together([time], H200) == time.alone


def test_what_is_shared_adds_up() -> None:
    """Two kernels at the rate of device memory gain a launch; two small ones nearly all."""
    large = KernelTime(10 * MICROSECOND, 9 * MICROSECOND, 132, 2)
    together = seconds_together([large, large], H200)
    assert abs(together - 19 * MICROSECOND - ANOTHER_KERNEL) < 1e-12
    small = KernelTime(3 * MICROSECOND, 0.1 * MICROSECOND, 16, 2)
    assert seconds_together([small, small], H200) < 3.2 * MICROSECOND


def test_blocks_that_wait_for_room() -> None:
    """Where the blocks of two kernels do not fit side by side, some begin behind others."""
    fits = [KernelTime(10 * MICROSECOND, 9.5 * MICROSECOND, 66, 2)] * 4
    one_more = [*fits[1:], replace(fits[0], blocks=67)]
    assert seconds_together(fits, H200) < seconds_together(one_more, H200)
    one_at_a_time = [*one_more[1:], replace(one_more[0], side_by_side=1)]
    assert seconds_together(one_more, H200) < seconds_together(one_at_a_time, H200)
