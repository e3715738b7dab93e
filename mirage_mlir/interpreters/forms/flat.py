"""
Dimensions made of several, read as one number: reshaped tensors that are cut anew.

`reshape(x)[k]` is `x[k div 8, k mod 8]`, which is no place unless k has digits that fit. Where it
has none (ragged tiles of a flattened dimension) the tensor is an atom of the number k, and of what
else it reads; a sum over all k, or digits that do fit, open it.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def with_digits(factors: Sequence[Factor], atoms: Sequence[Atom]) -> list[Factor] | None:
    """Factors with a bound number that an atom reads whole in digits; None if there is none."""
    for f in factors:
        if atoms[f.atom].kind != KIND:
            continue
        sizes, number = sizes_of(atoms[f.atom]), f.places[0]
        (digit, *others) = number.digits or (Variable(0, 0),)
        if others or number[1:] != (0, 0, 1) or not digit.bound or digit.size != prod(sizes):
            continue
        first = 1 - min(v.number for v in bound_of(factors))
        parts = tuple(Variable(-first - n, size) for n, size in enumerate(sizes))

        def split(p: Place, digit: Variable = digit, parts: Sequence[Variable] = parts) -> Place:
            digits = [new for old in p.digits for new in (parts if old == digit else (old,))]
            return p._replace(digits=tuple(digits))

        return [other._replace(places=tuple(map(split, other.places))) for other in factors]
    return None
