"""Parts of tiles that blocks of a cluster copy for each other, against the whole tile."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.multicast import (
    PartialCopy,
    block_mask,
    partial_copy,
    sharing_axes,
    sharing_blocks,
    strides_of,
)
from mirage_mlir.targets.tensor_map import SHARED_ALIGNMENT, TensorMap, box_starts, tensor_map


def covered(boxes: TensorMap, part: PartialCopy, number: int) -> list[tuple[tuple[int, ...], int]]:
    """Each line of boxes that part `number` copies: its place in the tile, and in shared memory."""
    found: list[tuple[tuple[int, ...], int]] = []
    for start in part.first:
        first = list(start.coordinates)
        first[part.axis] += number * part.span
        line, run = start.line + number * part.lines, start.run + number * part.run
        for count, outer in enumerate(product(*(range(n) for n in reversed(boxes.box[1:])))):
            place = tuple(a + b for a, b in zip(first, (0, *reversed(outer)), strict=True))
            found.append((place, (line + count) * 10_000 + run))
    return found


@given(
    st.lists(st.sampled_from([1, 2, 3, 8, 32]), min_size=1, max_size=3),
    st.sampled_from([16, 32, 64, 128, 192, 256]),
    st.sampled_from([2, 4]),
    st.integers(0, 2),
)
def test_parts_make_the_tile(lines: list[int], run: int, parts: int, place: int) -> None:
    """Every element is copied by one block, to where one block alone copies it."""
    run_dim = min(place, len(lines))
    tile = [*lines[:run_dim], run, *lines[run_dim:]]
    shape = [8 * side for side in tile]
    strides, step = [0] * len(tile), 1
    for dim in (run_dim, *(d for d in reversed(range(len(tile))) if d != run_dim)):
        strides[dim], step = step, step * shape[dim]
    boxes = tensor_map(shape, strides, 0, tile, 2, run_dim)
    if boxes is None or (part := partial_copy(boxes, tile, parts)) is None:
        return
    whole = PartialCopy(boxes, 0, tuple(box_starts(part.boxes, tile)), 0, 0, 0)
    copied = [each for number in range(parts) for each in covered(part.boxes, part, number)]
    assert sorted(copied) == sorted(covered(part.boxes, whole, 0))
    assert part.boxes == replace(boxes, box=part.boxes.box)
    width = part.boxes.box[0] * 2
    assert all(start.line * width % SHARED_ALIGNMENT == 0 for start in part.first)
    assert part.lines * width % SHARED_ALIGNMENT == 0


@pytest.mark.parametrize(
    ("run", "lines", "parts", "boxes"),
    [(128, 64, 2, 1), (128, 64, 4, 2), (64, 128, 2, 1), (64, 8, 2, None), (192, 48, 2, 3)],
)
def test_number_of_boxes(run: int, lines: int, parts: int, boxes: int | None) -> None:
    """Panels are dealt out where that comes out even; else each block copies some lines of all."""
    found = tensor_map((4096, 4096), (4096, 1), 0, (lines, run), 2, 1)
    assert found is not None
    part = partial_copy(found, (lines, run), parts)
    assert (None if part is None else len(part.first)) == boxes


@pytest.mark.parametrize("sizes", [(1,), (2, 1), (1, 4), (2, 2), (2, 1, 4), (2, 2, 2)])
def test_masks_are_of_the_blocks_that_share(sizes: tuple[int, ...]) -> None:
    """By enumeration of the blocks of a cluster, the first axis fastest."""
    blocks = [place[::-1] for place in product(*(range(n) for n in reversed(sizes)))]
    for chosen in product([False, True], repeat=len(sizes)):
        cut = [axis for axis, taken in enumerate(chosen) if taken]
        axes = sharing_axes(sizes, cut)
        for number, block in enumerate(blocks):
            alike = [all(block[axis] == other[axis] for axis in cut) for other in blocks]
            apart = (s * b for s, b in zip(strides_of(sizes), block, strict=True))
            first = sum(step for axis, step in enumerate(apart) if axis not in axes)
            mask = block_mask(sizes, axes) << first
            assert [bool(mask >> rank & 1) for rank in range(len(blocks))] == alike
            assert mask >> number & 1
            assert mask.bit_count() == sharing_blocks(sizes, cut)
