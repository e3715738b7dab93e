"""The modelled time of kernels that share a launch."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.search.cost_model.joint_launch import (
    ANOTHER_KERNEL,
    KernelTime,
    seconds_together,
)

MICROSECOND = 1e-6


@st.composite
def times(draw: st.DrawFn) -> KernelTime:
    alone = draw(st.floats(0.5, 50))
    return KernelTime(alone * MICROSECOND, draw(st.floats(0, 1)) * alone * MICROSECOND)


@given(st.lists(times(), min_size=1, max_size=5))
def test_between_the_slowest_and_all(kernels: list[KernelTime]) -> None:
    together, rounding = seconds_together(kernels), 1e-12
    assert together >= max(time.alone for time in kernels) - rounding
    assert together >= sum(time.shared for time in kernels) - rounding
    assert together <= sum(time.alone for time in kernels) + rounding


@given(times())
def test_one_kernel(time: KernelTime) -> None:
    assert seconds_together([time]) == time.alone


def test_what_is_shared_adds_up() -> None:
    """Two kernels at the rate of device memory gain a launch; two small ones nearly all."""
    large = KernelTime(10 * MICROSECOND, 9 * MICROSECOND)
    together = seconds_together([large, large])
    assert abs(together - 19 * MICROSECOND - ANOTHER_KERNEL) < 1e-12
    small = KernelTime(3 * MICROSECOND, 0.1 * MICROSECOND)
    assert seconds_together([small, small]) < 3.2 * MICROSECOND
