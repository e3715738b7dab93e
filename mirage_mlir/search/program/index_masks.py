"""Masks that are formulas of indices: how many iterations of a loop they leave to each block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mirage_mlir.search.program.program import Input, Node, Program

MOST_SAMPLES = 1024
"""Indices of an axis that are looked at, evenly spaced: a block of a long axis has many of them."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class IndexSamples:
    """
    Elements of a formula of indices, at evenly spaced indices of each dimension.

    Args:
        shape: how many there are along each dimension, `MOST_SAMPLES` at most.
        data: the elements in f32, row-major.
        work: instructions to compute one element.
    """

    shape: tuple[int, ...]
    data: bytes
    work: float

    @property
    def elements(self) -> Numbers:
        """The elements."""
        return np.frombuffer(self.data, np.float32).reshape(self.shape).astype(np.float64)


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
    conditions: dict[str, list[tuple[Input, NDArray[np.bool_]]]] = {}
    for tensor, seen in _conditions(program):
        for axis in tensor.axes:
            if axis is not None:
                conditions.setdefault(axis, []).append((tensor, seen))
    found = ((axis, _mask(program, axis, masks)) for axis, masks in conditions.items())
    return {axis: mask for axis, mask in found if mask is not None}


def _conditions(program: Program) -> Iterator[tuple[Input, NDArray[np.bool_]]]:
    """The formulas that make something 0, or -inf, and where they do not."""
    formulas = {tensor.node: tensor for tensor in program.inputs if tensor.indices is not None}
    found: list[tuple[Input, NDArray[np.bool_]]] = []
    others: set[int] = set()
    for node in program.nodes:
        for operand in node.operands[: 2 if node.kind == "add" else 1]:
            tensor = formulas.get(_behind_views(program, operand))
            if tensor is None or tensor.indices is None:
                continue
            elements = tensor.indices.elements
            if not _is_over_axes(tensor, elements):
                continue
            if _chooses_a_number(node):
                others.add(tensor.node)
            elif (seen := _seen(node, elements)) is not None:
                found.append((tensor, seen))
    yield from (each for each in found if each[0].node not in others)


def _is_over_axes(tensor: Input, elements: Numbers) -> bool:
    """Whether each dimension of a formula is an axis, or has one element."""
    if elements.ndim != len(tensor.axes):
        return False
    return all(n == 1 or a is not None for n, a in zip(elements.shape, tensor.axes, strict=True))


def _chooses_a_number(node: Node) -> bool:
    """Whether something else takes the place of what is masked, such as a large negative number."""
    if node.function is None or node.function.name != "chosen":
        return False
    return any(number not in (0.0, -inf) for number in node.function.parameters)


def _behind_views(program: Program, node: int) -> int:
    while program.nodes[node].kind == "view":
        (node,) = program.nodes[node].operands
    return node


def _seen(node: Node, elements: Numbers) -> NDArray[np.bool_] | None:
    """Where an operand lets something through; None where it is no mask."""
    if node.kind == "add":
        return elements > -inf if np.isneginf(elements).any() else None
    if node.function is None:
        return None
    if node.function.name == "kept":
        return elements != 0.0
    if node.function.name == "chosen" and -inf in node.function.parameters:
        lowest = elements != 0.0 if node.function.parameters[0] == -inf else elements == 0.0
        return ~lowest
    return None


def _mask(
    program: Program, columns: str, masks: list[tuple[Input, NDArray[np.bool_]]]
) -> IndexMask | None:
    """What all conditions together leave of an axis."""
    rows = sorted({axis for tensor, _ in masks for axis in tensor.axes if axis} - {columns})
    if len(rows) > 1:
        return None
    plane = np.ones((1, 1), np.bool_)
    for tensor, seen in masks:
        order = [axis for axis in tensor.axes if axis is not None]
        flat = seen.reshape([n for n, axis in zip(seen.shape, tensor.axes, strict=True) if axis])
        if order and order[-1] != columns:
            flat = flat.T
        plane = plane & (flat if len(order) > 1 else flat.reshape(1, -1))
    step = program.sizes[columns] / plane.shape[1]
    some = plane.any(axis=1)
    first = np.where(some, plane.argmax(axis=1) * step, 0.0)
    end = np.where(some, (plane.shape[1] - plane[:, ::-1].argmax(axis=1)) * step, 0.0)
    return IndexMask(rows[0] if rows else None, columns, first, end)
