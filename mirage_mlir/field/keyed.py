"""
Keyed random functions of residues: what the fields know of a function that has no algebra.

sigmoid, tanh, log and the like become a random function of their argument, drawn anew for each
trial by a 64-bit key: equal arguments give equal values and nothing else is known. A false
acceptance needs a collision; a law of the function (sigmoid(-x) = 1 - sigmoid(x)) is rejected.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.uint64]

MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Those of splitmix64's finalizer (Steele, Lea, Flood, OOPSLA 2014), which has full avalanche."""

CHUNK = 1 << 15
"""Words that are mixed at a time: 256 KB, which stays in a core's cache, is three times as fast."""


def mix(x: Residues, *, in_place: bool = False) -> Residues:
    """
    splitmix64's finalizer: a bijection of 64-bit words that looks random.

    With `in_place` an array that has a copy of its own may be overwritten: new memory costs more.
    """
    words = np.ascontiguousarray(x).reshape(-1)
    result = words if in_place else np.empty_like(words)
    scratch = np.empty(min(CHUNK, words.size), words.dtype)
    for start in range(0, words.size, CHUNK):
        given, made = words[start : start + CHUNK], result[start : start + CHUNK]
        shifted = scratch[: given.size]
        np.bitwise_xor(given, np.right_shift(given, np.uint64(30), out=shifted), out=made)
        made *= np.uint64(MULTIPLIERS[0])
        made ^= np.right_shift(made, np.uint64(27), out=shifted)
        made *= np.uint64(MULTIPLIERS[1])
        made ^= np.right_shift(made, np.uint64(31), out=shifted)
    return result.reshape(x.shape)


def keyed_words(name: str, keys: Residues, residues: Sequence[Residues]) -> Residues:
    """
    A 64-bit word for each element, a random function of its residues.

    Args:
        name: the function's name; functions of different names are independent.
        keys: 64-bit keys that broadcast against the residues; one per trial.
        residues: the residues of one value modulo one or more primes.
    """
    words = mix(keys ^ np.uint64(crc32(name.encode()) << 17))
    for part in residues:
        words = mix(mix(words + part) ^ keys)
    return words
