"""
Comparisons and selections of residues.

Integers that do not depend on inputs, such as indices, are kept beside their residues, so that
comparisons of them are exact. A comparison of data is a random residue c, a function of x and y,
and a selection by it is `y + c (x - y)`: two polynomials in c that are equal are equal for c = 0
and c = 1. Selections of -inf by data are in `masked_domain`; comparisons with it are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.divisor_words import divisors_of
from mirage_mlir.equivalence.residues import Residues, Words, kept_of
from mirage_mlir.field.keyed import mix
from mirage_mlir.field.lanes import Lane, canonical
from mirage_mlir.interpreters.float_domain import COMPARISONS

Exact = NDArray[np.float64]

LARGEST = 2.0**53
"""Below it whole numbers are exact in f64, and so are their sums and products."""

Operation = Callable[[Exact, Exact], Exact]


def known(x: Residues, y: Residues, operation: Operation) -> Exact | None:
    """
    The sum or product of known integers; None if one is not known, or the result is too large.
    """
    if x.exact is None or y.exact is None:
        return None
    found = operation(x.exact, y.exact)
    return found if np.abs(found).max(initial=0) < LARGEST else None


def compared(predicate: str, x: Residues, y: Residues) -> NDArray[np.bool_] | None:
    """Where a comparison of known integers holds; None if they are not known."""
    if x.exact is None or y.exact is None:
        return None
    return COMPARISONS[predicate](x.exact, y.exact)


def simplified(predicate: str, x: Residues, y: Residues) -> tuple[bool, str, Residues, Residues]:
    """Reduces a comparison to `lt` or `eq`; with it whether the result is negated."""
    match predicate:
        case "le" | "gt":
            return predicate == "le", "lt", y, x
        case "ge":
            return True, "lt", x, y
        case "ne":
            return True, "eq", x, y
        case _:
            return False, predicate, x, y


def together(predicate: str, x: Words, y: Words) -> Words:
    """A word for each pair of values, the same in either order."""
    return x + (y if predicate == "eq" else mix(y))


def agree(x: Residues, y: Residues, moduli: Sequence[int]) -> NDArray[np.bool_]:
    """Where two values have the same residues."""
    lanes = zip(x.p, y.p, moduli, strict=True)
    return np.logical_and.reduce([canonical(a, m) == canonical(b, m) for a, b, m in lanes])


def picked(where: NDArray[np.bool_], x: Residues, y: Residues) -> Residues:
    """x where a mask holds, else y."""
    shape = np.broadcast_shapes(where.shape, x.shape, y.shape)

    def either(a: tuple[Lane, ...] | None, b: tuple[Lane, ...] | None) -> tuple[Lane, ...] | None:
        lanes = a or b
        if lanes is None:
            return None
        zeros = (np.zeros((1,) * len(shape)),) * len(lanes)
        pairs = zip(a or zeros, b or zeros, strict=True)
        return tuple(np.broadcast_to(np.where(where, *pair), shape) for pair in pairs)

    p = either(x.p, y.p)
    assert p is not None
    has_exponents = x.q is not None and y.q is not None
    words = None
    if x.divisors is not None or y.divisors is not None:
        words = np.broadcast_to(np.where(where, divisors_of(x), divisors_of(y)), shape)
    kept = None
    if x.kept is not None or y.kept is not None:
        kept = picked(where, kept_of(x), kept_of(y))
    exact = None
    if x.exact is not None and y.exact is not None:
        exact = np.broadcast_to(np.where(where, x.exact, y.exact), shape)
    return replace(
        x,
        p=p,
        q=either(x.q, y.q) if has_exponents else None,
        height=x.height.larger(y.height),
        shift=either(x.shift, y.shift) if has_exponents else None,
        factors=x.factors | y.factors,
        terms=max(x.terms, y.terms),
        divisors=words,
        leaves=None,
        lowest=x.lowest or y.lowest,
        mask=x.mask and y.mask,
        exact=exact,
        kept=kept,
    )
