"""
Random inputs whose elements are functions of seed, argument and indices.

They are made again wherever they are read, so that no argument has to be kept: the word of element
(i, j, ...) is a mix of one random word for i, one for j, and so on. Every element is a variable of
its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.residue_domain import halves, residues_of
from mirage_mlir.equivalence.residues import Residues, Words
from mirage_mlir.field.height import UNKNOWN
from mirage_mlir.field.keyed import mix
from mirage_mlir.interpreters.domain import AnyArray, NotInterpretable

MOST_ELEMENTS = 1 << 23
"""Elements made at a time: 64 MB in each lane."""


class DrawnWords:
    """A random word for each element of a tensor."""

    def __init__(self, shape: Sequence[int], seed: Sequence[int]):
        random = np.random.default_rng(seed)
        self._tables = [random.integers(0, 1 << 63, size).astype(np.uint64) for size in shape]
        self._key = random.integers(0, 1 << 63, 1).astype(np.uint64)

    def at(self, places: Sequence[AnyArray]) -> Words:
        """The words at arrays of indices, one for each dimension, behind an axis of runs."""
        words: Words = self._key
        for table, place in zip(self._tables, places, strict=True):
            words = words ^ table[place.astype(np.intp)]
        if words.size > MOST_ELEMENTS:
            raise NotInterpretable(f"{words.size} elements of an argument are read at once")
        # Two multiplications apart, so that words of one row do not differ by the same bits.
        return mix(mix(words) + self._key)[None]


class DrawnResidues:
    """A tensor of independent residues."""

    def __init__(
        self, shape: Sequence[int], seed: Sequence[int], moduli: Sequence[int], *, exponents: bool
    ):
        self._words = DrawnWords(shape, seed)
        self._moduli = tuple(moduli)
        self._exponents = exponents

    def at(self, places: Sequence[AnyArray]) -> Residues:
        """The elements at arrays of indices; see `Source`."""
        words = self._words.at(places)
        p = self._lanes(words, self._moduli, 0)
        orders = [(modulus - 1) // 2 for modulus in self._moduli]
        q = self._lanes(words, orders, len(p)) if self._exponents else None
        return Residues(p, q, UNKNOWN)

    def _lanes(
        self, words: Words, moduli: Sequence[int], start: int
    ) -> tuple[NDArray[np.float64], ...]:
        """One lane for each half of a word: both halves are random."""
        found: list[NDArray[np.float64]] = []
        for number, modulus in enumerate(moduli, start):
            other = words if number < 2 else mix(words + np.uint64(number // 2))
            found.append(residues_of(halves(other)[..., number % 2], modulus))
        return tuple(found)
