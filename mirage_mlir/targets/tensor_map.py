"""
Tiles of a tensor as boxes that the bulk tensor copies of sm_90 fetch (TMA).

A tensor map is what `cuTensorMapEncodeTiled` makes a descriptor of (CUDA driver API, section
"Tensor Map Object Management"; PTX ISA, section "Tensors"). Its dims are innermost first. A copy
takes the coordinates of a box in the tensor and writes it densely to shared memory; elements
outside the tensor become zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirage_mlir.layouts.layout import SWIZZLES

MAX_RANK = 5
MAX_BOX = 256
"""Elements of a box along each dim."""

ALIGNMENT = 16
"""Bytes of which addresses, strides and the inner side of a box are multiples."""

SHARED_ALIGNMENT = 128
"""Bytes of which the address of a box in shared memory is a multiple."""

MAX_SIZE, MAX_STRIDE = 1 << 32, 1 << 40
"""Elements along a dim at most; bytes that a stride must stay below."""

MAX_BOXES, MANY_BOXES = 32, 16
"""
Boxes of one tile: a thread starts one copy after the other, each takes some instructions.

More than the second only where they are of `LEAST_BOX_BYTES` each.
"""

LEAST_BOX_BYTES = 1024
"""Of the boxes of tiles that have many: 2 x 32 boxes of 512 bytes in each iteration of a loop took
longer to start than to fetch, 135 us where device memory takes 92."""


@dataclass(frozen=True)
class TensorMap:
    """
    A tensor, and a box of it.

    Args:
        dims: elements along each dim, innermost first.
        strides: bytes between neighbours along each dim but the innermost, whose neighbours touch.
        box: elements of a box along each dim.
        swizzle: bytes; 0 for none, else the width of the box.
        element: bytes of an element.
        axes: which dim of the tensor each dim of the map is.
    """

    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    element: int
    axes: tuple[int, ...]

    @property
    def box_bytes(self) -> int:
        """Bytes that one copy writes, whether they lie in the tensor or not."""
        return prod(self.box) * self.element

    @property
    def line_stride(self) -> int | None:
        """Bytes from one line of a box to the next; None where it has one line."""
        sides = zip(self.strides, self.box[1:], strict=True)
        return min((stride for stride, side in sides if side > 1), default=None)


@dataclass(frozen=True)
class BoxStart:
    """
    Where one box of a tile starts.

    Args:
        coordinates: in the tile, in elements along each dim of the map.
        line: of the tile, in the order of its buffer in shared memory.
        run: elements along the run.
    """

    coordinates: tuple[int, ...]
    line: int
    run: int


def widest_swizzle(run: int, item: int) -> int:
    """Bytes of the widest swizzle whose panels divide lines of `run` elements; 0 if none does."""
    return next((swizzle for swizzle in SWIZZLES if run * item % swizzle == 0), 0)


def tensor_map(
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int,
    tile: Sequence[int],
    item: int,
    run_dim: int,
    swizzle: int | None = None,
) -> TensorMap | None:
    """
    The map of which some boxes make a tile, None where no tensor copy can fetch it.

    Dims along which all elements are the same (stride 0) get no coordinate: a tile may not reach
    past their end.

    Args:
        shape: of a view of a tensor, outermost dim first, in elements like all that follows.
        strides: of the view along each dim; 0 where elements are repeated.
        offset: of the view's first element.
        tile: its sizes along the same dims.
        item: bytes of an element.
        run_dim: the dim along which neighbours in shared memory lie; the others make its lines,
            in row-major order.
        swizzle: bytes of a panel, 0 for none; the widest that divides the run where not given.
    """
    run = tile[run_dim]
    if offset * item % ALIGNMENT or run * item % ALIGNMENT:
        return None
    if strides[run_dim] != 1 and shape[run_dim] > 1:
        return None
    if swizzle is None:
        swizzle = widest_swizzle(run, item)
    if swizzle and run * item % swizzle:
        return None
    panel = swizzle // item if swizzle else run
    repeated = [dim for dim in range(len(shape)) if strides[dim] == 0 and shape[dim] > 1]
    lines = [d for d in reversed(range(len(shape))) if d != run_dim and d not in repeated]
    if panel > MAX_BOX or len(lines) >= MAX_RANK or any(tile[dim] > 1 for dim in repeated):
        return None
    box = _line_box([tile[dim] for dim in lines], panel * item)
    map_strides = _line_strides(shape, strides, lines, run_dim, item)
    axes = (run_dim, *lines)
    dims = tuple(shape[dim] for dim in axes)
    if box is None or map_strides is None or max(dims) > MAX_SIZE:
        return None
    found = TensorMap(dims, map_strides, (panel, *box), swizzle, item, axes)
    return found if is_worth_boxes(len(box_starts(found, tile)), found.box_bytes) else None


def is_worth_boxes(boxes: ArrayLike, box_bytes: ArrayLike) -> NDArray[np.bool_]:
    """Whether tensor copies should fetch tiles of so many boxes of so many bytes."""
    boxes, large = np.asarray(boxes), np.asarray(box_bytes) >= LEAST_BOX_BYTES
    return boxes <= np.where(large, MAX_BOXES, MANY_BOXES)


def _line_box(sizes: Sequence[int], line_bytes: int) -> tuple[int, ...] | None:
    """
    Sides of boxes that together are `sizes` (innermost first) lines, each box a run of them.

    None where they would not start at the addresses that copies can write to.
    """
    box: list[int] = []
    lines, whole = 1, True
    for size in sizes:
        side = box_side(size, lines * line_bytes)
        box.append(side if whole else 1)
        if box[-1] < size and lines * box[-1] * line_bytes % SHARED_ALIGNMENT:
            return None
        whole = whole and box[-1] == size
        lines *= size
    return tuple(box)


@cache
def box_side(size: int, unit_bytes: int) -> int:
    """
    The sides of the fewest boxes that make `size` along a dim, each index of which is so many bytes
    of shared memory: all of it, or its largest divisor that a box may have and that keeps addresses
    aligned, 1 without any.
    """
    if size <= MAX_BOX:
        return size
    fitting = [
        part
        for part in range(1, MAX_BOX + 1)
        if size % part == 0 and part * unit_bytes % SHARED_ALIGNMENT == 0
    ]
    return max(fitting, default=1)


def _line_strides(
    shape: Sequence[int], strides: Sequence[int], lines: Sequence[int], run_dim: int, item: int
) -> tuple[int, ...] | None:
    """Bytes between neighbours along each of `lines`; None where a copy cannot step so."""
    found: list[int] = []
    for dim in lines:
        # Along a dim of one element nobody ever steps: any multiple will do.
        stride = strides[dim] * item if shape[dim] > 1 else shape[run_dim] * item
        if shape[dim] == 1:
            stride = -(-stride // ALIGNMENT) * ALIGNMENT
        if stride % ALIGNMENT or not 0 < stride < MAX_STRIDE:
            return None
        found.append(stride)
    return tuple(found)


def box_starts(tensor: TensorMap, tile: Sequence[int]) -> list[BoxStart]:
    """The boxes that make a tile, those of one panel of its run after another."""
    sizes = [tile[dim] for dim in tensor.axes]
    steps = [range(0, size, side) for size, side in zip(sizes, tensor.box, strict=True)]
    starts: list[BoxStart] = []
    # Outermost first, so that boxes of one panel follow each other as their lines do.
    for run, *outer in product(steps[0], *reversed(steps[1:])):
        coordinates = (run, *reversed(outer))
        line = sum(place * prod(sizes[1:dim]) for dim, place in enumerate(coordinates) if dim)
        starts.append(BoxStart(coordinates, line, run))
    return starts
