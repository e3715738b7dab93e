"""
Canonical names of variables: equal sums get equal names, whatever they were called before.

Variables are told apart by where they stand, as vertices of a graph are by colour refinement; where
that leaves a choice all choices are tried, but for those that only swap interchangeable variables,
and the least result is taken.

Source of the scheme: McKay and Piperno, "Practical graph isomorphism, II" (2014), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from mirage_mlir.interpreters.forms.indices import Index, Variable
from mirage_mlir.interpreters.forms.terms import Factor, Monomial

MOST_NAMINGS = 120
"""
Namings that are tried for one canonical one, 5!. Beyond it equal forms may be told apart, which
loses a proof and makes none wrong.
"""

Key = tuple[Any, ...]
"""What is known of a variable; keys are compared with each other alone."""

T = TypeVar("T", bound=tuple[object, ...])


class Part(NamedTuple):
    """A monomial in which variables are to be named, and a number that goes with it."""

    label: Fraction | int
    monomial: Monomial


Swaps = Callable[[int], tuple[tuple[int, ...], ...]]
"""The groups of parameters of an atom whose order does not matter."""


class Naming:
    """A search for the canonical order of some variables of some monomials."""

    def __init__(self, parts: Sequence[Part], swaps: Swaps, wanted: Iterable[Variable]) -> None:
        self.parts = parts
        self.swaps = swaps
        self.wanted = sorted(wanted)
        self.tried = 0

    def least(self, written: Callable[[Sequence[Variable]], T]) -> T:
        """The least of what the canonical orders make; `written` gets variables in an order."""
        if len(self.wanted) < 2:
            return written(self.wanted)
        colours = self._refined(dict.fromkeys(self.wanted, 0))
        return min(self._results(colours, written))

    def _results(
        self, colours: Mapping[Variable, int], written: Callable[[Sequence[Variable]], T]
    ) -> list[T]:
        tied = self._tied(colours)
        if not tied:
            self.tried += 1
            return [written(sorted(self.wanted, key=lambda v: colours[v]))]
        found: list[T] = []
        for variable in tied:
            chosen = {v: 2 * c + (v in tied and v != variable) for v, c in colours.items()}
            refined = self._refined(chosen)
            # Where one leaf is known an automorphism maps all of them to known ones.
            if found and (self.tried >= MOST_NAMINGS or self._first(refined, written) in found):
                continue
            found += self._results(refined, written)
        return found

    def _first(
        self, colours: Mapping[Variable, int], written: Callable[[Sequence[Variable]], T]
    ) -> T:
        """What comes of the first choice wherever there is one."""
        while tied := self._tied(colours):
            chosen = {v: 2 * c + (v in tied[1:]) for v, c in colours.items()}
            colours = self._refined(chosen)
        self.tried += 1
        return written(sorted(self.wanted, key=lambda v: colours[v]))

    def _tied(self, colours: Mapping[Variable, int]) -> list[Variable]:
        """The variables of the first colour that several have."""
        classes: dict[int, list[Variable]] = {}
        for variable, colour in colours.items():
            classes.setdefault(colour, []).append(variable)
        tied = [members for _, members in sorted(classes.items()) if len(members) > 1]
        return tied[0] if tied else []

    def _refined(self, colours: Mapping[Variable, int]) -> dict[Variable, int]:
        """Colours by where variables stand, beside variables of which colours."""
        count = len(set(colours.values()))
        while True:
            keys = {v: (colours[v], self._key(v, colours)) for v in self.wanted}
            ranks = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
            colours = {v: ranks[keys[v]] for v in self.wanted}
            if len(ranks) in (count, len(self.wanted)):
                return dict(colours)
            count = len(ranks)

    def _key(self, variable: Variable, colours: Mapping[Variable, int]) -> Key:
        uses: list[Key] = []
        for label, monomial in self.parts:
            for factor in monomial.factors:
                if any(variable in _linear(index) for index in factor.indices):
                    uses.append((label, 0, *self._described(factor, variable, colours)))
            for index, low, high in monomial.guards:
                if variable in _linear(index):
                    uses.append((label, 1, low, high, _description(index, variable, colours)))
        return (variable.size, *sorted(uses))

    def _described(
        self, factor: Factor, variable: Variable, colours: Mapping[Variable, int]
    ) -> Key:
        places = [_description(index, variable, colours) for index in factor.indices]
        for group in self.swaps(factor.atom):
            for place, description in zip(group, sorted(places[n] for n in group), strict=True):
                places[place] = description
        return (factor.atom, factor.exponent, *places)


def _linear(index: Index) -> set[Variable]:
    found = {variable for variable, _ in index.linear}
    for floor, _ in index.floors:
        found |= _linear(floor.dividend)
    return found


def _description(index: Index, variable: Variable, colours: Mapping[Variable, int]) -> Key:
    linear: list[Key] = []
    for other, coefficient in index.linear:
        if other == variable:
            linear.append((0, 0, 0, coefficient))
        elif other in colours:
            linear.append((1, colours[other], 0, coefficient))
        elif other.number < 0:
            linear.append((2, other.size, 0, coefficient))
        else:
            linear.append((3, other.number, other.size, coefficient))
    floors = sorted(
        (floor.divisor, coefficient, _description(floor.dividend, variable, colours))
        for floor, coefficient in index.floors
    )
    return (index.constant, tuple(sorted(linear)), tuple(floors))
