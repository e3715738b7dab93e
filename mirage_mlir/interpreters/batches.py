"""
Which blocks and iterations of a graph run side by side.

Blocks along an axis of the grid whose tiles have the same form, which is to say the same
dimensions, run at once: their tiles lie side by side in one array. So do iterations, since all that
one leaves to the next is a term of a sum or of a maximum. As many run at once as memory allows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.interpreters.dims import CACHED, Dim, Index, dim_of
from mirage_mlir.interpreters.domain import A
from mirage_mlir.interpreters.operators import shape_of
from mirage_mlir.interpreters.tensors import DrawnTensor, Tensor, TensorDomain
from mirage_mlir.interpreters.tile_cuts import TileCut, TileCuts

Batch = tuple[int, ...]
"""The blocks that run at once: for each axis of the grid the number of one of its classes."""

MOST_ELEMENTS = 1 << 19
"""Elements of the largest tile of all blocks and iterations that run at once: some MB."""


@lru_cache(CACHED)
def piece(dim: Dim, start: int, size: int) -> tuple[Dim, Index]:
    """
    A piece of a dimension from an index on, cut at the end.

    Returns:
        The dimension of the piece, and the places of its indices among those of `dim`.
    """
    stop = max(start, min(start + size, dim.size))
    if dim.kept is None:
        return Dim(stop - start), np.arange(start, stop)
    low, high = (int(place) for place in np.searchsorted(dim.kept.indices, [start, stop]))
    return dim_of(stop - start, dim.kept.indices[low:high] - start), np.arange(low, high)


class Batches:
    """
    The blocks and iterations of one graph on tensors with given dimensions.

    An array of tiles has the axes: runs, one for each axis of the grid, iterations, dimensions.
    """

    def __init__(
        self,
        graph: kernel.GraphDefinedOp,
        stages: Mapping[SSAValue, Stage],
        loads: Sequence[tuple[tuple[Dim, ...], TileCuts]],
        stores: Sequence[tuple[tuple[int, ...], TileCuts]],
    ):
        """
        `stages` says when each value is computed, `loads` the dimensions of each tensor that is
        loaded, `stores` results' shapes.
        """
        self._loads = loads
        self._stores = stores
        self._iterations = list(product(*map(range, graph.loop_sizes)))
        sizes: dict[bool, int] = {True: 1, False: 1}
        for value, stage in stages.items():
            in_loop = stage is Stage.LOOP
            sizes[in_loop] = max(sizes[in_loop], prod(shape_of(value)))
        self._steps_at_once = max(1, MOST_ELEMENTS // sizes[True])
        # A block has a tile of the loop in each iteration, any other tile once.
        of_block = max(sizes[False], sizes[True] * len(self._iterations))
        blocks_at_once = max(1, MOST_ELEMENTS // of_block)
        self.classes: list[list[list[int]]] = []
        """For each axis of the grid its blocks; those in one list run at once."""
        for axis, size in enumerate(graph.grid_sizes):
            classes = self._alike(axis, size)
            empty = {each[0]: each for each in classes if self._is_empty(axis, each[0])}
            runs = _runs([each for each in classes if each[0] not in empty], blocks_at_once)
            self.classes.append([*runs, *empty.values()])
            blocks_at_once = max(1, blocks_at_once // max(map(len, runs), default=1))

    @property
    def lead(self) -> int:
        """The axes of an array of tiles before the dimensions."""
        return len(self.classes) + 2

    @property
    def all(self) -> Iterable[Batch]:
        """All batches, in order."""
        return product(*(range(len(classes)) for classes in self.classes))

    def blocks(self, batch: Batch, axis: int) -> list[int]:
        """The blocks of a batch along an axis of the grid."""
        return self.classes[axis][batch[axis]]

    def iterations(self, batch: Batch) -> list[list[int]]:
        """The numbers of iterations, in order; those in one list run at once."""
        forms = [
            tuple(
                self._piece(dims[dim], cut, self._first_block(batch, cut), number)[0]
                for dims, cuts in self._loads
                for dim, cut in cuts.looped
            )
            for number in range(len(self._iterations))
        ]
        return _runs(_equal(forms), self._steps_at_once)

    def load(
        self,
        domain: TensorDomain[A],
        x: Tensor[A],
        cuts: TileCuts,
        batch: Batch,
        steps: Sequence[int],
    ) -> Tensor[A]:
        """
        The tiles that blocks load in iterations.

        Args:
            domain: the numbers, for arrays of tiles.
            x: the tensor, whose array has the runs before its dimensions.
            cuts: how it is cut.
            batch: the blocks.
            steps: the numbers of the iterations; none before the loop.
        """
        dims, places = list(x.dims), list[Index]()
        around = self.lead - 1
        for dim, cut in enumerate(cuts.dims):
            blocks = [0] if cut.grid_axis is None else self.blocks(batch, cut.grid_axis)
            taken = list(steps) if cut.loops else [0]
            dims[dim] = self._piece(x.dims[dim], cut, blocks[0], taken[0])[0]
            shape = [1] * (around + len(dims))
            shape[around - 1], shape[around + dim] = len(taken), dims[dim].count
            if cut.grid_axis is not None:
                shape[cut.grid_axis] = len(blocks)
            places.append(self._places(x.dims[dim], cut, blocks, taken).reshape(shape))
        return Tensor(_gathered(domain, x, places), tuple(dims))

    def _places(self, dim: Dim, cut: TileCut, blocks: Sequence[int], steps: Sequence[int]) -> Index:
        """The places that tiles of one form read, for each block and iteration."""
        if dim.kept is not None:
            if self._piece(dim, cut, blocks[0], steps[0])[0].count == 0:
                return np.zeros((len(blocks) * len(steps), 0), np.intp)
            found = [self._piece(dim, cut, block, step)[1] for block in blocks for step in steps]
            return np.array(found, np.intp)
        starts = [self._start(cut, block, step) for block in blocks for step in steps]
        size = self._piece(dim, cut, blocks[0], steps[0])[0].size
        return np.array(starts, np.intp)[:, None] + np.arange(size)

    # What tiles hold

    def _piece(self, dim: Dim, cut: TileCut, block: int, step: int) -> tuple[Dim, Index]:
        """What the tile of a block and an iteration has of a dimension."""
        return piece(dim, self._start(cut, block, step), cut.tile)

    def _start(self, cut: TileCut, block: int, step: int) -> int:
        """The first index of the tile of a block and an iteration."""
        return cut.number(block, cut.step(self._iterations[step])) * cut.tile

    def stored_size(self, cut: TileCut, size: int, batch: Batch, step: int) -> int:
        """Indices that an iteration's tile has of a result's dimension of `size`."""
        start = self._start(cut, self._first_block(batch, cut), step)
        return max(0, min(cut.tile, size - start))

    def _first_block(self, batch: Batch, cut: TileCut) -> int:
        axis = cut.grid_axis
        return 0 if axis is None else self.blocks(batch, axis)[0]

    def _alike(self, grid_axis: int, size: int) -> list[list[int]]:
        """The blocks along an axis of the grid, by the form of their tiles."""
        special = self._special(grid_axis, size)
        usual = np.setdiff1d(np.arange(size), special)
        # All others are like the first of them.
        known = [*special.tolist(), *usual[:1].tolist()]
        classes = [
            [known[number] for number in each]
            for each in _equal(self._form(grid_axis, block) for block in known)
        ]
        for each in classes:
            if len(usual) and each[-1] == usual[0]:
                each[-1:] = usual.tolist()
        return sorted(sorted(each) for each in classes)

    def _special(self, grid_axis: int, size: int) -> Index:
        """The blocks along an axis of which some index is kept, and those at a ragged end."""
        found = [np.zeros(0, np.intp)]
        for dims, cuts in self._loads:
            for dim, cut in cuts.along(grid_axis):
                found.append(cut.owners_beyond(dims[dim].size))
                kept = dims[dim].kept
                if kept is not None:
                    found.append(cut.owners(kept.indices))
        for shape, cuts in self._stores:
            found += [cut.owners_beyond(shape[dim]) for dim, cut in cuts.along(grid_axis)]
        special = np.unique(np.concatenate(found))
        return special[special < size]

    def _is_empty(self, grid_axis: int, block: int) -> bool:
        """Whether no index is computed of any dimension that an axis of the grid cuts."""
        found = [
            _of_block(dims[dim], cut, block)
            for dims, cuts in self._loads
            for dim, cut in cuts.along(grid_axis)
        ]
        return bool(found) and not any(each.count for each in found)

    def _form(self, grid_axis: int, block: int) -> Hashable:
        """The dimensions of a block's tiles, as far as one axis of the grid decides them."""
        loaded = tuple(
            _of_block(dims[dim], cut, block)
            for dims, cuts in self._loads
            for dim, cut in cuts.along(grid_axis)
        )
        stored = tuple(
            cut.held(block, shape[dim])
            for shape, cuts in self._stores
            for dim, cut in cuts.along(grid_axis)
        )
        return loaded, stored


def _of_block(dim: Dim, cut: TileCut, block: int) -> Dim:
    """What a block has of a dimension: its tiles one after the other."""
    size = cut.held(block, dim.size)
    return Dim(size) if dim.kept is None else dim_of(size, cut.owned(dim.kept.indices, block))


def _gathered(domain: TensorDomain[A], x: Tensor[A], places: Sequence[Index]) -> A:
    """The elements of a tensor at arrays of places, one for each dimension."""
    if isinstance(x, DrawnTensor):
        return x.at([indices[at] for indices, at in zip(x.indices, places, strict=True)])
    extents = domain.numbers.shape(x.array)[1:]
    flat = np.zeros((), np.intp)
    for extent, at in zip(extents, places, strict=True):
        # Where a dimension is stored once, its elements are all alike.
        flat = flat * extent + (at if extent > 1 else np.zeros(at.shape, np.intp))
    return domain.rearrange(
        x.array, lambda array: np.take(array.reshape(array.shape[0], -1), flat, axis=1)
    )


def _equal(keys: Iterable[Hashable]) -> list[list[int]]:
    """The numbers of equal keys, in order."""
    found: dict[Hashable, list[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault(key, []).append(number)
    return list(found.values())


def _runs(classes: Iterable[list[int]], most: int) -> list[list[int]]:
    """The classes, in pieces of at most so many."""
    return [
        numbers[start : start + most]
        for numbers in classes
        for start in range(0, len(numbers), most)
    ]
