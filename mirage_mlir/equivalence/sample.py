"""
Chooses the labels of slab axes that are computed, and the indices of arguments that have them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.labels import Index
from mirage_mlir.equivalence.slabs import Slab
from mirage_mlir.interpreters.dims import Dim, dim_of
from mirage_mlir.interpreters.operators import shape_of

Dims = list[tuple[Dim, ...]]
"""The dimensions of each argument of a function."""


def whole(function: FuncOp) -> Dims:
    """All indices."""
    return [tuple(map(Dim, shape_of(argument))) for argument in function.body.block.args]


def restricted(
    function: FuncOp, slabs: Sequence[Slab], labels: int, random: np.random.Generator
) -> Dims:
    """The indices whose label is one of some from each class, for each slab axis."""
    return _with_labels(
        function,
        slabs,
        [
            np.concatenate([_chosen(each, labels, random) for each in slab.classes])
            for slab in slabs
        ],
    )


def adjacent(
    function: FuncOp, slabs: Sequence[Slab], labels: Sequence[int], random: np.random.Generator
) -> Dims:
    """The same for adjacent labels, which lie in few blocks: so many of each slab axis."""
    chosen: list[Index] = []
    for slab, most in zip(slabs, labels, strict=True):
        starts = [int(random.integers(max(1, len(each) - most + 1))) for each in slab.classes]
        pairs = zip(slab.classes, starts, strict=True)
        chosen.append(np.concatenate([each[start : start + most] for each, start in pairs]))
    return _with_labels(function, slabs, chosen)


def window(function: FuncOp, most: int, random: np.random.Generator) -> Dims | None:
    """
    The elements of arguments that belong to adjacent elements of a result, about so many.

    That is all that they depend on in programs of elementwise operators; of others, evaluations
    raise `NotClosed`. None where arguments do not broadcast to the result.
    """
    last = function.body.block.last_op
    if last is None or not last.operands:
        return None
    shape = shape_of(last.operands[0])
    kept: list[Dim] = []
    for size in reversed(shape):
        count = min(size, max(1, most))
        start = int(random.integers(size - count + 1))
        kept.insert(0, dim_of(size, np.arange(start, start + count)))
        most //= size
    found: Dims = []
    for argument in function.body.block.args:
        sizes = shape_of(argument)
        around = kept[len(shape) - len(sizes) :]
        if len(sizes) > len(shape) or any(
            size not in (1, dim.size) for size, dim in zip(sizes, around, strict=True)
        ):
            return None
        found.append(
            tuple(Dim(1) if size == 1 else dim for size, dim in zip(sizes, around, strict=True))
        )
    return found


def _with_labels(function: FuncOp, slabs: Sequence[Slab], choices: Sequence[Index]) -> Dims:
    """The indices that have one of the chosen labels of each slab axis."""
    inside: dict[tuple[int, int], NDArray[np.bool_] | bool] = {}
    for slab, chosen in zip(slabs, choices, strict=True):
        for origin, label in slab.arguments.items():
            inside[origin] = inside.get(origin, True) & np.isin(label, chosen)
    kept = {origin: np.flatnonzero(each) for origin, each in inside.items()}
    return [
        tuple(
            dim_of(size, kept[number, dim]) if (number, dim) in kept else Dim(size)
            for dim, size in enumerate(shape_of(argument))
        )
        for number, argument in enumerate(function.body.block.args)
    ]


def _chosen(labels: Index, count: int, random: np.random.Generator) -> Index:
    """Labels of a class: the last, the first, and others at random."""
    if count >= len(labels):
        return labels
    ends = [labels[-1], labels[0]][:count]
    return np.array([*ends, *random.choice(labels[1:-1], count - len(ends), replace=False)])
