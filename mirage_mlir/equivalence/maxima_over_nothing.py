"""Residues of maxima over no elements, which are below every number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mirage_mlir.equivalence.conditions import picked
from mirage_mlir.equivalence.divisor_words import divisors_of
from mirage_mlir.equivalence.residues import LOWEST, Residues, kept_of
from mirage_mlir.field.lanes import Lane
from mirage_mlir.interpreters.domain import AnyArray, NotInterpretable


def numbers_of(x: Residues) -> Residues:
    """`x` with zeros in the place of maxima over no elements."""
    if not x.lowest:
        return x
    nothing = np.isinf(x.p[0])
    p = tuple(np.where(nothing, 0.0, lane) for lane in x.p)
    q = x.q and tuple(np.where(nothing, 0.0, lane) for lane in x.q)
    return replace(x, p=p, q=q, lowest=False)


def with_lowest(x: Residues, nothing: AnyArray) -> Residues:
    """`x` with maxima over no elements in some places."""
    p = tuple(np.where(nothing, LOWEST, lane) for lane in x.p)
    q = x.q and tuple(np.where(nothing, LOWEST, lane) for lane in x.q)
    return replace(x, p=p, q=q, lowest=True)


def chosen(where: AnyArray, x: Residues, y: Residues) -> Residues:
    """x where a mask holds, else the maximum y."""
    if not where.any():
        return y

    def either(a: tuple[Lane, ...] | None, b: tuple[Lane, ...] | None) -> tuple[Lane, ...] | None:
        if b is None:
            return None
        a = a or (np.zeros(()),) * len(b)
        return tuple(np.where(where, *each) for each in zip(a, b, strict=True))

    p, q = either(x.p, y.p), either(x.q, y.q)
    assert p is not None
    assert y.leaves is not None
    return replace(
        y,
        p=p,
        q=q if x.q is not None else None,
        shift=either(x.shift, y.shift),
        factors=x.factors | y.factors,
        height=x.height.larger(y.height),
        divisors=None if x.divisors is None else np.where(where, x.divisors, divisors_of(y)),
        kept=None if x.kept is None else picked(where, x.kept, kept_of(y)),
    )


def larger_of_numbers(x: Residues, y: Residues, found: Residues) -> Residues:
    """
    The maximum of two values; `found` is that of numbers, and a number is above a maximum over no
    elements.
    """
    empty = np.isinf(x.p[0]), np.isinf(y.p[0])
    found = chosen(empty[0] & ~empty[1], y, found)
    found = chosen(empty[1] & ~empty[0], x, found)
    return with_lowest(found, empty[0] & empty[1])


def largest_of_numbers(x: Residues, axis: int, found: Residues) -> Residues:
    """The maximum along an axis; `found` is that of numbers, and others are ignored."""
    numbers = ~np.isinf(x.p[0])
    present = numbers.sum(axis=axis, keepdims=True)
    only = np.argmax(numbers, axis=axis, keepdims=True)
    single = x.rearranged(lambda array: np.take_along_axis(array, only, axis))
    return with_lowest(chosen(present == 1, single, found), present == 0)


def checked(x: Residues) -> Residues:
    """
    `x`, if it has numbers only.

    Raises:
        NotInterpretable: it has not.
    """
    if x.lowest and np.isinf(x.p[0]).any():
        raise NotInterpretable("computes with a maximum over no element")
    if x.kept is not None:
        raise NotInterpretable("computes with -inf that data selects")
    return x
