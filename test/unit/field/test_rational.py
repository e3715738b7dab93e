"""Constants stand for the simplest number that their f32 can mean."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modular import P

from mirage_mlir.field.rational import residue, simplest_rational


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0e-05, Fraction(1, 100_000)),
        (1 / 6144, Fraction(1, 6144)),
        (0.5, Fraction(1, 2)),
        (-0.1, Fraction(-1, 10)),
        (0.0, Fraction(0)),
        (-3.0, Fraction(-3)),
        (2.0**-24, Fraction(1, 2**24)),
        (1e30, Fraction(float(np.float32(1e30)))),
    ],
)
def test_known_constants(value: float, expected: Fraction) -> None:
    assert simplest_rational(value) == expected
    assert simplest_rational(float(np.float32(value))) == expected


@given(st.integers(-4000, 4000), st.integers(1, 4000))
def test_small_fractions_survive(numerator: int, denominator: int) -> None:
    fraction = Fraction(numerator, denominator)
    assert simplest_rational(float(np.float32(float(fraction)))) == fraction


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounds_to_the_same_float(value: float) -> None:
    assert np.float32(float(simplest_rational(value))) == np.float32(value)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e39])
def test_not_a_float(value: float) -> None:
    with pytest.raises(ValueError, match="not a finite f32"):
        simplest_rational(value)


def test_residue() -> None:
    assert residue(Fraction(-3, 7), P) * 7 % P == P - 3
    with pytest.raises(ZeroDivisionError, match="no residue modulo"):
        residue(Fraction(1, P), P)
