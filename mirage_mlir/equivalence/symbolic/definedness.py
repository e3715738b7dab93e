"""
Where the reference is defined, and what a candidate may therefore divide by or take roots of.

Where an element of the reference is undefined nothing is claimed of that element. So its divisors
are not zero, and its radicands not negative, at the indices at which the element uses them. The
same element of a candidate may rely on that at these indices, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.demands import Demand, Demands, Kind, Need, Strength
from mirage_mlir.equivalence.symbolic.domains import Fresh, step
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    number,
    of,
    plus,
    scaled,
    span,
    substituted,
    variables,
)
from mirage_mlir.equivalence.symbolic.inhabited import is_inhabited
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.rows import Reads, tied
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.terms import Atom, Entry, Factor, Monomial, Undecided

Columns = tuple[Variable, ...]
"""Indices of an element: those that tell which element needs what."""


class Region(NamedTuple):
    """The elements, by some of their indices, and the values of parameters that each needs."""

    reads: Reads
    name: Monomial
    """The same for all regions that differ in names of variables alone."""


def check_defined(
    forms: Forms, reference: Sequence[Symbolic], candidate: Sequence[Symbolic]
) -> None:
    """
    Make sure that each element of the candidate has a value where that of the reference has one.

    Results of both have the same indices.

    Raises:
        Undecided: an element may have none.
    """
    every = [Granted(forms, result) for result in reference]
    for granted, result in zip(every, candidate, strict=True):
        needed = [each for each in result.demands if each.strength is not Strength.IMPLIED]
        missing = [each for each in needed if not granted.covers(each)]
        if missing:
            granted.join()
        for demand in (as_read(forms, each) for each in missing):
            if granted.covers(demand):
                continue
            never = demand.need.never
            if any(other.covers(demand, elsewhere=True) for other in every):
                raise Undecided(
                    f"an element of the candidate is not defined where something is {never} that "
                    "only other elements of the reference need"
                )
            raise Undecided(f"the candidate alone is not defined where something is {never}")


def as_read(forms: Forms, demand: Demand) -> Demand:
    """
    A demand with its form made anew where the element reads it.

    What blocks of rows make of `i`, `8 b + r`, is one index again where r and b are those of i.
    """
    form, indices = forms.abstract(forms.instance(demand.need.form, demand.indices))
    return demand._replace(need=Need(demand.need.never, form), indices=indices)


class Granted:
    """What elements of a result of the reference need, and thus have where they are defined."""

    def __init__(self, forms: Forms, result: Symbolic) -> None:
        self.forms = forms
        self._own = result.variables
        self._known: dict[Need, list[tuple[Columns, Region]]] = {}
        sure = [each for each in result.demands if each.strength is not Strength.PERHAPS]
        for piece in result.pieces:
            sure += forms.needed_by(piece.form, piece.guards)
        self._demands: dict[Kind, Demands] = {}
        for each in dict.fromkeys(sure):
            self._demands[each.kind] = (*self._demands.get(each.kind, ()), each)

    def join(self) -> None:
        """Know that something is needed everywhere, where guards together say so."""
        for kind, known in self._demands.items():
            alike: dict[tuple[Index, ...], list[Demand]] = {}
            for each in known:
                alike.setdefault(each.everywhere, []).append(each)
            for indices, group in alike.items():
                read = all_variables(value.value for each in group for value in each.guards)
                over = read.difference(all_variables(indices), self._own)
                if () not in (each.guards for each in group) and is_inhabited(
                    [each.guards for each in group], over
                ):
                    self._demands[kind] += (group[0]._replace(guards=()),)

    def covers(self, demand: Demand, *, elsewhere: bool = False) -> bool:
        """
        Whether the same element of the reference, or any (`elsewhere`), surely needs it: always, or
        in the same cases.
        """
        always = demand._replace(cases=())
        return any(self._covers(each, elsewhere) for each in dict.fromkeys((always, demand)))

    def _covers(self, demand: Demand, elsewhere: bool) -> bool:
        known = self._demands.get(demand.kind, ())
        if not demand.everywhere and not demand.read:
            return any(not each.read for each in known)
        every = [() if elsewhere else self._columns([each]) for each in known]
        for each, columns in zip(known, every, strict=True):
            part, whole = self._region(demand, columns), self._sure_region(each, columns)
            if part is None:
                return True
            if whole is not None and (whole.name == part.name or _is_in_box(part, whole)):
                return True
        columns = () if elsewhere else self._columns(known)
        part = self._region(demand, columns)
        regions = [self._sure_region(each, columns) for each in known]
        return part is None or _is_among([r.reads for r in regions if r is not None], part.reads)

    def _columns(self, demands: Iterable[Demand]) -> Columns:
        """The indices of elements on which it depends what they need."""
        return tuple(sorted({v for each in demands for v in each.read & self._own}))

    def _sure_region(self, demand: Demand, columns: Columns) -> Region | None:
        """What is needed; None where it may be nothing, as a guard says."""
        found = self._region(demand, columns)
        if found is None:
            return None
        guards = found.reads.guards
        names = tied(all_variables(found.reads.indices), guards)
        return None if guards_.without(guards, guards_.reading(guards, names)) else found

    def _region(self, demand: Demand, columns: Columns) -> Region | None:
        """What is needed, for all values of all indices but some columns; None if nothing is."""
        indices = [*demand.everywhere, *map(of, columns)]
        needed = reads(indices, demand.guards, self.forms.variable)
        if needed is None:
            return None
        atoms, left = self.forms.atoms, iter(needed.indices)
        parts = [("sum", demand.need.form, demand.indices)]
        parts += [("case", case.form, case.indices) for case in demand.cases]
        factors = [
            Factor(
                atoms.intern(Atom(kind, entries=(Entry((), form),))), (*islice(left, len(own)),), 1
            )
            for kind, form, own in parts
        ]
        factors.append(Factor(atoms.intern(Atom("element")), tuple(left), 1))
        return Region(needed, atoms.named(factors, needed.guards, needed.over))


def reads(indices: Sequence[Index], guards: Guards, fresh: Fresh) -> Reads | None:
    """What indices are where guards hold, brought to one shape; None where that is nowhere."""
    while True:
        if (projected := _projected(indices, guards)) is None:
            return None
        guards = projected
        free = all_variables([*indices, *(each.value for each in guards)])
        change = step(indices, guards, free, fresh)
        if change is None:
            return Reads(tuple(indices), guards, tuple(sorted(free)))
        moved = guards_.moved(guards, change.values)
        moved = None if moved is None else guards_.both(moved, change.conditions)
        if moved is None:
            return None
        guards = moved
        indices = [substituted(index, change.values) for index in indices]


def _projected(indices: Sequence[Index], guards: Guards) -> Guards | None:
    """
    What guards say of what indices read, that there are values of the others; None if nowhere.

    A variable that one guard alone adds or subtracts makes the range of the rest wider.
    """
    wanted = all_variables(indices)
    for each in guards:
        others = [v for other in guards if other != each for v in variables(other.value)]
        for variable, coefficient in each.value.linear:
            inner = all_variables(floor.dividend for floor, _ in each.value.floors)
            free = variable not in {*others, *inner} and variable not in wanted
            if free and abs(coefficient) == 1 and variable.size:
                rest = plus(each.value, of(variable), -coefficient)
                reach = variable.size - 1
                low = each.low - (reach if coefficient > 0 else 0)
                high = each.high + (0 if coefficient > 0 else reach)
                kept = guards_.without(guards, (each,))
                both = guards_.both(kept, [guards_.guard(rest, low, high)])
                return None if both is None else _projected(indices, both)
    return guards


def _is_in_box(region: Region, other: Region) -> bool:
    """
    Whether another region has all values of its variables, and these are some of them.

    A column of it that is one variable says what that is here. All others must then be what these
    say, as in the region of `r_i`, in which the index of the element is that of r.
    """
    if other.reads.guards:
        return False
    pairs = list(zip(region.reads.indices, other.reads.indices, strict=True))
    values: dict[Variable, Index] = {}
    for part, whole in pairs:
        if len(whole.linear) == 1 and not whole.floors:
            ((variable, sign),) = whole.linear
            if abs(sign) == 1:
                values.setdefault(variable, scaled(plus(part, number(whole.constant), -1), sign))
    for variable, value in values.items():
        (least, greatest), (low, high) = span(value), variable.span
        if least < low or greatest > high:
            return False
    known = all_variables(other.reads.indices) <= values.keys()
    return known and all(substituted(whole, values) == part for part, whole in pairs)


def _is_among(known: Sequence[Reads], part: Reads) -> bool:
    """Whether all that is read is read by others; False where that is unknown."""
    if not part.indices:
        return False
    columns = {*range(len(part.indices))}
    tables = [table for table in (each.rows(columns) for each in known) if table is not None]
    own = part.rows(columns)
    if own is None or not tables:
        return False
    others = np.unique(np.concatenate(tables), axis=0)
    return len(np.unique(np.concatenate([others, own]), axis=0)) == len(others)
