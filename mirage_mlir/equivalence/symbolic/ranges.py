"""
Sums of the same terms over ranges that adjoin or overlap: each element is counted.

A mask of several conditions cuts a row into parts, and where one of them holds for the whole row
the other side has the row in one sum. The sum of f(v + c) over v from a to below b is that of f(u)
over u from a + c to below b + c. As often as the ranges of one f begin at an index others end
there: then each u counts 0 times, whatever the free variables are.
"""

from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
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
    indices_of,
    is_bound,
    replaced,
)

_ELEMENT, _OTHERS = Variable(-(10**6), 0), -(10**6) - 1
"""In keys: the element that a range is of, and the first of other bound variables."""


class _Range(NamedTuple):
    """The elements from `start` to below `end`, which is never less."""

    start: Index
    end: Index


def cancels_in_ranges(a: Form) -> bool:
    """Whether the sums of a form cancel element by element."""
    changes: dict[tuple[object, Index], Fraction] = {}
    for monomial, coefficient in a:
        key, found = _ranged(monomial)
        for place, times in ((found.start, coefficient), (found.end, -coefficient)):
            changes[key, place] = changes.get((key, place), Fraction(0)) + times
    return not any(changes.values())


def _ranged(monomial: Monomial) -> tuple[object, _Range]:
    """What a sum adds up, as a key, and the range of one of its variables; all as one else."""
    for variable in sorted(bound_of(monomial)):
        read = [i for i in indices_of(monomial.factors) if variable in variables(i)]
        if not read or not all(_multiple(i, variable) == 1 for i in read):
            continue
        own = guards_.reading(monomial.guards, [variable])
        within = _within(variable, own)
        if within is not None:
            first = number(min(index.constant for index in read))
            places = _Range(*(plus(place, first) for place in within))
            rest = monomial._replace(guards=guards_.without(monomial.guards, own))
            return _key(rest, variable, first), places
    return monomial, _Range(number(0), number(1))


def _multiple(index: Index, variable: Variable) -> int:
    """How often an index has a variable; 0 where a floor reads it."""
    once = list(variables(index)).count(variable) == 1
    return dict(index.linear).get(variable, 0) if once else 0


def _within(variable: Variable, conditions: Guards) -> _Range | None:
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
    return _Range(start, end) if span(plus(end, start, -1))[0] >= 0 else None


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
