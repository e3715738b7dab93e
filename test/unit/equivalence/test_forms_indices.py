"""Quasi-affine indices, guards and what sums run over, against counting one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from symbolic_indices import evaluated

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.definedness import Granted, reads
from mirage_mlir.equivalence.symbolic.demands import Demand, Need
from mirage_mlir.equivalence.symbolic.guards import Guards, reading
from mirage_mlir.equivalence.symbolic.images import Weighted, is_nothing, is_same, ratio
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    floor_div,
    number,
    of,
    plus,
    remainder,
    span,
    substituted,
)
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.rows import Reads, tied
from mirage_mlir.equivalence.symbolic.symbolic import Dim, Symbolic
from mirage_mlir.equivalence.symbolic.terms import Atom

Values = Mapping[Variable, int]

VARIABLES = tuple(Variable(1000 + n, size) for n, size in enumerate((2, 3, 5, 4)))


@dataclass(frozen=True)
class Built:
    """An index, and what it should be."""

    index: Index
    value: Callable[[Values], int]


def _leaf(variable: Variable) -> Built:
    return Built(of(variable), lambda values: values[variable])


def _constant(value: int) -> Built:
    return Built(number(value), lambda _: value)


def _sum(a: Built, b: Built, times: int) -> Built:
    index = plus(a.index, b.index, times)
    return Built(index, lambda values: a.value(values) + times * b.value(values))


def _quotient(a: Built, divisor: int) -> Built:
    return Built(floor_div(a.index, divisor), lambda values: a.value(values) // divisor)


def _remainder(a: Built, divisor: int) -> Built:
    return Built(remainder(a.index, divisor), lambda values: a.value(values) % divisor)


def _inserted(a: Built, variable: Variable, c: Built) -> Built:
    """Variables are replaced by what is in their range."""
    b = _remainder(c, variable.size)
    index = substituted(a.index, {variable: b.index})
    return Built(index, lambda values: a.value({**values, variable: b.value(values)}))


def _larger(inner: st.SearchStrategy[Built]) -> st.SearchStrategy[Built]:
    divisors = st.integers(1, 12)
    return st.one_of(
        st.builds(_sum, inner, inner, st.integers(-6, 6)),
        st.builds(_quotient, inner, divisors),
        st.builds(_remainder, inner, divisors),
        st.builds(_inserted, inner, st.sampled_from(VARIABLES), inner),
    )


LEAVES = st.one_of(
    st.builds(_leaf, st.sampled_from(VARIABLES)),
    st.builds(_constant, st.integers(-9, 9)),
)

BUILT = st.recursive(LEAVES, _larger, max_leaves=8)

RANGES = st.tuples(BUILT, st.integers(-8, 8), st.integers(0, 9))


def points(variables: Sequence[Variable]) -> Iterator[Values]:
    """All values of variables."""
    for values in product(*(range(v.size) for v in variables)):
        yield dict(zip(variables, values, strict=True))


def hold(guards: Guards, values: Values) -> bool:
    """Whether guards hold."""
    return all(low <= evaluated(index, values) < high for index, low, high in guards)


def conditions(ranges: Sequence[tuple[Built, int, int]]) -> Guards | None:
    """The conjunction of ranges."""
    return guards_.both(guards_.guard(b.index, low, low + size) for b, low, size in ranges)


@settings(max_examples=150, deadline=None)
@given(BUILT)
def test_simplified_indices_are_what_they_should_be(built: Built) -> None:
    low, high = span(built.index)
    for values in points(VARIABLES):
        value = built.value(values)
        assert evaluated(built.index, values) == value
        assert low <= value <= high


def test_sizes_beyond_floating_point() -> None:
    """2^60 + 1 is not rounded: the last element of a long dimension is there, and no other one."""
    size = (1 << 60) + 1
    long = Variable(2000, size)
    assert span(of(long)) == (0, size - 1)
    assert guards_.guard(of(long), 0, size) is True
    assert guards_.guard(of(long), 0, size - 1) is not True
    last = reads(
        [of(long)], conditions([(_leaf(long), size - 1, 1)]) or (), lambda n: Variable(1, n)
    )
    assert last is not None
    assert last.indices == (number(size - 1),)


@settings(max_examples=100, deadline=None)
@given(st.lists(RANGES, max_size=4))
def test_guards_hold_where_they_should(ranges: list[tuple[Built, int, int]]) -> None:
    guards = conditions(ranges)
    for values in points(VARIABLES):
        wanted = all(low <= b.value(values) < low + size for b, low, size in ranges)
        assert (guards is not None and hold(guards, values)) == wanted


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(RANGES, max_size=2), max_size=3))
def test_cells_are_a_partition(groups: list[list[tuple[Built, int, int]]]) -> None:
    """Each conjunction holds everywhere in a cell or nowhere, as it says."""
    conjunctions = [found for found in map(conditions, groups) if found is not None]
    cells = guards_.cells(conjunctions)
    for values in points(VARIABLES) if cells is not None else ():
        (cell,) = [cell for cell in cells or () if hold(cell, values)]
        for each in conjunctions:
            assert guards_.holds(each, cell) == hold(each, values)


def rows(found: Reads) -> Counter[tuple[int, ...]]:
    """What is read, one by one."""
    return Counter(
        tuple(evaluated(index, values) for index in found.indices)
        for values in points(found.over)
        if hold(found.guards, values)
    )


INDICES = st.lists(BUILT, min_size=1, max_size=3)


def table(indices: Sequence[Built], ranges: Sequence[tuple[Built, int, int]]) -> Reads | None:
    """What indices are where ranges hold, if nothing else is in the ranges."""
    guards = conditions(ranges)
    if guards is None:
        return None
    found = tuple(built.index for built in indices)
    over = tied(all_variables(found), guards)
    return Reads(found, guards, tuple(sorted(over))) if guards == reading(guards, over) else None


MOST_CHANGES = 200
"""More than any of these need: changes of variables come to an end."""


@settings(max_examples=100, deadline=None)
@given(INDICES, st.lists(RANGES, max_size=3))
def test_changes_of_variables(indices: list[Built], ranges: list[tuple[Built, int, int]]) -> None:
    """What is read stays the same, element by element and as often, up to unread variables."""
    if (whole := table(indices, ranges)) is None:
        return
    names = (Variable(number, 0) for number in range(3000, 3000 + MOST_CHANGES))
    found = reads(whole.indices, whole.guards, lambda size: next(names)._replace(size=size))
    wanted = rows(whole)
    if found is None:
        assert not wanted
        return
    counted = rows(found)
    assert counted.keys() == wanted.keys()
    assert len({Fraction(wanted[row], counted[row]) for row in wanted}) <= 1


ELEMENT = VARIABLES[:2]
"""The indices of the elements of a result; demands read them, and for all values the others."""


def demand_of(need: Need, indices: Sequence[Built], guards: Guards) -> Demand:
    return Demand(need, tuple(built.index for built in indices), guards)


def needed(demand: Demand, element: Values) -> set[tuple[int, ...]]:
    """The indices at which an element needs something, one by one."""
    others = [variable for variable in VARIABLES if variable not in ELEMENT]
    every = ({**element, **values} for values in points(others))
    return {
        tuple(evaluated(index, values) for index in demand.indices)
        for values in every
        if hold(demand.guards, values)
    }


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(0, 2))
def test_each_element_needs_what_the_same_one_does(data: st.DataObject, columns: int) -> None:
    """What is said to be covered is, in each element; and what is the same is said to be."""
    forms = Forms()
    parameters = [of(Variable(number, 0)) for number in range(columns)]
    need = Need("zero", forms.factor(Atom("input", "0"), parameters))
    indices = st.lists(BUILT, min_size=columns, max_size=columns)
    drawn: list[Demand] = []
    for _ in range(3):
        guards = conditions(data.draw(st.lists(RANGES, max_size=1)))
        drawn.append(demand_of(need, data.draw(indices), guards or ()))
    *known, asked = [*drawn, drawn[0]] if data.draw(st.booleans()) else drawn
    dims = tuple(Dim(variable.size, variable) for variable in ELEMENT)
    result = Symbolic((), dims, demands=tuple(known))
    covered = Granted(forms, result).covers(asked)
    wanted = all(
        needed(asked, element) <= {row for each in known for row in needed(each, element)}
        for element in points(ELEMENT)
    )
    assert wanted or not covered
    # Where there is no guard nothing is left open.
    assert covered or not wanted or any(each.guards for each in (*known, asked))


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(1, 2))
def test_images(data: st.DataObject, columns: int) -> None:
    """Sums that are so many times others, and sets, are what counting says."""
    drawn = st.lists(BUILT, min_size=columns, max_size=columns)
    parts: list[list[Weighted]] = []
    for _ in range(2):
        found = [table(data.draw(drawn), data.draw(st.lists(RANGES, max_size=1))) for _ in range(2)]
        weights = st.integers(-2, 2).filter(bool).map(Fraction)
        parts.append([Weighted(t, data.draw(weights)) for t in found if t is not None])
    if data.draw(st.booleans()):
        # The same in another order, more often.
        parts[1] = [Weighted(t, 3 * weight) for t, weight in reversed(parts[0])]
    if not all(parts):
        return
    left, right = ([(rows(t), weight) for t, weight in part] for part in parts)
    totals = [total(part) for part in (left, right)]
    times = ratio(*parts)
    if times is not None:
        expected = {row: times * weight for row, weight in totals[1].items() if times}
        assert totals[0] == expected
    for part, weights in zip(parts, totals, strict=True):
        assert not is_nothing(part) or not weights
    sets = [{row for counted, _ in part for row in counted} for part in (left, right)]
    if is_same(*([t for t, _ in part] for part in parts)):
        assert sets[0] == sets[1]


def total(parts: Sequence[tuple[Counter[tuple[int, ...]], Fraction]]) -> dict[object, Fraction]:
    """How often each row counts."""
    found: dict[object, Fraction] = {}
    for counted, weight in parts:
        for row, often in counted.items():
            found[row] = found.get(row, Fraction(0)) + weight * often
    return {row: weight for row, weight in found.items() if weight}
