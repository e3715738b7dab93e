"""Which kernels share a launch: none that reads another, all blocks alike, not too many."""

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.horizontal_fusion import (
    MAX_BLOCKS_PER_SM,
    FusionCandidate,
    joint_launches,
)
from mirage_mlir.targets.target import target_named

H200 = target_named("H200")

FEW, MANY = 16, MAX_BLOCKS_PER_SM * H200.sm_count


@st.composite
def kernels(draw: st.DrawFn) -> list[FusionCandidate]:
    """Kernels that read some of those before them."""
    found: list[FusionCandidate] = []
    for number in range(draw(st.integers(1, 8))):
        reads = draw(st.frozensets(st.integers(0, number - 1))) if number else frozenset[int]()
        blocks = draw(st.sampled_from([1, FEW, MANY // 2, MANY, 3 * MANY]))
        block = draw(st.sampled_from([None, 128, 256]))
        found.append(FusionCandidate(reads, blocks, block, draw(st.sampled_from([0, 512, 1024]))))
    return found


@given(kernels())
def test_groups(candidates: list[FusionCandidate]) -> None:
    groups = joint_launches(candidates, H200)
    order = [number for group in groups for number in group]
    assert sorted(order) == list(range(len(candidates)))
    for group in groups:
        loads = [candidates[number].block_bytes for number in group]
        assert len(group) == 1 or loads == sorted(loads, reverse=True), "long blocks come first"
        for number in group:
            before = order[: order.index(group[0])]
            assert set(candidates[number].reads) <= set(before), "it reads what shares its launch"
        assert len(group) == 1 or len({candidates[number].block for number in group}) == 1
        assert len(group) == 1 or candidates[group[0]].block is not None
        blocks = sum(candidates[number].blocks for number in group)
        assert len(group) == 1 or blocks <= MANY


@given(kernels())
def test_no_launch_without_reason(candidates: list[FusionCandidate]) -> None:
    """Two launches of one depth have other blocks, or too many."""
    groups = joint_launches(candidates, H200)
    for first, second in combinations(groups, 2):
        one, two = candidates[first[0]], candidates[second[0]]
        alike = one.block is not None and one.block == two.block
        if alike and depth(candidates, first[0]) == depth(candidates, second[0]):
            assert sum(candidates[number].blocks for number in (*first, second[0])) > MANY


def depth(candidates: list[FusionCandidate], number: int) -> int:
    """How many kernels come one after the other before one."""
    before = [depth(candidates, each) for each in candidates[number].reads]
    return 1 + max(before, default=-1)


def test_blocks_count() -> None:
    half = FusionCandidate(frozenset(), MANY // 2, 128)
    assert joint_launches([half, half], H200) == ((0, 1),)
    more = replace(half, blocks=MANY // 2 + 1)
    assert joint_launches([half, more], H200) == ((0,), (1,))
    assert joint_launches([half, replace(half, block=256)], H200) == ((0,), (1,))


def test_order_stays_where_no_launch_is_shared() -> None:
    first, other = FusionCandidate(frozenset(), FEW, 128), FusionCandidate(frozenset(), FEW, 256)
    second = FusionCandidate(frozenset({0}), FEW, 128)
    assert joint_launches([first, second, other], H200) == ((0,), (1,), (2,))
    assert joint_launches([first, second, first], H200) == ((0, 2), (1,))
