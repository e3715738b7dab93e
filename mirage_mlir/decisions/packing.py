"""
Packed tensors: constant tensors, rewritten once in the order in which a kernel reads them.

A block reads one tile in each iteration. In a row-major tensor the lines of a tile are far apart.
In a packed tensor each tile is contiguous, and the tiles of a block follow each other iteration by
iteration. A packed tensor is a matrix of lines: those of the first panel of a tile, then of the
next, in their order in shared memory. The copy adds the swizzle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Packing:
    """
    How a view of a tensor is packed.

    Args:
        offset: of the view's first element, in elements like all that follows.
        shape, strides: of the view.
        tile: its sizes along the dims of the view.
        counts: tiles along each dim; those past the end of the view are zero.
        order: the dims by which tiles are counted, outermost first.
        run_dim: the dim whose neighbours are neighbours in a line.
        panel: length of a line, a part of the tile along `run_dim`.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    tile: tuple[int, ...]
    counts: tuple[int, ...]
    order: tuple[int, ...]
    run_dim: int
    panel: int

    def __post_init__(self) -> None:
        rank = len(self.shape)
        lengths = {len(each) for each in (self.strides, self.tile, self.counts, self.order)}
        if lengths != {rank} or sorted(self.order) != list(range(rank)):
            raise ValueError(f"a packing of {rank} dims says something else of each: {self}")
        if not 0 <= self.run_dim < rank or self.panel < 1:
            raise ValueError(f"a packing has lines along one of its dims: {self}")
        if self.tile[self.run_dim] % self.panel or min((*self.tile, *self.counts)) < 1:
            raise ValueError(f"a packing has tiles of whole panels: {self}")

    @property
    def tile_lines(self) -> int:
        """The number of lines of one tile."""
        return prod(self.tile) // self.panel

    @property
    def lines(self) -> int:
        """The number of lines of all tiles."""
        return prod(self.counts) * self.tile_lines

    @property
    def elements(self) -> int:
        """The number of elements of the packed tensor."""
        return self.lines * self.panel

    @property
    def end(self) -> int:
        """The elements from the start of the tensor to the last one that is read."""
        steps = zip(self.shape, self.strides, strict=True)
        return self.offset + 1 + sum((size - 1) * stride for size, stride in steps)

    def piece(self, tile: Sequence[int]) -> int:
        """The place of a tile in the order of packed tiles, from its index along each dim."""
        number = 0
        for dim in self.order:
            number = number * self.counts[dim] + tile[dim]
        return number

    def pack(self, memory: Array) -> Array:
        """
        The packed tensor, `lines` x `panel`.

        `memory` is the tensor's, element by element, in any type; elements keep their bits.
        """
        strides = [stride * memory.itemsize for stride in self.strides]
        start = memory.reshape(-1)[self.offset :]
        view = np.lib.stride_tricks.as_strided(start, self.shape, strides, writeable=False)
        rank = len(self.shape)
        covered = [count * size for count, size in zip(self.counts, self.tile, strict=True)]
        whole = np.zeros(covered, memory.dtype)
        inside = tuple(slice(0, min(a, b)) for a, b in zip(covered, self.shape, strict=True))
        whole[inside] = view[inside]
        # Each dim becomes two: which tile, and where in it; that of the run becomes three.
        sizes: list[int] = []
        for dim, (count, size) in enumerate(zip(self.counts, self.tile, strict=True)):
            sizes += [count, size] if dim != self.run_dim else [count, size // self.panel]
        sizes.append(self.panel)
        sizes.insert(2 * self.run_dim + 2, sizes.pop())
        # Where the axis of each dim went: those behind the run's are one further on.
        moved = [2 * dim + (dim > self.run_dim) for dim in range(rank)]
        lines = [moved[dim] + 1 for dim in range(rank) if dim != self.run_dim]
        panels, along = moved[self.run_dim] + 1, moved[self.run_dim] + 2
        axes = [*(moved[dim] for dim in self.order), panels, *lines, along]
        return np.ascontiguousarray(whole.reshape(sizes).transpose(axes)).reshape(-1, self.panel)
