"""One uGraph at real sizes, block after block, with running sums; tiles are gathered by indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation, SSAValue

from oracle.elements import (
    ELEMENTWISE,
    Array,
    Unsupported,
    function_of,
    integer,
    integers,
    mnemonic,
    number,
    run_thread_graph,
    shape_of,
    text,
)

Index = tuple[int, ...]

Tiles = dict[SSAValue, Array]
"""The valid elements of tiles, by values."""

Places = list[list[int]]
"""For each dimension of a tile the indices of its valid elements in the tensor."""


def run_graph(op: Operation, inputs: Sequence[Array]) -> list[Array]:
    """The results of a `kernel.graph_defined`."""
    return _Graph(op, inputs).run()


class _Total:
    """The running sum or maximum of tiles; with `rescaled`, relative to a running maximum."""

    def __init__(self, shape: Index, kind: str, rescaled: bool) -> None:
        self.is_max = kind == "max"
        self.values = np.full(shape, -np.inf if self.is_max else 0.0)
        self.shift = np.full(shape, -np.inf) if rescaled else None
        self.valid = [0] * len(shape)

    def add(self, values: Array, shift: Array | None) -> None:
        """One more tile, whose elements are the first of each dimension."""
        self.valid = [max(a, b) for a, b in zip(self.valid, values.shape, strict=True)]
        part = tuple(slice(count) for count in values.shape)
        if self.is_max:
            self.values[part] = np.maximum(self.values[part], values)
        elif self.shift is None or shift is None:
            self.values[part] += values
        else:
            old = self.shift[part]
            new = np.maximum(old, shift)
            kept = np.where(old == -np.inf, 0.0, self.values[part] * np.exp(old - new))
            added = np.where(shift == -np.inf, 0.0, values * np.exp(shift - new))
            self.values[part], self.shift[part] = kept + added, new

    def result(self) -> Array:
        """What is valid in any of the tiles."""
        return self.values[tuple(map(slice, self.valid))]

    def final_shift(self) -> Array | None:
        """The maximum that the sum is relative to."""
        return None if self.shift is None else self.shift[tuple(map(slice, self.valid))]


@dataclass
class _BlockState:
    """What one block holds."""

    tiles: Tiles = field(default_factory=dict[SSAValue, Array])
    """What is not computed anew in each iteration."""
    totals: dict[Operation, _Total] = field(default_factory=dict[Operation, _Total])


class _Graph:
    """The uGraph: what comes before the loop, the loops of all blocks, and what follows."""

    def __init__(self, op: Operation, inputs: Sequence[Array]) -> None:
        self.op = op
        self.body: Block = op.regions[0].block
        self.inputs: Tiles = dict(zip(self.body.args, inputs, strict=True))
        stores = [each for each in self.body.ops if each.name == "threadblock.store"]
        empty = [np.full(shape_of(value), np.nan) for value in op.results]
        self.results: dict[Operation, Array] = dict(zip(stores, empty, strict=True))
        """What each store writes."""
        self.grid, self.loop = integers(op, "grid"), integers(op, "loop")
        self.blocks = {block: _BlockState() for block in product(*map(range, self.grid))}
        self.before: list[Operation] = []
        self.looped: list[Operation] = []
        """What each iteration runs, accumulators of such values among them."""
        self.after: list[Operation] = []
        self._sort()

    def _sort(self) -> None:
        """Find out when each operation runs; an accumulator of the loop is finished after it."""
        owners: dict[SSAValue, list[Operation]] = {arg: self.before for arg in self.body.args}
        for op in self.body.ops:
            lists = [owners[operand] for operand in op.operands]
            cut = op.name == "threadblock.load" and set(integers(op, "loop_map")) - {-1}
            mine = self.before
            if cut or any(operations is self.looped for operations in lists):
                mine = self.looped
            elif any(operations is self.after for operations in lists):
                mine = self.after
            if op.name == "threadblock.store":
                mine = mine if mine is self.looped else self.after
            if op.name == "threadblock.accumulate":
                if mine is self.looped:
                    self.looped.append(op)
                mine = self.after
            mine.append(op)
            owners.update((value, mine) for value in op.results)

    def run(self) -> list[Array]:
        """The results."""
        for block, state in self.blocks.items():
            for op in self.before:
                self._step(op, block, (), state.tiles)
            for iteration in product(*map(range, self.loop)):
                self._iterate(block, iteration, state)
        for op in self.after:
            if op.name == "threadblock.accumulate":
                self._finish(op)
            elif op.name == "threadblock.store":
                for block, state in self.blocks.items():
                    self._store(op, block, (), state.tiles)
            else:
                for state in self.blocks.values():
                    _compute(op, state.tiles)
        return [*self.results.values()]

    def _iterate(self, block: Index, iteration: Index, state: _BlockState) -> None:
        tiles = dict(state.tiles)
        for op in self.looped:
            if op.name == "threadblock.accumulate":
                _add(state, op, tiles)
            elif op.name == "threadblock.store":
                self._store(op, block, iteration, tiles)
            else:
                self._step(op, block, iteration, tiles)

    def _step(self, op: Operation, block: Index, iteration: Index, tiles: Tiles) -> None:
        if op.name == "threadblock.load":
            source = self.inputs[op.operands[0]]
            tile = shape_of(op.results[0])
            places = self._places(op, tile, block, iteration, source.shape)
            tiles[op.results[0]] = _at(source, places)
        else:
            _compute(op, tiles)

    def _places(
        self, op: Operation, tile: Index, block: Index, iteration: Index, size: Index
    ) -> Places:
        """
        Block b of G, iteration i of F has the elements from (b F + i) t on; cyclic (i G + b) t.
        """
        cyclic = "cyclic" in self.op.properties
        grid_map, loop_map = integers(op, "grid_map"), integers(op, "loop_map")
        places: Places = []
        for dim, count in enumerate(tile):
            digits = [(iteration[n], self.loop[n]) for n, cut in enumerate(loop_map) if cut == dim]
            of_block = [(block[n], self.grid[n]) for n, cut in enumerate(grid_map) if cut == dim]
            number = 0
            for digit, base in digits + of_block if cyclic else of_block + digits:
                number = number * base + digit
            places.append([n for n in range(number * count, (number + 1) * count) if n < size[dim]])
        return places

    def _store(self, op: Operation, block: Index, iteration: Index, tiles: Tiles) -> None:
        result, elements = self.results[op], tiles[op.operands[0]]
        there = self._places(op, shape_of(op.operands[0]), block, iteration, result.shape)
        places = [place[:count] for place, count in zip(there, elements.shape, strict=True)]
        kept = elements[tuple(slice(len(place)) for place in places)]
        if kept.size:
            result[_grid_of(places)] = kept

    def _finish(self, op: Operation) -> None:
        """Add up blocks; a value that the loop did not make is added up only now."""
        across = integers(op, "across")
        for state in self.blocks.values():
            if op not in self.looped:
                _add(state, op, state.tiles)
        merged: dict[Index, _Total] = {}
        for block, state in self.blocks.items():
            key = _without(block, across)
            if key not in merged:
                merged[key] = _empty_total(op)
            part = state.totals[op]
            merged[key].add(part.result(), part.final_shift())
        for block, state in self.blocks.items():
            state.tiles[op.results[0]] = merged[_without(block, across)].result()


def _without(block: Index, axes: Sequence[int]) -> Index:
    return tuple(-1 if axis in axes else number for axis, number in enumerate(block))


def _grid_of(places: Places) -> tuple[NDArray[np.intp], ...]:
    return np.ix_(*(np.array(place, np.intp) for place in places))


def _at(source: Array, places: Places) -> Array:
    return source[_grid_of(places)]


def _empty_total(op: Operation) -> _Total:
    return _Total(shape_of(op.results[0]), text(op, "kind"), len(op.operands) > 1)


def _add(state: _BlockState, op: Operation, tiles: Tiles) -> None:
    if op not in state.totals:
        state.totals[op] = _empty_total(op)
    values = tiles[op.operands[0]]
    shift = None
    if len(op.operands) > 1:
        shift = _fitted(tiles[op.operands[1]], shape_of(op.operands[1]), values.shape)
        values = values[tuple(map(slice, shift.shape))]
    state.totals[op].add(values, shift)


# Operators


def _compute(op: Operation, tiles: Tiles) -> None:
    """Add the results of one operator to `tiles`."""
    operands = [tiles[operand] for operand in op.operands]
    name = mnemonic(op)
    if name in ELEMENTWISE or name in ("graph", "broadcast"):
        shape = shape_of(op.results[0])
        fitting = _fitting(operands, [shape_of(operand) for operand in op.operands], shape)
        results = run_thread_graph(op, fitting) if name == "graph" else [_elements(op, fitting)]
        tiles.update((v, np.broadcast_to(r, fitting[0].shape)) for v, r in _pairs(op, results))
    elif name in _OPERATORS:
        tiles[op.results[0]] = _OPERATORS[name](op, operands)
    else:
        raise Unsupported(op.name)


def _pairs(op: Operation, results: Sequence[Array]) -> Iterator[tuple[SSAValue, Array]]:
    return zip(op.results, results, strict=True)


def _elements(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0] if mnemonic(op) == "broadcast" else function_of(op)(*operands)


def _fitting(operands: Sequence[Array], shapes: Sequence[Index], shape: Index) -> list[Array]:
    """The operands, broadcast to those elements of `shape` that are valid in all of them."""
    wanted = _together([operand.shape for operand in operands], shapes, shape)
    return [
        _fitted(operand, nominal, wanted) for operand, nominal in zip(operands, shapes, strict=True)
    ]


def _together(valid: Sequence[Index], shapes: Sequence[Index], shape: Index) -> list[int]:
    """How many elements of each dimension of `shape` are valid in all of several operands."""
    wanted = list(shape)
    for there, nominal in zip(valid, shapes, strict=True):
        for dim in range(-len(nominal), 0):
            limit = shape[dim] if nominal[dim] == 1 and there[dim] else there[dim]
            wanted[dim] = min(wanted[dim], limit)
    return wanted


def _fitted(operand: Array, nominal: Index, wanted: Sequence[int]) -> Array:
    """The first elements of an operand, its dimensions of size 1 repeated."""
    last = wanted[len(wanted) - len(nominal) :]
    places = [
        [0] * count if size == 1 else list(range(count))
        for size, count in zip(nominal, last, strict=True)
    ]
    return np.broadcast_to(_at(operand, places), wanted)


def _matmul(op: Operation, operands: Sequence[Array]) -> Array:
    lhs, rhs = operands
    depth = min(lhs.shape[-1], rhs.shape[-2])
    nominal = [shape_of(operand)[:-2] for operand in op.operands]
    valid = [operand.shape[:-2] for operand in operands]
    wanted = _together(valid, nominal, shape_of(op.results[0])[:-2])
    parts = [
        tuple(slice(count) for count in wanted[len(wanted) - len(sizes) :]) for sizes in nominal
    ]
    return np.matmul(lhs[parts[0]][..., :depth], rhs[parts[1]][..., :depth, :])


def _reduce_sum(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0].sum(axis=integers(op, "dims"), keepdims=True)


def _reduce_max(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0].max(axis=integers(op, "dims"), keepdims=True, initial=-np.inf)


def _transpose(op: Operation, operands: Sequence[Array]) -> Array:
    return np.transpose(operands[0], integers(op, "permutation"))


def _concat(op: Operation, operands: Sequence[Array]) -> Array:
    dim = integer(op, "dim")
    rank = operands[0].ndim
    least = [min(x.shape[d] for x in operands) for d in range(rank)]
    parts = [x[tuple(slice(None if d == dim else least[d]) for d in range(rank))] for x in operands]
    return np.concatenate(parts, axis=dim)


def _constant(op: Operation, operands: Sequence[Array]) -> Array:
    return np.full(shape_of(op.results[0]), number(op, "value"))


_OPERATORS: dict[str, Callable[[Operation, Sequence[Array]], Array]] = {
    "matmul": _matmul,
    "reduce_sum": _reduce_sum,
    "reduce_max": _reduce_max,
    "transpose": _transpose,
    "concat": _concat,
    "constant": _constant,
}
"""Operators of tiles that are not elementwise, by mnemonics."""
