"""Buffers of a pipeline, for one size and for arrays of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.schedule import (
    MAX_PIPELINE_STAGES,
    RESERVED_BYTES,
    is_spread,
    iterations_before,
    iterations_in_flight,
    mbarrier_bytes,
    occupancy_limit_bytes,
    pipeline_stages,
    side_by_side,
)
from mirage_mlir.targets.target import A100, H200

KIB = 1024


def stages(iteration_bytes: int, blocks: int, *, cluster: int = 1, other: int = 0) -> int:
    share = side_by_side(blocks, cluster, H200)
    return int(pipeline_stages(iteration_bytes, other, 1000, share, H200))


@pytest.mark.parametrize(
    ("blocks", "cluster", "share"), [(1, 1, 1), (132, 2, 1), (133, 1, 2), (128, 4, 2), (1000, 1, 8)]
)
def test_side_by_side(blocks: int, cluster: int, share: int) -> None:
    assert side_by_side(blocks, cluster, H200) == share


def test_a_block_alone_takes_all_there_is() -> None:
    assert stages(20 * KIB, 96) == 11
    assert stages(2 * KIB, 96) == MAX_PIPELINE_STAGES
    assert stages(20 * KIB, 96, other=64 * KIB) == 8


def test_two_share_a_multiprocessor() -> None:
    assert stages(20 * KIB, 192) == 5
    assert stages(20 * KIB, 128, cluster=4) == 5


def test_many_blocks_need_a_few_buffers_each() -> None:
    assert stages(32 * KIB, 4000) == 3
    assert stages(100 * KIB, 4000) == 2


def test_two_buffers_where_four_blocks_have_room_with_them() -> None:
    assert stages(20 * KIB, 512) == 2
    assert stages(20 * KIB, 384) == 3
    assert stages(30 * KIB, 512) == 3


@pytest.mark.parametrize(("size", "alone", "followed"), [(20, 11, 10), (70, 3, 3), (100, 2, 2)])
def test_room_for_the_kernel_behind(size: int, alone: int, followed: int) -> None:
    """It is left where three buffers fit beside it."""
    share = side_by_side(96, 1, H200)
    each = (
        int(pipeline_stages(size * KIB, 0, 1000, share, H200, followed=behind))
        for behind in (False, True)
    )
    assert tuple(each) == (alone, followed)


@pytest.mark.parametrize(
    ("size", "iterations", "together", "apart"),
    [(32, 64, 2, 3), (28, 64, 3, 3), (40, 13, 2, 2), (32, 16, 3, 3), (16, 32, 4, 4), (8, 16, 7, 7)],
)
def test_iterations_in_flight(size: int, iterations: int, together: int, apart: int) -> None:
    """Of blocks apart these are as many in a long loop as in a short one."""
    read = size * KIB
    assert iterations_in_flight(read, read, iterations, 1, apart=False) == together
    assert iterations_in_flight(read, read, iterations, 1, apart=True) == apart


def test_tiles_that_others_load_too_are_in_flight_longer() -> None:
    """Their bytes come from device memory once, and are waited for as a whole by both."""
    assert iterations_in_flight(32 * KIB, 16 * KIB, 32, 1, apart=False) == 5
    assert iterations_in_flight(32 * KIB, 1 * KIB, 32, 1, apart=False) == 68


def test_fewer_iterations_before_an_earlier_kernel_ends() -> None:
    assert iterations_before(16 * KIB, 132, H200) == 3
    assert iterations_before(16 * KIB, 264, H200) == 2
    assert iterations_before(200 * KIB, 132, H200) == 1


def test_fewer_blocks_have_more_in_flight_each() -> None:
    """They share device memory; but what must wait queues behind what its block has asked for."""
    assert iterations_before(33 * KIB, 96, H200) == 2
    assert iterations_before(16 * KIB, 1, H200) == 6


def test_never_more_than_iterations() -> None:
    assert pipeline_stages(1024, 0, 3, side_by_side(96, 1, H200), H200) == 3


@given(st.integers(1, 110 * KIB), st.integers(1, 4000), st.sampled_from([1, 2, 4, 8]))
def test_buffers_fit(iteration_bytes: int, blocks: int, cluster: int) -> None:
    count = stages(iteration_bytes, blocks, cluster=cluster)
    taken = count * iteration_bytes + mbarrier_bytes(count)
    assert 2 <= count <= MAX_PIPELINE_STAGES
    assert taken <= H200.shared_memory_per_block
    share = side_by_side(blocks, cluster, H200)
    if count > 3:
        # As many blocks as a multiprocessor gets, up to four, have room together.
        each = taken + RESERVED_BYTES
        assert min(4, int(share)) * each <= H200.shared_memory_per_sm


def test_a_grid_is_spread_where_no_more_blocks_fit() -> None:
    one, two = side_by_side(96, 1, H200), side_by_side(192, 1, H200)
    assert is_spread(120 * KIB, one, H200)
    assert not is_spread(80 * KIB, one, H200)
    assert is_spread(80 * KIB, two, H200)
    assert not is_spread(70 * KIB, two, H200)


@pytest.mark.parametrize("share", [1, 2, 3, 4, 8])
def test_shared_memory_for_so_many_blocks(share: int) -> None:
    bytes_each = occupancy_limit_bytes(share, H200)
    assert bytes_each <= H200.shared_memory_per_block
    assert is_spread(bytes_each, np.array(float(share)), H200)
    assert share * (bytes_each + RESERVED_BYTES) <= H200.shared_memory_per_sm
    assert occupancy_limit_bytes(9, H200) == 0


def test_arrays_give_what_single_sizes_give() -> None:
    iteration_bytes = np.array([4, 20, 60]) * KIB
    blocks = np.array([96, 192, 2000])
    for target in (A100, H200):
        share = side_by_side(blocks, 1, target)
        together = pipeline_stages(iteration_bytes, 0, 64, share, target)
        alone = [
            int(pipeline_stages(int(size), 0, 64, side_by_side(int(n), 1, target), target))
            for size, n in zip(iteration_bytes, blocks, strict=True)
        ]
        assert together.tolist() == alone
