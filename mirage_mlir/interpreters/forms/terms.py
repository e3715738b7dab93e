"""
Forms: sums of products of atoms at places, with sums over indices.

An atom (an argument, `exp` of a form, ...) is read at places, one for each of its dimensions. A
place is a number whose digits are variables: element e of iteration i of block b lies at the place
with digits (b, i, e), as in `(b * F + i) * t + e`. A variable is free (a dimension of a tensor,
a block, an iteration) or bound by a sum, and a sum over all digits of a place is a sum over the
dimension, however it was cut. That is all that is known of tiles: that the digits of a number in
mixed radix are a bijection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product
from math import prod
from typing import NamedTuple

MOST_NAMINGS = 720
"""
Namings of variables tried for the canonical one, 6!. Beyond it equal forms may be told apart, which
loses a proof and makes none wrong.
"""

FIRST_FREE = 1000
"""Numbers of free variables; parameters of atoms are below, bound variables are negative."""

FIRST_MAXIMISED = 500
"""Numbers, within an atom, of the variables that a maximum runs over."""


FIRST_FIXED = 1 << 40
"""Numbers from here on are digits that are fixed: this plus their value."""


class Undecided(Exception):
    """The form of a value cannot be found; the message says why."""


class Variable(NamedTuple):
    """A digit: a number below `size`."""

    number: int
    size: int

    @property
    def bound(self) -> bool:
        """Whether a sum binds it."""
        return self.number < 0

    @property
    def fixed(self) -> bool:
        """Whether it is one number, of a digit that was a variable once."""
        return self.number >= FIRST_FIXED


class Place(NamedTuple):
    """
    The index `offset + stride * n` of a dimension, n having the digits given, the first highest.

    Digits make a number up to the product of their sizes; only those below `limit` are meant (0:
    all). That is how the last tile is ragged.
    """

    digits: tuple[Variable, ...]
    limit: int = 0
    offset: int = 0
    stride: int = 1


class Factor(NamedTuple):
    """An atom at places, to a power (a fraction for exp only)."""

    atom: int
    places: tuple[Place, ...]
    exponent: int | Fraction


Monomial = tuple[Factor, ...]
"""A product of factors, sorted, summed over the bound variables that it reads."""

Form = tuple[tuple[Monomial, Fraction], ...]
"""A sum of monomials with coefficients, sorted."""

ZERO: Form = ()


@dataclass(frozen=True)
class Atom:
    """
    What factors are made of; its forms read the parameters 0, 1, ..., one for each place.

    Kinds are `input`, `function`, `sum` (a form as one factor), `maximum`, `valid` (1 where it is),
    and those of `ranges` and of `flat`, whose first place stands for several parameters.
    """

    kind: str
    name: str = ""
    forms: tuple[Form, ...] = ()


def place(digits: Sequence[Variable], limit: int = 0, offset: int = 0, stride: int = 1) -> Place:
    """A place without digits that say nothing and without a limit that excludes nothing."""
    kept = tuple(digit for digit in digits if digit.size > 1)
    if limit >= prod(digit.size for digit in kept):
        limit = 0
    return Place(kept, limit, offset, stride if kept else 1)


def _tidy(digits: Sequence[Variable], limit: int, offset: int, stride: int) -> Place:
    """A place whose first and last digits are not fixed; the offset and the stride say that."""
    kept = list(digits)
    while kept and kept[0].fixed:
        if limit:
            raise Undecided("a part of a ragged dimension is taken")
        low = prod(digit.size for digit in kept[1:])
        offset += stride * low * (kept.pop(0).number - FIRST_FIXED)
    while kept and kept[-1].fixed:
        if limit:
            raise Undecided("a part of a ragged dimension is taken")
        last = kept.pop()
        offset += stride * (last.number - FIRST_FIXED)
        stride *= last.size
    return place(kept, limit, offset, stride)


def variables_of(factors: Iterable[Factor]) -> Iterator[Variable]:
    """All variables that factors read, one for each time."""
    return (digit for f in factors for p in f.places for digit in p.digits if not digit.fixed)


def bound_of(factors: Iterable[Factor]) -> list[Variable]:
    """The bound variables that factors read, sorted."""
    return sorted({variable for variable in variables_of(factors) if variable.bound})


def renamed(factors: Iterable[Factor], names: Mapping[Variable, Variable]) -> list[Factor]:
    """Factors with some variables replaced by others of the same size."""
    return [
        Factor(
            f.atom,
            tuple(
                p._replace(digits=tuple(names.get(digit, digit) for digit in p.digits))
                for p in f.places
            ),
            f.exponent,
        )
        for f in factors
    ]


def inserted(old: Place, values: Mapping[Variable, Place]) -> Place:
    """
    A place with digits replaced by numbers that have digits of their own.

    Raises:
        Undecided: the result is no such place.
    """
    if not any(digit in values for digit in old.digits):
        return old
    if len(old.digits) == 1:
        new = values[old.digits[0]]
        offset = old.offset + old.stride * new.offset
        limit = min(old.limit or new.limit, new.limit or old.limit)
        if old.limit and (new.offset or new.stride != 1):
            raise Undecided("a part of a ragged dimension is taken")
        return place(new.digits, limit, offset, old.stride * new.stride)
    digits: list[Variable] = []
    limit = old.limit
    for number, digit in enumerate(old.digits):
        new = values.get(digit, Place((digit,)))
        if new.stride != 1 or (new.limit and (number or limit or new.offset)):
            raise Undecided("a part of a dimension is cut in another way than the whole")
        if new.limit:
            limit = new.limit * prod(other.size for other in old.digits[1:])
        part = prod(other.size for other in new.digits)
        if (part != digit.size or new.offset) and not new.limit:
            # The part is one of several equal ones: a fixed digit says which.
            if new.offset % part or digit.size % part or new.offset < 0:
                raise Undecided("a part of a dimension is cut in another way than the whole")
            digits.append(Variable(FIRST_FIXED + new.offset // part, digit.size // part))
        digits += new.digits
    return _tidy(digits, limit, old.offset, old.stride)


# Digits that always stand together


class Coalesced(NamedTuple):
    """Monomials in which digits that always stand together became one, and what became of them."""

    monomials: list[list[Factor]]
    origins: dict[Variable, Place]


def coalesced(
    monomials: Sequence[Sequence[Factor]], mergeable: Callable[[Variable], bool]
) -> Coalesced:
    """Merge neighbouring digits as long as some always stand together."""
    result = Coalesced([list(m) for m in monomials], {})
    while (pair := _pair(result.monomials, mergeable)) is not None:
        first, second = pair
        merged = Variable(first.number, first.size * second.size)
        result = _merged(result, pair, merged)
    return result


def _pair(
    monomials: Sequence[Sequence[Factor]], mergeable: Callable[[Variable], bool]
) -> tuple[Variable, Variable] | None:
    following: dict[Variable, set[Variable | None]] = {}
    preceding: dict[Variable, set[Variable | None]] = {}
    for monomial in monomials:
        for factor in monomial:
            for p in factor.places:
                around = (None, *p.digits, None)
                for before, digit, after in zip(around, p.digits, around[2:], strict=False):
                    following.setdefault(digit, set()).add(after)
                    preceding.setdefault(digit, set()).add(before)
    for first, after in following.items():
        if len(after) != 1 or not mergeable(first):
            continue
        (second,) = after
        if second is None or first.fixed or second.fixed:
            continue
        if mergeable(second) and preceding[second] == {first}:
            return first, second
    return None


def _merged(old: Coalesced, pair: tuple[Variable, Variable], merged: Variable) -> Coalesced:
    limits = [
        p.limit
        for monomial in old.monomials
        for f in monomial
        for p in f.places
        if p.digits == pair and p.limit
    ]
    # A number that is a whole index counts up to where the index ends.
    final = merged._replace(size=min([merged.size, *limits]))

    def joined(p: Place) -> Place:
        if pair[0] not in p.digits:
            return p
        at = p.digits.index(pair[0])
        digits = (*p.digits[:at], final, *p.digits[at + 2 :])
        if len(digits) == 1:
            return place(digits, 0, p.offset, p.stride)
        return p._replace(digits=digits)

    monomials = [
        [f._replace(places=tuple(map(joined, f.places))) for f in monomial]
        for monomial in old.monomials
    ]
    origins = dict(old.origins)
    parts = [origins.pop(digit, Place((digit,))) for digit in pair]
    origins[final] = Place((*parts[0].digits, *parts[1].digits), min(limits, default=0))
    return Coalesced(monomials, origins)


# Canonical names


def orders(
    monomials: Sequence[tuple[Sequence[Factor], Fraction]], variables: Sequence[Variable]
) -> Iterator[tuple[Variable, ...]]:
    """Orders of variables, at most `MOST_NAMINGS`, one of which is canonical."""
    if len(variables) < 2:
        yield tuple(variables)
        return
    signatures = {v: _signature(monomials, v, variables, {}) for v in variables}
    signatures = {v: _signature(monomials, v, variables, signatures) for v in variables}
    groups: dict[object, list[Variable]] = {}
    for variable in sorted(variables, key=lambda v: signatures[v]):
        groups.setdefault(signatures[variable], []).append(variable)
    choices = product(*(list(islice(permutations(g), MOST_NAMINGS)) for g in groups.values()))
    for choice in islice(choices, MOST_NAMINGS):
        yield tuple(variable for group in choice for variable in group)


def _signature(
    monomials: Sequence[tuple[Sequence[Factor], Fraction]],
    variable: Variable,
    unnamed: Sequence[Variable],
    known: Mapping[Variable, str],
) -> str:
    """What can be said of a variable without naming it or others that have no name yet."""

    def told(digit: Variable) -> str:
        if digit == variable:
            return "this"
        if digit in unnamed or digit.bound:
            return f"{digit.size}{known.get(digit, '')}"
        return f"{digit.size} at {digit.number}"

    uses = sorted(
        f"{coefficient} {f.atom} {f.exponent} {number} {list(map(told, p.digits))} {p[1:]}"
        f" {[list(map(told, other.digits)) for other in f.places]}"
        for factors, coefficient in monomials
        for f in factors
        for number, p in enumerate(f.places)
        if variable in p.digits
    )
    return f"{variable.size} {uses}"


def components(factors: Sequence[Factor]) -> tuple[list[Factor], list[list[Factor]]]:
    """Factors without bound variables, and the others as groups that share none."""
    outside = [f for f in factors if not bound_of([f])]
    groups: list[tuple[set[Variable], list[Factor]]] = []
    for f in factors:
        bound = set(bound_of([f]))
        if not bound:
            continue
        joined = [f]
        rest: list[tuple[set[Variable], list[Factor]]] = []
        for variables, members in groups:
            if variables & bound:
                bound |= variables
                joined = [*members, *joined]
            else:
                rest.append((variables, members))
        groups = [*rest, (bound, joined)]
    return outside, [members for _, members in groups]


def named(factors: Sequence[Factor]) -> Monomial:
    """
    The monomial with bound variables named -1, -2, ... in the canonical order.

    Factors that share no bound variable are named apart and put in the order of what comes of it.
    """
    if not bound_of(factors):
        return tuple(sorted(factors))
    outside, groups = components(factors)
    found, taken = outside, 0
    for group in sorted(map(_named, groups)):
        bound = bound_of(group)
        found += renamed(group, {v: v._replace(number=v.number - taken) for v in bound})
        taken += len(bound)
    return tuple(sorted(found))


def _named(factors: Sequence[Factor]) -> Monomial:
    """Factors that belong together, their bound variables named."""
    candidates: list[Monomial] = []
    for order in orders([(factors, Fraction(1))], bound_of(factors)):
        names = {v: Variable(-number, v.size) for number, v in enumerate(order, 1)}
        candidates.append(tuple(sorted(renamed(factors, names))))
    return min(candidates)
