"""Masks that are formulas of indices: how many iterations of a loop they leave to each block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mirage_mlir.search.program.program import Node, Program

MOST_SAMPLES = 1024
"""Indices of an axis that are looked at, evenly spaced: a block of a long axis has many of them."""

Numbers = NDArray[np.float64]

COMPARISONS: Mapping[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@dataclass(frozen=True)
class IndexMask:
    """
    What is left of an axis for each index of another one.

    Args:
        rows: the other axis; None where there is none.
        columns: the axis that is masked.
        first: the first column that is left, for evenly spaced rows.
        end: the one behind the last.
    """

    rows: str | None
    columns: str
    first: Numbers
    end: Numbers

    def lengths(self, tile: int, size: int, columns: int) -> Numbers:
        """
        The iterations of each block, at least one.

        Args:
            tile: rows of a block.
            size: of the axis of rows.
            columns: of an iteration.
        """
        starts = np.arange(0, size, tile)
        last = np.minimum(starts + tile, size) - 1
        places = np.stack([starts, (starts + last) // 2, last]) * len(self.first) // size
        first, end = self.first[places].min(axis=0), self.end[places].max(axis=0)
        return np.maximum(np.ceil(end / columns) - np.floor(first / columns), 1.0)


def masks_of(program: Program) -> dict[str, IndexMask]:
    """For each axis that indices mask, along one other axis at most, what is left of it."""
    conditions: dict[str, list[int]] = {}
    for number, axes in _conditions(program):
        for axis in axes:
            conditions.setdefault(axis, []).append(number)
    found = ((axis, _mask(program, axis, numbers)) for axis, numbers in conditions.items())
    return {axis: mask for axis, mask in found if mask is not None}


def _conditions(program: Program) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The nodes that are 0, or -inf, where indices say so, with their axes."""
    only = _of_indices(program)
    for number, node in enumerate(program.nodes):
        if node.function is None or node.operands[0] not in only:
            continue
        kept = node.function.name == "kept"
        chosen = node.function.name == "chosen" and -inf in node.function.parameters
        if kept or chosen:
            yield number, program.nodes[node.operands[0]].present


def _of_indices(program: Program) -> set[int]:
    """The nodes that depend on indices and nothing else."""
    indices = {tensor.node for tensor in program.inputs if tensor.indices}
    found: set[int] = set()
    for number, node in enumerate(program.nodes):
        if number in indices or node.kind == "constant":
            found.add(number)
        elif node.operands and found.issuperset(node.operands):
            found.add(number)
    return found


def _mask(program: Program, columns: str, conditions: list[int]) -> IndexMask | None:
    """What all conditions together leave of an axis."""
    others = {axis for n in conditions for axis in program.nodes[n].present} - {columns}
    heads = {a for n in conditions for a in program.nodes[program.nodes[n].operands[0]].present}
    rows = [*(others & heads)]
    if len(rows) > 1:
        return None
    sizes = [program.sizes[axis] for axis in (*rows, columns)]
    samples = [_samples(size) for size in sizes]
    evaluation = _Evaluation(program, dict(zip((*rows, columns), samples, strict=True)))
    left: NDArray[np.bool_] | None = None
    for number in conditions:
        node = program.nodes[number]
        value = evaluation.value(node.operands[0])
        if value is None or node.function is None:
            return None
        seen = value != 0.0
        if node.function.parameters:
            seen = seen if node.function.parameters[1] == -inf else ~seen
        left = seen if left is None else left & seen
    assert left is not None
    plane = np.broadcast_to(left, [len(each) for each in samples]).reshape(-1, len(samples[-1]))
    step = sizes[-1] / plane.shape[1]
    some = plane.any(axis=1)
    first = np.where(some, plane.argmax(axis=1) * step, 0.0)
    end = np.where(some, (plane.shape[1] - plane[:, ::-1].argmax(axis=1)) * step, 0.0)
    return IndexMask(rows[0] if rows else None, columns, first, end)


def _samples(size: int) -> Numbers:
    count = min(size, MOST_SAMPLES)
    return (np.arange(count) * size // count).astype(np.float64)


@dataclass(frozen=True)
class _Evaluation:
    """
    Values of nodes that depend on indices alone.

    Args:
        program: has the nodes.
        samples: the indices of each axis at which they are wanted, in the order of dimensions.
    """

    program: Program
    samples: Mapping[str, Numbers]

    def value(self, number: int) -> Numbers | None:
        """The value of a node; None where it is of other axes, or of an operation unknown here."""
        node = self.program.nodes[number]
        operands = [self.value(operand) for operand in node.operands]
        if any(operand is None for operand in operands):
            return None
        return self._of(number, node, [x for x in operands if x is not None])

    def _of(self, number: int, node: Node, x: list[Numbers]) -> Numbers | None:
        match node.kind:
            case "input":
                return self._indices(number)
            case "constant":
                return np.array(float(node.value))
            case "view":
                return x[0]
            case "add" | "sub" | "mul" | "max":
                functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
                return functions.get(node.kind, np.maximum)(*x)
            case "function":
                return _function(node, x)
            case _:
                return None

    def _indices(self, number: int) -> Numbers | None:
        """The indices of an input; one that a view has shifted is taken to start with 0."""
        (tensor,) = (one for one in self.program.inputs if one.node == number)
        total = np.zeros((1,) * len(self.samples))
        for axis, stride in tensor.by_stride():
            if axis not in self.samples:
                return None
            place = [*self.samples].index(axis)
            shape = [1] * len(self.samples)
            shape[place] = len(self.samples[axis])
            total = total + self.samples[axis].reshape(shape) * stride
        return total


def _function(node: Node, x: list[Numbers]) -> Numbers | None:
    """A comparison or a selection of values, or of a value and a number."""
    function = node.function
    if function is None:
        return None
    if function.name == "compare":
        predicate, *numbers = function.parameters
        other = x[1] if len(x) > 1 else np.array(float(numbers[0]))
        return COMPARISONS[str(predicate)](x[0], other).astype(np.float64)
    if function.name == "kept":
        return np.where(x[0] != 0.0, x[1], 0.0)
    if function.name == "chosen":
        first, second = (float(each) for each in function.parameters)
        return np.where(x[0] != 0.0, first, second)
    return np.abs(x[0]) if function.name == "abs" else None
