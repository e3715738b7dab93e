"""Rows: the indices that are read, one row for each value of the summed variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    nested,
    of,
    span,
    variables,
)

MOST_POINTS = 1 << 17
"""Elements that are looked at for one image, which takes 0.02 s and 5 MB for each column."""

STEPS = 16
"""Factors that are made in the time of one image, about 1 ms, however small it is."""

POINTS_OF_A_STEP = 400
"""Elements, in one column, that are looked at in the time of a factor that is made."""

FARTHEST = 1 << 61
"""Indices up to which sums of two parts are exact in 64 bits."""

Numbers = NDArray[np.int64]

Blocks = list[list[int]]
"""Columns of indices whose order does not matter."""


class Split(NamedTuple):
    """Indices as sums of what does not depend on some variables, and of what does."""

    outer: tuple[Index, ...]
    inner: tuple[Index, ...]


def split(indices: Iterable[Index], over: AbstractSet[Variable]) -> Split | None:
    """Indices in two parts, constants in the inner one; None where a floor depends on both."""
    outer: list[Index] = []
    inner: list[Index] = []
    for index in indices:
        own = [(f, c) for f, c in index.floors if not over.isdisjoint(variables(f.dividend))]
        if not all(over >= {*variables(floor.dividend)} for floor, _ in own):
            return None
        others = tuple((f, c) for f, c in index.floors if (f, c) not in own)
        outer.append(Index(tuple((v, c) for v, c in index.linear if v not in over), others))
        linear = tuple((v, c) for v, c in index.linear if v in over)
        inner.append(Index(linear, tuple(own), index.constant))
    return Split(tuple(outer), tuple(inner))


class Reads(NamedTuple):
    """What is read: one row of indices for each value of some variables where guards hold."""

    indices: tuple[Index, ...]
    guards: Guards
    over: tuple[Variable, ...]
    interchangeable: tuple[Blocks, ...] = ()

    def rows(self, columns: AbstractSet[int]) -> Numbers | None:
        """The rows of some columns that no others depend on; None where they are too many."""
        chosen = sorted(columns)
        names = tied(all_variables(self.indices[n] for n in chosen), self.guards)
        guards = guards_.reading(self.guards, names)
        found = _rows([self.indices[n] for n in chosen], guards, sorted(names))
        for blocks in self.interchangeable:
            if found is not None and columns >= {*blocks[0]}:
                found = _sorted_blocks(found, [[chosen.index(n) for n in b] for b in blocks])
        return found

    @property
    def steps(self) -> int:
        """How long a look at all rows takes, in factors that are made meanwhile."""
        names = [tied(all_variables([index]), self.guards) for index in self.indices]
        points = [prod(variable.size for variable in each) for each in names]
        return STEPS + sum(count for count in points if count <= MOST_POINTS) // POINTS_OF_A_STEP

    def connected(self) -> list[set[int]]:
        """Columns that depend on each other."""
        found = [
            {n for n, i in enumerate(self.indices) if not names.isdisjoint(variables(i))}
            for names in (tied({variable}, self.guards) for variable in self.over)
        ]
        return found + [{n for block in blocks for n in block} for blocks in self.interchangeable]


def tied(names: set[Variable], guards: Guards) -> set[Variable]:
    """Variables, and those that guards tie to them."""
    found = names | all_variables(each.value for each in guards_.reading(guards, names))
    return found if found == names else tied(found, guards)


def _rows(indices: Sequence[Index], guards: Guards, over: Sequence[Variable]) -> Numbers | None:
    shape = tuple(variable.size for variable in over)
    inner = [
        part for index in (*indices, *(each.value for each in guards)) for part in nested(index)
    ]
    if prod(shape) > MOST_POINTS or 0 in shape or not all(map(_fits, inner)):
        return None
    values: dict[Variable, Numbers] = {}
    for axis, variable in enumerate(over):
        values[variable] = np.arange(variable.size).reshape(-1, *(1,) * (len(over) - axis - 1))
    there = np.ones(shape, dtype=np.bool_)
    for index, low, high in guards:
        value = _evaluated(index, values)
        there &= (low <= value) & (value < high)
    columns = [np.broadcast_to(_evaluated(index, values), shape)[there] for index in indices]
    return np.stack(columns, axis=1)


def _fits(index: Index) -> bool:
    """Whether an index, and what is computed on the way to it, is exact in 64 bits."""
    sizes = [abs(c) * max(map(abs, span(of(v)))) for v, c in index.linear]
    sizes += [abs(c) * max(map(abs, span(Index((), ((f, 1),))))) for f, c in index.floors]
    return abs(index.constant) + sum(sizes) < FARTHEST


def _evaluated(index: Index, values: Mapping[Variable, Numbers]) -> Numbers:
    result = np.full((), index.constant, dtype=np.int64)
    for variable, coefficient in index.linear:
        result = result + coefficient * values[variable]
    for floor, coefficient in index.floors:
        result = result + coefficient * (_evaluated(floor.dividend, values) // floor.divisor)
    return result


def _sorted_blocks(table: Numbers, blocks: Blocks) -> Numbers:
    """Rows whose blocks of columns, all of one width, are put in order in each row."""
    columns = np.array(blocks)
    parts = table[:, columns]
    # The last column is the least important key.
    order = np.lexsort(tuple(parts[:, :, n] for n in reversed(range(columns.shape[1]))), axis=1)
    result = table.copy()
    result[:, columns] = np.take_along_axis(parts, order[:, :, None], axis=1)
    return result
