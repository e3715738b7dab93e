"""Random functions of residues: from residues to random words, and from words to residues."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.residues import Residues, Words
from mirage_mlir.field.height import Height
from mirage_mlir.field.keyed import CHUNK, keyed_words, mix
from mirage_mlir.field.lanes import Lane, canonical
from mirage_mlir.interpreters.domain import AnyArray


class RandomFunctions:
    """
    All random functions of one interpretation.

    Args:
        moduli: the primes p.
        random: draws the key of all functions.
        exponents: whether residues modulo q are computed.
    """

    def __init__(self, moduli: Sequence[int], random: np.random.Generator, *, exponents: bool):
        self.moduli = tuple(moduli)
        self.orders = tuple((p - 1) // 2 for p in moduli)
        self.exponents = exponents
        # An array: numpy warns of overflows of scalars.
        self._key = random.integers(0, 1 << 63, 1).astype(np.uint64)

    def words(self, name: str, x: Residues) -> Words:
        return self.words_of(name, x.p, self.moduli)

    def words_of(self, name: str, parts: Sequence[Lane], moduli: Sequence[int]) -> Words:
        """A random 64-bit word for each element, a function of its residues."""
        residues = [
            np.nan_to_num(canonical(lane, modulus), posinf=0, neginf=0).astype(np.uint64)
            for lane, modulus in zip(parts, moduli, strict=True)
        ]
        # Residues have at most 26 bits: two of them at a time.
        pairs = [
            first if second is None else first | second << np.uint64(32)
            for first, second in zip(
                residues[::2], [*residues[1::2], *[None] * (len(residues) % 2)], strict=True
            )
        ]
        return keyed_words(name, self._key, pairs)

    def drawn(self, words: Words, undefined: AnyArray) -> Residues:
        """Random residues from random words; those modulo q with a shift."""

        def residues(moduli: Sequence[int], start: int) -> tuple[Lane, ...]:
            return tuple(
                np.where(
                    undefined,
                    np.nan,
                    residues_of(halves(mix(words + np.uint64(start + i)))[..., 1], m),
                )
                for i, m in enumerate(moduli)
            )

        p = residues(self.moduli, 1)
        if not self.exponents:
            return Residues(p, None, Height())
        shift = residues(self.orders, 1 + len(p))
        zeros = tuple(np.zeros(words.shape) for _ in shift)
        return Residues(p, zeros, Height(), shift, frozenset([Fraction(1)]), 1)


def halves(words: Words) -> NDArray[np.uint32]:
    """The upper and lower halves of words, along a new last axis."""
    return np.ascontiguousarray(words).view(np.uint32).reshape(*words.shape, 2)


def residues_of(half: NDArray[np.uint32], modulus: int) -> Lane:
    """Residues from 32 random bits, each of nearly the same probability (see `bounds`)."""
    bits = half.reshape(-1)
    residues = np.empty(bits.size)
    for start in range(0, bits.size, CHUNK):
        part = residues[start : start + CHUNK]
        write_residues(bits[start : start + CHUNK], modulus, part)
    return residues.reshape(half.shape)


def write_residues(half: NDArray[np.uint32], modulus: int, result: Lane) -> None:
    """The same, into an array of the same shape: for parts that stay in a core's cache."""
    np.multiply(half, modulus / 2.0**32, out=result)
    np.floor(result, out=result)
    np.subtract(result, (modulus - 1) / 2, out=result)
