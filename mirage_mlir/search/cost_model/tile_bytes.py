"""
How tiles lie in device memory and in shared memory, for all combinations of tile sizes at once.

A tile in shared memory has padded lines where threads write it (`padded_tile`), and boxes where
tensor copies do (`boxed_tile`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.layouts.layout import MMA_DEPTH, SWIZZLED_LINES, SWIZZLES
from mirage_mlir.search.cost_model.fitted import CLOSE_LINES, L2_LINE
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes, round_up
from mirage_mlir.search.program.program import Input
from mirage_mlir.targets.tensor_map import MAX_BOX, SHARED_ALIGNMENT, box_side, is_worth_boxes

VECTOR = 16
"""Bytes that a thread copies at once, where addresses are multiples of it."""


class Contiguous(NamedTuple):
    """The contiguous bytes of a tile in device memory, and the bytes of one copy."""

    run: Array
    vector: Array
    line: Array
    """Bytes of the tensor's lines, where the tile has whole ones; else 0."""


RUN = 8
"""Elements of a tile that a thread has side by side, at most: 16 bytes of f16."""


class Boxed(NamedTuple):
    """A tile as tensor copies (TMA) lay it out."""

    bytes: Array
    fits: NDArray[np.bool_]
    """Where they can."""
    boxes: Array
    """How many boxes it is."""
    lines: Array
    """Lines of these boxes together."""
    apart: Array
    """Bytes from one line to the next, up to those of a line of L2."""


def contiguous(tiling: Tiling, tensor: Input) -> Contiguous:
    """The contiguous bytes of a tile of `tensor` in device memory."""
    return tiling.once(("contiguous", tensor.node), lambda: _contiguous(tiling, tensor))


def _contiguous(tiling: Tiling, tensor: Input) -> Contiguous:
    item = item_bytes(tensor.element_type)
    run = np.full_like(tiling.mesh.blocks, float(item))
    order = tensor.by_stride()
    expected, whole = 1, np.ones_like(run, dtype=bool)
    line = np.zeros_like(run)
    for axis, stride in order:
        if stride != expected:
            break
        size, tile = tiling.program.sizes[axis], tiling.mesh.tiles[axis]
        run = np.where(whole, run * tile, run)
        whole = whole & (tile >= size)
        if stride == 1:
            line = np.where(tile == size, float(size * item), line)
        expected *= size
    pitch = min((stride for _, stride in order if stride > 1), default=0) * item
    vector = np.gcd(np.gcd(run.astype(np.int64), pitch), VECTOR)
    return Contiguous(run, vector.astype(float), line)


def padded_bytes(rows: Array, columns: Array, item: int) -> Array:
    """
    The bytes of a tile in shared memory: rows are swizzled, perhaps in panels of 64 bytes, or have
    an odd number of 16-byte pieces.
    """
    # A tensor core reads 16 columns at once.
    pieces = np.ceil(round_up(columns, 16) * item / VECTOR)
    swizzled = (pieces == 2) | (pieces == 4) | (pieces % 8 == 0)
    padded = np.maximum(pieces + 1, round_up(pieces, 4))
    return np.where((pieces % 2 == 0) & ~swizzled, padded, pieces) * VECTOR * rows


def powers_of_two_at_least(sizes: Array) -> Array:
    """For each size the smallest power of two that is no smaller."""
    return 2.0 ** np.ceil(np.log2(sizes))


class BlockedTile(NamedTuple):
    """
    A tile rounded up to whole accesses of all threads, with the threads along rows and columns.
    """

    rows: Array
    columns: Array
    down: Array
    across: Array


def blocked_tile(rows: Array, columns: Array, threads: Array, run: int) -> BlockedTile:
    """
    How threads share a tile whose layout no MMA dictates (`layout.blocked`), `run` elements each.
    """
    vector = np.gcd(columns.astype(np.int64), run)
    across = np.minimum(threads, powers_of_two_at_least(np.ceil(columns / vector)))
    down = np.minimum(threads // across, powers_of_two_at_least(np.maximum(rows, 1)))
    wide = across * vector
    return BlockedTile(np.ceil(rows / down) * down, np.ceil(columns / wide) * wide, down, across)


def padded_tile(tiling: Tiling, value: int, tensor: Input, summed: str | None) -> Array:
    """The bytes of a loaded tile as threads write it; `summed` is its depth in a matmul."""
    key = ("padded tile", value, tensor.node, summed)
    return tiling.once(key, lambda: _padded_tile(tiling, value, tensor, summed))


def _padded_tile(tiling: Tiling, value: int, tensor: Input, summed: str | None) -> Array:
    rows, columns = _lines(tiling, value, tensor)
    if summed is not None:
        # There is room for a whole last fragment.
        whole = tiling.mesh.tiles[summed] % MMA_DEPTH == 0
        rows = np.where(whole, rows, round_up(rows, MMA_DEPTH))
    return padded_bytes(rows, columns, item_bytes(tensor.element_type))


def _lines(tiling: Tiling, value: int, tensor: Input) -> tuple[Array, Array]:
    """The number of lines of a tile in shared memory, and the elements of a line."""
    axes = tiling.axes(value)
    fastest = tensor.by_stride()[:1]
    columns = tiling.extent([axis for axis, _ in fastest if axis in axes])
    return tiling.volume(value) / columns, columns


def boxed_tile(tiling: Tiling, value: int, tensor: Input) -> Boxed:
    """The layout of a loaded tile that tensor copies (TMA) write."""
    key = ("boxed tile", value, tensor.node)
    return tiling.once(key, lambda: _boxed_tile(tiling, value, tensor))


def _boxes_down(rows: Array, line: Array) -> Array:
    """The number of boxes that the lines of a panel are, each of so many bytes."""
    boxes = np.ones(np.broadcast(rows, line).shape)
    for size in np.unique(rows[rows > MAX_BOX]):
        for width in np.unique(line):
            alike = (rows == size) & (line == width)
            boxes = np.where(alike, size / box_side(int(size), int(width)), boxes)
    return boxes


def _apart(tiling: Tiling, value: int, tensor: Input) -> Array:
    """The bytes from one line of a box to the next, up to those of a line of L2."""
    apart, item = tiling.one * L2_LINE, item_bytes(tensor.element_type)
    for axis, stride in tensor.by_stride()[1:]:
        if axis in tiling.axes(value) and 0 < stride * item < L2_LINE:
            apart = np.where(tiling.extent([axis]) > 1, np.minimum(apart, stride * item), apart)
    return apart


def _boxed_tile(tiling: Tiling, value: int, tensor: Input) -> Boxed:
    item = item_bytes(tensor.element_type)
    rows, columns = _lines(tiling, value, tensor)
    line = columns * item
    swizzle = np.select([line % width == 0 for width in SWIZZLES], list(SWIZZLES), 0)
    # One line meets no other; a longer one than a box has panels nevertheless.
    single = (rows == 1) & (columns <= MAX_BOX)
    swizzle = np.where(single, 0, swizzle)
    panel = np.where(swizzle == 0, line, swizzle)
    boxes = np.where(single, 1, line / np.maximum(swizzle, 1)) * _boxes_down(rows, panel)
    lines = np.where(single | (swizzle == 0), rows, rows * line / np.maximum(swizzle, 1))
    worth = is_worth_boxes(boxes, rows * line / boxes)
    apart = _apart(tiling, value, tensor)
    lines = lines * np.where(apart < L2_LINE, CLOSE_LINES, 1.0)
    # Panels start at whole swizzles of eight lines.
    rows = np.where(~single & (line > swizzle), round_up(rows, SWIZZLED_LINES), rows)
    alignment = np.maximum(SWIZZLED_LINES * swizzle, SHARED_ALIGNMENT)
    fits = (line % VECTOR == 0) & (contiguous(tiling, tensor).vector == VECTOR)
    stored = np.ceil(rows * line / alignment) * alignment
    return Boxed(stored, fits & worth, boxes, lines, apart)
