"""Sums over ranges that cancel element by element, against counting."""

import random
from fractions import Fraction
from itertools import product

import pytest
from symbolic_indices import evaluated

from mirage_mlir.equivalence.symbolic.guards import Guard
from mirage_mlir.equivalence.symbolic.indices import Variable, number, of, plus
from mirage_mlir.equivalence.symbolic.ranges import cancels_in_ranges
from mirage_mlir.equivalence.symbolic.terms import Factor, Form, Monomial, form_of

ROWS = Variable(1000, 4)
"""A free variable."""


def summed(start: int, size: int, *conditions: Guard, atom: int = 7) -> Monomial:
    """The sum of an atom at (row, element) over `size` elements from `start` on."""
    element = plus(of(Variable(-1, size)), number(start))
    return Monomial(tuple(conditions), (Factor(atom, (of(ROWS), element), 1),))


def within(size: int, rows: int, low: int, high: int) -> Guard:
    """That the variable of `size` values plus `rows` times the row is in a range."""
    return Guard(plus(of(Variable(-1, size)), of(ROWS), rows), low, high)


def total(form: Form, row: int) -> dict[tuple[int, ...], Fraction]:
    """How often a form counts each atom at each element, in a row."""
    found: dict[tuple[int, ...], Fraction] = {}
    for monomial, times in form:
        (factor,) = monomial.factors
        (variable,) = {v for i in factor.indices for v, _ in i.linear if v.number < 0}
        for value in range(variable.size):
            numbers = {ROWS: row, variable: value}
            if all(
                each.low <= evaluated(each.value, numbers) < each.high for each in monomial.guards
            ):
                key = factor.atom, *(evaluated(index, numbers) for index in factor.indices)
                found[key] = found.get(key, Fraction(0)) + times
    return {key: times for key, times in found.items() if times}


WHOLE = summed(0, 32)


@pytest.mark.parametrize(
    "parts",
    [
        [summed(0, 8), summed(8, 24)],
        [summed(0, 20, within(20, 0, 0, 8)), summed(8, 24)],
        # What ends at a row's own element, and what begins there.
        [summed(0, 4), summed(4, 8, within(8, -1, -8, 1)), summed(5, 27, within(27, -1, 0, 27))],
        [summed(0, 32, within(32, 1, 0, 10)), summed(7, 25, within(25, 1, 3, 28))],
    ],
)
def test_a_row_in_parts(parts: list[Monomial]) -> None:
    cut = {part: Fraction(-1) for part in parts}
    form = form_of({WHOLE: Fraction(1), **cut})
    counted = not any(total(form, row) for row in range(ROWS.size))
    assert cancels_in_ranges(form) == counted
    assert counted


def test_what_cancels_counts_nothing() -> None:
    """A row cut at random places, some of which are wrong, by sizes or by conditions."""
    draw, cancelled, kept = random.Random(0), 0, 0
    for _ in range(2000):
        first, middle, last = sorted(draw.sample(range(12), 3))
        parts: dict[Monomial, Fraction] = {}
        for start, end, times in ((first, middle, 1), (middle, last, 1), (first, last, -1)):
            size = end - start + draw.choice([0, 0, 0, 1])
            before = draw.choice([0, 0, 2])
            rows = draw.choice([-1, 0, 0, 0, 1])
            guard = within(before + max(2, size), rows, before, before + size)
            part = summed(start - before, before + max(2, size), guard)
            parts[part] = parts.get(part, Fraction(0)) + times
        form = form_of(parts)
        if cancels_in_ranges(form):
            cancelled += 1
            assert not any(total(form, row) for row in range(ROWS.size))
        else:
            kept += 1
    assert min(cancelled, kept) > 100


def test_other_elements_do_not_cancel() -> None:
    pairs = product([0, 1], [31, 32, 33], [7, 8])
    wrong = [summed(start, size, atom=atom) for start, size, atom in pairs]
    for each in wrong:
        if each != WHOLE:
            assert not cancels_in_ranges(form_of({WHOLE: Fraction(1), each: Fraction(-1)}))
