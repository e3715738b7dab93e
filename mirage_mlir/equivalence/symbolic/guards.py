"""
Guards: conditions that indices are within ranges, and conjunctions of them.

Guards say which elements of a ragged tile exist, which part of a concatenated tensor an index is
in, and the domain of a sum that is no box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from math import gcd, inf
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import indices
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    coefficients,
    divided,
    parted,
    plus,
    scaled,
    span,
    substituted,
    up,
    variables,
)

MOST_CELLS = 64
"""Cases that a partition is refined to; programs with views of the tests need up to 12."""


class Guard(NamedTuple):
    """
    That `low <= value < high`.

    The value has no constant, no common divisor of its coefficients, and begins with a positive
    one; the bounds are within those of the index, so that equal conditions are equal guards.
    """

    value: Index
    low: int
    high: int


Guards = tuple[Guard, ...]
"""A conjunction, sorted, with one guard for an index."""


def guard(index: Index, low: float, high: float) -> Guard | bool:
    """That `low <= index < high`; whether it holds where that does not depend on anything."""
    index, low, high = index._replace(constant=0), low - index.constant, high - index.constant
    common = gcd(*coefficients(index))
    if not common:
        return low <= 0 < high
    index, low, high = divided(index, common), up(low, common), up(high, common)
    if coefficients(index)[0] < 0:
        index, low, high = scaled(index, -1), 1 - high, 1 - low
    least, greatest = span(index)
    if low >= high or low > greatest or high <= least:
        return False
    low, high = (-inf if low <= least else low), (inf if high > greatest else high)
    if low == -inf and high == inf:
        return True
    if (coarser := _coarser(index, low, high)) is not None:
        return guard(*coarser)
    return Guard(index, int(max(low, least)), int(min(high, greatest + 1)))


def _coarser(index: Index, low: float, high: float) -> tuple[Index, float, float] | None:
    """
    A condition in other words: `8 a + b < 16` for b below 8 is `a < 2`, of fewer variables, and
    `floor(t / 8) < a` is `t < 8 a`, without a floor.
    """
    if len(index.floors) == 1 and (times := index.floors[0][1]) in (1, -1):
        ((floor, _),) = index.floors
        if times < 0:
            index, low, high = scaled(index, -1), 1 - high, 1 - low
        beside = scaled(index._replace(floors=()), floor.divisor)
        return plus(floor.dividend, beside), low * floor.divisor, high * floor.divisor
    for part in sorted({abs(c) for c in coefficients(index)} - {1}, reverse=True):
        multiple, rest = parted(index, part)
        least, greatest = span(rest)
        ends = [end for end in (low, high) if end not in (-inf, inf)]
        if least >= 0 and greatest < part and all(end % part == 0 for end in ends):
            return divided(multiple, part), up(low, part), up(high, part)
    return None


def lexicographic(each: Guard, names: Collection[Variable]) -> tuple[Guards, ...]:
    """
    A condition as alternatives that exclude each other; nothing where it is no such condition.

    That `8 q + r <= 0` for r from -7 to 7 is that `q < 0`, or `q = 0` and `r <= 0`: how places in
    rows are ordered. Both q and r read some of the variables.
    """
    least, greatest = span(each.value)
    if each.low <= least and each.high in (0, 1):
        value, high = each.value, each.high
    elif each.high > greatest and each.low in (0, 1):
        value, high = scaled(each.value, -1), 1 - each.low
    else:
        return ()
    for part in sorted({abs(c) for c in coefficients(value)} - {1}, reverse=True):
        multiple, rest = parted(value, part)
        row = divided(multiple, part)
        if max(map(abs, span(rest))) < part and all(
            not {*names}.isdisjoint(variables(index)) for index in (row, rest)
        ):
            before = both([guard(row, -inf, 0)])
            within = both([guard(row, 0, 1), guard(rest, -inf, high)])
            return tuple(found for found in (before, within) if found is not None)
    return ()


# Conjunctions


def both(*conditions: Iterable[Guard | bool]) -> Guards | None:
    """The conjunction of conditions; None where it is false."""
    ranges: dict[Index, tuple[int, int]] = {}
    for condition in (each for group in conditions for each in group):
        if condition is False:
            return None
        if condition is True:
            continue
        index, low, high = condition
        old_low, old_high = ranges.get(index, (low, high))
        ranges[index] = max(low, old_low), min(high, old_high)
    if any(low >= high for low, high in ranges.values()):
        return None
    kept = sorted(Guard(index, *ends) for index, ends in ranges.items())
    for each in kept if len(kept) > 1 else ():
        if any(_implies(other, each) for other in kept if other != each):
            kept = [other for other in kept if other != each]
    return tuple(kept)


def _implies(a: Guard, b: Guard) -> bool:
    """Whether a guard holds wherever another one does, as far as their difference shows."""
    least, greatest = span(b.value)
    low, high = span(plus(a.value, b.value, -1))
    return (b.low <= least or a.low - high >= b.low) and (
        b.high > greatest or a.high - low <= b.high
    )


def moved(guards: Guards, values: Mapping[Variable, Index]) -> Guards | None:
    """Guards with variables replaced; None where they are false."""
    if all(values.keys().isdisjoint(variables(each.value)) for each in guards):
        return guards
    return both(guard(substituted(index, values), low, high) for index, low, high in guards)


def renamed(guards: Guards, names: Mapping[Variable, Variable]) -> Guards:
    """Guards with variables called otherwise."""
    found: list[Guard] = []
    for index, low, high in guards:
        new = indices.renamed(index, names)
        if coefficients(new)[0] < 0:
            found.append(Guard(scaled(new, -1), 1 - high, 1 - low))
        else:
            found.append(Guard(new, low, high))
    return tuple(sorted(found))


def reading(guards: Guards, names: Iterable[Variable]) -> Guards:
    """Those that read one of some variables."""
    wanted = {*names}
    return tuple(each for each in guards if not wanted.isdisjoint(variables(each.value)))


def without(guards: Guards, others: Guards) -> Guards:
    """Those that are not among others."""
    return tuple(each for each in guards if each not in others)


# Partitions


def cells(conjunctions: Iterable[Guards]) -> list[Guards] | None:
    """
    A partition in each of whose cells each conjunction holds everywhere or nowhere.

    None where there are more than `MOST_CELLS`.
    """
    ends: dict[Index, set[int]] = {}
    for each in (each for guards in conjunctions for each in guards):
        least, greatest = span(each.value)
        own = ends.setdefault(each.value, {int(least), int(greatest) + 1})
        own.update((each.low, each.high))
    found: list[Guards] = [()]
    for index, parts in ends.items():
        choice = [Guard(index, *part) for part in pairwise(sorted(parts))]
        found = [(*cell, each) if len(choice) > 1 else cell for cell in found for each in choice]
        if len(found) > MOST_CELLS:
            return None
    return found


def holds(guards: Guards, cell: Guards) -> bool:
    """Whether a conjunction holds in a cell of a partition that was made for it."""
    ranges = {index: (low, high) for index, low, high in cell}
    return all(
        index not in ranges or (low <= ranges[index][0] and ranges[index][1] <= high)
        for index, low, high in guards
    )
