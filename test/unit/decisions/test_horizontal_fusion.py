"""Which kernels run at the same time: none that reads another, and no more blocks than fit."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.overlap import (
    MAX_BLOCKS_PER_SM,
    OverlapCandidate,
    concurrent_kernels,
)
from mirage_mlir.targets.target import TARGETS, target_named

H200, A100 = target_named("H200"), target_named("A100")

FEW, MANY = 16, MAX_BLOCKS_PER_SM * H200.sm_count


@st.composite
def kernels(draw: st.DrawFn) -> list[OverlapCandidate]:
    """Kernels that read some of those before them."""
    found: list[OverlapCandidate] = []
    for number in range(draw(st.integers(1, 8))):
        reads = draw(st.frozensets(st.integers(0, number - 1))) if number else frozenset[int]()
        blocks = draw(st.sampled_from([1, FEW, MANY // 2, MANY, 3 * MANY]))
        found.append(OverlapCandidate(reads, blocks))
    return found


@given(kernels())
def test_groups(candidates: list[OverlapCandidate]) -> None:
    groups = concurrent_kernels(candidates, H200)
    order = [number for group in groups for number in group]
    assert sorted(order) == list(range(len(candidates)))
    for group in groups:
        assert list(group) == sorted(group)
        for number in group:
            before = order[: order.index(group[0])]
            assert set(candidates[number].reads) <= set(before), "it reads what runs beside it"
        blocks = sum(candidates[number].blocks for number in group)
        assert len(group) == 1 or blocks <= MANY


@given(kernels())
def test_no_group_waits_without_reason(candidates: list[OverlapCandidate]) -> None:
    """What begins a group reads the group in front of it, or would be too much beside it."""
    groups = concurrent_kernels(candidates, H200)
    for before, group in pairwise(groups):
        blocks = sum(candidates[number].blocks for number in (*before, group[0]))
        depth = {number: len(chain(candidates, number)) for number in (before[0], group[0])}
        assert depth[before[0]] < depth[group[0]] or blocks > MANY


def chain(candidates: list[OverlapCandidate], number: int) -> list[int]:
    """The longest sequence of kernels that each read the one before it and end in `number`."""
    before = [chain(candidates, each) for each in candidates[number].reads]
    return [*max(before, key=len), number] if before else [number]


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_only_with_pdl(name: str) -> None:
    target = target_named(name)
    pair = [OverlapCandidate(frozenset(), FEW)] * 2
    assert concurrent_kernels(pair, target) == (((0, 1),) if target.has_pdl else ((0,), (1,)))


def test_blocks_count() -> None:
    half = OverlapCandidate(frozenset(), MANY // 2)
    assert concurrent_kernels([half, half], H200) == ((0, 1),)
    more = replace(half, blocks=MANY // 2 + 1)
    assert concurrent_kernels([half, more], H200) == ((0,), (1,))
    assert concurrent_kernels([half, half], A100) == ((0,), (1,))
