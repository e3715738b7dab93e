"""Arithmetic on residues in float64 agrees with Python's integers; primes are what they should."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.field import lanes
from mirage_mlir.field.lanes import Lane, Powers
from mirage_mlir.field.primes import BITS, LOWEST_Q, PRIMES, is_prime, safe_primes

P = 67_108_187
"""The largest p = 2 q + 1 below 2^26: products are closest to what float64 holds."""

HALF = (P - 1) // 2
RESIDUES = st.integers(-HALF, HALF)


def lane(*values: int) -> Lane:
    return np.array(values, np.float64)


def whole(x: Lane) -> list[int]:
    """The classes of residues."""
    return [int(value) for value in lanes.canonical(x, P).reshape(-1)]


def test_the_largest_prime() -> None:
    assert is_prime(P)
    assert is_prime(HALF)
    assert not any(is_prime(q) and is_prime(2 * q + 1) for q in range(HALF + 1, 2 * LOWEST_Q))


@given(values=st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1))
def test_ring_operations(values: list[tuple[int, int]]) -> None:
    x, y = lane(*(a for a, _ in values)), lane(*(b for _, b in values))
    for operation, expected in (
        (lanes.add, [(a + b) % P for a, b in values]),
        (lanes.subtract, [(a - b) % P for a, b in values]),
        (lanes.multiply, [a * b % P for a, b in values]),
    ):
        result = operation(x, y, P)
        assert whole(result) == expected
        assert np.abs(result).max() <= (P + 1) // 2


@given(base=RESIDUES, exponent=st.integers(0, 100))
def test_power(base: int, exponent: int) -> None:
    assert whole(lanes.power(lane(base), exponent, P)) == [pow(base, exponent, P)]


def test_what_has_no_value() -> None:
    x = lanes.inverse(lane(0, 1, 2, HALF), P)
    assert np.isnan(x[0])
    assert whole(lanes.multiply(x[1:], lane(1, 2, HALF), P)) == [1, 1, 1]
    for result in (lanes.add(x, x, P), lanes.power(x, 0, P), lanes.multiply(x, lane(0), P)):
        assert np.isnan(result[0])
        assert not np.isnan(result[1:]).any()


def test_powers_by_table() -> None:
    order = (P - 1) // 2
    base = pow(3, 2, P)
    exponents = [0, 1, lanes.TABLE - 1, lanes.TABLE, order - 1, -1]
    found = Powers(base, P, order).at(lane(*exponents))
    assert whole(found) == [pow(base, e % order, P) for e in exponents]
    assert np.isnan(Powers(base, P, order).at(lane(1) * np.nan)).all()


def test_constants() -> None:
    third = lanes.constant(Fraction(1, 3), P)
    assert whole(lanes.multiply(lane(3), np.array([third]), P)) == [1]
    with pytest.raises(ZeroDivisionError):
        lanes.constant(Fraction(1, 2 * P), P)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((2, 1, 3, 7), (5, 7, 2)), ((9, 4), (4, 1)), ((2, 0), (0, 3))],
)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x, y = (random.integers(-HALF, HALF, shape) for shape in (left, right))
    expected = np.matmul(x.astype(object), y.astype(object)) % P
    result = lanes.matmul(x.astype(np.float64), y.astype(np.float64), P)
    assert result.shape == expected.shape
    assert whole(result) == expected.reshape(-1).tolist()


@pytest.mark.parametrize("value", [HALF, HALF // lanes.LIMB * lanes.LIMB + lanes.LIMB // 2])
def test_sums_of_largest_products(value: int) -> None:
    """One term more than float64 sums exactly: the sum is cut."""
    length = lanes.MOST_TERMS + 1
    x = np.full((1, length), float(value))
    assert whole(lanes.matmul(x, x.T, P)) == [length * value * value % P]


def test_primes_are_counted() -> None:
    """All q from 2^24 to 2^25 by a sieve of the odd numbers below 2^26."""
    limit = 4 * LOWEST_Q
    odd = np.ones(limit // 2, np.bool_)
    odd[0] = False
    for n in range(3, int(limit**0.5) + 1, 2):
        if odd[n // 2]:
            odd[n * n // 2 :: n] = False
    q = np.arange(LOWEST_Q + 1, 2 * LOWEST_Q, 2)
    assert np.count_nonzero(odd[q // 2] & odd[q]) == PRIMES
    some = range(LOWEST_Q + 1, LOWEST_Q + 4001, 2)
    assert [is_prime(n) for n in some] == odd[np.array(some) // 2].tolist()


def test_primes_are_drawn() -> None:
    found = safe_primes(40, np.random.default_rng(0))
    assert len(set(found)) == 40
    assert all(is_prime(p) and is_prime(p // 2) and p >> BITS == 1 for p in found)
    assert found == safe_primes(40, np.random.default_rng(0))
    assert found[:20] != safe_primes(20, np.random.default_rng(1))
