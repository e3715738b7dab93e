"""
The naive evaluator: a loop for each block, each iteration and each element.

Block b, iteration i of a dimension that a grid axis of G blocks and a loop of F iterations cut into
tiles of t elements holds the indices from (b F + i) t, t of them or fewer at the end; from
(i G + b) t if the graph is cyclic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from oracle.boxes import Box, Index, largest, results_of, total, whole
from oracle.elements import Array, integers, shape_of, text

REPLICATED = -1
"""The entry of a map that cuts no dimension."""


def run(function: FuncOp, inputs: Sequence[Array]) -> list[Array]:
    """
    What a function returns.

    Raises:
        Unsupported: it has an operation that the oracle does not know.
    """
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, inputs, strict=True))
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                return operands
            if op.name == "kernel.graph_defined":
                results = _Graph(op, operands).run()
            else:
                results = [box.elements for box in results_of(op, [whole(x) for x in operands])]
            values.update(zip(op.results, results, strict=True))
    raise AssertionError("a function returns")


class _Graph:
    """One uGraph, operation by operation, each for all blocks and iterations in turn."""

    def __init__(self, op: Operation, inputs: Sequence[Array]) -> None:
        self.op = op
        self.grid, self.loop = integers(op, "grid"), integers(op, "loop")
        self.blocks: list[Index] = list(product(*map(range, self.grid)))
        self.iterations: list[Index] = list(product(*map(range, self.loop)))
        self.inputs: dict[SSAValue, Array] = dict(
            zip(op.regions[0].block.args, inputs, strict=True)
        )
        self.tiles: dict[tuple[SSAValue, Index, Index | None], Box] = {}
        """By value, block and iteration; None for what is there before or after the loop."""
        self.looped: set[SSAValue] = set()
        """What each iteration computes anew."""

    def run(self) -> list[Array]:
        """The results."""
        results = [np.full(shape_of(value), np.nan) for value in self.op.results]
        written = [np.zeros(shape_of(value), bool) for value in self.op.results]
        number = 0
        for op in self.op.regions[0].block.ops:
            if op.name == "threadblock.store":
                self._store(op, results[number], written[number])
                assert written[number].all(), "every element of a result is stored"
                number += 1
            elif op.name == "threadblock.accumulate":
                self._accumulate(op)
            else:
                self._compute(op)
        return results

    def _steps(self, looped: bool) -> Iterator[tuple[Index, Index | None]]:
        return product(self.blocks, self.iterations if looped else [None])

    def _tile(self, value: SSAValue, block: Index, iteration: Index | None) -> Box:
        return self.tiles[value, block, iteration if value in self.looped else None]

    def _compute(self, op: Operation) -> None:
        """Every operator but accumulators and stores."""
        is_load = op.name == "threadblock.load"
        looped = any(operand in self.looped for operand in op.operands)
        if is_load:
            looped = any(dim != REPLICATED for dim in integers(op, "loop_map"))
        if looped:
            self.looped.update(op.results)
        for block, iteration in self._steps(looped):
            if is_load:
                results = [self._load(op, block, iteration)]
            else:
                results = results_of(op, [self._tile(x, block, iteration) for x in op.operands])
            for value, box in zip(op.results, results, strict=True):
                self.tiles[value, block, iteration] = box

    def _load(self, op: Operation, block: Index, iteration: Index | None) -> Box:
        source = self.inputs[op.operands[0]]
        shape = shape_of(op.results[0])
        first = self._first(op, shape, block, iteration)
        valid = [
            max(0, min(size, whole_size - start))
            for size, whole_size, start in zip(shape, source.shape, first, strict=True)
        ]
        elements = np.empty(valid)
        for index in np.ndindex(*valid):
            elements[index] = source[tuple(a + i for a, i in zip(first, index, strict=True))]
        return Box(shape, elements)

    def _first(
        self, op: Operation, tile: Index, block: Index, iteration: Index | None
    ) -> list[int]:
        """The indices of a tile's first element in the tensor that is loaded or stored."""
        first: list[int] = []
        for dim, size in enumerate(tile):
            of_block, blocks, step, steps = 0, 1, 0, 1
            for axis, cut in enumerate(integers(op, "grid_map")):
                if cut == dim:
                    of_block, blocks = block[axis], self.grid[axis]
            for number, cut in enumerate(integers(op, "loop_map")):
                if cut == dim:
                    assert iteration is not None
                    step = step * self.loop[number] + iteration[number]
                    steps *= self.loop[number]
            cyclic = "cyclic" in self.op.properties
            first.append(size * (step * blocks + of_block if cyclic else of_block * steps + step))
        return first

    def _store(self, op: Operation, result: Array, written: NDArray[np.bool_]) -> None:
        """Copy the tiles of all blocks; blocks that write the same elements agree."""
        for block, iteration in self._steps(op.operands[0] in self.looped):
            tile = self._tile(op.operands[0], block, iteration)
            first = self._first(op, tile.shape, block, iteration)
            for index in np.ndindex(*tile.valid):
                place = tuple(a + i for a, i in zip(first, index, strict=True))
                value = tile.elements[index]
                if any(i >= size for i, size in zip(place, result.shape, strict=True)):
                    continue
                if written[place]:
                    assert np.array_equal(result[place], value, equal_nan=True), "one value"
                result[place] = value
                written[place] = True

    def _accumulate(self, op: Operation) -> None:
        """The sum, maximum or rescaled sum over iterations and over the blocks along `across`."""
        value, *row_maximum = op.operands
        across = integers(op, "across")
        looped = value in self.looped
        for block in self.blocks:
            others = [range(n) if axis in across else [block[axis]] for axis, n in _axes(self.grid)]
            steps = list(product(product(*others), self.iterations if looped else [None]))
            terms = [self._tile(value, *step) for step in steps]
            shifts = [self._tile(row_maximum[0], *step) for step in steps] if row_maximum else []
            self.tiles[op.results[0], block, None] = _accumulated(text(op, "kind"), terms, shifts)


def _axes(grid: Index) -> list[tuple[int, int]]:
    return list(enumerate(grid))


def _accumulated(kind: str, terms: Sequence[Box], shifts: Sequence[Box]) -> Box:
    """An element that is not valid in a term adds nothing to it."""
    elements = np.empty([max(there) for there in zip(*(term.valid for term in terms), strict=True)])
    for index in np.ndindex(*elements.shape):
        present = [n for n, term in enumerate(terms) if _holds(term, index)]
        values = [float(terms[n].elements[index]) for n in present]
        if shifts:
            values = _rescaled(values, [float(shifts[n].at(index)) for n in present])
        elements[index] = largest(values) if kind == "max" else total(values)
    return Box(terms[0].shape, elements)


def _holds(term: Box, index: Index) -> bool:
    return all(i < there for i, there in zip(index, term.valid, strict=True))


def _rescaled(values: Sequence[float], shifts: Sequence[float]) -> list[float]:
    """
    Values relative to the largest of the shifts.

    A shift below every number is the maximum of nothing: what goes with it adds nothing.
    """
    most = largest(shifts)
    return [
        value * math.exp(shift - most) if shift != -math.inf else 0.0
        for value, shift in zip(values, shifts, strict=True)
    ]
