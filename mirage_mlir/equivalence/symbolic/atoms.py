"""
The atoms of one proof, and canonical names for monomials of them.

An atom has a parameter for each index that its forms read: `exp(x[i + 5])` is the atom of
`exp(x[p])`, read at `i + 5`. Reads at different indices thus use the same atom, and ranges of
indices can be merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    of,
    plus,
    renamed,
    substituted,
    variable_of,
    variables,
)
from mirage_mlir.equivalence.symbolic.naming import LabelledMonomial, Naming
from mirage_mlir.equivalence.symbolic.symmetries import NO_SYMMETRIES, Symmetries
from mirage_mlir.equivalence.symbolic.terms import (
    FIRST_MAXIMISED,
    Atom,
    Entry,
    Factor,
    Monomial,
    ProofWork,
    bound_of,
    components,
    indices_of,
)

PLACEHOLDER = 1 << 40
"""Numbers of what stands for parameters before their order is known."""

MOST_READS = 48
"""
Reads of an atom's forms that have a parameter each, also where several are at one index: the atom
is then the same where they are at different ones. Beyond it each index has one parameter, as the
reads of a chain of functions that use their argument twice are 2^depth. Programs of the tests have
up to 40 in atoms that need it.
"""

Names = Mapping[Variable, Variable]


class Abstract(NamedTuple):
    """Entries over parameters, and the indices that these stand for."""

    entries: tuple[Entry, ...]
    indices: tuple[Index, ...]


class Ranging(NamedTuple):
    """An entry and the free variables that it runs over."""

    entry: Entry
    over: frozenset[Variable] = frozenset()


class Atoms:
    """Atoms by number, with all that is known about each."""

    def __init__(self, work: ProofWork | None = None) -> None:
        self.work = ProofWork() if work is None else work
        self._atoms: list[Atom] = []
        self._ids: dict[Atom, int] = {}
        self._symmetries: dict[tuple[Entry, ...], Symmetries] = {}
        self._of_atoms: list[Symmetries] = []
        self._plain: list[bool] = []
        self._abstract: dict[tuple[Ranging, ...], Abstract] = {}

    def __getitem__(self, number: int) -> Atom:
        return self._atoms[number]

    def intern(self, atom: Atom) -> int:
        """The number of an atom."""
        if (known := self._ids.get(atom)) is None:
            known = self._ids[atom] = len(self._atoms)
            self._atoms.append(atom)
            self._of_atoms.append(self._symmetries.get(atom.entries, NO_SYMMETRIES))
            plain = atom.kind != "index" and all(map(self._reads_parameters, atom.entries))
            self._plain.append(plain)
        return known

    def factor(self, atom: int, indices: Sequence[Index], exponent: int | Fraction = 1) -> Factor:
        """An atom at indices, in the least order that its symmetries allow."""
        return Factor(atom, self._of_atoms[atom].least(indices), exponent)

    def swaps(self, atom: int) -> tuple[tuple[int, ...], ...]:
        """The groups of parameters of an atom whose order does not matter."""
        return self._of_atoms[atom].orbits

    def is_plain(self, atom: int) -> bool:
        """Whether the forms of an atom read its parameters as they are, and in no guard."""
        return self._plain[atom]

    def moved(self, factors: Sequence[Factor], values: Mapping[Variable, Index]) -> list[Factor]:
        """Factors with variables replaced."""
        self.work.read(indices_of(factors))
        return [
            self.factor(f.atom, [substituted(i, values) for i in f.indices], f.exponent)
            for f in factors
        ]

    # What is known of an atom

    def _reads_parameters(self, entry: Entry) -> bool:
        guards = [each for m, _ in entry.form for each in m.guards]
        if any(_free_of_guards((*entry.guards, *guards))):
            return False
        for f in (f for m, _ in entry.form for f in m.factors):
            for index in f.indices:
                free = any(v.number >= 0 for v in variables(index))
                if free and (variable_of(index) is None or not self._is_plain_at(f)):
                    return False
        return True

    def _is_plain_at(self, f: Factor) -> bool:
        return self._plain[f.atom]

    # Names

    def _renamed(self, entry: Entry, names: Names) -> Entry:
        """An entry with free variables renamed."""
        form = sorted((self._monomial(m, names), c) for m, c in entry.form)
        return Entry(guards_.renamed(entry.guards, names), tuple(form))

    def _monomial(self, monomial: Monomial, names: Names) -> Monomial:
        factors = self._factors(monomial.factors, names)
        return self.named(factors, guards_.renamed(monomial.guards, names), bound_of(monomial))

    def _factors(self, factors: Sequence[Factor], names: Names) -> list[Factor]:
        self.work.spend(len(factors))
        return [
            self.factor(f.atom, [renamed(i, names) for i in f.indices], f.exponent) for f in factors
        ]

    def named(
        self, factors: Sequence[Factor], guards: Guards, over: Iterable[Variable]
    ) -> Monomial:
        """
        The monomial with its bound variables named -1, -2, ... in canonical order.

        Factors that share no bound variable are named separately, and sorted by their names.
        """
        bound = {*over}
        if not bound:
            return Monomial(tuple(sorted(guards)), tuple(sorted(factors)))
        outside, groups = components(Monomial(guards, tuple(factors)), bound)
        found, ranges, taken = [*outside.factors], outside.guards, 0
        for group in sorted(self._named(each, bound) for each in groups):
            own = bound_of(group)
            later = {v: v._replace(number=v.number - taken) for v in own}
            found += self._factors(group.factors, later)
            ranges += guards_.renamed(group.guards, later)
            taken += len(own)
        return Monomial(tuple(sorted(ranges)), tuple(sorted(found)))

    def _named(self, group: Monomial, bound: set[Variable]) -> Monomial:
        """Factors that belong together, their bound variables named."""

        def written(order: Sequence[Variable]) -> Monomial:
            names = {v: Variable(-n, v.size) for n, v in enumerate(order, 1)}
            factors = self._factors(group.factors, names)
            return Monomial(guards_.renamed(group.guards, names), tuple(sorted(factors)))

        own = bound & all_variables(indices_of(group.factors, group.guards))
        return (
            Naming([LabelledMonomial(1, group)], self.swaps, own, written, self.work).least().result
        )

    # Parameters

    def abstract(self, entries: Sequence[Ranging]) -> Abstract:
        """Entries as functions of what they are read at, canonical in the order of parameters."""
        key = tuple(entries)
        if (known := self._abstract.get(key)) is not None:
            return known
        lifting = _Lifting(shared=_reads(entries) > MOST_READS)
        lifted = [lifting.entry(each) for each in entries]

        def written(order: Sequence[Variable]) -> tuple[Entry, ...]:
            names = {v: Variable(n, 0) for n, v in enumerate(order)}
            return tuple(sorted({self._with_maximised(each, names) for each in lifted}))

        parts = [part for each in lifted for part in _parts(each.entry)]
        found, order, symmetries = Naming(
            parts, self.swaps, lifting.indices, written, self.work
        ).least()
        self._symmetries.setdefault(found, Symmetries.of(len(order), symmetries))
        indices = self._symmetries[found].least([lifting.indices[v] for v in order])
        result = self._abstract[key] = Abstract(found, indices)
        return result

    def _with_maximised(self, ranging: Ranging, names: Names) -> Entry:
        """An entry with free variables renamed and those that it runs over named canonically."""
        entry = self._renamed(ranging.entry, names)
        if not ranging.over:
            return entry

        def written(order: Sequence[Variable]) -> Entry:
            return self._renamed(entry, _maximised(order))

        return Naming(_parts(entry), self.swaps, ranging.over, written, self.work).least().result


def _maximised(variables: Iterable[Variable]) -> dict[Variable, Variable]:
    return {v: Variable(FIRST_MAXIMISED - n, v.size) for n, v in enumerate(variables)}


def _parts(entry: Entry) -> list[LabelledMonomial]:
    parts = [LabelledMonomial(coefficient, monomial) for monomial, coefficient in entry.form]
    return [*parts, LabelledMonomial(0, Monomial(entry.guards, ()))]


def _reads(entries: Iterable[Ranging]) -> int:
    """How many indices entries are read at, counted as often as they are."""
    monomials = (monomial for each in entries for monomial, _ in each.entry.form)
    return sum(1 for m in monomials for _ in indices_of(m.factors, m.guards))


def _free_of_guards(guards: Iterable[Guard]) -> set[Variable]:
    return {v for each in guards for v in variables(each.value) if v.number >= 0}


class _Lifting:
    """Replaces the indices that entries read by placeholders."""

    def __init__(self, *, shared: bool) -> None:
        self.indices: dict[Variable, Index] = {}
        self._known: dict[Index, Variable] | None = {} if shared else None

    def entry(self, ranging: Ranging) -> Ranging:
        """An entry with placeholders, and names for what it runs over as if that were bound."""
        (guards, form), over = ranging
        names = _maximised(sorted(over))
        lifted = tuple((self._monomial(m, names), c) for m, c in form)
        return Ranging(Entry(self._guards(guards, names), lifted), frozenset(names.values()))

    def _monomial(self, monomial: Monomial, names: Names) -> Monomial:
        factors = (
            f._replace(indices=tuple(self._index(renamed(index, names)) for index in f.indices))
            for f in monomial.factors
        )
        return Monomial(self._guards(monomial.guards, names), tuple(factors))

    def _guards(self, guards: Guards, names: Names) -> Guards:
        return tuple(Guard(self._index(renamed(i, names)), low, high) for i, low, high in guards)

    def _index(self, index: Index) -> Index:
        """What reads no inner variable as one placeholder, the constant with it if it is all."""
        if not _is_inner(index):
            return of(self._placeholder(index))
        inner = [(v, c) for v, c in index.linear if v.number < 0]
        free = [(v, c) for v, c in index.linear if v.number >= 0]
        inner_floors = [(f, c) for f, c in index.floors if _is_inner(f.dividend)]
        free_floors = [(f, c) for f, c in index.floors if not _is_inner(f.dividend)]
        lifted = sorted((f._replace(dividend=self._index(f.dividend)), c) for f, c in inner_floors)
        result = Index(tuple(inner), tuple(lifted), index.constant)
        if not free and not free_floors:
            return result
        return plus(result, of(self._placeholder(Index(tuple(free), tuple(free_floors)))))

    def _placeholder(self, index: Index) -> Variable:
        new = Variable(PLACEHOLDER + len(self.indices), 0)
        if self._known is not None:
            new = self._known.setdefault(index, new)
        self.indices[new] = index
        return new


def _is_inner(index: Index) -> bool:
    """Whether an index reads a variable that a sum or a maximum runs over."""
    return any(v.number < 0 for v in variables(index))
