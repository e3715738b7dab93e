"""
Constants as exact rationals.

A program stores a constant as a float, but means a number: 1/6144 has no f32, and a search that
divides by 6144 has to agree with one that multiplies by the f32 nearest to 1/6144.
"""

from fractions import Fraction
from functools import cache
from math import inf, nextafter

import numpy as np


@cache
def simplest_rational(value: float) -> Fraction:
    """
    The fraction of smallest denominator that rounds to the same f32 as `value`.

    0.1f is 1/10, 1.0e-05f is 1/100000, (1/6144)f is 1/6144; an integer is itself.

    Raises:
        ValueError: no finite f32 is near the value.
    """
    if not abs(value) <= float(np.finfo(np.float32).max):
        raise ValueError(f"{value} is not a finite f32")
    if value < 0:
        return -simplest_rational(-value)
    single = np.float32(value)
    if single == np.floor(single):
        return Fraction(float(single))
    below = float(np.nextafter(single, np.float32(0)))
    above = float(np.nextafter(single, np.float32(inf)))
    # Ties round to even, so the open interval is what surely rounds to the value.
    low = Fraction(nextafter((below + float(single)) / 2, inf))
    high = Fraction(nextafter((above + float(single)) / 2, 0.0))
    return _simplest_between(low, high)


def is_single(value: Fraction) -> bool:
    """Whether an f32 stands for `value`: it is the simplest fraction that rounds to that f32."""
    try:
        return simplest_rational(float(value)) == value
    except (ValueError, OverflowError):
        return False


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator in [low, high], both positive (Stern-Brocot tree)."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))


def residue(value: Fraction, modulus: int) -> int:
    """
    `value` modulo a prime.

    Raises:
        ZeroDivisionError: the denominator is a multiple of the modulus.
    """
    if value.denominator % modulus == 0:
        raise ZeroDivisionError(f"{value} has no residue modulo {modulus}")
    return value.numerator * pow(value.denominator, -1, modulus) % modulus
