"""
Where the reference is defined, and what a candidate may therefore divide by or take roots of.

Where the reference is undefined nothing is claimed. So its divisors are not zero, and its radicands
not negative, at the indices at which it uses them. A candidate may rely on that at these indices,
and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.domains import step
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    of,
    plus,
    span,
    substituted,
    variables,
)
from mirage_mlir.equivalence.symbolic.rows import Reads, tied
from mirage_mlir.equivalence.symbolic.terms import Form, Monomial


class Role(Enum):
    """What is evaluated, and what follows from its being undefined somewhere."""

    REFERENCE = "nothing is claimed there"
    CANDIDATE = "the reference must be undefined there, too"
    NEITHER = "nothing: it does not reach a result, or was looked at before"


class Need(NamedTuple):
    """That a form over parameters is never zero, or never negative."""

    never: str
    form: Form


class Region(NamedTuple):
    """The values of parameters at which something is needed."""

    reads: Reads
    name: Monomial
    """The same for all regions that differ in names of variables alone."""


class Granted:
    """What follows from the reference being defined."""

    def __init__(self) -> None:
        self._regions: dict[Need, list[Region]] = {}

    def add(self, need: Need, region: Region) -> None:
        """Note what the reference needs."""
        guards = region.reads.guards
        names = tied(all_variables(region.reads.indices), guards)
        if not guards_.without(guards, guards_.reading(guards, names)):
            self._regions.setdefault(need, []).append(region)

    def covers(self, need: Need, region: Region) -> bool:
        """Whether the reference needs the same, surely at all of these indices."""
        known = self._regions.get(need, [])
        if not region.reads.indices:
            return bool(known)
        if any(each.name == region.name or _is_in_box(region, each) for each in known):
            return True
        return _is_among([each.reads for each in known], region.reads)


def reads(
    indices: Sequence[Index], guards: Guards, fresh: Callable[[int], Variable]
) -> Reads | None:
    """What indices are where guards hold, brought to one shape; None where that is nowhere."""
    while True:
        if (projected := _projected(indices, guards)) is None:
            return None
        guards = projected
        free = all_variables([*indices, *(each.value for each in guards)])
        change = step(indices, guards, free, fresh)
        if change is None:
            return Reads(tuple(indices), guards, tuple(sorted(free)))
        moved = guards_.moved(guards, change.values)
        moved = None if moved is None else guards_.both(moved, change.conditions)
        if moved is None:
            return None
        guards = moved
        indices = [substituted(index, change.values) for index in indices]


def _projected(indices: Sequence[Index], guards: Guards) -> Guards | None:
    """
    What guards say of what indices read, that there are values of the others; None if nowhere.

    A variable that one guard alone adds or subtracts makes the range of the rest wider.
    """
    wanted = all_variables(indices)
    for each in guards:
        others = [v for other in guards if other != each for v in variables(other.value)]
        for variable, coefficient in each.value.linear:
            inner = all_variables(floor.dividend for floor, _ in each.value.floors)
            free = variable not in {*others, *inner} and variable not in wanted
            if free and abs(coefficient) == 1 and variable.size:
                rest = plus(each.value, of(variable), -coefficient)
                reach = variable.size - 1
                low = each.low - (reach if coefficient > 0 else 0)
                high = each.high + (0 if coefficient > 0 else reach)
                kept = guards_.without(guards, (each,))
                both = guards_.both(kept, [guards_.guard(rest, low, high)])
                return None if both is None else _projected(indices, both)
    return guards


def _is_in_box(region: Region, other: Region) -> bool:
    """Whether another region has all values within its bounds, and these are some of them."""
    if other.reads.guards:
        return False
    indices = other.reads.indices
    read = [index.linear[0][0] for index in indices if index.linear]
    plain = all(len(i.linear) <= 1 and not i.floors and abs(_only(i)) <= 1 for i in indices)
    if not plain or len(set(read)) < len(read):
        return False
    pairs = zip(map(span, region.reads.indices), map(span, indices), strict=True)
    return all(low <= least and greatest <= high for (least, greatest), (low, high) in pairs)


def _only(index: Index) -> int:
    return index.linear[0][1] if index.linear else 0


def _is_among(known: Sequence[Reads], part: Reads) -> bool:
    """Whether all that is read is read by others; False where that is unknown."""
    columns = {*range(len(part.indices))}
    tables = [table for table in (each.rows(columns) for each in known) if table is not None]
    own = part.rows(columns)
    if own is None or not tables:
        return False
    others = np.unique(np.concatenate(tables), axis=0)
    return len(np.unique(np.concatenate([others, own]), axis=0)) == len(others)
