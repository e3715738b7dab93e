"""Plans never overlap, and are the smallest there are where we say so."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.graph.memory_plan import Buffer, lower_bound, plan_memory


def lasting(size: int, first: int, length: int) -> Buffer:
    """A buffer that is in use for `length` more times after the first."""
    return Buffer(size, first, first + length)


buffers = st.builds(lasting, st.integers(1, 6), st.integers(0, 5), st.integers(0, 4))


def overlaps(lifetimes: list[Buffer], offsets: tuple[int, ...]) -> bool:
    """Whether two buffers that are in use together share a byte."""
    placed = list(zip(lifetimes, offsets, strict=True))
    return any(
        a.meets(b) and x < y + b.size and y < x + a.size
        for i, (a, x) in enumerate(placed)
        for b, y in placed[:i]
    )


@given(st.lists(buffers, max_size=12), st.sampled_from([1, 4, 16]))
def test_no_two_live_buffers_share_a_byte(lifetimes: list[Buffer], alignment: int) -> None:
    plan = plan_memory(lifetimes, alignment)
    assert not overlaps(lifetimes, plan.offsets)
    assert all(offset % alignment == 0 for offset in plan.offsets)
    assert plan.size >= lower_bound(lifetimes)


@given(st.lists(buffers, min_size=1, max_size=4))
def test_small_plans_are_the_smallest_there_are(lifetimes: list[Buffer]) -> None:
    plan = plan_memory(lifetimes, alignment=1)
    sizes = [buffer.size for buffer in lifetimes]
    candidates = product(*(range(plan.size) for _ in lifetimes))
    smaller = (
        offsets
        for offsets in candidates
        if max(o + s for o, s in zip(offsets, sizes, strict=True)) < plan.size
    )
    assert all(overlaps(lifetimes, offsets) for offsets in smaller)


def test_memory_is_used_again_after_the_last_use() -> None:
    plan = plan_memory([Buffer(64, 0, 1), Buffer(64, 2, 3), Buffer(16, 0, 3)])
    assert plan.size == 80
    assert plan.offsets[0] == plan.offsets[1]


def test_nothing_needs_no_memory() -> None:
    assert plan_memory([]).size == 0
