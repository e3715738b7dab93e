"""
Random inputs whose elements are functions of seed, argument and indices.

They are made again wherever they are read, so that no argument has to be kept: the word of element
(i, j, ...) is a mix of one random word for i, one for j, and so on. Every element is a variable of
its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mirage_mlir.equivalence.residue_domain import residues_of
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
        # Two multiplications apart, so that words of one row do not differ by the same bits.
        return mix(mix(self.sums(places)) + self._key)

    def sums(self, places: Sequence[AnyArray]) -> Words:
        """The same before mixing: those of a rectangle of elements depend on each other."""
        words: Words = self._key
        for table, place in zip(self._tables, places, strict=True):
            words = words ^ table[place.astype(np.intp)]
        if words.size > MOST_ELEMENTS:
            raise NotInterpretable(f"{words.size} elements of an argument are read at once")
        return words[None]


class DrawnResidues:
    """A tensor of independent residues."""

    def __init__(
        self, shape: Sequence[int], seed: Sequence[int], moduli: Sequence[int], *, exponents: bool
    ):
        self._first, self._second = (DrawnWords(shape, [*seed, number]) for number in (1, 2))
        self._moduli = tuple(moduli)
        self._orders = tuple((modulus - 1) // 2 for modulus in moduli) if exponents else ()

    def at(self, places: Sequence[AnyArray]) -> Residues:
        """The elements at arrays of indices; see `Source`."""
        moduli = self._moduli + self._orders
        words = [self._first.at(places)]
        # Once in 2^63 times two elements have the same first word, and the same residues in two
        # lanes. For the same residues in all lanes, second words, too, would have to be the same.
        other = self._second.sums(places)
        for number in range(1, (len(moduli) + 1) // 2):
            words.append(mix(words[0] * np.uint64(2 * number - 1) ^ other))
        # Both halves of a word are random.
        lanes = [
            residues_of(words[n // 2] << np.uint64(32 * (n % 2)), modulus)
            for n, modulus in enumerate(moduli)
        ]
        count = len(self._moduli)
        return Residues(tuple(lanes[:count]), tuple(lanes[count:]) or None, UNKNOWN)
