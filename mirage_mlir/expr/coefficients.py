"""Exact rational coefficients, and how a coefficient came about from a program's constants."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isfinite, isqrt, prod

from mirage_mlir.expr.heads import Coefficient

MOST_CONSTANTS = 3
"""Constants that may meet in one coefficient when it is taken apart; more are not searched for."""

MOST_REPEATS = 8
"""Up to `n * x` a value may be built by adding x; beyond, only `x` and `n * x` are offered."""


def exact(value: float | Fraction) -> Coefficient:
    """
    The number as an `int` when it is whole, else as a `Fraction`; floats are taken exactly.

    Raises:
        ValueError: the number is infinite or no number.
    """
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    fraction = Fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def half(value: Coefficient) -> Coefficient:
    """Half of the number."""
    return exact(Fraction(value) / 2)


def measure(value: Coefficient) -> int:
    """Numerator times denominator: grows under every product in which nothing cancels."""
    return abs(value.numerator) * value.denominator


def square_root(value: Coefficient) -> Coefficient | None:
    """The rational square root, None when there is none."""
    if value < 0:
        return None
    numerator, denominator = isqrt(value.numerator), isqrt(value.denominator)
    if numerator**2 != value.numerator or denominator**2 != value.denominator:
        return None
    return exact(Fraction(numerator, denominator))


def _factorisations(
    value: Coefficient, constants: Sequence[Coefficient]
) -> Iterator[tuple[int, tuple[Coefficient, ...]]]:
    """Each way to write the value as a whole number times a product of constants."""
    for count in range(MOST_CONSTANTS + 1):
        for chosen in combinations_with_replacement(constants, count):
            rest = exact(value / Fraction(prod(chosen)))
            if isinstance(rest, int):
                yield rest, chosen


def parts(
    value: Coefficient, constants: Sequence[Coefficient]
) -> dict[Coefficient, tuple[Coefficient, ...]]:
    """
    The coefficients that a sub-expression of `value * x` may have.

    Args:
        value: a positive coefficient.
        constants: the positive constants of the program, other than 1.

    Returns:
        for each coefficient c the constant factors that may still be missing: `value` is a
        multiple of `c * missing`. The monomials of one sub-expression must agree in that.

    The value is written as `n * k1 * k2 ...` with constants k and the least possible whole n.
    Rational ratios as such are not admitted: they make the closure infinite.
    """
    ways = sorted(_factorisations(value, constants))
    if not ways:
        known = [c for c in constants if c < value]
        return {c: (exact(Fraction(value) / c),) for c in (1, *known, value)}
    found: dict[Coefficient, set[Coefficient]] = {}
    least = ways[0][0]
    repeats = range(1, least + 1) if least <= MOST_REPEATS else (1, least)
    for whole, chosen in ways:
        if whole != least:
            break
        for kept in range(1 << len(chosen)):
            inside = prod((k for i, k in enumerate(chosen) if kept >> i & 1), start=Fraction(1))
            missing = exact(Fraction(prod(chosen)) / inside)
            for repeat in repeats:
                found.setdefault(exact(inside * repeat), set()).add(missing)
    return {c: tuple(sorted(missing)) for c, missing in found.items()}
