"""The error bound follows the theorems and covers what small fields show."""

from itertools import product

import pytest

from mirage_mlir.field.bound import Degree, exponential_sums, schwartz_zippel
from mirage_mlir.field.modular import P, Q

X = Degree(1)
ONE = Degree()


def test_degree_of_polynomials() -> None:
    assert X * X == Degree(2)
    assert X * X + X == Degree(2)
    assert (X * X).total(100) == Degree(2)
    assert X.power(5) == Degree(5)


def test_degree_of_quotients() -> None:
    quotient = X * (X + ONE).inverse()
    assert quotient == Degree(1, 1)
    assert quotient + quotient == Degree(2, 2)
    assert quotient.total(3) == Degree(3, 3)
    assert quotient.inverse() == Degree(1, 1)


def test_terms_count_exponentials() -> None:
    weight = X.exponential()
    total = weight.total(5)
    assert total.terms == 10
    assert (weight * total.inverse()).denominator_terms == 10
    assert (weight + ONE).terms == 3
    assert X.total(7).terms == 1


def test_degrees_stay_finite() -> None:
    value = X * (X + ONE).inverse()
    for _ in range(100):
        value = (value * value).total(1000)
    assert value.numerator == 10**12


def test_schwartz_zippel() -> None:
    assert schwartz_zippel(10, 1).probability == pytest.approx(100 / P / Q)
    assert schwartz_zippel(10, 3).probability == pytest.approx((100 / P / Q) ** 3)
    assert schwartz_zippel(10**12, 3).probability == 1
    assert schwartz_zippel(10, 1, roots=2).probability == pytest.approx(160 * 160 / P / Q)
    assert "degree 10, 2 square roots" in str(schwartz_zippel(10, 1, roots=2))


def test_exponential_sums() -> None:
    bound = exponential_sums(2, 4, 3)
    assert bound.probability == pytest.approx((16 * 4**4 / Q + Q ** (-1 / 16)) ** 3)
    assert exponential_sums(2, 10**6, 3).probability == 1
    assert "Wu et al. 2025, Theorem 2" in bound.theorem


def test_schwartz_zippel_covers_every_root_in_a_small_field() -> None:
    """`x*y*(x - y) + 3` over Z_101: its roots are no more than degree / modulus of all points."""
    modulus = 101
    roots = sum((x * y * (x - y) + 3) % modulus == 0 for x, y in product(range(modulus), repeat=2))
    assert 0 < roots / modulus**2 <= (X * X * (X + X) + ONE).numerator / modulus
