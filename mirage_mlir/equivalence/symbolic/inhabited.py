"""Whether guards hold for some values of variables, whatever the values of others are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    ZERO,
    Index,
    Variable,
    all_variables,
    number,
    of,
)

MOST_WITNESSES = 64
"""Values of variables that are tried."""

MOST_POINTS = 1 << 24
"""Points that are looked at one by one, a third of a second: a mask of 4,096 queries and keys."""

POINTS_AT_ONCE = 1 << 20
"""Points of which all values are in memory together: 8 MB each."""

Points = Mapping[Variable, NDArray[np.int64]]


def is_inhabited(conjunctions: Sequence[Iterable[guards_.Guard]], over: set[Variable]) -> bool:
    """Whether, for all values of other variables, one of some conjunctions holds for some value."""
    found = [tuple(each) for each in conjunctions]
    if any(_has_witness(each, over) for each in found):
        return True
    read = sorted(all_variables(guard.value for each in found for guard in each) | over)
    if any(not variable.size for variable in read):
        return False
    if prod(variable.size for variable in read) > MOST_POINTS:
        return False
    outer = [variable for variable in read if variable not in over]
    order = [*outer, *(variable for variable in read if variable in over)]
    parts = (_some_hold(found, order, len(outer), part) for part in _parts(order))
    # All values of the first variable, or any of them where each is one that is looked for.
    return all(parts) if outer else any(parts)


def _parts(order: Sequence[Variable]) -> Iterator[NDArray[np.int64]]:
    """The values of the first variable, as many at a time as leave few points of each part."""
    if not order:
        return iter([np.zeros(1, np.int64)])
    others = prod(variable.size for variable in order[1:])
    step = max(1, POINTS_AT_ONCE // others)
    values = np.arange(order[0].size)
    return (values[at : at + step] for at in range(0, order[0].size, step))


def _some_hold(
    conjunctions: Sequence[Guards],
    order: Sequence[Variable],
    outer: int,
    first: NDArray[np.int64],
) -> bool:
    """Whether one holds for all values of the `outer` variables, of which the first has some."""
    values = [first, *(np.arange(variable.size) for variable in order[1:])][: len(order)]
    axes = np.meshgrid(*values, indexing="ij", sparse=True)
    points = dict(zip(order, axes, strict=True))
    shape = tuple(len(each) for each in values)
    holds = np.zeros(shape, np.bool_)
    for each in conjunctions:
        every = np.ones(shape, np.bool_)
        for guard in each:
            value = _values(guard.value, points)
            every &= (guard.low <= value) & (value < guard.high)
        holds |= every
    return bool(holds.any(axis=tuple(range(outer, len(order)))).all())


def _has_witness(guards: Guards, over: set[Variable]) -> bool:
    """Whether guards hold for values of variables that are their ends, or other variables."""
    free = sorted(all_variables(guard.value for guard in guards) - over)
    names = sorted(over)
    choices = [[*_ends(v), *(of(u) for u in free if 0 < u.size <= v.size)] for v in names]
    tried: Iterator[tuple[Index, ...]] = product(*choices)
    for _, values in zip(range(MOST_WITNESSES), tried, strict=False):
        if guards_.moved(guards, dict(zip(names, values, strict=True))) == ():
            return True
    return False


def _ends(variable: Variable) -> list[Index]:
    return [ZERO, number(variable.size - 1)] if variable.size else [ZERO]


def _values(index: Index, points: Points) -> NDArray[np.int64]:
    """An index at points."""
    total = np.full((1,) * len(points), index.constant, np.int64)
    for variable, coefficient in index.linear:
        total = total + coefficient * points[variable]
    for floor, coefficient in index.floors:
        total = total + coefficient * (_values(floor.dividend, points) // floor.divisor)
    return total
