"""
Values of maxima that others cover, and ranges of values put together.

The values of one entry are among those of another one if some choice of what the other runs over
makes it the same form wherever its guards hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.algebra import Algebra
from mirage_mlir.interpreters.forms.atoms import Abstract, Ranging
from mirage_mlir.interpreters.forms.indices import (
    Index,
    Variable,
    all_variables,
    coefficients,
    divided,
    number,
    of,
    plus,
    span,
    substituted,
    variables,
)
from mirage_mlir.interpreters.forms.terms import FIRST_FREE, Entry, indices_of
from mirage_mlir.interpreters.forms.unions import Range, origin

LINE = Variable(FIRST_FREE - 1, 0)
"""The index that a range is of."""


def without_covered(forms: Algebra, entries: Sequence[Ranging]) -> list[Ranging]:
    """Entries without those that others cover, and with ranges that meet as one."""
    kept = list(entries)
    while len(kept) > 1:
        values = [forms.atoms.abstract([Ranging(Entry((), each.entry.form))]) for each in kept]
        covered = next(
            (
                n
                for n, each in enumerate(kept)
                for m, other in enumerate(kept)
                if n != m and _covers(other, values[m], each, values[n])
            ),
            None,
        )
        if covered is not None:
            del kept[covered]
            continue
        joined = _joined(forms, kept)
        if joined is None:
            break
        kept = joined
    return kept


def _covers(other: Ranging, theirs: Abstract, each: Ranging, own: Abstract) -> bool:
    """Whether the values of an entry are among those of another one."""
    if theirs.entries != own.entries:
        return False
    values = _solution(theirs.indices, own.indices, other.over)
    if values is None:
        return False
    for variable, index in values.items():
        low, high = span(index)
        if low < 0 or high >= variable.size:
            return False
    needed = guards_.moved(other.entry.guards, values)
    return needed is not None and set(needed) <= set(each.entry.guards)


def _solution(
    theirs: Sequence[Index], own: Sequence[Index], over: Iterable[Variable]
) -> dict[Variable, Index] | None:
    """What to put in the place of variables to make indices equal to others; None if nothing."""
    pairs = list(zip(theirs, own, strict=True))
    values: dict[Variable, Index] = {}
    missing = {*over} & all_variables(theirs)
    while missing:
        found = next((s for pair in pairs if (s := _solved(*pair, values, missing))), None)
        if found is None:
            return None
        variable, values[variable] = found
        missing.remove(variable)
    return values if all(substituted(a, values) == b for a, b in pairs) else None


def _solved(
    a: Index, b: Index, values: Mapping[Variable, Index], missing: set[Variable]
) -> tuple[Variable, Index] | None:
    """The only variable that is missing in an index, and what makes it equal to another one."""
    here = missing.intersection(variables(a))
    if len(here) != 1:
        return None
    (variable,) = here
    coefficient = dict(a.linear).get(variable, 0)
    if not coefficient or any(variable in variables(floor.dividend) for floor, _ in a.floors):
        return None
    rest = plus(a, of(variable), -coefficient)
    difference = plus(b, substituted(rest, values), -1)
    if any(c % coefficient for c in (*coefficients(difference), difference.constant)):
        return None
    return variable, divided(difference, coefficient)


class _Body(NamedTuple):
    """An entry but for the range of one variable."""

    abstract: Abstract
    ranging: Ranging


def _joined(forms: Algebra, entries: Sequence[Ranging]) -> list[Ranging] | None:
    """Entries with two that are ranges of one, which meet, put together; None without any."""
    known: dict[Abstract, list[tuple[Range, Ranging, _Body]]] = {}
    for each in entries:
        for variable in sorted(each.over):
            found = _on_line(forms, each, variable)
            if found is None:
                continue
            body, here = found
            for there, other, _ in known.get(body.abstract, ()):
                if other is each or here.start > there.stop or there.start > here.stop:
                    continue
                union = Range(min(here.start, there.start), max(here.stop, there.stop))
                rest = [entry for entry in entries if entry is not each and entry is not other]
                return [*rest, _over(forms, body.ranging, union)]
            known.setdefault(body.abstract, []).append((here, each, body))
    return None


def _on_line(forms: Algebra, each: Ranging, variable: Variable) -> tuple[_Body, Range] | None:
    """An entry as a range of what its body is at `LINE`."""
    (guards, form), over = each
    if guards_.reading(guards, [variable]):
        return None
    start = origin((i for m, _ in form for i in indices_of(m.factors, m.guards)), variable)
    if start is None:
        return None
    moved = forms.insert(form, {variable: plus(of(LINE), number(-start))})
    body = Ranging(Entry(guards, moved), over - {variable})
    return _Body(forms.atoms.abstract([body]), body), Range(start, start + variable.size)


def _over(forms: Algebra, body: Ranging, here: Range) -> Ranging:
    """The entry that a body is over a range."""
    new = forms.variable(here.stop - here.start)
    values = {LINE: plus(of(new), number(here.start))}
    form = forms.insert(body.entry.form, values)
    return Ranging(Entry(body.entry.guards, form), body.over | {new})
