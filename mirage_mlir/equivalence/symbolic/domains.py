"""
Brings the domains of sums and maxima to one shape: bijections of boxes under guards.

Each step replaces some variables of a box by others, such that the points at which the guards hold
correspond one to one. A sum or a maximum over them stays the same:

* a guard that excludes the ends of a variable's range makes it shorter;
* a guard that says what a variable is replaces it by that;
* `u` and `v` that stand everywhere as `size(v) u + v` are one variable, also where guards read `u`
  alone: `u < a` is `size(v) u + v < size(v) a`;
* a variable `v` with `floor((v + k) / m)` is `m q + r - k`, for the floor is then `q`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import permutations
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards, guard
from mirage_mlir.equivalence.symbolic.indices import (
    ZERO,
    Floor,
    Index,
    Variable,
    all_floors,
    down,
    floor_div,
    nested,
    number,
    of,
    plus,
    scaled,
    span,
    substituted,
    up,
    variable_of,
    variables,
)

Fresh = Callable[[int], Variable]
"""Makes a new variable of a size."""


class Step(NamedTuple):
    """A change of variables: what they are replaced by, the new ones, and conditions on these."""

    values: dict[Variable, Index]
    new: tuple[Variable, ...]
    conditions: tuple[Guard | bool, ...] = ()


def step(
    indices: Iterable[Index], guards: Guards, over: AbstractSet[Variable], fresh: Fresh
) -> Step | None:
    """
    The next change of variables, None where there is none left.

    Args:
        indices: all that is read.
        guards: what must hold.
        over: the variables that may be replaced.
        fresh: makes new ones.
    """
    for each in guards:
        found = _shortened(each, over, fresh) or _solved(each, over)
        if found is not None:
            return found
    indices = [*indices]
    whole = [*indices, *(each.value for each in guards)]
    everything = [inner for index in whole for inner in nested(index)]
    return (
        _coalesced(everything, over, fresh)
        or _coalesced_in_floors(whole, over, fresh)
        or _coalesced_in_guards(indices, guards, over, fresh)
        or _split(everything, over, fresh)
    )


def _shortened(each: Guard, over: AbstractSet[Variable], fresh: Fresh) -> Step | None:
    """A range without the numbers at which a guard cannot hold."""
    for variable, coefficient in each.value.linear:
        if variable not in over or variable in _in_floors(each.value):
            continue
        least, greatest = span(plus(each.value, of(variable), -coefficient))
        ends = each.low - greatest, each.high - 1 - least
        if coefficient < 0:
            ends = -ends[1], -ends[0]
        low = max(0, up(ends[0], abs(coefficient)))
        high = min(variable.size - 1, down(ends[1], abs(coefficient)))
        if low > high:
            return Step({}, (), (False,))
        if low > 0 or high < variable.size - 1:
            new = fresh(int(high - low) + 1)
            return Step({variable: plus(of(new), number(int(low)))}, (new,))
    return None


def _in_floors(index: Index) -> set[Variable]:
    return {v for floor, _ in index.floors for v in variables(floor.dividend)}


def _solved(each: Guard, over: AbstractSet[Variable]) -> Step | None:
    if each.high != each.low + 1:
        return None
    for variable, coefficient in each.value.linear:
        in_floors = variable in _in_floors(each.value)
        if variable in over and not in_floors and abs(coefficient) == 1:
            rest = plus(each.value, of(variable), -coefficient)
            value = scaled(plus(number(each.low), rest, -1), coefficient)
            return Step({variable: value}, (), (guard(value, 0, variable.size),))
    return None


def _coalesced(
    everything: Iterable[Index], over: AbstractSet[Variable], fresh: Fresh
) -> Step | None:
    places: dict[Variable, list[tuple[int, int]]] = {}
    for place, index in enumerate(dict.fromkeys(everything)):
        for variable, coefficient in index.linear:
            if variable in over:
                places.setdefault(variable, []).append((place, coefficient))
    lines: dict[tuple[tuple[int, int], ...], dict[int, Variable]] = {}
    for variable, found in sorted(places.items()):
        common = math.gcd(*(c for _, c in found)) * (1 if found[0][1] > 0 else -1)
        line = tuple((place, c // common) for place, c in found)
        lines.setdefault(line, {})[common] = variable
    for line in lines.values():
        for step_, low in line.items():
            if (high := line.get(step_ * low.size)) is not None and high != low:
                new = fresh(high.size * low.size)
                return Step({high: ZERO, low: of(new)}, (new,))
    return None


def _coalesced_in_floors(
    indices: Sequence[Index], over: AbstractSet[Variable], fresh: Fresh
) -> Step | None:
    """
    The same where floors hide it: `2 u + floor((6 u + v) / 17)` is `floor((40 u + v) / 17)`.

    It holds if `floor(w / size(v))`, which is u, is gone once w is put in.
    """
    read = [
        [v for v, _ in floor.dividend.linear if v in over]
        for index in indices
        for floor in all_floors(index)
    ]
    pairs = {pair for each in read for pair in permutations(each, 2)}
    # `8 u + v` beside `v mod 4`, which is that of it.
    floored = {v for each in read for v in each}
    return _first_joined(pairs | _places(indices, over, floored), indices, (), fresh)


def _coalesced_in_guards(
    indices: Sequence[Index], guards: Guards, over: AbstractSet[Variable], fresh: Fresh
) -> Step | None:
    """The same where guards read `u` alone."""
    alone = {v for each in guards for v, _ in each.value.linear if v in over}
    return _first_joined(_places(indices, alone, over), indices, guards, fresh)


def _places(
    indices: Iterable[Index], high: AbstractSet[Variable], low: AbstractSet[Variable]
) -> set[tuple[Variable, Variable]]:
    """The `u` of some variables and the `v` of others of which an index has `size(v) u + v`."""
    return {
        (u, v)
        for index in indices
        for u, many in index.linear
        if u in high
        for v, one in index.linear
        if v in low and u != v and many == one * v.size
    }


def _first_joined(
    pairs: Iterable[tuple[Variable, Variable]],
    indices: Sequence[Index],
    guards: Guards,
    fresh: Fresh,
) -> Step | None:
    """One variable for the first pair that may become one."""
    joined = (_joined(u, v, indices, guards, fresh) for u, v in sorted(pairs))
    return next((found for found in joined if found is not None), None)


def _joined(
    u: Variable, v: Variable, indices: Sequence[Index], guards: Guards, fresh: Fresh
) -> Step | None:
    """One variable for `size(v) u + v`; None where an index or a guard reads a part of it alone."""
    new = fresh(u.size * v.size)
    high = floor_div(of(new), v.size)
    values = {u: high, v: plus(of(new), high, -v.size)}
    moved = [substituted(index, values) for index in indices]
    moved += [each.value for each in guards_.moved(guards, values) or ()]
    if any(high == Index((), ((floor, 1),)) for i in moved for floor in all_floors(i)):
        return None
    return Step(values, (new,))


def _split(everything: Iterable[Index], over: AbstractSet[Variable], fresh: Fresh) -> Step | None:
    floors = [
        (floor.divisor, floor.dividend.constant, floor)
        for index in everything
        for floor, _ in index.floors
        if _reads_one(floor, over)
    ]
    if not floors:
        return None
    divisor, shift, floor = min(floors)
    ((variable, _),) = floor.dividend.linear
    end = shift + variable.size
    quotient, rest = fresh(-(-end // divisor)), fresh(divisor)
    value = plus(scaled(of(quotient), divisor), of(rest))
    return Step(
        {variable: plus(value, number(-shift))}, (quotient, rest), (guard(value, shift, end),)
    )


def _reads_one(floor: Floor, over: AbstractSet[Variable]) -> bool:
    """Whether a floor is that of one variable plus a constant."""
    plain = variable_of(floor.dividend._replace(constant=0))
    return plain is not None and plain in over
