"""
Sums of the same terms over ranges that adjoin or overlap: each element is counted.

A mask of several conditions cuts a row into parts, and where one of them holds for the whole row
the other side has the row in one sum. The sum of f(v + c) over v from a to below b is that of f(u)
over u from a + c to below b + c. As often as the ranges of one f begin at an index others end
there: then each u counts 0 times, whatever the free variables are.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import inf
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    is_number,
    number,
    of,
    plus,
    span,
    variables,
)
from mirage_mlir.equivalence.symbolic.terms import (
    Form,
    Monomial,
    bound_of,
    is_bound,
    replaced,
)

_ELEMENT, _OTHERS = Variable(-(10**6), 0), -(10**6) - 1
"""In keys: the element that a range is of, and the first of other bound variables."""


class Range(NamedTuple):
    """The elements from `start` to below `end`."""

    start: Index
    end: Index

    @property
    def is_ordered(self) -> bool:
        """Whether the end is never less than the start."""
        return span(plus(self.end, self.start, -1))[0] >= 0


class _Ranged(NamedTuple):
    """A sum over a range of one variable: of a function, which `key` tells from others."""

    key: object
    places: Range
    variable: Variable
    anchor: Index
    """The element where the variable is 0."""
    own: Guards
    """The guards that make up the range."""


class Rewritten(NamedTuple):
    """Two sums of the same terms over ranges as others that add up to the same."""

    old: tuple[Monomial, Monomial]
    variable: Variable
    """That of the first one, whose terms are summed over other ranges."""
    anchor: Index
    own: Guards
    new: tuple[tuple[Range, int], ...]
    """Ranges, and how often each counts, times the coefficient of the first one."""


def cancels_in_ranges(a: Form) -> bool:
    """Whether the sums of a form cancel element by element."""
    changes: dict[tuple[object, Index], Fraction] = {}
    for monomial, coefficient in a:
        found = next((each for each in _ranged(monomial) if each.places.is_ordered), None)
        key, (start, end) = monomial, Range(number(0), number(1))
        if found is not None:
            key, (start, end) = found.key, found.places
        for place, times in ((start, coefficient), (end, -coefficient)):
            changes[key, place] = changes.get((key, place), Fraction(0)) + times
    return not any(changes.values())


def rewritten(a: Form) -> Rewritten | None:
    """
    Two sums of a form in other words; None where there are none such.

    They are one sum if one range begins where the other one ends, at an index that varies: where
    both always have the same elements of a row, they are compared as sets. The elements from i to
    below j, less those from j to below i, are those below j, less those below i.
    """
    if len(a) < 2:
        return None
    ends: dict[object, list[tuple[Monomial, Fraction, _Ranged]]] = {}
    for monomial, coefficient in a:
        for found in _ranged(monomial):
            ends.setdefault((found.key, abs(coefficient)), []).append(
                (monomial, coefficient, found)
            )
    for sums in ends.values():
        for (one, times, before), (other, others, behind) in permutations(sums, 2):
            if one == other or before.places.end != behind.places.start:
                continue
            together = _adjoining if times == others else _crossing
            if new := together(before, behind):
                return Rewritten((one, other), before.variable, before.anchor, before.own, new)
    return None


def _adjoining(before: _Ranged, behind: _Ranged) -> tuple[tuple[Range, int], ...]:
    """Both ranges as one; nothing where they are none."""
    end = before.places.end
    if all(is_number(plus(end, each.anchor, -1)) for each in (before, behind)):
        return ()
    places = Range(before.places.start, behind.places.end)
    ordered = before.places.is_ordered and behind.places.is_ordered
    return ((places, 1),) if ordered and _is_bounded(places) else ()


def _crossing(before: _Ranged, behind: _Ranged) -> tuple[tuple[Range, int], ...]:
    """A range less that from its end to its start, as two with one start."""
    start, end = before.places
    if behind.places.end != start or before.places.is_ordered or not _is_bounded(before.places):
        return ()
    # That of a row, so that its prefixes are the same whatever was subtracted of which.
    first = before.anchor._replace(constant=0)
    if not all(Range(first, side).is_ordered for side in before.places):
        first = number(int(min(span(start)[0], span(end)[0])))
    return ((Range(first, end), 1), (Range(first, start), -1))


def _is_bounded(places: Range) -> bool:
    return all(-inf < side < inf for place in places for side in span(place))


def _ranged(monomial: Monomial) -> Iterator[_Ranged]:
    """What a sum adds up and the range, for each of its variables that has one."""
    for variable in sorted(bound_of(monomial)):
        read = [
            (factor.atom, place, index)
            for factor in monomial.factors
            for place, index in enumerate(factor.indices)
            if variable in variables(index)
        ]
        if not read or not all(_multiple(index, variable) == 1 for *_, index in read):
            continue
        _, _, first = min(read, key=lambda each: (*each[:2], each[2].constant))
        anchor = plus(first, of(variable), -1)
        own = guards_.reading(monomial.guards, [variable])
        within = _within(variable, own)
        if within is not None and not any(map(is_bound, variables(anchor))):
            places = Range(*(plus(place, anchor) for place in within))
            rest = monomial._replace(guards=guards_.without(monomial.guards, own))
            yield _Ranged(_key(rest, variable, anchor), places, variable, anchor, own)


def _multiple(index: Index, variable: Variable) -> int:
    """How often an index has a variable; 0 where a floor reads it."""
    once = list(variables(index)).count(variable) == 1
    return dict(index.linear).get(variable, 0) if once else 0


def _within(variable: Variable, conditions: Guards) -> Range | None:
    """The values of a variable at which conditions hold; None where they are no one range."""
    start, end = number(0), number(variable.size)
    for value, low, high in conditions:
        sign = _multiple(value, variable)
        rest = plus(value, of(variable), -sign)
        if abs(sign) != 1 or any(map(is_bound, variables(rest))):
            return None
        first, last = (low, high - 1) if sign == 1 else (1 - high, -low)
        start = _larger(start, plus(number(first), rest, -sign))
        end = start and _smaller(end, plus(number(last + 1), rest, -sign))
        if start is None or end is None:
            return None
    return Range(start, end)


def _larger(a: Index, b: Index) -> Index | None:
    """The larger of two indices; None where that depends on their variables."""
    least, most = span(plus(a, b, -1))
    return a if least >= 0 else b if most <= 0 else None


def _smaller(a: Index, b: Index) -> Index | None:
    least, most = span(plus(a, b, -1))
    return a if most <= 0 else b if least >= 0 else None


def _key(monomial: Monomial, variable: Variable, first: Index) -> object:
    """What is added up, as a function of the element that is `first` where `variable` is 0."""
    others = sorted(bound_of(monomial) - {variable})
    values = {v: of(Variable(_OTHERS - n, v.size)) for n, v in enumerate(others)}
    values[variable] = plus(of(_ELEMENT), first, -1)
    factors = sorted(f._replace(indices=replaced(f.indices, values)) for f in monomial.factors)
    kept = [(*replaced([each.value], values), each.low, each.high) for each in monomial.guards]
    return tuple(factors), tuple(sorted(kept))
