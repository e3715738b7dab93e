"""
Canonical names of variables: equal sums get equal names, whatever their variables were called.

Variables are distinguished by where they occur, as vertices of a graph are by colour refinement.
Where that leaves a choice all choices are tried, except those that only swap interchangeable
variables, and the least result is taken.

Source of the scheme: McKay and Piperno, "Practical graph isomorphism, II" (2014), section 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

from mirage_mlir.equivalence.symbolic.guards import Guard
from mirage_mlir.equivalence.symbolic.indices import Index, Variable, all_variables
from mirage_mlir.equivalence.symbolic.terms import Factor, Monomial, ProofWork

MOST_NAMINGS = 120
"""
Namings that are tried for one canonical one, 5!. Beyond it equal forms may be told apart, which
loses a proof and makes none wrong.
"""

Key = tuple[Any, ...]
"""What is known of a variable; keys are compared with each other alone."""

T = TypeVar("T", bound=tuple[object, ...])


class LabelledMonomial(NamedTuple):
    """A monomial in which variables are to be named, and a number that goes with it."""

    label: Fraction | int
    monomial: Monomial


Swaps = Callable[[int], tuple[tuple[int, ...], ...]]
"""The groups of parameters of an atom whose order does not matter."""


class _Use(NamedTuple):
    """Where a variable stands: what goes with that, and in which indices of what."""

    label: Fraction | int
    what: Factor | Guard
    places: tuple[int, ...]


class Least(NamedTuple, Generic[T]):
    """What canonical orders make, one of these, and permutations of it that make the same."""

    result: T
    order: tuple[Variable, ...]
    symmetries: tuple[tuple[int, ...], ...] = ()


class Naming(Generic[T]):
    """
    A search for the canonical order of some variables of some monomials.

    Args:
        parts: the monomials.
        swaps: which parameters of atoms are interchangeable.
        wanted: the variables.
        written: what an order of them makes.
        work: counts steps.
    """

    def __init__(
        self,
        parts: Sequence[LabelledMonomial],
        swaps: Swaps,
        wanted: Iterable[Variable],
        written: Callable[[Sequence[Variable]], T],
        work: ProofWork,
    ) -> None:
        self.work = work
        self.swaps = swaps
        self.wanted = sorted(wanted)
        self._uses: dict[Variable, list[_Use]] = {variable: [] for variable in self.wanted}
        for label, monomial in parts:
            for what in (*monomial.factors, *monomial.guards):
                self._add(label, what)
        self.written = written
        self.tried = 0
        self.alike: list[tuple[tuple[Variable, ...], tuple[Variable, ...]]] = []
        """Orders that make the same."""

    def _add(self, label: Fraction | int, what: Factor | Guard) -> None:
        places: dict[Variable, list[int]] = {}
        for place, index in enumerate(_indices(what)):
            for variable in all_variables([index]) & self._uses.keys():
                places.setdefault(variable, []).append(place)
        for variable, found in places.items():
            self._uses[variable].append(_Use(label, what, tuple(found)))

    def least(self) -> Least[T]:
        """The least of what the canonical orders make."""
        if len(self.wanted) < 2:
            return Least(self.written(self.wanted), tuple(self.wanted))
        colours = self._refined(dict.fromkeys(self.wanted, 0))
        results = self._results(colours)
        least = min(results)
        order = results[least]
        places = {v: n for n, v in enumerate(order)}
        found: dict[tuple[int, ...], None] = {}
        for one, other in self.alike:
            images = dict(zip(one, other, strict=True))
            found[tuple(places[images[v]] for v in order)] = None
        return Least(least, order, tuple(found))

    def _results(self, colours: Mapping[Variable, int]) -> dict[T, tuple[Variable, ...]]:
        """What is made, and of which order first."""
        tied = self._tied(colours)
        if not tied:
            order = self._order(colours)
            return {self.written(order): order}
        found: dict[T, tuple[Variable, ...]] = {}
        for variable in tied:
            chosen = {v: 2 * c + (v in tied and v != variable) for v, c in colours.items()}
            refined = self._refined(chosen)
            if found:
                if self.tried >= MOST_NAMINGS:
                    break
                # Where one leaf is known an automorphism maps all of them to known ones.
                order = self._first(refined)
                known = found.get(self.written(order))
                if known is not None:
                    self.alike.append((known, order))
                    continue
            found = {**self._results(refined), **found}
        return found

    def _first(self, colours: Mapping[Variable, int]) -> tuple[Variable, ...]:
        """The order that comes of the first choice wherever there is one."""
        while tied := self._tied(colours):
            chosen = {v: 2 * c + (v in tied[1:]) for v, c in colours.items()}
            colours = self._refined(chosen)
        return self._order(colours)

    def _order(self, colours: Mapping[Variable, int]) -> tuple[Variable, ...]:
        self.tried += 1
        return tuple(sorted(self.wanted, key=lambda v: colours[v]))

    def _tied(self, colours: Mapping[Variable, int]) -> list[Variable]:
        """The variables of the first colour that several have."""
        classes: dict[int, list[Variable]] = {}
        for variable, colour in colours.items():
            classes.setdefault(colour, []).append(variable)
        tied = [members for _, members in sorted(classes.items()) if len(members) > 1]
        return tied[0] if tied else []

    def _refined(self, colours: Mapping[Variable, int]) -> dict[Variable, int]:
        """Colours by where variables stand, beside variables of which colours."""
        found = dict(colours)
        while True:
            counts = Counter(found.values())
            view = _View(found, self.swaps)
            keys = {v: self._key(v, view) if counts[c] > 1 else () for v, c in found.items()}
            # Colours are as far apart as variables of one may come to differ.
            ranks = sorted({(c, keys[v]) for v, c in found.items()})
            new = {key: rank for rank, key in enumerate(ranks)}
            found = {v: new[c, keys[v]] for v, c in found.items()}
            if len(ranks) in (len(counts), len(found)):
                return found

    def _key(self, variable: Variable, view: _View) -> Key:
        uses = [(label, *view.use(what, variable, at)) for label, what, at in self._uses[variable]]
        self.work.spend(len(uses))
        return (variable.size, *sorted(uses))


def _indices(what: Factor | Guard) -> tuple[Index, ...]:
    return what.indices if isinstance(what, Factor) else (what.value,)


class _View:
    """Descriptions of factors and guards in which variables are known by their colours alone."""

    def __init__(self, colours: Mapping[Variable, int], swaps: Swaps) -> None:
        self.colours = colours
        self.swaps = swaps
        self._known: dict[int, list[Key]] = {}
        """Descriptions of indices, by the identity of what has them."""

    def use(self, what: Factor | Guard, variable: Variable, at: Iterable[int]) -> Key:
        """A factor or guard in which one variable, which stands there, is told from all others."""
        indices = _indices(what)
        if id(what) not in self._known:
            self._known[id(what)] = [self.index(index, None) for index in indices]
        places = [*self._known[id(what)]]
        for place in at:
            places[place] = self.index(indices[place], variable)
        if isinstance(what, Guard):
            return (-1, what.low, what.high, *places)
        for group in self.swaps(what.atom):
            for place, description in zip(group, sorted(places[n] for n in group), strict=True):
                places[place] = description
        return (what.atom, what.exponent, *places)

    def index(self, index: Index, variable: Variable | None) -> Key:
        """An index in which one variable is told from all others."""
        linear: list[Key] = []
        for other, coefficient in index.linear:
            if other == variable:
                linear.append((0, 0, 0, coefficient))
            elif other in self.colours:
                linear.append((1, self.colours[other], 0, coefficient))
            elif other.number < 0:
                linear.append((2, other.size, 0, coefficient))
            else:
                linear.append((3, other.number, other.size, coefficient))
        floors = sorted(
            (floor.divisor, coefficient, self.index(floor.dividend, variable))
            for floor, coefficient in index.floors
        )
        return (index.constant, tuple(sorted(linear)), tuple(floors))
