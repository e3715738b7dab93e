"""
Quasi-affine indices: integers plus multiples of variables and of floors of indices.

Views, tiles, blocks and iterations all become substitutions of such indices: element e of
iteration i of block b reads `(b * F + i) * t + e`, a repeated dimension `p - n * floor(p / n)`, a
reshaped one `floor(p / n)`. Equal indices are equal numbers for all values of their variables; the
converse holds only as far as the simplifications of `floor_div` go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd, inf
from typing import NamedTuple

Span = tuple[float, float]
"""The least and the greatest value, whole numbers of any size; infinite where nothing is known."""


class Variable(NamedTuple):
    """A number from 0 to below `size`; any integer where the size is 0."""

    number: int
    size: int

    @property
    def span(self) -> Span:
        """The least and the greatest value."""
        return (0, self.size - 1) if self.size else (-inf, inf)


class Floor(NamedTuple):
    """The greatest integer not above `dividend / divisor`."""

    dividend: Index
    divisor: int


class Index(NamedTuple):
    """The sum of multiples of variables and floors, sorted, and of a constant."""

    linear: tuple[tuple[Variable, int], ...] = ()
    floors: tuple[tuple[Floor, int], ...] = ()
    constant: int = 0


ZERO = Index()


def of(variable: Variable) -> Index:
    """A variable as an index; of size 1 it is 0."""
    return ZERO if variable.size == 1 else Index(((variable, 1),))


def number(value: int) -> Index:
    """A number as an index."""
    return Index(constant=value)


def plus(a: Index, b: Index, times: int = 1) -> Index:
    """`a + times * b`."""
    if not b.linear and not b.floors:
        return Index(a.linear, a.floors, a.constant + times * b.constant)
    linear, floors = dict(a.linear), dict(a.floors)
    for variable, coefficient in b.linear:
        linear[variable] = linear.get(variable, 0) + times * coefficient
    for floor, coefficient in b.floors:
        floors[floor] = floors.get(floor, 0) + times * coefficient
    return Index(
        tuple(sorted((v, c) for v, c in linear.items() if c)),
        tuple(sorted((f, c) for f, c in floors.items() if c)),
        a.constant + times * b.constant,
    )


def scaled(a: Index, factor: int) -> Index:
    """An index times a number."""
    return plus(ZERO, a, factor)


def divided(a: Index, divisor: int) -> Index:
    """An index whose coefficients and constant are all multiples of the divisor, divided by it."""
    return Index(
        tuple((v, c // divisor) for v, c in a.linear),
        tuple((f, c // divisor) for f, c in a.floors),
        a.constant // divisor,
    )


def coefficients(a: Index) -> list[int]:
    """Of all variables and floors."""
    return [c for _, c in a.linear] + [c for _, c in a.floors]


def variables(a: Index) -> Iterator[Variable]:
    """All variables that an index reads, those in floors too, each perhaps several times."""
    for variable, _ in a.linear:
        yield variable
    for floor, _ in a.floors:
        yield from variables(floor.dividend)


def nested(a: Index) -> Iterator[Index]:
    """An index and those in its floors."""
    yield a
    for floor, _ in a.floors:
        yield from nested(floor.dividend)


def all_floors(a: Index) -> Iterator[Floor]:
    """The floors of an index, and those in them."""
    for floor, _ in a.floors:
        yield floor
        yield from all_floors(floor.dividend)


def is_number(a: Index) -> bool:
    """Whether an index reads no variable."""
    return not a.linear and not a.floors


def variable_of(a: Index) -> Variable | None:
    """The variable that an index is, if it is nothing else."""
    if len(a.linear) == 1 and not a.floors and not a.constant and a.linear[0][1] == 1:
        return a.linear[0][0]
    return None


# Ranges


def span(a: Index) -> Span:
    """Bounds of an index for all values of its variables."""
    low: float = a.constant
    high: float = a.constant
    for (least, greatest), coefficient in [
        *((variable.span, c) for variable, c in a.linear),
        *((_floor_span(floor), c) for floor, c in a.floors),
    ]:
        low += coefficient * (least if coefficient > 0 else greatest)
        high += coefficient * (greatest if coefficient > 0 else least)
    for floor, coefficient in a.floors:
        # k * (e - m * floor(e / m)) is k times a remainder.
        times, rest = divmod(-coefficient, floor.divisor)
        if rest or not times or not _holds(a, floor.dividend, times):
            continue
        other = plus(plus(a, floor.dividend, -times), Index((), ((floor, 1),)), -coefficient)
        least, greatest = span(other)
        remainder = times * (floor.divisor - 1)
        low = max(low, least + min(0, remainder))
        high = min(high, greatest + max(0, remainder))
    return low, high


def _holds(a: Index, part: Index, times: int) -> bool:
    """Whether all variables of `times * part` are in an index with these coefficients."""
    linear = dict(a.linear)
    return bool(part.linear) and all(linear.get(v) == times * c for v, c in part.linear)


def _floor_span(floor: Floor) -> Span:
    low, high = span(floor.dividend)
    return down(low, floor.divisor), down(high, floor.divisor)


def down(value: float, divisor: int) -> float:
    """The greatest integer not above a quotient."""
    return value if value in (-inf, inf) else int(value) // divisor


def up(value: float, divisor: int) -> float:
    """The least integer not below a quotient."""
    return value if value in (-inf, inf) else -(-int(value) // divisor)


# Quotients and remainders


def floor_div(a: Index, divisor: int) -> Index:
    """
    The greatest integer not above `a / divisor`, simplified.

    Multiples of the divisor leave the floor; what a quotient cannot see is dropped, as in
    `floor((16 b + e) / 32) = floor(b / 2)` for e below 16; floors of floors are one.
    """
    common = gcd(divisor, *coefficients(a))
    a = divided(a._replace(constant=a.constant // common * common), common)
    divisor //= common
    if divisor == 1:
        return a
    whole = Index(
        tuple((v, c // divisor) for v, c in a.linear if c // divisor),
        tuple((f, c // divisor) for f, c in a.floors if c // divisor),
        a.constant // divisor,
    )
    rest = Index(
        tuple((v, c % divisor) for v, c in a.linear if c % divisor),
        tuple((f, c % divisor) for f, c in a.floors if c % divisor),
        a.constant % divisor,
    )
    return plus(whole, _floor_of_rest(rest, divisor))


def _floor_of_rest(a: Index, divisor: int) -> Index:
    """`floor_div` of an index whose coefficients are below the divisor."""
    low, high = (down(end, divisor) for end in span(a))
    if low == high:
        return number(int(low))
    for part in sorted({gcd(divisor, c) for c in coefficients(a)} - {1}):
        high_part, low_part = parted(a, part)
        least, greatest = span(low_part)
        if least >= 0 and greatest < part:
            return floor_div(divided(high_part, part), divisor // part)
    for floor, coefficient in a.floors:
        if coefficient == 1:
            others = plus(a, Index((), ((floor, 1),)), -1)
            return floor_div(plus(floor.dividend, others, floor.divisor), floor.divisor * divisor)
    return Index((), ((Floor(a, divisor), 1),))


def parted(a: Index, part: int) -> tuple[Index, Index]:
    """An index as a sum of two: what is a multiple of a number term by term, and the rest."""
    constant = a.constant // part * part
    multiple = Index(
        tuple((v, c) for v, c in a.linear if c % part == 0),
        tuple((f, c) for f, c in a.floors if c % part == 0),
        constant,
    )
    return multiple, plus(a, multiple, -1)


def remainder(a: Index, divisor: int) -> Index:
    """What is left of an index divided by a number, from 0 to below it."""
    return plus(a, floor_div(a, divisor), -divisor)


def substituted(a: Index, values: Mapping[Variable, Index]) -> Index:
    """An index with variables replaced."""
    if values.keys().isdisjoint(variables(a)):
        return a
    result = Index((), (), a.constant)
    for variable, coefficient in a.linear:
        result = plus(result, values.get(variable) or of(variable), coefficient)
    for floor, coefficient in a.floors:
        inner = substituted(floor.dividend, values)
        result = plus(result, floor_div(inner, floor.divisor), coefficient)
    return result


def all_variables(indices: Iterable[Index]) -> set[Variable]:
    """The variables that any of some indices reads."""
    return {variable for index in indices for variable in variables(index)}


def renamed(a: Index, names: Mapping[Variable, Variable]) -> Index:
    """An index with variables called otherwise, as it is."""
    linear = sorted((names.get(v, v), c) for v, c in a.linear)
    floors = sorted((f._replace(dividend=renamed(f.dividend, names)), c) for f, c in a.floors)
    return Index(tuple(linear), tuple(floors), a.constant)
