"""
Sums over ranges of one index, put together.

`sum_{p < 57} f(p) + sum_{p < 43} f(57 + p)` is `sum_{p < 100} f(p)`: monomials that differ in the
range of one variable alone have weights on one line of integers, and the line is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.atoms import Atoms
from mirage_mlir.interpreters.forms.guards import Guards
from mirage_mlir.interpreters.forms.indices import (
    Index,
    Variable,
    number,
    of,
    plus,
    variables,
)
from mirage_mlir.interpreters.forms.terms import (
    FIRST_MAXIMISED,
    Factor,
    Monomial,
    bound_of,
    indices_of,
)

LINE = Variable(FIRST_MAXIMISED * 2, 0)
"""The index that a range is of."""


class Range(NamedTuple):
    """The integers from `start` to below `stop`."""

    start: int
    stop: int


class OnLine(NamedTuple):
    """A monomial as the sum over a range of what its body is at `LINE`."""

    body: Monomial
    range: Range


class Change(NamedTuple):
    """Monomials, and products with coefficients that add up to the same."""

    old: Sequence[Monomial]
    new: Sequence[tuple[tuple[Sequence[Factor], Guards, frozenset[Variable]], Fraction]]


class Lines:
    """Finds sums that can be put together; what is found of a monomial is kept."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self._known: dict[Monomial, list[OnLine]] = {}

    def change(self, total: Mapping[Monomial, Fraction]) -> Change | None:
        """What to replace in a sum of monomials; None where nothing becomes less."""
        shapes: dict[tuple[tuple[int, Fraction | int], ...], list[Monomial]] = {}
        for monomial in total:
            shape = tuple((f.atom, f.exponent) for f in monomial.factors)
            shapes.setdefault(shape, []).append(monomial)
        for monomials in shapes.values():
            if len(monomials) > 1 and (found := self._change(monomials, total)) is not None:
                return found
        return None

    def _change(
        self, monomials: Sequence[Monomial], total: Mapping[Monomial, Fraction]
    ) -> Change | None:
        lines: dict[Monomial, dict[Monomial, Range]] = {}
        for monomial in monomials:
            for body, here in self._of(monomial):
                lines.setdefault(body, {})[monomial] = here
        for body, ranges in lines.items():
            for monomial in monomials:
                point = None if monomial in ranges else self._point(body, ranges, monomial)
                if point is not None:
                    ranges[monomial] = Range(point, point + 1)
            weighted = [(here, total[m]) for m, here in ranges.items()]
            joined = steps(weighted)
            if len(joined) < len(weighted):
                return Change([*ranges], [(self._sum(body, r), c) for r, c in joined])
        return None

    def _of(self, monomial: Monomial) -> list[OnLine]:
        """All ways to see a monomial as a sum over a range."""
        if monomial not in self._known:
            found = (self._on_line(monomial, v) for v in sorted(bound_of(monomial)))
            self._known[monomial] = [each for each in found if each is not None]
        return self._known[monomial]

    def _on_line(self, monomial: Monomial, variable: Variable) -> OnLine | None:
        if guards_.reading(monomial.guards, [variable]):
            return None
        start = origin(indices_of(monomial.factors), variable)
        if start is None:
            return None
        values = {variable: plus(of(LINE), number(-start))}
        factors = self.atoms.moved(monomial.factors, values)
        body = self.atoms.named(factors, monomial.guards, bound_of(monomial) - {variable})
        return OnLine(body, Range(start, start + variable.size))

    def _point(
        self, body: Monomial, ranges: Mapping[Monomial, Range], monomial: Monomial
    ) -> int | None:
        """Where on the line a monomial is what the body is, at the end of a range or next to it."""
        if len(bound_of(monomial)) != len(bound_of(body)):
            return None
        ends = {end + n for r in ranges.values() for end in r for n in (-1, 0)}
        return next((end for end in sorted(ends) if self._at(body, end) == monomial), None)

    def _at(self, body: Monomial, place: int) -> Monomial:
        factors = self.atoms.moved(body.factors, {LINE: number(place)})
        return self.atoms.named(factors, body.guards, bound_of(body))

    def _sum(
        self, body: Monomial, here: Range
    ) -> tuple[Sequence[Factor], Guards, frozenset[Variable]]:
        """The product whose sum over all variables is that over a range of a line."""
        new = Variable(
            min((v.number for v in bound_of(body)), default=0) - 1, here.stop - here.start
        )
        factors = self.atoms.moved(body.factors, {LINE: plus(of(new), number(here.start))})
        return factors, body.guards, frozenset({*bound_of(body), new})


def origin(indices: Iterable[Index], variable: Variable) -> int | None:
    """
    The number that a variable begins with on the line that it is on.

    Equal sums over different ranges get different numbers, as far apart as the ranges are. None
    where the variable is in a floor, or nowhere.
    """
    found: list[int] = []
    for index in indices:
        if any(variable in variables(floor.dividend) for floor, _ in index.floors):
            return None
        coefficient = dict(index.linear).get(variable)
        if coefficient is not None:
            found.append(index.constant // coefficient)
    return min(found, default=None)


def steps(weighted: Iterable[tuple[Range, Fraction]]) -> list[tuple[Range, Fraction]]:
    """The longest ranges of one weight that is not zero, of the sum of weights on ranges."""
    known = list(weighted)
    ends = sorted({end for here, _ in known for end in here})
    found: list[tuple[Range, Fraction]] = []
    for start, stop in pairwise(ends):
        weight = sum((c for r, c in known if r.start <= start < r.stop), Fraction(0))
        if found and found[-1][0].stop == start and found[-1][1] == weight:
            found[-1] = Range(found[-1][0].start, stop), weight
        elif weight:
            found.append((Range(start, stop), weight))
    return found
