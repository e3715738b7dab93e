"""
Which blocks and iterations of a graph run, and which of them run side by side.

Blocks whose tiles hold the same (which happens only where dimensions repeat) compute the same, so
one of them runs for all; so do iterations. Blocks along an axis of the grid whose tiles have the
same form, which is to say the same axes, run at once: their tiles lie side by side in one array. So
do iterations, since all that one leaves to the next is a term of a sum or of a maximum.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.axes import CACHED, Axis, Index, Selection, part
from mirage_mlir.interpreters.cuts import Cut, Cuts
from mirage_mlir.interpreters.domain import A, AnyArray, Counts
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

Batch = tuple[int, ...]
"""The blocks that run at once: for each axis of the grid the number of one of its classes."""


class Pieces(NamedTuple):
    """A dimension in pieces of one size."""

    numbers: tuple[int, ...]
    """What each piece holds; those that hold the same have the same number."""
    contents: tuple[Selection, ...]
    """What that is, by number."""


@lru_cache(CACHED)
def pieces(axis: Axis, size: int, count: int) -> Pieces:
    """The first `count` pieces of an axis; beyond its end they are empty."""
    known: dict[bytes, int] = {}
    numbers: list[int] = []
    contents: list[Selection] = []
    for start in range(0, size * count, size):
        held = axis.labels[start : start + size].tobytes()
        if held not in known:
            known[held] = len(contents)
            contents.append(part(axis, start, start + size))
        numbers.append(known[held])
    return Pieces(tuple(numbers), tuple(contents))


@dataclass(frozen=True)
class Group:
    """Blocks along one axis of the grid, or iterations, that compute the same."""

    members: list[int]
    """Their numbers; the first one runs."""


def _groups(keys: Iterable[Hashable]) -> list[Group]:
    """The numbers of equal keys, in order."""
    found: dict[Hashable, Group] = {}
    for number, key in enumerate(keys):
        found.setdefault(key, Group([])).members.append(number)
    return list(found.values())


def _classes(groups: Sequence[Group], keys: Iterable[Hashable]) -> list[list[Group]]:
    """The groups of equal keys, in order."""
    found: dict[Hashable, list[Group]] = {}
    for group, key in zip(groups, keys, strict=True):
        found.setdefault(key, []).append(group)
    return list(found.values())


def counts_of(groups: Sequence[Group]) -> Counts:
    """How many members each group has."""
    return np.array([len(group.members) for group in groups], np.int64)


class Batches:
    """
    The blocks and iterations of one graph on tensors with given axes.

    An array of tiles has the axes: runs, one for each axis of the grid, iterations, dimensions.
    """

    def __init__(
        self,
        graph: kernel.GraphDefinedOp,
        loads: Sequence[tuple[tuple[Axis, ...], Cuts]],
        stores: Sequence[tuple[tuple[int, ...], Cuts]],
    ):
        """`loads` has the axes of each tensor that is loaded, `stores` the shapes of results."""
        self._graph = graph
        self._loads = loads
        self._stores = stores
        self._iterations = list(product(*map(range, graph.loop_sizes)))
        self._steps = _groups(self._iteration_keys())
        self.classes = [self._block_classes(axis) for axis in range(len(graph.grid_sizes))]
        """For each axis of the grid its groups of blocks; those in one list run at once."""

    @property
    def lead(self) -> int:
        """The axes of an array of tiles before the dimensions."""
        return len(self.classes) + 2

    @property
    def all(self) -> Iterable[Batch]:
        """All batches, in order."""
        return product(*(range(len(classes)) for classes in self.classes))

    def blocks(self, batch: Batch, axis: int) -> list[Group]:
        """The groups of a batch along an axis of the grid."""
        return self.classes[axis][batch[axis]]

    def iterations(self, batch: Batch) -> list[list[Group]]:
        """The iterations, in order; those in one list run at once."""
        keys = [
            tuple(
                self._content(axes[dim], cut, self._first_block(batch, cut), group).axis
                for axes, cuts in self._loads
                for dim, cut in cuts.looped
            )
            for group in self._steps
        ]
        return _classes(self._steps, keys)

    def load(
        self,
        domain: TensorDomain[A],
        x: Tensor[A],
        cuts: Cuts,
        batch: Batch,
        steps: Sequence[Group],
    ) -> Tensor[A]:
        """
        The tiles that blocks load in iterations.

        Args:
            domain: the numbers, for arrays of tiles.
            x: the tensor, whose array has the runs before its dimensions.
            cuts: how it is cut.
            batch: the blocks.
            steps: the iterations.
        """
        around, axes = self.lead - 1, list(x.axes)
        places, whole = np.zeros((), np.intp), True
        for dim, cut in enumerate(cuts.dims):
            shape = [1] * (around + len(axes))
            classes: Index = np.arange(axes[dim].classes, dtype=np.intp)
            if cut.grid_axis is not None or cut.loops or cut.tile < axes[dim].size:
                whole = False
                found = self._contents(axes[dim], cut, batch, steps)
                axes[dim] = found[0][0].axis
                classes = np.array([[each.classes for each in row] for row in found], np.intp)
                shape[around - 1] = len(found[0])
                if cut.grid_axis is not None:
                    shape[cut.grid_axis] = len(found)
            shape[around + dim] = axes[dim].classes
            places = places * x.axes[dim].classes + classes.reshape(shape)

        def tiles(array: AnyArray) -> AnyArray:
            if whole:
                return array.reshape(array.shape[0], *(1,) * around, *array.shape[1:])
            return np.take(array.reshape(array.shape[0], -1), places, axis=1)

        return Tensor(domain.rearrange(x.array, tiles), tuple(axes))

    # What tiles hold

    def _contents(
        self, axis: Axis, cut: Cut, batch: Batch, steps: Sequence[Group]
    ) -> list[list[Selection]]:
        """What tiles have of a dimension, for each block along the axis that cuts it and step."""
        blocks = [0]
        if cut.grid_axis is not None:
            blocks = [group.members[0] for group in self.blocks(batch, cut.grid_axis)]
        taken = steps if cut.loops else self._steps[:1]
        numbers = [cut.step(self._iterations[step.members[0]]) for step in taken]
        held = self._pieces(axis, cut)
        return [
            [held.contents[held.numbers[block * cut.steps + number]] for number in numbers]
            for block in blocks
        ]

    def _first_block(self, batch: Batch, cut: Cut) -> int:
        axis = cut.grid_axis
        return 0 if axis is None else self.blocks(batch, axis)[0].members[0]

    def _content(self, axis: Axis, cut: Cut, block: int, step: Group) -> Selection:
        """What a tile has of a dimension."""
        held = self._pieces(axis, cut)
        iteration = self._iterations[step.members[0]]
        return held.contents[held.numbers[block * cut.steps + cut.step(iteration)]]

    def _pieces(self, axis: Axis, cut: Cut) -> Pieces:
        blocks = 1 if cut.grid_axis is None else self._graph.grid_sizes[cut.grid_axis]
        return pieces(axis, cut.tile, blocks * cut.steps)

    # What computes the same, or runs at once

    def _iteration_keys(self) -> list[Hashable]:
        """For each iteration what its tiles hold, in all blocks."""
        columns = [
            (cut, self._pieces(axes[dim], cut).numbers)
            for axes, cuts in self._loads
            for dim, cut in cuts.looped
        ]
        return [
            tuple(numbers[cut.step(iteration) :: cut.steps] for cut, numbers in columns)
            for iteration in self._iterations
        ]

    def _block_classes(self, grid_axis: int) -> list[list[Group]]:
        """The blocks along an axis of the grid, in order."""
        blocks = range(self._graph.grid_sizes[grid_axis])
        keys = [
            pieces(axes[dim], cut.steps * cut.tile, len(blocks)).numbers
            for axes, cuts in self._loads
            for dim, cut in cuts.along(grid_axis)
        ]
        # How much of each tile that a block stores lies within its tensor.
        stored = [
            tuple(max(0, min(cut.tile, size - block * cut.tile)) for block in blocks)
            for shape, cuts in self._stores
            for size, cut in ((shape[dim], cut) for dim, cut in cuts.along(grid_axis))
        ]
        groups = _groups(tuple(key[block] for key in keys + stored) for block in blocks)
        forms = [
            (
                *self._form(grid_axis, group.members[0]),
                *(sizes[group.members[0]] for sizes in stored),
            )
            for group in groups
        ]
        return _classes(groups, forms)

    def _form(self, grid_axis: int, block: int) -> tuple[Axis, ...]:
        """The axes of the tiles that a block loads, as far as one axis of the grid decides them."""
        return tuple(
            self._content(axes[dim], cut, block, step).axis
            for axes, cuts in self._loads
            for dim, cut in cuts.along(grid_axis)
            for step in (self._steps if cut.loops else self._steps[:1])
        )
