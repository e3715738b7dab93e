"""
Decides which tiles the blocks of a cluster load together: each copies a part of the tile to all
(multicast).

The search has no clusters for it: multicast does not pay. On an H200 eight of nine matmuls of 128
to 4096 rows with clusters of two took 2 to 11 % longer so, one 4 % less; with clusters of four up
to twice as long, as blocks wait for each other. Blocks whose numbers follow each other are
neighbours on the chip, and what they load together is fetched once anyway.

The hardware numbers the blocks of a cluster with the first axis fastest. Blocks load the same tile
if they differ only along axes of the grid that do not cut it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod

from mirage_mlir.layouts.layout import SWIZZLED_LINES
from mirage_mlir.targets.tensor_map import (
    MAX_BOXES,
    SHARED_ALIGNMENT,
    BoxStart,
    TensorMap,
    box_starts,
)


def strides_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """The distance in number between neighbours along each axis, among the blocks of a cluster."""
    return tuple(prod(sizes[:axis]) for axis in range(len(sizes)))


def sharing_axes(sizes: Sequence[int], cut: Collection[int]) -> tuple[int, ...]:
    """
    The axes along which blocks of a cluster load the same tile; axes in `cut` tell tiles apart.
    """
    return tuple(axis for axis, size in enumerate(sizes) if size > 1 and axis not in cut)


def sharing_blocks(sizes: Sequence[int], cut: Collection[int]) -> int:
    """The number of blocks of a cluster that load the same tile."""
    return prod(sizes[axis] for axis in sharing_axes(sizes, cut))


def block_mask(sizes: Sequence[int], axes: Collection[int]) -> int:
    """A bit mask of the blocks of a cluster that have index 0 along all axes but `axes`."""
    ranks = [0]
    for axis, stride in enumerate(strides_of(sizes)):
        if axis in axes:
            ranks = [rank + stride * place for place in range(sizes[axis]) for rank in ranks]
    return sum(1 << rank for rank in ranks)


@dataclass(frozen=True)
class PartialCopy:
    """
    The part of a tile that one of several blocks copies.

    Args:
        boxes: as the copies fetch them.
        axis: of the map, along which the tile is cut.
        first: the boxes of the first part; those of the next start `span` further on.
        span: elements of a part along `axis`.
        lines: of the tile in shared memory, between the starts of two parts.
        run: elements along the run, between the same.
    """

    boxes: TensorMap
    axis: int
    first: tuple[BoxStart, ...]
    span: int
    lines: int
    run: int


def partial_copy(boxes: TensorMap, tile: Sequence[int], parts: int) -> PartialCopy | None:
    """
    How blocks share the copy of a tile into `boxes`; None where the parts would differ.

    Each block copies whole panels of the run if there are enough of them, else some of the lines.
    """
    sizes = [tile[dim] for dim in boxes.axes]
    if sizes[0] // boxes.box[0] % parts == 0:
        return _part(boxes, tile, 0, parts)
    axis = max((axis for axis in range(1, len(sizes)) if sizes[axis] > 1), default=0)
    if not axis or sizes[axis] % parts:
        return None
    inner = prod(sizes[1:axis])
    span = sizes[axis] // parts
    step = SWIZZLED_LINES if boxes.swizzle else 1
    line_bytes = boxes.box[0] * boxes.element
    sides = [
        side
        for side in range(1, boxes.box[axis] + 1)
        if span % side == 0
        and side * inner % step == 0
        and side * inner * line_bytes % SHARED_ALIGNMENT == 0
    ]
    if not sides or prod(boxes.box[1:axis]) != inner:
        return None
    box = (*boxes.box[:axis], sides[-1], *boxes.box[axis + 1 :])
    return _part(replace(boxes, box=box), tile, axis, parts)


def _part(boxes: TensorMap, tile: Sequence[int], axis: int, parts: int) -> PartialCopy | None:
    sizes = [tile[dim] for dim in boxes.axes]
    span = sizes[axis] // parts
    part = list(tile)
    part[boxes.axes[axis]] = span
    if len(box_starts(boxes, tile)) > MAX_BOXES:
        return None
    lines = span * prod(sizes[1:axis]) if axis else 0
    first = tuple(box_starts(boxes, part))
    return PartialCopy(boxes, axis, first, span, lines, 0 if axis else span)
