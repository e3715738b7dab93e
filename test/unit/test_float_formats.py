"""Rounding to the formats of the table, against a search among all their numbers."""

import math
from bisect import bisect_left
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.float_formats import FORMATS, FloatFormat
from mirage_mlir.interpreters.float_domain import round_to, round_to_format
from mirage_mlir.interpreters.function import run_function

NARROW = [FORMATS["f8E4M3FN"], FORMATS["f8E5M2"]]

OTHERS = {"f16": np.finfo(np.float16), "f32": np.finfo(np.float32)}


@cache
def numbers(row: FloatFormat) -> tuple[Fraction, ...]:
    """All finite numbers of an 8-bit format that are not negative, by their bits, in order."""
    bias = 1 - row.least_exponent
    found: list[Fraction] = []
    for code in range(128):
        exponent, mantissa = divmod(code, 1 << row.mantissa_bits)
        leading = 0 if exponent == 0 else 1
        part = leading + Fraction(mantissa, 1 << row.mantissa_bits)
        found.append(part * Fraction(2) ** (max(exponent, 1) - bias))
    return tuple(number for number in found if number <= row.largest)


def nearest(x: float, row: FloatFormat) -> float:
    """By a search; of two that are as near that with an even code. None is beyond the largest."""
    known = [*numbers(row)]
    # The number that would come next decides, with the largest, what is out of range.
    known.append(2 * known[-1] - known[-2])
    above = bisect_left(known, abs(x))
    beside = range(max(0, above - 1), min(above + 1, len(known)))
    code = min(beside, key=lambda i: (abs(known[i] - abs(Fraction(x))), i % 2))
    if code == len(known) - 1:
        return math.copysign(math.inf, x) if row.has_infinity else math.nan
    return math.copysign(float(known[code]), x)


@pytest.mark.parametrize("row", NARROW, ids=lambda row: row.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounds_to_the_nearest(row: FloatFormat, dtype: type[np.floating]) -> None:
    exact = [float(number) for number in numbers(row)]
    halves = [(a + b) / 2 for a, b in pairwise(exact)]
    last = row.largest + (exact[-1] - exact[-2]) / 2
    random = np.exp(np.random.default_rng(0).uniform(-15, 12, 500)).astype(np.float32).tolist()
    near = [*halves, *(np.nextafter(np.float32(half), np.float32(0)) for half in halves)]
    tried = [float(x) for x in [*exact, *near, last, np.nextafter(np.float32(last), 0), *random]]
    values = np.array([*tried, *(-x for x in tried)], dtype)
    wanted = [nearest(float(x), row) for x in values]
    np.testing.assert_array_equal(round_to_format(values, row), np.array(wanted, dtype))


@pytest.mark.parametrize("row", NARROW, ids=lambda row: row.name)
def test_rows_of_eight_bits(row: FloatFormat) -> None:
    assert max(numbers(row)) == row.largest
    assert row.bytes == 1
    beyond = round_to_format(np.array([np.inf, -np.inf, np.nan], np.float32), row)
    expected = [np.inf, -np.inf, np.nan] if row.has_infinity else [np.nan] * 3
    np.testing.assert_array_equal(beyond, np.array(expected, np.float32))


@pytest.mark.parametrize("name", OTHERS)
def test_rows_of_numpy(name: str) -> None:
    row, info = FORMATS[name], OTHERS[name]
    assert (row.bits, row.mantissa_bits, row.least_exponent) == (info.bits, info.nmant, info.minexp)
    assert row.largest == float(info.max)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_the_rule_is_that_of_wider_formats(name: str) -> None:
    x = np.exp(np.random.default_rng(1).uniform(-20, 11, 2000)).astype(np.float32)
    wanted = round_to(x, "f16" if name == "f16" else "bf16")
    np.testing.assert_array_equal(round_to_format(x, FORMATS[name]), wanted)


def test_a_cast_rounds() -> None:
    program = parse_program(
        """
        func.func @f(%x: tensor<6xf32>) -> (tensor<6xf8E4M3FN>, tensor<6xf16>) {
          %y = kernel.cast %x : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
          %z = kernel.cast %y : (tensor<6xf8E4M3FN>) -> tensor<6xf16>
          func.return %y, %z : tensor<6xf8E4M3FN>, tensor<6xf16>
        }
        """,
        "cast.mlir",
    )
    x = np.array([1.0, 1.0624, 1.0625, 1.1876, -300.0, 0.001], np.float32)
    for result in run_function(functions(program)[0], [x]):
        np.testing.assert_array_equal(result, [1, 1, 1, 1.25, -288, 2.0**-9])
    exact = run_function(functions(program)[0], [x], rounding=False)[1]
    np.testing.assert_array_equal(exact, x.astype(np.float64))
