"""
Random inputs whose elements are functions of seed, argument and indices.

They are made again wherever they are read, so that no argument has to be kept: the word of element
(i, j, ...) is a mix of one random word for i, one for j, and so on. Every element is a variable of
its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mirage_mlir.equivalence.residue_domain import halves, residues_of
from mirage_mlir.equivalence.residues import Residues, Words
from mirage_mlir.field.height import UNKNOWN
from mirage_mlir.field.keyed import mix
from mirage_mlir.interpreters.domain import AnyArray, NotInterpretable

MOST_ELEMENTS = 1 << 23
"""Elements made at a time: 64 MB in each lane."""

MOST_KEPT = 1 << 20
"""Indices of a dimension whose words are kept: 8 MB. Those of larger dimensions are mixed anew."""


class DrawnWords:
    """A random word for each element of a tensor."""

    def __init__(self, shape: Sequence[int], seed: Sequence[int]):
        random = np.random.default_rng(seed)
        counts = [size if size <= MOST_KEPT else 1 for size in shape]
        self._tables = [random.integers(0, 1 << 63, size).astype(np.uint64) for size in counts]
        self._large = [size > MOST_KEPT for size in shape]
        self._key = random.integers(0, 1 << 63, 1).astype(np.uint64)

    def at(self, places: Sequence[AnyArray]) -> Words:
        """The words at arrays of indices, one for each dimension, behind an axis of runs."""
        words: Words = self._key
        for table, place, large in zip(self._tables, places, self._large, strict=True):
            indices = place.astype(np.intp)
            words = words ^ (mix(table + indices.astype(np.uint64)) if large else table[indices])
        if words.size > MOST_ELEMENTS:
            raise NotInterpretable(f"{words.size} elements of an argument are read at once")
        # Mixed, as words of one row differ by the same bits from those of another one.
        found = mix(words, in_place=True) if self._tables else mix(words)
        # Of a tensor without dimensions there is one word, and its axis is that of the runs.
        return found[None] if self._tables else found


class DrawnResidues:
    """A tensor of independent residues, also of each other modulo different primes."""

    def __init__(
        self, shape: Sequence[int], seed: Sequence[int], moduli: Sequence[int], *, exponents: bool
    ):
        self._moduli = tuple(moduli)
        self._orders = tuple((modulus - 1) // 2 for modulus in moduli) if exponents else ()
        # Each half of a word is a residue.
        count = (len(self._moduli) + len(self._orders) + 1) // 2
        self._words = [DrawnWords(shape, [*seed, number]) for number in range(count)]

    def at(self, places: Sequence[AnyArray]) -> Residues:
        """The elements at arrays of indices; see `Source`."""
        moduli = [*self._moduli, *self._orders]
        found = [
            residues_of(part[..., half], moduli[2 * number + half])
            for number, words in enumerate(self._words)
            for part in [halves(words.at(places))]
            for half in range(min(2, len(moduli) - 2 * number))
        ]
        count = len(self._moduli)
        return Residues(tuple(found[:count]), tuple(found[count:]) or None, UNKNOWN)
