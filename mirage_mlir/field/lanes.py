"""
Arithmetic modulo a prime below 2^26 on arrays of float64.

Residues are symmetric: whole numbers of magnitude at most (p + 1) / 2, each class having one or
two of them; `canonical` tells classes apart. Products of two are below 2^52 and so exact, and
remainders are a multiplication and a rounding. NaN is what has no value; it stays NaN.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field import products

Lane = NDArray[np.float64]
"""Residues modulo one prime."""

LIMB = 1 << 13
"""Residues are split at this number for sums of products; halves are at most 2^12 and 2^13."""

MOST_TERMS = 1 << 15
"""Terms of a sum of products of half a residue (2^13) and a residue (2^25) that stay below 2^53."""

TABLE = 1 << 13
"""Entries of each of the two tables of powers; exponents are below 2^25, so 2^12 make the rest."""


def reduced(x: Lane, modulus: int) -> Lane:
    """The residues of whole numbers of magnitude below 2^53; it may use the memory of x."""
    quotient = x * (1.0 / modulus)
    np.rint(quotient, out=quotient)
    quotient *= modulus
    return np.subtract(x, quotient, out=quotient)


def canonical(x: Lane, modulus: int) -> Lane:
    """The one residue from 0 to below the modulus."""
    return np.where(x < 0, x + modulus, x)


def constant(value: Fraction, modulus: int) -> float:
    """
    The residue of a rational number.

    Raises:
        ZeroDivisionError: its denominator is a multiple of the modulus.
    """
    if value.denominator % modulus == 0:
        raise ZeroDivisionError(f"{value} has no residue modulo {modulus}")
    residue = value.numerator * pow(value.denominator, -1, modulus) % modulus
    return float(residue if 2 * residue < modulus else residue - modulus)


def add(x: Lane, y: Lane, modulus: int) -> Lane:
    """`x + y`."""
    return reduced(x + y, modulus)


def subtract(x: Lane, y: Lane, modulus: int) -> Lane:
    """`x - y`."""
    return reduced(x - y, modulus)


def multiply(x: Lane, y: Lane, modulus: int) -> Lane:
    """`x * y`."""
    return reduced(x * y, modulus)


def total(x: Lane, axis: int, modulus: int) -> Lane:
    """The sum along `axis`, of at most 2^27 terms; it stays with size 1."""
    return reduced(np.sum(x, axis=axis, keepdims=True), modulus)


def power(base: Lane, exponent: int, modulus: int) -> Lane:
    """`base ** exponent` for one exponent that is not negative."""
    result = np.ones_like(base)
    square = base
    while exponent:
        if exponent & 1:
            result = multiply(result, square, modulus)
        exponent >>= 1
        if exponent:
            square = multiply(square, square, modulus)
    # 0 ** 0 is 1, and NaN ** 0 has no value.
    return np.where(np.isnan(base), base, result)


def inverse(x: Lane, modulus: int) -> Lane:
    """`1 / x`; NaN where x is zero."""
    return np.where(x == 0, np.nan, power(x, modulus - 2, modulus))


class Powers:
    """Powers of one number by table, with exponents modulo another one that is below 2^25."""

    def __init__(self, base: int, modulus: int, order: int):
        self.modulus = modulus
        self.order = order
        self._low = _table(base, TABLE, modulus)
        self._high = _table(pow(base, TABLE, modulus), order // TABLE + 1, modulus)

    def at(self, exponents: Lane) -> Lane:
        """The powers; NaN where the exponent is NaN."""
        undefined = np.isnan(exponents)
        exponents = np.where(undefined, 0, canonical(exponents, self.order))
        whole = exponents.astype(np.int64)
        result = multiply(self._low[whole % TABLE], self._high[whole // TABLE], self.modulus)
        return np.where(undefined, np.nan, result)


def _table(base: int, count: int, modulus: int) -> Lane:
    """The powers of a number from the 0th on, by doubling."""
    found = np.ones(1)
    while len(found) < count:
        step = float(pow(base, len(found), modulus))
        found = np.concatenate([found, multiply(found, np.array(step), modulus)])
    return found[:count]


def matmul(x: Lane, y: Lane, modulus: int) -> Lane:
    """
    The product of `... x M x K` and `... x K x N` (numpy's rules), exact.

    The smaller operand is split into two limbs, whose products with the other one BLAS sums.
    """
    terms = x.shape[-1]
    if terms > MOST_TERMS:
        half = terms // 2
        left = matmul(x[..., :half], y[..., :half, :], modulus)
        return add(left, matmul(x[..., half:], y[..., half:, :], modulus), modulus)
    if x.size <= y.size:
        high, low = _limbs(x)
        parts = _product(high, y), _product(low, y)
    else:
        high, low = _limbs(y)
        parts = _product(x, high), _product(x, low)
    above = reduced(parts[0], modulus) * LIMB
    return reduced(above + reduced(parts[1], modulus), modulus)


def _product(x: Lane, y: Lane) -> Lane:
    return products.matmul(x, y).astype(np.float64, copy=False)


def _limbs(x: Lane) -> tuple[Lane, Lane]:
    """`x` as `high * LIMB + low`, with low of magnitude at most `LIMB / 2`."""
    high = np.rint(x * (1.0 / LIMB))
    return high, x - high * LIMB
