"""Plans never overlap, and are the smallest there are where we say so."""

from dataclasses import replace
from itertools import permutations, product
from math import lcm
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.layouts import memory_plan
from mirage_mlir.layouts.memory_plan import Buffer, first_fit, lower_bound, plan_memory


def lasting(size: int, first: int, length: int) -> Buffer:
    """A buffer that is in use for `length` more times after the first."""
    return Buffer(size, first, first + length)


buffers = st.builds(lasting, st.integers(1, 6), st.integers(0, 5), st.integers(0, 4))


def aligned(buffer: Buffer, alignment: int) -> Buffer:
    """The same with an alignment of its own."""
    return replace(buffer, alignment=alignment)


mixed = st.builds(aligned, buffers, st.sampled_from([1, 1, 2, 4, 8]))


def overlaps(lifetimes: list[Buffer], offsets: tuple[int, ...]) -> bool:
    """Whether two buffers that are in use together share a byte."""
    placed = list(zip(lifetimes, offsets, strict=True))
    return any(
        a.overlaps_in_time(b) and x < y + b.size and y < x + a.size
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
    smaller = product(*(range(plan.size - buffer.size) for buffer in lifetimes))
    assert all(overlaps(lifetimes, offsets) for offsets in smaller)


@given(st.lists(mixed, min_size=1, max_size=5), st.sampled_from([1, 2, 16]))
def test_no_order_of_first_fit_is_better(lifetimes: list[Buffer], alignment: int) -> None:
    """Some order of the buffers gives the smallest plan, alignments or not."""
    plan = plan_memory(lifetimes, alignment)
    orders = permutations(range(len(lifetimes)))
    assert plan.size == min(first_fit(lifetimes, each, alignment).size for each in orders)
    assert not overlaps(lifetimes, plan.offsets)
    assert all(
        offset % lcm(alignment, buffer.alignment) == 0
        for offset, buffer in zip(plan.offsets, lifetimes, strict=True)
    )


def cut(random: Random, pieces: int) -> tuple[list[Buffer], int]:
    """A rectangle of memory and time cut into buffers, which fit into it without a gap."""
    height = 64
    found = [Buffer(height, 0, 31)]
    while len(found) < pieces:
        piece = found.pop(random.randrange(len(found)))
        length = piece.last - piece.first + 1
        if length > 1 and (piece.size == 1 or random.random() < 0.5):
            at = piece.first + random.randrange(1, length)
            found += [replace(piece, last=at - 1), replace(piece, first=at)]
        elif piece.size > 1:
            size = random.randrange(1, piece.size)
            found += [replace(piece, size=size), replace(piece, size=piece.size - size)]
        else:
            found.append(piece)
    random.shuffle(found)
    return found, height


@pytest.mark.parametrize("pieces", [12, 16, 20])
def test_plans_without_a_gap_are_found(pieces: int) -> None:
    """First fit alone misses some of them."""
    missed = 0
    for seed in range(10):
        lifetimes, height = cut(Random(seed), pieces)
        plan = plan_memory(lifetimes, alignment=1)
        assert plan.size == height
        assert not overlaps(lifetimes, plan.offsets)
        order = sorted(range(pieces), key=lambda i: -lifetimes[i].size)
        missed += first_fit(lifetimes, order, 1).size > height
    assert missed


def test_a_plan_after_the_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many buffers get a plan at once, which the search would only have made smaller."""
    lifetimes, height = cut(Random(3), 20)
    monkeypatch.setattr(memory_plan, "MOST_STEPS", 0)
    plan = plan_memory(lifetimes, alignment=1)
    assert plan.size >= height
    assert not overlaps(lifetimes, plan.offsets)


def test_memory_is_used_again_after_the_last_use() -> None:
    plan = plan_memory([Buffer(64, 0, 1), Buffer(64, 2, 3), Buffer(16, 0, 3)])
    assert plan.size == 80
    assert plan.offsets[0] == plan.offsets[1]


def test_nothing_needs_no_memory() -> None:
    assert plan_memory([]).size == 0
