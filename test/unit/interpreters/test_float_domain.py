"""Rounding to element types, and silence about overflow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.interpreters.domain import ElementType
from mirage_mlir.interpreters.float_domain import (
    FITS_IN_CACHE,
    FloatDomain,
    round_to,
    round_to_bfloat16,
    round_to_float16,
)


@given(st.lists(st.floats(width=32), min_size=1))
def test_bfloat16_is_the_nearest(values: list[float]) -> None:
    x = np.array(values, np.float32)
    rounded = round_to_bfloat16(x)
    bits = rounded.view(np.uint32)
    assert (np.isnan(x) == np.isnan(rounded)).all()
    finite = np.isfinite(x) & np.isfinite(rounded)
    assert not (bits[finite] & 0xFFFF).any()
    # Neighbours have one more or one less in the upper half; none is nearer.
    for step in (-0x10000, 0x10000):
        with np.errstate(invalid="ignore", over="ignore"):
            neighbour = (bits.astype(np.int64) + step).astype(np.uint32).view(np.float32)
            far = np.abs(neighbour.astype(float) - x) >= np.abs(rounded.astype(float) - x)
        assert far[finite & np.isfinite(neighbour)].all()


def test_bfloat16_ties_to_even_and_overflow() -> None:
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, np.inf, -np.inf], np.float32)
    expected = [1.0, 1 + 2**-6, np.inf, np.inf, -np.inf]
    assert round_to_bfloat16(x).tolist() == expected


def test_float16_is_what_numpy_rounds_to() -> None:
    """All numbers of f16, those in the middle of two, and their neighbours; and what is none."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    exact = np.unique(halves[np.isfinite(halves)].astype(np.float32))
    middles = (exact[1:] + exact[:-1]) / 2
    near = [np.nextafter(x, np.float32(to)) for x in (exact, middles) for to in (-np.inf, np.inf)]
    others = np.array([65520, -65520, 1e30, 1e-45, -1e-45, -0.0, np.inf, -np.inf, np.nan], "f4")
    x = np.concatenate([exact, middles, *near, others]).astype(np.float32)
    assert x.size > FITS_IN_CACHE
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16).astype(np.float32)
    rounded = round_to_float16(x)
    assert np.array_equal(rounded, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(rounded), np.signbit(wanted))
    backwards = round_to_float16(x[::-1])
    assert np.array_equal(backwards[::-1], wanted, equal_nan=True)
    assert round_to_float16(x[:1].reshape(())).shape == ()


ROUNDED: list[tuple[ElementType, float]] = [
    ("f16", float(np.float16(0.1))),
    ("bf16", 0.10009765625),
    ("f32", float(np.float32(0.1))),
    ("f64", 0.1),
]


@pytest.mark.parametrize(("element_type", "expected"), ROUNDED)
def test_round_to(element_type: ElementType, expected: float) -> None:
    rounded = round_to(np.array([0.1]), element_type)
    assert rounded.dtype == np.float64
    assert rounded.tolist() == [expected]


def test_precision_of_both_kinds() -> None:
    for rounding, dtype in ((True, np.float32), (False, np.float64)):
        domain = FloatDomain(rounding=rounding)
        x = np.full((1, 3), 0.1, dtype)
        for result in (
            domain.constant(Fraction(1, 3), 1),
            domain.function("sigmoid", x),
            domain.function("erf", x),
            domain.power(x, Fraction(3, 2)),
            domain.total(x, 1),
            domain.matmul(x, x.T),
            domain.scale(x, Fraction(7)),
        ):
            assert result.dtype == dtype
        half = domain.rounded(x, "f16")
        assert (half[0, 0] == np.float16(0.1)) is np.bool_(rounding)


def test_overflow_is_silent() -> None:
    """Tests run with warnings as errors."""
    domain = FloatDomain(rounding=True)
    x = np.array([[1e30, -1e30, 0.0]], np.float32)
    with np.errstate(all="raise"):
        assert domain.function("sigmoid", x).tolist() == [[1.0, 0.0, 0.5]]
        assert domain.multiply(x, x)[0, 0] == np.inf
        assert np.isnan(domain.function("log", x)[0, 1])
        assert np.isinf(domain.divide(x, x * 0)[0, 0])
        assert domain.rounded(x, "f16").tolist() == [[np.inf, -np.inf, 0.0]]


def test_exponents_are_noted() -> None:
    domain = FloatDomain(rounding=False)
    assert domain.largest_exponent is None
    domain.function("exp", np.array([[1.0, -5.0], [2.0, 0.0]]))
    domain.function("exp", np.array([[3.0]]))
    assert domain.largest_exponent is not None
    assert domain.largest_exponent.tolist() == [5.0, 3.0]


def test_luck_leaves_counts_as_they_are() -> None:
    """What is summed or computed becomes a neighbour in f32; comparisons need counts."""
    domain = FloatDomain(rounding=True, luck=[0])
    x = np.linspace(0.1, 1.0, 4000, dtype=np.float32).reshape(1, 1000, 4)
    exact, lucky = np.exp(x), domain.function("exp", x)
    assert (lucky != exact).any()
    np.testing.assert_allclose(lucky, exact, rtol=2.0**-22)
    ones = np.ones((1, 1000, 4), np.float32)
    np.testing.assert_array_equal(domain.total(ones, 1), np.full((1, 1, 4), 1000))
    assert (domain.total(x, 1) != x.sum(1, keepdims=True)).any()
