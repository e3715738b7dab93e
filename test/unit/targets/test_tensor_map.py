"""Tensor maps against what their copies must do, element by element."""

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mirage_mlir.targets.tensor_map import (
    MAX_BOX,
    SHARED_ALIGNMENT,
    TensorMap,
    box_starts,
    tensor_map,
    widest_swizzle,
)

Place = tuple[int, ...]


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def copied(found: TensorMap, tile: tuple[int, ...], origin: Place) -> dict[tuple[int, int], int]:
    """For each (line, place in the run): the element of memory that lands there, -1 for zero."""
    landed: dict[tuple[int, int], int] = {}
    steps = (found.element, *found.strides)
    for start in box_starts(found, tile):
        for number, inner in enumerate(product(*(range(n) for n in reversed(found.box)))):
            offsets = tuple(reversed(inner))
            place = [
                origin[axis] + first + offset
                for axis, first, offset in zip(found.axes, start.coordinates, offsets, strict=True)
            ]
            inside = all(0 <= at < size for at, size in zip(place, found.dims, strict=True))
            at = sum(p * s for p, s in zip(place, steps, strict=True)) // found.element
            line, run = divmod(number, found.box[0])
            key = (start.line + line, start.run + run)
            assert key not in landed, "two boxes write one element"
            landed[key] = at if inside else -1
    return landed


def wanted(
    shape: Place, strides: Place, tile: Place, origin: Place, run_dim: int
) -> dict[tuple[int, int], int]:
    """The same from the definition: lines are the other dims in row-major order."""
    others = [dim for dim in range(len(shape)) if dim != run_dim]
    result: dict[tuple[int, int], int] = {}
    for line, outer in enumerate(product(*(range(tile[dim]) for dim in others))):
        for run in range(tile[run_dim]):
            inner = dict(zip(others, outer, strict=True)) | {run_dim: run}
            place = [origin[dim] + inner[dim] for dim in range(len(shape))]
            inside = all(at < size for at, size in zip(place, shape, strict=True))
            at = sum(p * s for p, s in zip(place, strides, strict=True))
            result[line, run] = at if inside else -1
    return result


@st.composite
def tilings(draw: st.DrawFn) -> tuple[Place, Place, Place, Place, int, int]:
    """Shape, strides, tile, origin, the dim of the run, and bytes of an element."""
    item = draw(st.sampled_from([2, 4]))
    rank = draw(st.integers(1, 4))
    order = draw(st.permutations(range(rank)))
    shape = [draw(st.sampled_from([1, 2, 3, 5, 8])) for _ in range(rank)]
    shape[order[-1]] = draw(st.sampled_from([8, 16, 24, 40, 64]))
    permuted = dense(tuple(shape[dim] for dim in order))
    strides = tuple(permuted[order.index(dim)] for dim in range(rank))
    tile = [draw(st.sampled_from([1, 2, 3, 4, 8, 300])) for _ in range(rank)]
    tile[order[-1]] = draw(st.sampled_from([8, 16, 32, 48, 64]))
    assume(prod(tile) < 20000)
    origin = tuple(draw(st.integers(0, 2)) * size for size in tile)
    return tuple(shape), strides, tuple(tile), origin, order[-1], item


@given(tilings())
def test_boxes_fetch_each_element_of_a_tile_once(
    tiling: tuple[Place, Place, Place, Place, int, int],
) -> None:
    shape, strides, tile, origin, run_dim, item = tiling
    found = tensor_map(shape, strides, 0, tile, item, run_dim)
    if found is None:
        return
    assert copied(found, tile, origin) == wanted(shape, strides, tile, origin, run_dim)
    assert max(found.box) <= MAX_BOX
    assert len(found.dims) <= 5
    assert all(stride % 16 == 0 and stride > 0 for stride in found.strides)
    assert found.box[0] * item == (found.swizzle or tile[run_dim] * item)
    line_bytes = found.box[0] * item
    starts = box_starts(found, tile)
    assert all(start.line * line_bytes % SHARED_ALIGNMENT == 0 for start in starts)


def test_weights_of_a_linear_layer() -> None:
    found = tensor_map((4096, 6144), (6144, 1), 0, (64, 128), 2, 1)
    assert found is not None
    assert found == TensorMap((6144, 4096), (12288,), (64, 64), 128, 2, (1, 0))
    assert [start.coordinates for start in box_starts(found, (64, 128))] == [(0, 0), (64, 0)]
    assert found.box_bytes == 64 * 64 * 2


def test_transposed_view_runs_along_its_rows() -> None:
    found = tensor_map((4096, 6144), (1, 4096), 0, (64, 96), 2, 0)
    assert found == TensorMap((4096, 6144), (8192,), (64, 96), 128, 2, (0, 1))


def test_more_lines_than_a_box_has() -> None:
    found = tensor_map((1024, 64), (64, 1), 0, (512, 64), 2, 1)
    assert found is not None
    assert found.box == (64, 256)
    assert [start.line for start in box_starts(found, (512, 64))] == [0, 256]


def test_heads_are_a_dim_of_their_own() -> None:
    # [batch, rows, heads, depth] seen as [batch, heads, rows, depth]
    shape, strides = (2, 8, 1024, 128), (1024 * 1024, 128, 1024, 1)
    found = tensor_map(shape, strides, 0, (1, 1, 64, 128), 2, 3)
    assert found is not None
    assert found.dims == (128, 1024, 8, 2)
    assert found.strides == (2048, 256, 2 * 1024 * 1024)
    assert found.box == (64, 64, 1, 1)


def test_one_row_of_many() -> None:
    """A tile may be larger than its tensor: the rest is zero."""
    found = tensor_map((1, 4096), (4096, 1), 0, (16, 64), 2, 1)
    assert found is not None
    assert (found.dims, found.box) == ((4096, 1), (64, 16))


def test_repeated_dims_need_no_coordinate() -> None:
    found = tensor_map((4, 64, 64), (0, 64, 1), 0, (1, 16, 64), 2, 2)
    assert found is not None
    assert found.axes == (2, 1)


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "tile", "run_dim"),
    [
        ((64, 100), (100, 1), 0, (16, 64), 1),  # lines 200 bytes apart
        ((64, 128), (128, 1), 4, (16, 64), 1),  # starts at byte 8
        ((64, 128), (256, 2), 0, (16, 64), 1),  # every other element
        ((64, 128), (128, 1), 0, (16, 4), 1),  # pieces of 8 bytes
        ((4, 64, 64), (0, 64, 1), 0, (2, 16, 64), 2),  # the same lines twice
        ((2,) * 5 + (64,), (1024, 512, 256, 128, 64, 1), 0, (1,) * 5 + (64,), 5),  # six dims
        ((4096, 64), (64, 1), 0, (257 * 4, 8), 1),  # boxes of 4 lines of 16 bytes
    ],
)
def test_what_no_tensor_copy_can_fetch(
    shape: Place, strides: Place, offset: int, tile: Place, run_dim: int
) -> None:
    assert tensor_map(shape, strides, offset, tile, 2, run_dim) is None


@pytest.mark.parametrize(("columns", "rows", "stride"), [(8, 64, 16), (64, 64, 128), (8, 1, None)])
def test_lines_of_16_bytes(columns: int, rows: int, stride: int | None) -> None:
    found = tensor_map((4096, columns), (columns, 1), 0, (rows, 8), 2, 1)
    assert found is not None
    assert found.line_stride == stride


@pytest.mark.parametrize(
    ("run", "item", "swizzle"),
    [(64, 2, 128), (96, 2, 64), (48, 2, 32), (24, 2, 0), (32, 4, 128), (8, 4, 32), (20, 4, 0)],
)
def test_widest_swizzle(run: int, item: int, swizzle: int) -> None:
    assert widest_swizzle(run, item) == swizzle
