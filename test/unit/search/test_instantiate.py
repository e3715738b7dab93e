"""Tile sizes: any axis is covered, whatever its size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_programs import attention, rmsnorm_linear

from mirage_mlir.search.cost_model.instantiate import MAX_POINTS, instantiate, mesh_of, share_counts
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.targets.target import A100, H200

NORM = Configuration(("k",), ("j",))


@given(
    st.integers(1, 300),
    st.integers(1, 20_000),
    st.integers(1, 20_000),
    st.booleans(),
)
def test_covers(rows: int, depth: int, columns: int, fine: bool) -> None:
    """Blocks and iterations reach every index, and none of them is without work on its axis."""
    program = resolve(rmsnorm_linear(rows, depth, columns))
    grid = tuple(axis for axis in ("i", "k") if axis in program.sizes)
    loop = tuple(axis for axis in ("j",) if axis in program.sizes and depth > 1)
    configuration = Configuration(grid, loop)
    shares = share_counts(program, configuration, H200)
    mesh = instantiate(program, configuration, H200, shares, fine=fine)
    assert np.count_nonzero(mesh.shares == 1) <= MAX_POINTS
    for axis, count in mesh.counts.items():
        size, tile = program.sizes[axis], mesh.tiles[axis]
        assert np.all(count * tile >= size)
        assert np.all((count - 1) * tile < size)
    for axis in configuration.loop:
        iterations = mesh.iterations * mesh.shares
        assert np.all(iterations * mesh.tiles[axis] >= program.sizes[axis])
        assert np.all((mesh.shares - 1) * mesh.iterations * mesh.tiles[axis] < program.sizes[axis])
        assert np.all(mesh.iterations[mesh.shares == 1] > 1)


def test_sizes_that_divide_nothing() -> None:
    """Of a prime there are tiles that are neither divisors nor powers of two."""
    program = resolve(rmsnorm_linear(16, 4096, 6143))
    mesh = instantiate(program, NORM, H200, fine=True)
    tiles = set(mesh.tiles["k"])
    assert {48.0, 56.0, 96.0, 136.0} <= tiles
    assert all(tile % 8 == 0 or tile == 6143 for tile in tiles)


def test_matrix_units_take_whole_steps() -> None:
    """16 elements of the axis that is summed, 8 of the others, or all there are."""
    program = resolve(rmsnorm_linear(20, 1000, 777))
    mesh = instantiate(program, Configuration(("i", "k"), ("j",)), H200, fine=True)
    assert all(tile % 16 == 0 for tile in set(mesh.tiles["j"]))
    assert all(tile % 8 == 0 or tile == 20 for tile in set(mesh.tiles["i"]))


@pytest.mark.parametrize(
    ("strides", "even"), [((1, 4096), [14, 20, 28]), ((14336, 1), list[int]())]
)
def test_even_shares_of_rows(strides: tuple[int, int], even: list[int]) -> None:
    """Blocks share rows of weights [out, in] evenly; of [in, out] they take whole vectors."""
    b = ProgramBuilder()
    x, w = b.input((16, 4096), strides=(4096, 1)), b.input((4096, 14336), strides=strides)
    b.output(b.matmul(x, w))
    mesh = instantiate(resolve(b), NORM, H200, fine=True)
    tiles = sorted(set(mesh.tiles["k"]))
    assert [tile for tile in tiles if tile < 32 and tile % 8] == even


def test_one_index_of_what_is_carried_along() -> None:
    mesh = instantiate(
        resolve(attention()), Configuration(("j", "i"), ("k",), ("i",)), H200, fine=True
    )
    assert set(mesh.tiles["i"]) == {1.0}
    assert set(mesh.counts["i"]) == {2.0}


def test_shares() -> None:
    """Blocks share a loop in clusters or without, where the grid has an axis left."""
    program = resolve(rmsnorm_linear())
    assert share_counts(program, NORM, H200) == [1, 2, 4, 8]
    assert share_counts(program, NORM, A100) == [1, 2, 4, 8, 16]
    assert share_counts(program, Configuration(("k",)), H200) == [1]


def test_point() -> None:
    program = resolve(rmsnorm_linear())
    mesh = mesh_of(program, NORM, [[48, 96], [64]])
    point = mesh.point(1)
    assert point.tiles == {"i": 16, "j": 64, "k": 96}
    assert (point.counts, point.shares, point.trip_counts) == ({"k": 64}, 1, (64,))
