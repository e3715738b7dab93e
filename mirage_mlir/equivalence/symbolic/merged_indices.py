"""
Polynomials in indices that read some of them as one: `(8 b + r)^2` is a square of `8 b + r`.

A form is multiplied out, so that it does not show that. But p depends on `8 b + r` alone, of b and
r, where its derivative by b is 8 times that by r; and is p without b then, with `8 b + r` for r.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mirage_mlir.equivalence.symbolic.atoms import Atoms
from mirage_mlir.equivalence.symbolic.indices import Index, Variable, of, plus
from mirage_mlir.equivalence.symbolic.terms import Factor, Form, Monomial, bound_of, form_of

MERGED = 1 << 42
"""Numbers, from here on, of variables that stand for several indices."""

Merged = tuple[Form, dict[Variable, Index]]
"""A form, and what its variables from `MERGED` on are."""


def merged(atoms: Atoms, a: Form) -> Merged:
    """A form with one index for all those that it reads as one, with positive factors."""
    several = _indices(atoms, a)
    # A sum's own indices may be read by its guards.
    if len(several) < 2 or any(monomial.guards or bound_of(monomial) for monomial, _ in a):
        return a, {}
    values: dict[Variable, Index] = {}
    for first in several:
        ratios = _ratios(atoms, a, first)
        if ratios:
            variable = Variable(MERGED + len(values), 0)
            total = first.indices[0]
            for other, ratio in ratios.items():
                total = plus(total, other.indices[0], ratio)
            values[variable] = total
            a = _without(atoms, a, first, list(ratios), variable)
    return a, values


def _indices(atoms: Atoms, a: Form) -> list[Factor]:
    """The indices that a form multiplies and adds up, to the first power, in order."""
    found = {_base(f) for m, _ in a for f in m.factors if _is_index(atoms, f)}
    return sorted(found)


def _base(f: Factor) -> Factor:
    return f._replace(exponent=1)


def _is_index(atoms: Atoms, f: Factor) -> bool:
    return atoms[f.atom].kind == "index" and all(v.number < MERGED for v, _ in f.indices[0].linear)


def _ratios(atoms: Atoms, a: Form, first: Factor) -> dict[Factor, int]:
    """By which whole numbers, from 1 on, derivatives by other indices are those by the first."""
    own = _derivative(a, first)
    found: dict[Factor, int] = {}
    for other in _indices(atoms, a):
        if other == first:
            continue
        theirs = _derivative(a, other)
        if not own or own.keys() != theirs.keys():
            continue
        ratios = {theirs[key] / own[key] for key in own}
        ratio = min(ratios)
        # Of two that are the same the first is kept.
        if len(ratios) == 1 and ratio.denominator == 1 and ratio >= 1:
            found[other] = int(ratio)
    return found


def _derivative(a: Form, by: Factor) -> dict[Monomial, Fraction]:
    found: dict[Monomial, Fraction] = {}
    for monomial, coefficient in a:
        for f in monomial.factors:
            if _base(f) == by:
                rest = [each for each in monomial.factors if each != f]
                if f.exponent != 1:
                    rest.append(f._replace(exponent=f.exponent - 1))
                key = monomial._replace(factors=tuple(sorted(rest)))
                found[key] = found.get(key, Fraction(0)) + coefficient * f.exponent
    return {key: value for key, value in found.items() if value}


def _without(
    atoms: Atoms, a: Form, first: Factor, others: Sequence[Factor], variable: Variable
) -> Form:
    """A form with a variable for one index, and 0 for others."""
    total: dict[Monomial, Fraction] = {}
    for monomial, coefficient in a:
        if any(_base(f) in others for f in monomial.factors):
            continue
        factors = [
            atoms.factor(f.atom, [of(variable)], f.exponent) if _base(f) == first else f
            for f in monomial.factors
        ]
        key = monomial._replace(factors=tuple(sorted(factors)))
        total[key] = total.get(key, Fraction(0)) + coefficient
    return form_of(total)
