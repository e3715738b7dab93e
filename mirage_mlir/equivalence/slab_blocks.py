"""
Follows labels through graphs over blocks: which argument elements a block's tile holds.

Where a grid axis cuts a labelled dimension, all other tiles that its blocks load must be the same
for each block; else the result of a label would depend on the block that computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.equivalence.labels import NOTHING, Labels, NoSlab
from mirage_mlir.equivalence.slab_values import Operators, Plain, Value, shaped
from mirage_mlir.interpreters.operators import integers, shape_of
from mirage_mlir.interpreters.tile_cuts import TileCut, load_cuts, store_cuts


class BlockLabels:
    """Follows labels through one graph."""

    def __init__(self, operators: Operators, graph: kernel.GraphDefinedOp, inputs: Sequence[Value]):
        self.operators = operators
        self.graph = graph
        self.values: dict[SSAValue, Value] = dict(zip(graph.body.block.args, inputs, strict=True))

    def outputs(self) -> list[Value]:
        """
        The labelled results of the graph's stores.

        Raises:
            NoSlab, Wanted: labels meet.
        """
        stored: list[Value] = []
        for op in self.graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                self.operators.applied += 1
                found = self._stored(op, shape_of(self.graph.outputs[len(stored)]))
                stored.append(self.operators.passed(found))
                continue
            if not op.results:  # waits, of graphs that are scheduled
                continue
            for value, result in zip(op.results, self._results(op), strict=True):
                self.values[value] = result
        return stored

    def _results(self, op: Operation) -> list[Value]:
        operands = [self.values[operand] for operand in op.operands]
        match op:
            case threadblock.LoadOp():
                return [self._loaded(op, operands[0])]
            case threadblock.AccumulateOp():
                return [self._accumulated(op, operands)]
            case threadblock.IotaOp():
                raise NoSlab("a label may meet the index of a block")
            case thread.GraphOp():
                self.operators.applied += 1
                found = self.operators.together(operands)
                return [
                    self.operators.passed(shaped(found, shape_of(result)), number)
                    for number, result in enumerate(op.results)
                ]
            case _:
                return [self.operators.result(op, operands)]

    def _accumulated(self, op: threadblock.AccumulateOp, operands: Sequence[Value]) -> Value:
        self.operators.applied += 1
        across = integers(op, "across")
        found = self.operators.together(operands)
        if found.labels is not None and found.labels.axis in across:
            raise NoSlab("a sum runs over blocks with different labels")
        found = replace(found, varies=found.varies.difference(across))
        return shaped(found, shape_of(op.result))

    def _loaded(self, op: threadblock.LoadOp, source: Value) -> Value:
        self.operators.applied += 1
        dims: list[Plain] = []
        labels, varies = source.labels, source.varies
        for dim, cut in enumerate(load_cuts(self.graph, op).dims):
            old = source.dims[dim]
            if source.at == dim and labels is not None:
                labels = self._cut(labels, cut, old.size)
                dims.append(Plain(cut.tile))
                continue
            if cut.grid_axis is not None and not old.alike:
                varies |= {cut.grid_axis}
            dims.append(self._tile(old, cut))
        if labels is not None and labels.axis in varies:
            raise NoSlab("a grid axis cuts two dimensions of a tensor")
        return self.operators.passed(Value(tuple(dims), source.at, labels, varies))

    def _tile(self, old: Plain, cut: TileCut) -> Plain:
        """A dimension without labels, within the tiles of each block."""
        if cut.grid_axis is None and not cut.loops and cut.tile == old.size:
            return old

        def made_of(wanted: Labels) -> tuple[Plain, Labels]:
            if cut.steps > 1 or wanted.axis != cut.grid_axis:
                raise NoSlab("labels are cut in another way than what they meet")
            return old, _whole(wanted, old.size)

        return Plain(cut.tile, made_of=made_of, alike=old.alike)

    def _cut(self, labels: Labels, cut: TileCut, size: int) -> Labels:
        """The labels of a dimension within the tiles of each block."""
        if cut.steps > 1:
            raise NoSlab("iterations cut a labelled dimension")
        axis = cut.grid_axis
        blocks = 1 if axis is None else self.graph.grid_sizes[axis]
        padding = max(0, blocks * cut.tile - size)

        def rows(values: NDArray[Any], nothing: int) -> NDArray[Any]:
            padded = np.pad(values[0], (0, padding), constant_values=nothing)
            return padded[: blocks * cut.tile].reshape(blocks, cut.tile)

        return Labels(
            rows(labels.label, NOTHING),
            rows(labels.inner, NOTHING),
            rows(labels.history, 0),
            cut.grid_axis,
        )

    def _stored(self, op: threadblock.StoreOp, shape: Sequence[int]) -> Value:
        tile = self.values[op.tile]
        cuts = store_cuts(self.graph, op).dims
        dims = tuple(map(Plain, shape))
        if tile.labels is None:
            return Value(dims)
        assert tile.at is not None
        if cuts[tile.at].grid_axis != tile.labels.axis:
            raise NoSlab("a store puts labels somewhere else than the grid does")
        found = _whole(tile.labels, shape[tile.at])
        if found.size < shape[tile.at] or (found.label == NOTHING).any():
            raise NoSlab("a store leaves places of labels empty")
        return Value(dims, tile.at, found)


def _whole(labels: Labels, size: int) -> Labels:
    """The labels of all tiles, one after the other."""
    return Labels(
        labels.label.reshape(1, -1)[:, :size],
        labels.inner.reshape(1, -1)[:, :size],
        labels.history.reshape(1, -1)[:, :size],
    )
