"""
What elements of tensors need in order to have a value, and how tensors take it over from others.

An element that is computed by a division, a root or a logarithm has no value for some inputs, nor
has what is computed from it. So each tensor carries the demands of its elements: that a form, read
at indices that depend on the element, is never zero, or never negative. Views put other indices
into them, and a sum over j demands for every j what its terms do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    of,
    substituted,
    variables,
)
from mirage_mlir.equivalence.symbolic.terms import Form

BOUND = 1 << 41
"""Numbers, from here on, of variables of demands that are no indices of the element."""


class Strength(Enum):
    """Which functions a demand says something about."""

    SURE = "the element has no value where it is not met"
    PERHAPS = "it may have a value all the same, as data selects"
    IMPLIED = "it has none, but that follows from another demand"


class Need(NamedTuple):
    """That a form over parameters is never zero, or never negative."""

    never: str
    form: Form


Kind = tuple[Need, tuple[Form, ...]]
"""What is needed, and when data selects what needs it."""


class Case(NamedTuple):
    """That a comparison of data, a form over parameters read at indices, is 1."""

    form: Form
    indices: tuple[Index, ...]


class Demand(NamedTuple):
    """That elements need something of a form, read at indices, where guards hold."""

    need: Need
    indices: tuple[Index, ...]
    """They read the element's indices, and other variables: all values of these count."""
    guards: Guards = ()
    strength: Strength = Strength.SURE
    cases: tuple[Case, ...] = ()
    """When data selects what needs it: where one of them is 0 nothing is needed."""

    @property
    def everywhere(self) -> tuple[Index, ...]:
        """All that it reads: its indices, and those of its cases."""
        return (*self.indices, *(index for case in self.cases for index in case.indices))

    @property
    def kind(self) -> Kind:
        """What is needed and when, but for the indices."""
        return self.need, tuple(case.form for case in self.cases)

    @property
    def read(self) -> set[Variable]:
        """What indices and guards read."""
        return all_variables([*self.everywhere, *(each.value for each in self.guards)])


Demands = tuple[Demand, ...]
"""Each of them once."""


def together(*groups: Iterable[Demand]) -> Demands:
    """All demands of some groups."""
    return tuple(dict.fromkeys(demand for group in groups for demand in group))


def moved(demands: Iterable[Demand], values: Mapping[Variable, Index]) -> Demands:
    """Demands with variables replaced, without those that are nowhere."""

    def replaced(demand: Demand) -> Demand | None:
        guards = guards_.moved(demand.guards, values)
        if guards is None:
            return None
        cases = tuple(
            Case(case.form, tuple(substituted(index, values) for index in case.indices))
            for case in demand.cases
        )
        indices = tuple(substituted(index, values) for index in demand.indices)
        return demand._replace(indices=indices, guards=guards, cases=cases)

    return _each(replaced, demands)


def where(demands: Iterable[Demand], guards: Iterable[Guard | bool]) -> Demands:
    """The demands of elements at which guards hold."""
    conditions = tuple(guards)

    def restricted(demand: Demand) -> Demand | None:
        both = guards_.both(demand.guards, conditions)
        return None if both is None else demand._replace(guards=both)

    return _each(restricted, demands)


def of_all(demands: Iterable[Demand], over: Iterable[Variable], guards: Guards) -> Demands:
    """The demands of what is computed from all elements, over variables, at which guards hold."""
    names = {*over}

    def bound(demand: Demand) -> Demand:
        # Names of their own, as the variable will be that of a dimension beside the result; and the
        # same ones for equal demands.
        indices = (*demand.everywhere, *(each.value for each in demand.guards))
        read = dict.fromkeys(variable for index in indices for variable in variables(index))
        old = [variable for variable in read if variable in names or variable.number >= BOUND]
        new = {v: of(Variable(BOUND + number, v.size)) for number, v in enumerate(old)}
        (found,) = moved([demand], new)
        return found

    return _each(bound, where(demands, guards))


def weak(demands: Iterable[Demand]) -> Demands:
    """The demands of a condition: where it has no value, a selection by it has one all the same."""

    def weakened(demand: Demand) -> Demand | None:
        if demand.strength is Strength.IMPLIED:
            return None
        return demand._replace(strength=Strength.PERHAPS)

    return _each(weakened, demands)


def in_case(demands: Iterable[Demand], case: Case) -> Demands:
    """The demands of elements that data selects in a case."""

    def restricted(demand: Demand) -> Demand | None:
        if demand.strength is Strength.IMPLIED:
            return None
        return demand._replace(cases=(*demand.cases, case))

    return _each(restricted, demands)


def _each(change: Callable[[Demand], Demand | None], demands: Iterable[Demand]) -> Demands:
    changed = (change(demand) for demand in demands)
    return tuple(dict.fromkeys(demand for demand in changed if demand is not None))
