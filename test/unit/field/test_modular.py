"""Modular arithmetic on arrays agrees with Python's integers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modular import P, Q, Residues

from mirage_mlir.field import modular

MODULI = pytest.mark.parametrize("modulus", [P, Q])
EDGES = [0, 1, 2, (1 << 16) - 1, 1 << 16, Q - 1]


def is_prime(n: int) -> bool:
    """Miller-Rabin with bases that decide every number below 3.3e24."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        if all((x := x * x % n) != n - 1 for _ in range(twos - 1)):
            return False
    return True


def residues(*values: int) -> Residues:
    return np.array(values, np.uint64)


def test_moduli() -> None:
    assert is_prime(P)
    assert is_prime(Q)
    assert P == 2 * Q + 1
    assert P % 4 == Q % 4 == 3


@MODULI
@given(values=st.lists(st.tuples(*2 * (st.integers(0, Q - 1),)), min_size=1))
def test_ring_operations(modulus: int, values: list[tuple[int, int]]) -> None:
    x, y = residues(*(a for a, _ in values)), residues(*(b for _, b in values))
    for operation, expected in (
        (modular.add, [(a + b) % modulus for a, b in values]),
        (modular.subtract, [(a - b) % modulus for a, b in values]),
        (modular.multiply, [a * b % modulus for a, b in values]),
    ):
        assert operation(x, y, modulus).tolist() == expected


@MODULI
def test_inverse(modulus: int) -> None:
    x = residues(*EDGES[1:], modulus - 1)
    assert modular.multiply(x, modular.inverse(x, modulus), modulus).tolist() == [1] * len(x)
    assert modular.inverse(residues(0), modulus).tolist() == [0]


@MODULI
@given(base=st.integers(0, Q - 1), exponents=st.lists(st.integers(0, Q - 1), min_size=1))
def test_powers(modulus: int, base: int, exponents: list[int]) -> None:
    expected = [pow(base, exponent, modulus) for exponent in exponents]
    assert modular.powers(residues(base), residues(*exponents), modulus).tolist() == expected
    assert [int(modular.power(residues(base), e, modulus)[0]) for e in exponents] == expected


@MODULI
@given(x=st.integers(1, Q - 1), y=st.integers(1, Q - 1))
def test_roots(modulus: int, x: int, y: int) -> None:
    square, other = residues(x * x % modulus), residues(y)
    root = modular.root(square, modulus)
    assert modular.squares(square, modulus).all()
    assert modular.multiply(root, root, modulus).tolist() == square.tolist()
    # Multiplicative on every argument, residue or not.
    product = modular.multiply(square, other, modulus)
    roots = modular.multiply(root, modular.root(other, modulus), modulus)
    assert modular.root(product, modulus).tolist() == roots.tolist()


@MODULI
def test_minus_one_is_not_a_square(modulus: int) -> None:
    assert modular.squares(residues(0, 1, modulus - 1), modulus).tolist() == [True, True, False]


def exact_matmul(x: Residues, y: Residues, modulus: int) -> list[Any]:
    return (np.matmul(x.astype(object), y.astype(object)) % modulus).tolist()


@MODULI
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((2, 1, 3, 7), (5, 7, 2)), ((1, 1000), (1000, 1)), ((2, 0), (0, 3))],
)
def test_matmul(modulus: int, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x = random.integers(0, modulus, left).astype(np.uint64)
    y = random.integers(0, modulus, right).astype(np.uint64)
    assert modular.matmul(x, y, modulus).tolist() == exact_matmul(x, y, modulus)


@MODULI
def test_matmul_of_largest_residues(modulus: int) -> None:
    """The halves' sums are largest here; a long contraction is cut so that they stay exact."""
    length = modular.MAXIMAL_CONTRACTION + 3
    # 0x7FFF_FFFF has the largest halves; a sum of them exceeds 2^53 without the cut.
    worst = min(modulus - 1, (modulus >> 16 << 16) - 1)
    x = np.full((1, length), worst, np.uint64)
    expected = length * worst * worst % modulus
    assert modular.matmul(x, x.T, modulus).tolist() == [[expected]]
