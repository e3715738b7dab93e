"""
Maxima of forms, as sets of values.

A maximum is that of a set of values, each a form over a box under guards. Nothing is known of it
but what follows from sets: maxima of maxima are maxima, the order and the number of times that a
value is there do not matter, ranges of one index are one range, and a positive factor that all
values share is one of the maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.atoms import Ranging
from mirage_mlir.equivalence.symbolic.domains import step
from mirage_mlir.equivalence.symbolic.functions import Functions
from mirage_mlir.equivalence.symbolic.guards import Guard
from mirage_mlir.equivalence.symbolic.images import (
    COMPARED_IN_A_STEP,
    Bounds,
    bounds_of,
    is_same,
    may_be_same,
    steps_of,
)
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    of,
    plus,
    variables,
)
from mirage_mlir.equivalence.symbolic.rows import Reads, split, tied
from mirage_mlir.equivalence.symbolic.terms import (
    FIRST_MAXIMISED,
    Atom,
    Entry,
    Factor,
    Form,
    ProofWork,
    Undecided,
    indices_of,
)

MOST_NESTED = 24
"""Maxima that are made for each other: those of the tests are nested twice."""


class _Shape(NamedTuple):
    """A form over parameters, and numbers for what these and guards depend on outside."""

    form: Form
    places: tuple[int, ...]
    guards: tuple[tuple[int, int, int], ...]


class _Table(NamedTuple):
    """What an entry of a maximum reads, over what it runs over."""

    shape: _Shape
    outer: tuple[Index, ...]
    """What the shape has numbers for."""
    reads: Reads


class Maxima(Functions):
    """Forms with maxima."""

    def __init__(
        self,
        work: ProofWork | None = None,
        *,
        expand_sigmoid: bool = False,
        roundings: bool = False,
    ) -> None:
        super().__init__(work, expand_sigmoid=expand_sigmoid, roundings=roundings)
        self._firsts: dict[_Shape, list[tuple[list[_Table], Bounds]]] = {}
        self._depth = 0
        """Maxima that are being made, each for the one before it."""

    def maximum(self, a: Form, b: Form) -> Form:
        """The larger of two values."""
        return self._of_entries([*self._as_entries(a), *self._as_entries(b)])

    def minimum(self, a: Form, b: Form) -> Form:
        """The smaller of two values."""
        return self.scale(self.maximum(self.scale(a, -1), self.scale(b, -1)), -1)

    def largest(self, values: Iterable[tuple[Form, Iterable[Guard]]], over: set[Variable]) -> Form:
        """
        The maximum of forms over some free variables, of each where its guards hold.

        Raises:
            Undecided: they hold nowhere.
        """
        entries = (
            self._restricted(entry, over, guards)
            for form, guards in values
            for entry in self._as_entries(form)
        )
        return self._of_entries([entry for entry in entries if entry is not None])

    def remade(self, f: Factor) -> Form:
        atom = self.atoms[f.atom]
        if atom.kind != "maximum":
            return super().remade(f)
        values = {Variable(n, 0): index for n, index in enumerate(f.indices)}
        entries: list[Ranging] = []
        for (guards, form), over in map(self._opened, atom.entries):
            moved = guards_.moved(guards, values)
            if moved is not None:
                entries.append(Ranging(Entry(moved, self.insert(form, values)), over))
        return self.whole_power(self._of_entries(entries), f.exponent)

    # Entries

    def _numbers_in(self, a: Form) -> Form:
        """What of a form is multiplied where it is."""
        return a

    def _as_entries(self, a: Form) -> list[Ranging]:
        """The values that a form is the maximum of: itself, when it is none."""
        if len(a) == 1:
            ((monomial, coefficient),) = a
            if coefficient > 0 and not monomial.guards and len(monomial.factors) == 1:
                (f,) = monomial.factors
                free = all(v.number >= 0 for v in all_variables(f.indices))
                if self.atoms[f.atom].kind == "maximum" and f.exponent == 1 and free:
                    return self._values(f, coefficient)
        return [Ranging(Entry((), a))]

    def _values(self, f: Factor, coefficient: Fraction) -> list[Ranging]:
        """The values of a maximum, times a positive number."""
        values = {Variable(n, 0): index for n, index in enumerate(f.indices)}
        found: list[Ranging] = []
        for (guards, form), over in map(self._opened, self.atoms[f.atom].entries):
            moved = guards_.moved(guards, values)
            if moved is not None:
                value = self.scale(self.insert(form, values), coefficient)
                found.append(Ranging(Entry(moved, value), over))
        return found

    def _opened(self, entry: Entry) -> Ranging:
        """An entry of an atom with new free variables for those that it runs over."""
        inner = [
            *(each.value for each in entry.guards),
            *(i for m, _ in entry.form for i in indices_of(m.factors, m.guards)),
        ]
        over = sorted(v for v in all_variables(inner) if v.number <= FIRST_MAXIMISED)
        names = {v: self.variable(v.size) for v in over}
        values = {v: of(new) for v, new in names.items()}
        form = self.insert(entry.form, values)
        guards = guards_.renamed(entry.guards, names)
        return Ranging(Entry(guards, form), frozenset(names.values()))

    def _restricted(
        self, ranging: Ranging, over: Iterable[Variable], guards: Iterable[Guard]
    ) -> Ranging | None:
        both = guards_.both(ranging.entry.guards, guards)
        if both is None:
            return None
        return Ranging(Entry(both, ranging.entry.form), ranging.over.union(over))

    def _settled(self, ranging: Ranging) -> Ranging | None:
        """An entry with what it runs over in one shape; None where that is nothing."""
        (guards, form), over = ranging
        while True:
            indices = [i for m, _ in form for i in indices_of(m.factors, m.guards)]
            over &= all_variables([*indices, *(each.value for each in guards)])
            change = step(indices, guards, over, self.variable)
            if change is None:
                return Ranging(Entry(guards, form), over)
            guards = guards_.moved(guards, change.values)
            if guards is None or (guards := guards_.both(guards, change.conditions)) is None:
                return None
            form = self.insert(form, change.values)
            over = over.difference(change.values).union(change.new)

    def _of_entries(self, entries: Sequence[Ranging]) -> Form:
        """
        The maximum of values, each over variables of its own.

        Raises:
            Undecided: there are none, or maxima that are made anew make others.
        """
        if self._depth == MOST_NESTED:
            raise Undecided("a maximum is made of too many others")
        self._depth += 1
        try:
            return self._of_settled(entries)
        finally:
            self._depth -= 1

    def _of_settled(self, entries: Sequence[Ranging]) -> Form:
        settled = [each for each in map(self._settled, entries) if each is not None]
        settled = self._first_of_each(self._with_one_constant(settled))
        if not settled:
            raise Undecided("a maximum is taken of nothing")
        first = settled[0]
        if len(settled) == 1 and not first.over and not first.entry.guards:
            return first.entry.form
        content = _content([c for each in settled for _, c in self._numbers_in(each.entry.form)])
        primitive = [
            Ranging(Entry(guards, self.scale(form, 1 / content)), over)
            for (guards, form), over in settled
        ]
        entries_, indices = self.atoms.abstract(primitive)
        return self.scale(self.factor(Atom("maximum", entries=entries_), indices), content)

    def _first_of_each(self, entries: Sequence[Ranging]) -> list[Ranging]:
        """Entries with those whose values an earlier maximum had as the entries of that."""
        shapes: dict[object, list[_Table]] = {}
        found: list[Ranging] = []
        for each in entries:
            if (table := self._table(each)) is None:
                found.append(each)
            else:
                shapes.setdefault((table.shape, table.outer), []).append(table)
        for tables in shapes.values():
            found += self._first(tables)
        return found

    def _first(self, tables: Sequence[_Table]) -> Iterator[Ranging]:
        """Entries of one shape, without those whose values others have, or earlier ones."""
        needed = list(tables)
        for table in tables if len(tables) > 1 else ():
            others = [other for other in needed if other is not table]
            if others and self._read_the_same(needed, others):
                needed = others
        known = self._firsts.setdefault(tables[0].shape, [])
        bounds = bounds_of(_reads(needed))
        self.atoms.work.spend(len(needed) + len(known) // COMPARED_IN_A_STEP)
        for first, theirs in known:
            if may_be_same(bounds, theirs) and self._read_the_same(needed, first):
                return (self._ranging(t._replace(outer=tables[0].outer)) for t in first)
        known.append((needed, bounds))
        return map(self._ranging, needed)

    def _read_the_same(self, a: Sequence[_Table], b: Sequence[_Table]) -> bool:
        self.atoms.work.spend(steps_of([*_reads(a), *_reads(b)]))
        return is_same(_reads(a), _reads(b))

    def _ranging(self, table: _Table) -> Ranging:
        """The entry that a table was made of, or one like it elsewhere."""
        form, places, ends = table.shape
        indices = [
            plus(table.outer[n], i) for n, i in zip(places, table.reads.indices, strict=True)
        ]
        ranges = (guards_.guard(table.outer[n], low, high) for n, low, high in ends)
        guards = guards_.both(table.reads.guards, ranges)
        assert guards is not None, "they hold somewhere"
        return Ranging(Entry(guards, self.instance(form, indices)), frozenset(table.reads.over))

    def _table(self, each: Ranging) -> _Table | None:
        """What an entry reads; None where what it runs over is tied to others, or to nothing."""
        (guards, form), over = each
        inner = guards_.reading(guards, over)
        if any(not over.issuperset(variables(g.value)) for g in inner):
            return None
        abstract, indices = self.abstract(form)
        parts = split(indices, over)
        if parts is None or over - tied(all_variables(parts.inner), inner):
            return None
        others = guards_.without(guards, inner)
        numbers = {
            index: n
            for n, index in enumerate(dict.fromkeys([*parts.outer, *(g.value for g in others)]))
        }
        shape = _Shape(
            abstract,
            tuple(numbers[index] for index in parts.outer),
            tuple((numbers[value], low, high) for value, low, high in others),
        )
        return _Table(shape, tuple(numbers), Reads(parts.inner, inner, tuple(sorted(over))))

    def _with_one_constant(self, entries: Sequence[Ranging]) -> list[Ranging]:
        """Entries with the largest of those that are numbers alone."""
        values = [None if each.entry.guards else self.value_of(each.entry.form) for each in entries]
        numbers = [value for value in values if value is not None]
        if len(numbers) < 2:
            return [*entries]
        kept = [each for each, value in zip(entries, values, strict=True) if value is None]
        return [*kept, Ranging(Entry((), self.constant(max(numbers))))]


def _reads(tables: Iterable[_Table]) -> list[Reads]:
    return [table.reads for table in tables]


def _content(coefficients: Sequence[Fraction]) -> Fraction:
    """The largest number of which all coefficients are whole multiples."""
    if not coefficients:
        return Fraction(1)
    numerator = gcd(*(c.numerator for c in coefficients))
    return Fraction(numerator, lcm(*(c.denominator for c in coefficients)))
