"""
Random inputs whose elements are functions of seed, argument and indices.

They are made again wherever they are read, so that no argument has to be kept: the word of element
(i, j, ...) is a mix of one random word for i, one for j, and so on. Every element is a variable of
its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from mirage_mlir.equivalence.random_functions import halves, write_residues
from mirage_mlir.equivalence.residues import Residues, Words
from mirage_mlir.field.height import UNKNOWN
from mirage_mlir.field.keyed import CHUNK, mix
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
        check_count(places)
        return self.mixed(self.of_dimensions(places))

    def of_dimensions(self, places: Sequence[AnyArray]) -> list[Words]:
        """The word of each index of each dimension, which those of elements are mixed from."""
        return [
            mix(table + place.astype(np.uint64)) if large else table[place.astype(np.intp)]
            for table, place, large in zip(self._tables, places, self._large, strict=True)
        ]

    def mixed(self, words: Sequence[Words]) -> Words:
        """The words of elements, of those of their indices."""
        found: Words = self._key
        for each in words:
            found = found ^ each
        # Mixed, as words of one row differ by the same bits from those of another one. Of a tensor
        # without dimensions there is one word, and its axis is that of the runs.
        return mix(found, in_place=True)[None] if words else mix(found)


def check_count(places: Sequence[AnyArray]) -> None:
    """Raises `NotInterpretable` where too many elements are read at once."""
    count = prod(np.broadcast_shapes(*(place.shape for place in places)))
    if count > MOST_ELEMENTS:
        raise NotInterpretable(f"{count} elements of an argument are read at once")


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
        check_count(places)
        moduli = [*self._moduli, *self._orders]
        shape = np.broadcast_shapes(*(place.shape for place in places))
        found = [np.empty((1, *shape)) for _ in moduli]
        for number, drawn in enumerate(self._words):
            words = drawn.of_dimensions(places)
            for part in _parts(shape):
                pairs = halves(drawn.mixed([each[_there(part, each.shape)] for each in words]))
                for lane, modulus in enumerate(moduli[2 * number : 2 * number + 2]):
                    write_residues(pairs[..., lane], modulus, found[2 * number + lane][:, *part])
        count = len(self._moduli)
        return Residues(tuple(found[:count]), tuple(found[count:]) or None, UNKNOWN)


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """All of a shape in parts whose words stay in a core's cache."""
    axis = next((axis for axis, size in enumerate(shape) if size > 1), None)
    if axis is None:
        yield (slice(None),) * len(shape)
        return
    step = max(1, CHUNK // max(1, prod(shape[axis + 1 :])))
    for start in range(0, shape[axis], step):
        yield (
            *(slice(None),) * axis,
            slice(start, start + step),
            *(slice(None),) * (len(shape) - axis - 1),
        )


def _there(part: tuple[slice, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    """A part of what an array is broadcast to, in the array."""
    own = part[len(part) - len(shape) :]
    return tuple(slice(None) if size == 1 else cut for cut, size in zip(own, shape, strict=True))
