"""
Arithmetic modulo a prime below 2^31 on arrays of uint64.

Every argument and result is reduced. Products of two reduced numbers fit in 62 bits, so one
multiplication and one remainder are exact; sums of up to 2^33 reduced numbers fit too.
"""

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field import products

Residues = NDArray[np.uint64]
"""Reduced residues of one modulus."""

P = 2147481143
"""The larger modulus; `P = 2 * Q + 1`, so Z_P has elements of order Q, and `P % 4 == 3`."""

Q = 1073740571
"""The smaller modulus: prime, and `Q % 4 == 3`, so square roots are one power here too."""

MAXIMAL_CONTRACTION = 1 << 19
"""Products that float64 sums exactly: factors reach 3 * 2^15, so 2^19 products stay below 2^53."""


def add(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x + y`."""
    return (x + y) % np.uint64(modulus)


def subtract(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x - y`."""
    return (x + (np.uint64(modulus) - y)) % np.uint64(modulus)


def multiply(x: Residues, y: Residues, modulus: int) -> Residues:
    """`x * y`."""
    return (x * y) % np.uint64(modulus)


def total(x: Residues, axis: int, modulus: int) -> Residues:
    """The sum along `axis`, which stays with size 1."""
    return np.sum(x, axis=axis, keepdims=True) % np.uint64(modulus)


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


def squares(x: Residues, modulus: int) -> NDArray[np.bool_]:
    """Where x is zero or a quadratic residue (Euler's criterion)."""
    return power(x, (modulus - 1) // 2, modulus) <= 1


def matmul(x: Residues, y: Residues, modulus: int) -> Residues:
    """
    The product of `... x M x K` and `... x K x N` (numpy's rules), exact.

    Residues are split into 16-bit halves, whose products BLAS sums in float64; Karatsuba's trick
    makes three products of the four.
    """
    if x.shape[-1] > MAXIMAL_CONTRACTION:
        half = x.shape[-1] // 2
        left = matmul(x[..., :half], y[..., :half, :], modulus)
        return add(left, matmul(x[..., half:], y[..., half:, :], modulus), modulus)
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    high = products.matmul(x_high, y_high)
    low = products.matmul(x_low, y_low)
    middle = products.matmul(x_high + x_low, y_high + y_low) - high - low
    m, shift = np.uint64(modulus), np.uint64(16)
    result = high.astype(np.uint64) % m
    result = ((result << shift) + middle.astype(np.uint64)) % m
    return ((result << shift) + low.astype(np.uint64)) % m


def _halves(x: Residues) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The upper bits and the lower 16 bits of residues, as floats."""
    return (x >> np.uint64(16)).astype(np.float64), (x & np.uint64(0xFFFF)).astype(np.float64)
