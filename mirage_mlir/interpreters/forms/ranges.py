"""
Ranges of an index: what concatenated tensors are made of.

`concat(x, y)[i]` is `[0 <= i < n] x[i] + [n <= i < n + m] y[i - n]`, where a bracket is an atom
that is one in its range and zero elsewhere. Brackets of one index meet in a bracket or vanish, and
under a sum over the index a bracket is a shorter sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.interpreters.forms.terms import (
    FIRST_FIXED,
    Atom,
    Factor,
    Form,
    Monomial,
    Place,
    Variable,
    variables_of,
)

KIND = "range"
"""Of atoms that are brackets."""


def bracket(start: int, stop: int) -> Atom:
    """The atom that is 1 at the indices from `start` to below `stop`."""
    return Atom(KIND, f"{start}:{stop}")


def bounds(atom: Atom) -> tuple[int, int]:
    """The range of a bracket."""
    start, stop = atom.name.split(":")
    return int(start), int(stop)


class Bracket:
    """A bracket among factors: where it is read, and its range."""

    def __init__(self, factor: Factor, atom: Atom) -> None:
        self.factor = factor
        (self.place,) = factor.places
        self.start, self.stop = bounds(atom)


def brackets(factors: Sequence[Factor], atoms: Sequence[Atom]) -> list[Bracket]:
    """The brackets among some factors."""
    return [Bracket(f, atoms[f.atom]) for f in factors if atoms[f.atom].kind == KIND]


def met(found: Sequence[Bracket]) -> list[tuple[Place, int, int]] | None:
    """
    Brackets with those of one index met, and those left out that say nothing; None: one is zero.

    The index of a place with one digit or none is brought to the digit itself.
    """
    ranges: dict[Place, tuple[int, int]] = {}
    for each in found:
        place, start, stop = _plain(each.place, each.start, each.stop)
        old_start, old_stop = ranges.get(place, (start, stop))
        ranges[place] = max(start, old_start), min(stop, old_stop)
    kept: list[tuple[Place, int, int]] = []
    for place, (start, stop) in ranges.items():
        size = 1
        for digit in place.digits:
            size *= digit.size
        end = place.limit or size
        if start >= min(stop, end) or stop <= 0:
            return None
        if start > 0 or stop < end:
            kept.append((place, max(start, 0), min(stop, end)))
    return kept


def _plain(place: Place, start: int, stop: int) -> tuple[Place, int, int]:
    """The range of the number that a place's digits make."""
    # The smallest n with offset + stride * n >= end, for both ends.
    low, high = (-((place.offset - end) // place.stride) for end in (start, stop))
    return Place(place.digits, place.limit), low, high


def shortened(found: Sequence[tuple[Place, int, int]]) -> tuple[Variable, int, int] | None:
    """A bound variable that is an index of its own, and its range; None if there is none."""
    for place, start, stop in found:
        if len(place.digits) == 1 and place.digits[0].bound and not place.limit:
            return place.digits[0], start, stop
    return None


def alone(factors: Sequence[Factor], variable: Variable) -> bool:
    """Whether a variable is everywhere the only digit of its place."""
    return all(
        len(p.digits) == 1 for f in factors for p in f.places if variable in p.digits
    ) and variable in set(variables_of(factors))


class Range(NamedTuple):
    """The indices from `start` to below `stop`."""

    start: int
    stop: int


def range_of(form: Form, variable: Variable) -> Range | None:
    """The range of the index that a variable is; None where it is none, or one of several."""
    places = [p for m, _ in form for f in m for p in f.places if variable in p.digits]
    if any(p.digits != (variable,) or p.limit or p.stride != 1 for p in places):
        return None
    start = min(p.offset for p in places)
    return Range(start, start + variable.size)


def moved_to(form: Form, variable: Variable, index: Variable, start: int) -> Form:
    """A form that reads `index - start` where it read a variable."""

    def moved(p: Place) -> Place:
        if variable not in p.digits:
            return p
        return Place((index,), 0, p.offset - start)

    return tuple(
        (tuple(f._replace(places=tuple(map(moved, f.places))) for f in m), c) for m, c in form
    )


def range_of_sum(monomial: Monomial, variable: Variable) -> Range:
    """The range of an index that a bound variable is, if it is one at all; see `summed_over`."""
    start = 0
    for p in (p for f in monomial for p in f.places if variable in p.digits):
        before = p.digits[: p.digits.index(variable)]
        if len(p.digits) > 1:
            start = (before[-1].number - FIRST_FIXED) * variable.size if _fixed_last(before) else 0
            break
        start = p.offset
    return Range(start, start + variable.size)


def summed_over(
    monomial: Monomial, variable: Variable, index: Variable, start: int
) -> list[Factor] | None:
    """
    What a monomial sums over a variable, with `index` for `start` more than the variable.

    Such a variable is the only digit of a place, or it is a whole digit, or the lower part of one
    whose upper part is fixed. None where it is something else.
    """

    def moved(p: Place) -> Place | None:
        if variable not in p.digits:
            return p
        if p.limit:
            return None
        if len(p.digits) == 1:
            return Place((index,), 0, p.offset - start) if p.stride == 1 else None
        at = p.digits.index(variable)
        before, size, here = p.digits[:at], variable.size, 0
        if _fixed_last(before):
            here = (before[-1].number - FIRST_FIXED) * variable.size
            before, size = before[:-1], before[-1].size * variable.size
        digits = (*before, index._replace(size=size), *p.digits[at + 1 :])
        return p._replace(digits=digits) if here == start else None

    factors: list[Factor] = []
    for f in monomial:
        places = [moved(p) for p in f.places]
        if None in places:
            return None
        factors.append(f._replace(places=tuple(p for p in places if p is not None)))
    return factors


def _fixed_last(digits: Sequence[Variable]) -> bool:
    return bool(digits) and digits[-1].fixed


def cancel(ranges: Sequence[tuple[Range, Fraction]]) -> bool:
    """Whether coefficients of ranges add up to zero at each index."""
    ends = sorted({end for each, _ in ranges for end in each})
    return all(
        not sum(c for each, c in ranges if each.start <= start < each.stop) for start in ends[:-1]
    )
