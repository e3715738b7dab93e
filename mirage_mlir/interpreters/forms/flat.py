"""
Dimensions made of several, read as one number: reshaped tensors that are cut anew.

`reshape(x)[k]` is `x[k div 8, k mod 8]`, which is no place unless k has digits that fit. Where it
has none (ragged tiles of a flattened dimension) the tensor is an atom of the number k, and of what
else it reads; a sum over all k, or digits that do fit, open it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from mirage_mlir.interpreters.forms.terms import Atom, Factor, Form, Place, Variable, bound_of

KIND = "flat"
"""
Of atoms that read one number in place of several digits.

Their form has a parameter for each digit, then those of the further places.
"""


def flat(sizes: Sequence[int], form: Form) -> Atom:
    """The atom of a form whose first parameters are digits of the given sizes."""
    return Atom(KIND, " ".join(map(str, sizes)), (form,))


def sizes_of(atom: Atom) -> list[int]:
    """The sizes of the digits."""
    return [int(size) for size in atom.name.split()]


def opened(places: Sequence[Place], sizes: Sequence[int]) -> tuple[Place, ...] | None:
    """The places of the digits and the further ones; None where the number has no such digits."""
    number, *others = places
    if number.limit or number.offset or number.stride != 1:
        return None
    left, found = list(number.digits), list[Place]()
    for size in sizes:
        taken: list[Variable] = []
        while left and prod(digit.size for digit in taken) < size:
            taken.append(left.pop(0))
        if prod(digit.size for digit in taken) != size:
            return None
        found.append(Place(tuple(taken)))
    return (*found, *others)


def numbers(f: Factor, atoms: Sequence[Atom]) -> Iterator[tuple[tuple[Place, ...], list[int]]]:
    """The places that a factor, or a function in it, reads such atoms at, and the digits' sizes."""
    atom = atoms[f.atom]
    known: list[Place | None] = [*f.places]
    if atom.kind == KIND:
        yield f.places, sizes_of(atom)
        known[:1] = [None] * len(sizes_of(atom))
    for form in atom.forms:
        for monomial, _ in form:
            for inner in monomial:
                places = [_read(p, known) for p in inner.places]
                if atoms[inner.atom].forms and None not in places:
                    found = tuple(p for p in places if p is not None)
                    yield from numbers(inner._replace(places=found), atoms)


def _read(p: Place, known: Sequence[Place | None]) -> Place | None:
    """A parameter's place; None where that is not what is read."""
    if len(p.digits) != 1 or p[1:] != (0, 0, 1) or not 0 <= p.digits[0].number < len(known):
        return p if not p.digits else None
    return known[p.digits[0].number]


def with_digits(
    reading: Sequence[Factor], factors: Sequence[Factor], atoms: Sequence[Atom]
) -> list[Factor] | None:
    """Factors with a bound number that one of some reads whole in digits; None if none does."""
    for (number, *_), sizes in (each for f in reading for each in numbers(f, atoms)):
        if len(number.digits) != 1 or number[1:] != (0, 0, 1):
            continue
        (digit,) = number.digits
        if not digit.bound or digit.size != prod(sizes) or len(sizes) < 2:
            continue
        first = 1 - min(v.number for v in bound_of(factors))
        parts = tuple(Variable(-first - n, size) for n, size in enumerate(sizes))

        def split(p: Place, digit: Variable = digit, parts: Sequence[Variable] = parts) -> Place:
            digits = [new for old in p.digits for new in (parts if old == digit else (old,))]
            return p._replace(digits=tuple(digits))

        return [other._replace(places=tuple(map(split, other.places))) for other in factors]
    return None


def opens(f: Factor, atoms: Sequence[Atom]) -> bool:
    """Whether a function in a factor reads a number that has the digits of an atom."""
    return atoms[f.atom].kind != KIND and any(
        opened(places, sizes) is not None for places, sizes in numbers(f, atoms)
    )
