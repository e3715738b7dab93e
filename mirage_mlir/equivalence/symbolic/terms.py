"""
Forms: sums of products of atoms at indices, with sums over variables under guards.

An atom (an argument, `exp` of a form, ...) is a function of as many integers as it has parameters,
and a factor is an atom read at indices. A monomial is the sum, over all values of its bound
variables at which its guards hold, of a product of factors; where a guard does not hold nothing is
read and nothing added. A form is a sum of monomials with rational coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    substituted,
    variables,
)

FIRST_FREE = 1000
"""Numbers of free variables; parameters of atoms are below, bound variables are negative."""

FIRST_MAXIMISED = -1000
"""Numbers, downwards, of the variables that a maximum runs over; those of sums are above."""


class Undecided(Exception):
    """The form of a value cannot be found; the message gives the reason."""


class TooManySteps(Undecided):
    """A proof would take too long."""


MOST_STEPS = 60_000
"""
Factors made or named and variables replaced in one proof, up to 2 s of work: programs and graphs
of the tests need up to 25,000.
"""


MOST_STEPS_IN_PARTS = 2
"""
How often all parts of a proof together may take `MOST_STEPS`; one alone takes it once. A decoder
layer's parts take 0.1 times it, but for those that are too large themselves.
"""


class ProofWork:
    """
    Counts the steps of a proof, so that it ends in time and always at the same place.

    Args:
        most: the steps that it may take.
    """

    def __init__(self, most: int | None = None) -> None:
        self.steps = 0
        self.most = MOST_STEPS if most is None else most

    @staticmethod
    def of_part(before: int) -> ProofWork:
        """Counts the steps of a part of a proof, some parts of which took steps before."""
        return ProofWork(min(MOST_STEPS, MOST_STEPS_IN_PARTS * MOST_STEPS - before))

    def read(self, indices: Iterable[Index]) -> None:
        """Count the variables that indices read."""
        self.spend(sum(1 for index in indices for _ in variables(index)))

    def spend(self, steps: int) -> None:
        """
        Count some steps.

        Raises:
            TooManySteps: there were too many.
        """
        self.steps += steps
        if self.steps > self.most:
            raise TooManySteps(f"the normal forms take more than {MOST_STEPS} steps")


class Factor(NamedTuple):
    """An atom at indices, to a power (a fraction for exp only)."""

    atom: int
    indices: tuple[Index, ...]
    exponent: int | Fraction


class Monomial(NamedTuple):
    """A product of factors, summed over its bound variables where the guards hold."""

    guards: Guards
    factors: tuple[Factor, ...]


Form = tuple[tuple[Monomial, Fraction], ...]
"""A sum of monomials with coefficients, sorted."""

ZERO: Form = ()

ONE = Monomial((), ())


class Entry(NamedTuple):
    """A form under guards: one of the values that a maximum is taken of."""

    guards: Guards
    form: Form


@dataclass(frozen=True)
class Atom:
    """
    What factors are made of; its entries read the parameters 0, 1, ..., one for each index.

    Kinds are `input`, `cut` (any value, which may be zero for many inputs, or depend on others),
    `index` (its parameter as a number), `lowest` (-inf, which only `lowest` computes with),
    `function`, `sum` (a form as one factor) and `maximum`; all but the last have at most one entry,
    without guards.
    """

    kind: str
    name: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def form(self) -> Form:
        """The form of the only entry."""
        ((_, form),) = self.entries
        return form


def indices_of(factors: Iterable[Factor], guards: Iterable[Guard] = ()) -> Iterator[Index]:
    """All indices of factors and of guards."""
    for factor in factors:
        yield from factor.indices
    for each in guards:
        yield each.value


def is_bound(variable: Variable) -> bool:
    """Whether a sum binds a variable."""
    return FIRST_MAXIMISED < variable.number < 0


def bound_of(monomial: Monomial) -> set[Variable]:
    """The bound variables of a monomial."""
    return set(filter(is_bound, all_variables(indices_of(monomial.factors, monomial.guards))))


def components(monomial: Monomial, over: AbstractSet[Variable]) -> tuple[Monomial, list[Monomial]]:
    """What reads none of some variables, and the rest as groups that share none of them."""
    pieces = [(Monomial((), (f,)), f.indices) for f in monomial.factors]
    pieces += [(Monomial((each,), ()), (each.value,)) for each in monomial.guards]
    outside: list[Monomial] = []
    groups: list[tuple[set[Variable], list[Monomial]]] = []
    for piece, indices in pieces:
        own = all_variables(indices) & over
        if not own:
            outside.append(piece)
            continue
        apart = [group for group in groups if own.isdisjoint(group[0])]
        joined = [group for group in groups if not own.isdisjoint(group[0])]
        members = [member for _, group in joined for member in group]
        groups = [*apart, (own.union(*(each for each, _ in joined)), [*members, piece])]
    return product_of(outside), [product_of(members) for _, members in groups]


def product_of(pieces: Iterable[Monomial]) -> Monomial:
    """A product of parts that share no bound variables."""
    parts = list(pieces)
    guards = tuple(each for part in parts for each in part.guards)
    return Monomial(guards, tuple(f for part in parts for f in part.factors))


def free_of(form: Form) -> set[Variable]:
    """The variables that a form reads and does not bind."""
    found = {v for m, _ in form for v in all_variables(indices_of(m.factors, m.guards))}
    return {variable for variable in found if not is_bound(variable)}


def form_of(total: Mapping[Monomial, Fraction]) -> Form:
    """Monomials with coefficients, without those that are zero."""
    return tuple(sorted((m, c) for m, c in total.items() if c))


def powers(factors: Iterable[Factor]) -> list[Factor]:
    """Factors with equal ones collected."""
    found: dict[tuple[int, tuple[Index, ...]], int | Fraction] = {}
    for atom, indices, exponent in factors:
        found[atom, indices] = found.get((atom, indices), 0) + exponent
    return [Factor(*key, int(e) if e.denominator == 1 else e) for key, e in found.items() if e]


def replaced(indices: Sequence[Index], values: Mapping[Variable, Index]) -> tuple[Index, ...]:
    """Indices with variables replaced."""
    return tuple(substituted(index, values) for index in indices)
