"""
Arithmetic modulo a prime below 2^31 on arrays of uint64.

Every argument and result is reduced. Products of two reduced numbers fit in 62 bits, so one
multiplication and one remainder are exact; sums of up to 2^33 reduced numbers fit too.
"""

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.uint64]
"""Reduced residues of one modulus."""

P = 2147481143
"""The larger modulus; `P = 2 * Q + 1`, so Z_P has elements of order Q, and `P % 4 == 3`."""

Q = 1073740571
"""The smaller modulus: prime, and `Q % 4 == 3`, so square roots are one power here too."""


def add(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x + y`."""
    return (x + y) % np.uint64(modulus)


def subtract(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x - y`."""
    return (x + (np.uint64(modulus) - y)) % np.uint64(modulus)


def multiply(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x * y`."""
    return (x * y) % np.uint64(modulus)


def power(base: Residues, exponent: int, modulus: int) -> Residues:
    """`base ** exponent` for one non-negative exponent."""
    m = np.uint64(modulus)
    result = np.ones_like(base)
    square = base
    while exponent:
        if exponent & 1:
            result = result * square % m
        exponent >>= 1
        if exponent:
            square = square * square % m
    return result


def powers(base: Residues, exponents: Residues, modulus: int) -> Residues:
    """`base ** exponents` element by element (numpy broadcasting); exponents below 2^32."""
    m = np.uint64(modulus)
    result = np.ones(np.broadcast_shapes(base.shape, exponents.shape), np.uint64)
    square, one = base, np.uint64(1)
    while exponents.any():
        result = np.where(exponents & one, result * square % m, result)
        exponents = exponents >> one
        square = square * square % m
    return result


def inverse(x: Residues, modulus: int) -> Residues:
    """`1 / x`; zero where x is zero, which callers have to look for."""
    return power(x, modulus - 2, modulus)


def root(x: Residues, modulus: int) -> Residues:
    """
    `x ** ((m + 1) / 4)`, which is multiplicative, and squares to x where x is a quadratic residue.

    Elsewhere it squares to -x. It needs `m % 4 == 3`.
    """
    return power(x, (modulus + 1) // 4, modulus)
