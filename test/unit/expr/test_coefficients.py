"""Exact numbers, and which coefficients a part of a product may have."""

from fractions import Fraction

import pytest

from mirage_mlir.expr.coefficients import exact, measure, parts, square_root

EIGHTH = Fraction(1, 8)


def test_exact() -> None:
    assert type(exact(4.0)) is int
    assert type(exact(Fraction(6, 3))) is int
    assert exact(0.1) != Fraction(1, 10)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_not_finite(value: float) -> None:
    with pytest.raises(ValueError, match=f"{value} is not a finite number"):
        exact(value)


def test_measure_grows_with_what_does_not_cancel() -> None:
    assert measure(Fraction(2, 3)) == 6
    assert measure(-5) == 5
    assert measure(exact(Fraction(1, 2) * 2)) < measure(Fraction(1, 2))


@pytest.mark.parametrize(
    ("value", "root"), [(4, 2), (Fraction(9, 4), Fraction(3, 2)), (2, None), (-4, None), (0, 0)]
)
def test_square_root(value: int | Fraction, root: int | Fraction | None) -> None:
    assert square_root(value) == root


def test_whole_multiples_count() -> None:
    assert parts(3, []) == {1: (1,), 2: (1,), 3: (1,)}


def test_many_multiples_do_not() -> None:
    """Without a bound, x, 2x, ... 4096x would all be wanted."""
    assert parts(4096, []) == {1: (1,), 4096: (1,)}


def test_a_constant_of_the_program_is_in_or_missing() -> None:
    assert parts(EIGHTH, [EIGHTH]) == {1: (EIGHTH,), EIGHTH: (1,)}
    assert parts(448, [448]) == {1: (448,), 448: (1,)}


def test_constants_multiply() -> None:
    third = Fraction(1, 3)
    found = parts(2 * EIGHTH * third, [EIGHTH, third])
    assert set(found) == {
        1,
        2,
        EIGHTH,
        2 * EIGHTH,
        third,
        2 * third,
        EIGHTH * third,
        2 * EIGHTH * third,
    }
    assert found[EIGHTH] == (third,)


def test_the_simplest_way_counts() -> None:
    """1 = 2 * 0.5, but x needs no constant."""
    assert parts(1, [Fraction(1, 2)]) == {1: (1,)}


def test_a_sum_of_constants() -> None:
    """0.5 x + 0.3 x: no multiple of either."""
    found = parts(Fraction(4, 5), [Fraction(3, 10), Fraction(1, 2)])
    assert set(found) == {1, Fraction(3, 10), Fraction(1, 2), Fraction(4, 5)}
