"""
Sums of products of the same atoms as multisets of what they read.

The monomials of a form that have the same factors, read at indices that differ in bound variables
and constants alone, are one function of what is free: of each element that they read, how often
they read it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.atoms import Atoms
from mirage_mlir.interpreters.forms.guards import Guard, Guards
from mirage_mlir.interpreters.forms.images import (
    NOTHING,
    Firsts,
    Image,
    Numbers,
    rows,
    sorted_blocks,
    split,
    weighted,
)
from mirage_mlir.interpreters.forms.indices import (
    Index,
    Variable,
    all_variables,
    of,
    plus,
    variables,
)
from mirage_mlir.interpreters.forms.terms import Factor, Form, Monomial, bound_of

MOST_COPIES = 4
"""Powers up to which a factor is that many factors: `x_i^2` is a term of `sum_ij x_i x_j`."""

Blocks = list[list[int]]
"""Columns of indices whose order does not matter."""


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
    indices: tuple[Index, ...]
    guards: Guards
    over: tuple[Variable, ...]
    interchangeable: tuple[Blocks, ...]
    name: Monomial
    """The monomial with placeholders for what is outside."""

    def connected(self) -> list[set[int]]:
        """Columns that depend on common variables, or that are interchangeable."""
        tied = [_tied({variable}, self.guards) for variable in self.over]
        found = [
            {n for n, index in enumerate(self.indices) if not names.isdisjoint(variables(index))}
            for names in tied
        ]
        return found + [{n for block in blocks for n in block} for blocks in self.interchangeable]

    def rows(self, columns: set[int]) -> Numbers | None:
        """One row for each combination of what columns are; None where they are too many."""
        names = _tied(all_variables(self.indices[n] for n in columns), self.guards)
        guards = guards_.reading(self.guards, names)
        chosen = sorted(columns)
        found = rows([self.indices[n] for n in chosen], guards, sorted(names))
        for blocks in self.interchangeable:
            if found is not None and columns.issuperset(blocks[0]):
                found = sorted_blocks(found, [[chosen.index(n) for n in b] for b in blocks])
        return found


class Term(NamedTuple):
    """What a monomial reads, and its coefficient."""

    table: Table
    coefficient: Fraction


class Replacement(NamedTuple):
    """Monomials, and products with coefficients that add up to the same."""

    old: list[Monomial]
    new: list[tuple[list[Factor], Guards, frozenset[Variable], Fraction]]


class Multisets:
    """Sums as those that were there first."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self._tables: dict[Monomial, Table | None] = {}
        self._images: dict[Hashable, Image | None] = {}
        self._firsts: Firsts[tuple[Term, ...]] = Firsts()

    def replacements(self, form: Form) -> Iterator[Replacement]:
        """The sums in a form that are those of an earlier form, and the sums of that."""
        shapes: dict[Hashable, list[tuple[Monomial, Term]]] = {}
        for monomial, coefficient in form:
            if (table := self._table(monomial)) is not None:
                key = table.shape, table.outer
                shapes.setdefault(key, []).append((monomial, Term(table, coefficient)))
        for members in shapes.values():
            terms = [term for _, term in members]
            if len(terms) == 1 and not terms[0].table.over:
                continue
            found = self._first(terms)
            if found is not None:
                outer = terms[0].table.outer
                new = [self._product(table, outer, c) for table, c in found]
                yield Replacement([monomial for monomial, _ in members], new)

    def _first(self, terms: Sequence[Term]) -> list[Term] | None:
        """The terms that first had the image of some; None where they are themselves."""
        factor = terms[0].coefficient
        alike = tuple(Term(table, c / factor) for table, c in terms)
        name = tuple(sorted((table.name, c) for table, c in alike))
        if len(terms) > 1 and self._image(name, alike) == NOTHING:
            return []
        shape = terms[0].table.shape
        found, times = self._firsts.like(shape, name, alike, lambda: self._image(name, alike))
        if tuple(sorted((table.name, c) for table, c in found)) == name:
            return None
        return [Term(table, factor * times * c) for table, c in found]

    def _image(self, name: Hashable, terms: Sequence[Term]) -> Image | None:
        if name not in self._images:
            self._images[name] = _image([t.table for t in terms], [t.coefficient for t in terms])
        return self._images[name]

    def _product(
        self, table: Table, outer: Sequence[Index], coefficient: Fraction
    ) -> tuple[list[Factor], Guards, frozenset[Variable], Fraction]:
        """The monomial of a table whose shape has numbers for other indices."""
        factors, ranges = self._read(table, outer)
        guards = guards_.both(table.guards, ranges) or ()
        return factors, guards, frozenset(table.over), coefficient

    def _read(
        self, table: Table, outer: Sequence[Index]
    ) -> tuple[list[Factor], list[Guard | bool]]:
        """Factors of a table, and its guards that read no bound variable."""
        inner = iter(table.indices)
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
        if over - _tied(all_variables(indices), inner):
            return None
        others = guards_.without(monomial.guards, inner)
        places = [*(i for r in readings for i in r.outer), *(each.value for each in others)]
        numbers = {index: n for n, index in enumerate(dict.fromkeys(places))}
        shape = Shape(
            tuple((r.atom, r.exponent, tuple(numbers[i] for i in r.outer)) for r in readings),
            tuple((numbers[value], low, high) for value, low, high in others),
        )
        bound = tuple(sorted(over))
        table = Table(
            shape, tuple(numbers), indices, inner, bound, self._interchangeable(readings), monomial
        )
        return table._replace(name=self._name(table))

    def _name(self, table: Table) -> Monomial:
        outer = [of(Variable(n, 0)) for n in range(len(table.outer))]
        factors, _ = self._read(table._replace(shape=table.shape._replace(guards=())), outer)
        return self.atoms.named(factors, table.guards, table.over)

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


def _tied(names: set[Variable], guards: Guards) -> set[Variable]:
    """Variables, and those that guards tie to them."""
    found = names | all_variables(each.value for each in guards_.reading(guards, names))
    return found if found == names else _tied(found, guards)


def _copies(f: Factor, outer: tuple[Index, ...], inner: tuple[Index, ...]) -> list[Reading]:
    """A factor as several of the power 1 or -1, if it has a small whole power."""
    if isinstance(f.exponent, int) and abs(f.exponent) <= MOST_COPIES:
        sign = 1 if f.exponent > 0 else -1
        return [Reading(f.atom, sign, outer, inner)] * abs(f.exponent)
    return [Reading(f.atom, f.exponent, outer, inner)]


def _image(tables: Sequence[Table], weights: Sequence[Fraction]) -> Image | None:
    """
    What monomials of one shape read together, with their coefficients as weights.

    Groups of columns that share no variable in any monomial are looked at one by one, as far as all
    monomials read the same there: the rows are then all combinations of theirs.
    """
    content: list[tuple[tuple[int, ...], Hashable]] = []
    scale, differing = Fraction(1), set[int]()
    for columns in _groups(tables):
        found = [_weighted([table], columns, [Fraction(1)]) for table in tables]
        if (first := found[0]) is None or None in found:
            return None
        if any(each != first for each in found):
            differing |= columns
        else:
            content.append((tuple(sorted(columns)), first.content))
            scale *= first.scale
    if not differing:
        total = sum(weights, Fraction(0))
        return Image(tuple(sorted(content)), scale * total) if total else NOTHING
    last = _weighted(tables, differing, weights)
    if last is None or last == NOTHING:
        return last
    content.append((tuple(sorted(differing)), last.content))
    return Image(tuple(sorted(content)), scale * last.scale)


def _weighted(
    tables: Sequence[Table], columns: set[int], weights: Sequence[Fraction]
) -> Image | None:
    drawn = [table.rows(columns) for table in tables]
    parts = [(r, weight) for r, weight in zip(drawn, weights, strict=True) if r is not None]
    return weighted(parts) if len(parts) == len(drawn) else None


def _groups(tables: Sequence[Table]) -> list[set[int]]:
    """Groups of columns that are not tied to those of others in any table."""
    groups = [{n} for n in range(len(tables[0].indices))]
    for tied in (tied for table in tables for tied in table.connected()):
        joined = [group for group in groups if not group.isdisjoint(tied)]
        if len(joined) > 1:
            groups = [group for group in groups if group.isdisjoint(tied)]
            groups.append({n for group in joined for n in group})
    return groups
