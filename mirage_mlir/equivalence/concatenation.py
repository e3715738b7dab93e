"""Concatenation of residues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from mirage_mlir.equivalence.divisor_words import divisors_of
from mirage_mlir.equivalence.residues import Leaves, Residues, joined_lanes, kept_of
from mirage_mlir.interpreters.domain import joined


def concatenated(
    parts: Sequence[Residues], axis: int, leaves_of: Callable[[Residues], Leaves]
) -> Residues:
    """The arrays one after the other along an axis; `leaves_of` gives the words of maxima."""
    shapes = [part.shape for part in parts]
    height = parts[0].height
    for part in parts[1:]:
        height = height.larger(part.height)
    leaves = None
    if {part.leaves.opposite for part in parts if part.leaves is not None} == {False}:
        each = [leaves_of(part) for part in parts]
        words = joined([leaf.words for leaf in each], axis)
        leaves = Leaves(words, count=max(leaf.count for leaf in each))
    divisors = None
    if any(part.divisors is not None for part in parts):
        divisors = joined([divisors_of(part) for part in parts], axis)
    numbers = [part.exact for part in parts if part.exact is not None]
    exact = joined(numbers, axis) if len(numbers) == len(parts) else None
    kept = None
    if any(part.kept is not None for part in parts):
        kept = concatenated([kept_of(part) for part in parts], axis, leaves_of)
    p = joined_lanes([part.p for part in parts], shapes, axis)
    assert p is not None
    no_exponents = any(part.q is None for part in parts)
    return Residues(
        p,
        None if no_exponents else joined_lanes([part.q for part in parts], shapes, axis),
        height,
        None if no_exponents else joined_lanes([part.shift for part in parts], shapes, axis),
        frozenset[Fraction]().union(*(part.factors for part in parts)),
        max(part.terms for part in parts),
        divisors,
        leaves,
        any(part.lowest for part in parts),
        exact=exact,
        kept=kept,
    )
