"""
Sums of products of the same atoms as multisets of what they read.

The monomials of a form that have the same factors, read at indices that differ in bound variables
and constants alone, are one function of what is free: of each element that they read, how often
they read it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.atoms import Atoms
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.images import (
    COMPARED_IN_A_STEP,
    Bounds,
    Weighted,
    bounds_of,
    is_nothing,
    may_be_same,
    ratio,
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
from mirage_mlir.equivalence.symbolic.rows import Blocks, Reads, split, tied
from mirage_mlir.equivalence.symbolic.terms import Factor, Form, Monomial, bound_of

MOST_COPIES = 4
"""Powers up to which a factor is that many factors: `x_i^2` is a term of `sum_ij x_i x_j`."""


class Reading(NamedTuple):
    """A factor, its indices as what they depend on beside bound variables, and these."""

    atom: int
    exponent: int | Fraction
    outer: tuple[Index, ...]
    inner: tuple[Index, ...]


class Shape(NamedTuple):
    """Factors and guards, with numbers for what they depend on beside bound variables."""

    factors: tuple[tuple[int, int | Fraction, tuple[int, ...]], ...]
    guards: tuple[tuple[int, int, int], ...]


class Table(NamedTuple):
    """What a monomial reads, over its bound variables."""

    shape: Shape
    outer: tuple[Index, ...]
    """What the shape has numbers for."""
    reads: Reads
    name: Monomial
    """The monomial with placeholders for what is outside."""


class Term(NamedTuple):
    """What a monomial reads, and its coefficient."""

    table: Table
    coefficient: Fraction


@dataclass
class _Sum:
    """A sum, and the first one that reads the same, which makes it so many times."""

    terms: tuple[Term, ...]
    first: tuple[Term, ...]
    bounds: Bounds
    times: Fraction = Fraction(1)


class SumReplacement(NamedTuple):
    """Monomials, and products with coefficients that add up to the same."""

    old: list[Monomial]
    new: list[tuple[list[Factor], Guards, frozenset[Variable], Fraction]]


class Multisets:
    """Sums as those that were there first."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self._tables: dict[Monomial, Table | None] = {}
        self._sums: dict[Shape, dict[Hashable, _Sum]] = {}

    def replacements(self, form: Form) -> Iterator[SumReplacement]:
        """The sums in a form that are those of an earlier form, and the sums of that."""
        shapes: dict[Hashable, list[tuple[Monomial, Term]]] = {}
        for monomial, coefficient in form:
            if (table := self._table(monomial)) is not None:
                key = table.shape, table.outer
                shapes.setdefault(key, []).append((monomial, Term(table, coefficient)))
        for members in shapes.values():
            terms = [term for _, term in members]
            if len(terms) == 1 and not terms[0].table.reads.over:
                continue
            found = self._first(terms)
            if found is not None:
                outer = terms[0].table.outer
                new = [self._product(table, outer, c) for table, c in found]
                yield SumReplacement([monomial for monomial, _ in members], new)

    def _first(self, terms: Sequence[Term]) -> list[Term] | None:
        """The terms that first read what some do; None where they are themselves."""
        factor = terms[0].coefficient
        alike = tuple(Term(table, c / factor) for table, c in terms)
        name = tuple(sorted((table.name, c) for table, c in alike))
        known = self._sums.setdefault(terms[0].table.shape, {})
        if name not in known:
            known[name] = self._sum(alike, list(known.values()))
        found = known[name]
        if found.first is found.terms:
            return None
        return [Term(table, factor * found.times * c) for table, c in found.first]

    def _sum(self, terms: tuple[Term, ...], known: Sequence[_Sum]) -> _Sum:
        reads = _reads(terms)
        bounds = bounds_of(reads)
        work = self.atoms.work
        work.spend(len(terms) + len(known) // COMPARED_IN_A_STEP)
        if len(terms) > 1:
            work.spend(steps_of(reads))
            if is_nothing(_weighted(terms)):
                return _Sum(terms, (), bounds)
        for each in known:
            if each.first is each.terms and may_be_same(bounds, each.bounds):
                work.spend(steps_of([*reads, *_reads(each.terms)]))
                times = ratio(_weighted(terms), _weighted(each.terms))
                if times is not None:
                    return _Sum(terms, each.terms, bounds, times)
        return _Sum(terms, terms, bounds)

    def _product(
        self, table: Table, outer: Sequence[Index], coefficient: Fraction
    ) -> tuple[list[Factor], Guards, frozenset[Variable], Fraction]:
        """The monomial of a table whose shape has numbers for other indices."""
        factors, ranges = self._read(table, outer)
        guards = guards_.both(table.reads.guards, ranges)
        assert guards is not None, "those of what it replaces hold, and read the same"
        return factors, guards, frozenset(table.reads.over), coefficient

    def _read(
        self, table: Table, outer: Sequence[Index]
    ) -> tuple[list[Factor], list[Guard | bool]]:
        """Factors of a table, and its guards that read no bound variable."""
        inner = iter(table.reads.indices)
        factors = [
            self.atoms.factor(atom, [plus(outer[n], next(inner)) for n in numbers], exponent)
            for atom, exponent, numbers in table.shape.factors
        ]
        return factors, [guards_.guard(outer[n], *ends) for n, *ends in table.shape.guards]

    # What a monomial reads

    def _table(self, monomial: Monomial) -> Table | None:
        """What a monomial reads; None where free and bound variables are tied together."""
        if monomial not in self._tables:
            self._tables[monomial] = self._new_table(monomial)
        return self._tables[monomial]

    def _new_table(self, monomial: Monomial) -> Table | None:
        over = bound_of(monomial)
        inner = guards_.reading(monomial.guards, over)
        if any(not over.issuperset(variables(each.value)) for each in inner):
            return None
        readings = self._readings(monomial.factors, over)
        if readings is None:
            return None
        indices = tuple(index for r in readings for index in r.inner)
        if over - tied(all_variables(indices), inner):
            return None
        others = guards_.without(monomial.guards, inner)
        places = [*(i for r in readings for i in r.outer), *(each.value for each in others)]
        numbers = {index: n for n, index in enumerate(dict.fromkeys(places))}
        shape = Shape(
            tuple((r.atom, r.exponent, tuple(numbers[i] for i in r.outer)) for r in readings),
            tuple((numbers[value], low, high) for value, low, high in others),
        )
        swaps = self._interchangeable(readings)
        reads = Reads(indices, inner, tuple(sorted(over)), swaps)
        table = Table(shape, tuple(numbers), reads, monomial)
        return table._replace(name=self._name(table))

    def _name(self, table: Table) -> Monomial:
        outer = [of(Variable(n, 0)) for n in range(len(table.outer))]
        factors, _ = self._read(table._replace(shape=table.shape._replace(guards=())), outer)
        return self.atoms.named(factors, table.reads.guards, table.reads.over)

    def _readings(
        self, factors: Iterable[Factor], over: AbstractSet[Variable]
    ) -> list[Reading] | None:
        """What factors read, in an order that does not depend on names of free variables."""
        found: list[Reading] = []
        for f in factors:
            parts = split(f.indices, over)
            if parts is None:
                return None
            found += _copies(f, parts.outer, parts.inner)
        uses: dict[Index, list[Hashable]] = {}
        for r in sorted(found, key=lambda r: r[:2]):
            for place, index in enumerate(r.outer):
                uses.setdefault(index, []).append((r.atom, r.exponent, self._group(r.atom, place)))
        ranks = {index: (sorted(map(str, used)), index) for index, used in uses.items()}
        ordered = [self._ordered(r, ranks) for r in found]
        return sorted(ordered, key=lambda r: (*r[:2], [ranks[index] for index in r.outer]))

    def _group(self, atom: int, place: int) -> int:
        """A parameter, or the first of those that it is interchangeable with."""
        return next((group[0] for group in self.atoms.swaps(atom) if place in group), place)

    def _ordered(self, r: Reading, ranks: dict[Index, tuple[list[str], Index]]) -> Reading:
        pairs = list(zip(r.outer, r.inner, strict=True))
        for group in self.atoms.swaps(r.atom):
            chosen = sorted((pairs[n] for n in group), key=lambda pair: ranks[pair[0]])
            for place, pair in zip(group, chosen, strict=True):
                pairs[place] = pair
        return r._replace(outer=tuple(o for o, _ in pairs), inner=tuple(i for _, i in pairs))

    def _interchangeable(self, readings: Sequence[Reading]) -> tuple[Blocks, ...]:
        """Columns of interchangeable parameters, and of factors that differ in nothing else."""
        found: list[Blocks] = []
        equal: dict[object, Blocks] = {}
        start = 0
        for r in readings:
            for group in self.atoms.swaps(r.atom):
                alike: dict[Index, Blocks] = {}
                for n in group:
                    alike.setdefault(r.outer[n], []).append([start + n])
                found += alike.values()
            equal.setdefault(r[:3], []).append([*range(start, start + len(r.inner))])
            start += len(r.inner)
        every = (*found, *equal.values())
        return tuple(blocks for blocks in every if len(blocks) > 1 and blocks[0])


def _copies(f: Factor, outer: tuple[Index, ...], inner: tuple[Index, ...]) -> list[Reading]:
    """A factor as several of the power 1 or -1, if it has a small whole power."""
    if isinstance(f.exponent, int) and abs(f.exponent) <= MOST_COPIES:
        sign = 1 if f.exponent > 0 else -1
        return [Reading(f.atom, sign, outer, inner)] * abs(f.exponent)
    return [Reading(f.atom, f.exponent, outer, inner)]


def _weighted(terms: Iterable[Term]) -> list[Weighted]:
    return [Weighted(table.reads, coefficient) for table, coefficient in terms]


def _reads(terms: Iterable[Term]) -> list[Reads]:
    return [term.table.reads for term in terms]
