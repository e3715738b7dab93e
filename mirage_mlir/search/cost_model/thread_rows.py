"""
Models the rows of tiles that threads have without matmuls.

Of the sum of a row each of the threads that share it has a copy, so that tiles of many short rows
take more registers than their sums have elements.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from mirage_mlir.search.cost_model.block_buffers import BlockBuffers
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import ACCUMULATIONS, REDUCTIONS, Mask
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.saturation.hypergraph import Edge

MOST_STRETCHED = 120
"""Elements of a thread in tiles that others are stretched over: the code for all of them reads
ahead. Of 60 kernels over pairs on an H200 those with more spilled up to 41 KB, but for two."""


class ThreadRows(BlockBuffers):
    """Computes the registers for rows of one derivation."""

    def _computed(self) -> Iterator[tuple[int, Edge]]:
        """The values of a kernel without matmuls; nothing of others."""
        if not self.matmuls:
            yield from self.edges.items()

    @cached_property
    def _copied(self) -> dict[int, Array]:
        """
        For values of the rows of tiles the registers of all threads that hold them: what threads
        reduce over columns each of them has for all its rows.
        """
        found: dict[int, Array] = {}
        for value, edge in self._computed():
            axes = self.positions.axes[value]
            if edge.kind in REDUCTIONS and edge.axis == self.positions.axes[edge.operands[0]][-1]:
                found[value] = self._rows_of_threads(edge.operands[0])
            elif edge.operands and axes[-1:] == (None,):
                same = [each for each in edge.operands if self.positions.axes[each] == axes]
                held = [found[each] for each in same if each in found]
                if held:
                    found[value] = np.maximum.reduce(held)
        return found

    def _rows_of_threads(self, value: int) -> Array:
        """The rows of a tile that threads have, all of them together, beyond one for each."""
        layout = self._blocked_tile(value)
        return np.maximum(layout.rows * layout.across - self.threads, 0.0)

    def _held(self, value: int) -> Array:
        volume = self.tiling.volume(value)
        return np.maximum(volume, self._copied[value]) if value in self._copied else volume

    @cached_property
    def folded(self) -> Array:
        """
        The registers of all threads for sums that are reduced behind the loop: a thread keeps one
        for each of its rows.
        """
        total = self.tiling.zero
        for value, edge in self._computed():
            if edge.kind in ACCUMULATIONS and self._folded(value):
                if self.edges[self.uses[value][0]].axis == self.positions.axes[value][-1]:
                    total = total + self._rows_of_threads(value)
        return total

    def _are_few(self) -> Mask:
        """Whether threads have few elements of tiles whose operands lack dimensions of the rows."""
        most = self.tiling.zero
        for value, edge in self._computed():
            rows = present(self.positions.axes[value][:-1])
            lacking = [set(rows) - set(self.tiling.axes(operand)) for operand in edge.operands]
            if len(rows) > 1 and any(0 < len(each) < len(rows) for each in lacking):
                most = np.maximum(most, self.tiling.volume(value))
        return most <= MOST_STRETCHED * self.threads
