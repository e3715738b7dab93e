"""Floors and comparisons of indices: what rounding makes of them, for all indices."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.equivalence.steps import changed_step
from mirage_mlir.passes.superoptimize import candidates


def function(body: str, size: int, given: str = "") -> FuncOp:
    """A function of that many f32, `%i` its indices and `%r` its result."""
    kind = f"tensor<{size}xf32>"
    text = f"""
func.func @f({given}) -> {kind} {{
  %i = kernel.iota {{dim = 0 : i64}} : {kind}
  {body.replace("T", kind)}
  func.return %r : {kind}
}}"""
    (found,) = functions(parse_program(text, "steps"))
    return found


def scaled_floor(size: int, divisor: int) -> FuncOp:
    """`floor(i * (1/divisor))`."""
    return function(
        f"%s = kernel.scale %i {{factor = {1 / divisor!r} : f32}} : (T) -> T\n"
        "%r = kernel.floor %s : (T) -> T",
        size,
    )


def divided_floor(size: int, divisor: int) -> FuncOp:
    """`floor(i / divisor)`."""
    return function(
        f"%c = kernel.constant {{value = {divisor}.0 : f32}} : T\n"
        "%s = kernel.div %i, %c : (T, T) -> T\n"
        "%r = kernel.floor %s : (T) -> T",
        size,
    )


@given(st.integers(1, 4000), st.integers(1, 300))
def test_as_numpy_rounds(size: int, divisor: int) -> None:
    """A product with the reciprocal that f32 has, and a quotient."""
    indices = np.arange(size, dtype=np.float32)
    product = np.floor(indices * np.float32(1 / divisor))
    right = [Fraction(index, divisor).__floor__() for index in range(size)]
    divided = divided_floor(size, divisor)
    found = changed_step(divided, scaled_floor(size, divisor))
    assert (found is None) == np.array_equal(product, right)
    assert changed_step(scaled_floor(size, 3), divided) is None


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        # 41 times 0.0243902 is below 1.
        ("%s = kernel.scale %i {factor = 0.024390243 : f32} : (T) -> T\n"
         "%one = kernel.constant {value = 1.0 : f32} : T\n"
         '%r = kernel.compare %s, %one {predicate = "lt"} : (T, T) -> T', True),
        # A tenth is between two places.
        ("%t = kernel.constant {value = 0.1 : f32} : T\n"
         '%r = kernel.compare %i, %t {predicate = "lt"} : (T, T) -> T', False),
        ("%s = kernel.scale %i {factor = 0.125 : f32} : (T) -> T\n"
         "%r = kernel.ceil %s : (T) -> T", False),
    ],
)  # fmt: skip
def test_steps(body: str, wrong: bool) -> None:
    found = changed_step(divided_floor(256, 41), function(body, 256))
    assert (found is not None) == wrong


def test_what_data_decides_is_left_to_the_gate() -> None:
    body = """%s = kernel.scale %x {factor = 0.024390243 : f32} : (T) -> T
  %r = kernel.floor %s : (T) -> T"""
    assert changed_step(divided_floor(64, 41), function(body, 64, "%x: tensor<64xf32>")) is None


def test_what_the_program_says_itself_is_not_the_candidates_fault() -> None:
    program = scaled_floor(64, 41)
    assert changed_step(program, program.clone()) is None


def test_the_verdict() -> None:
    report = check_equivalence(divided_floor(64, 41), scaled_floor(64, 41))
    assert report.verdict is Verdict.INACCURATE
    assert "'kernel.floor' of indices is 0 in f32 where it should be 1" in str(report)


@pytest.mark.parametrize("divisor", [41, 47, 55, 82])
def test_candidates_divide(divisor: int) -> None:
    """The search knows 1/41 as a number; what is written is rounded once."""
    program = function(
        f"%c = kernel.constant {{value = {divisor}.0 : f32}} : T\n"
        "%s = kernel.div %i, %c : (T, T) -> T\n"
        "%f = kernel.floor %s : (T) -> T\n"
        "%r = kernel.mul %x, %f : (T, T) -> T",
        256,
        "%x: tensor<256xf32>",
    )
    for candidate in candidates(program):
        assert changed_step(divided_floor(256, divisor), candidate.function) is None
        assert "threadblock.div" in str(candidate.function)


@given(st.integers(2, 40), st.integers(1, 200))
def test_comparisons_as_numpy_rounds(divisor: int, bound: int) -> None:
    """A part of an index against a number with the same denominator."""
    limit = bound / divisor
    body = f"""%s = kernel.scale %i {{factor = {1 / divisor!r} : f32}} : (T) -> T
  %t = kernel.constant {{value = {limit!r} : f32}} : T
  %r = kernel.compare %s, %t {{predicate = "le"}} : (T, T) -> T"""
    indices = np.arange(256, dtype=np.float32)
    rounded = indices * np.float32(1 / divisor) <= np.float32(limit)
    found = changed_step(divided_floor(256, 41), function(body, 256))
    assert (found is None) == np.array_equal(rounded, np.arange(256) <= bound)


def test_masks_of_infinity() -> None:
    """A softmax's mask has minus infinity where an index is too large, which no step reads."""
    body = """%c = kernel.constant {value = 7.0 : f32} : T
  %n = kernel.constant {value = 0xFF800000 : f32} : T
  %m = kernel.compare %i, %c {predicate = "lt"} : (T, T) -> T
  %r = kernel.select %m, %x, %n : (T, T, T) -> T"""
    assert changed_step(divided_floor(64, 41), function(body, 64, "%x: tensor<64xf32>")) is None


def test_fractions_with_too_many_digits_are_left_to_the_gate() -> None:
    """Denominators beyond 64 bits: 1e-9 three times."""
    scales = "\n".join(
        f"%s{n + 1} = kernel.scale %s{n} {{factor = 1.0e-09 : f32}} : (T) -> T" for n in range(3)
    )
    body = f"%s0 = kernel.neg %i : (T) -> T\n{scales}\n%r = kernel.floor %s3 : (T) -> T"
    assert changed_step(divided_floor(64, 41), function(body, 64)) is None


def pair(size: int, reference: str, candidate: str) -> str | None:
    """What is changed of a function of `i`, of a row, and of `j`, of a column."""
    kind = f"tensor<{size}x{size}xf32>"

    def made(body: str) -> FuncOp:
        text = f"""
func.func @f(%x: {kind}) -> {kind} {{
  %i = kernel.iota {{dim = 0 : i64}} : {kind}
  %j = kernel.transpose %i {{permutation = array<i64: 1, 0>}} : ({kind}) -> {kind}
  %one = kernel.constant {{value = 1.0 : f32}} : {kind}
  %k = kernel.add %j, %one : ({kind}, {kind}) -> {kind}
  %c41 = kernel.constant {{value = 41.0 : f32}} : {kind}
  %c47 = kernel.constant {{value = 47.0 : f32}} : {kind}
  {body.replace("T", kind)}
  func.return %r : {kind}
}}"""
        (found,) = functions(parse_program(text, "steps"))
        return found

    return changed_step(made(reference), made(candidate))


DIVIDED = """%q = kernel.div %d, %c41 : (T, T) -> T
  %r = kernel.floor %q : (T) -> T"""

SCALED = """%q = kernel.scale %d {factor = 0.024390243 : f32} : (T) -> T
  %r = kernel.floor %q : (T) -> T"""


def test_indices_and_their_transpose() -> None:
    """They are no one variable: their difference is not always 0."""
    difference = "%d = kernel.sub %i, %j : (T, T) -> T\n  "
    found = pair(256, difference + DIVIDED, difference + SCALED)
    assert found == "'kernel.floor' of indices is 0 in f32 where it should be 1"
    assert pair(40, difference + DIVIDED, difference + SCALED) is None
    assert pair(256, difference + DIVIDED, difference + DIVIDED) is None


def test_quotients_of_two_indices() -> None:
    """`floor(i / (j + 1))`, and with the inverse of `j + 1`."""
    divided = "%q = kernel.div %i, %k : (T, T) -> T\n  %r = kernel.floor %q : (T) -> T"
    inverse = """%n = kernel.div %one, %k : (T, T) -> T
  %q = kernel.mul %i, %n : (T, T) -> T
  %r = kernel.floor %q : (T) -> T"""
    assert pair(40, divided, inverse) is None
    assert pair(64, divided, inverse) == (
        "'kernel.floor' of indices is 0 in f32 where it should be 1"
    )
    assert pair(64, divided, divided) is None
    # Too many pairs to compute.
    assert pair(4096, divided, divided) is None
    assert pair(4096, divided, inverse) == (
        "'kernel.floor' is taken of a product with a quotient, which the reference does not have"
    )


def test_one_step_does_not_excuse_another() -> None:
    first = "%d = kernel.add %i, %one : (T, T) -> T\n  " + SCALED.replace("%r", "%first")
    second = """%p = kernel.div %j, %c47 : (T, T) -> T
  %second = kernel.floor %p : (T) -> T
  %r = kernel.add %first, %second : (T, T) -> T"""
    other = second.replace(
        "kernel.div %j, %c47 : (T, T)", "kernel.scale %j {factor = 0.021276595 : f32} : (T)"
    )
    assert pair(96, f"{first}\n  {second}", f"{first}\n  {second}") is None
    inexact = bool(np.any(np.arange(96, dtype=np.float32) * np.float32(1 / 47) % 1 > 0.999))
    assert (pair(96, f"{first}\n  {second}", f"{first}\n  {other}") is not None) == inexact


def test_factors_of_sums() -> None:
    """Of what is summed, as `floor(cumsum(1) / 41)`; a factor of the reference may stay."""
    summed = "%d = kernel.cumsum %x {dim = 1 : i64} : (T) -> T\n  "
    assert pair(64, summed + DIVIDED, summed + DIVIDED) is None
    assert pair(64, summed + SCALED, summed + SCALED) is None
    assert pair(64, summed + DIVIDED, summed + SCALED) == (
        "'kernel.floor' is taken of a product with 1/41, which the reference does not have"
    )


def test_what_is_no_whole_number_may_be_scaled() -> None:
    """Behind an exponential no digit counts."""
    smooth = "%d = kernel.exp %x : (T) -> T\n  "
    assert pair(64, smooth + DIVIDED, smooth + SCALED) is None


FLOOR = "\n  %r = kernel.floor %q : (T) -> T"

TENTH = "%q = kernel.scale %x {factor = 0.1 : f32} : (T) -> T" + FLOOR

INVERSE = "%n = kernel.div %one, %k : (T, T) -> T\n  "


@pytest.mark.parametrize(
    "candidate",
    [
        # 1 - 0.9
        """%c = kernel.constant {value = 0.9 : f32} : T
  %d = kernel.sub %one, %c : (T, T) -> T
  %q = kernel.mul %x, %d : (T, T) -> T""",
        """%d = kernel.scale %x {factor = -0.1 : f32} : (T) -> T
  %q = kernel.neg %d : (T) -> T""",
        """%d = kernel.scale %x {factor = 0.05 : f32} : (T) -> T
  %q = kernel.scale %d {factor = 2.0 : f32} : (T) -> T""",
    ],
)
def test_factors_alike(candidate: str) -> None:
    """But for the sign, powers of two, and constants that are computed."""
    assert pair(8, TENTH, candidate + FLOOR) is None
    assert pair(8, candidate + FLOOR, TENTH) is None


def test_quotients_by_powers_of_two() -> None:
    whole = """%c = kernel.constant {value = 4.0 : f32} : T
  %d = kernel.div %k, %c : (T, T) -> T
  %q = kernel.mul %x, %d : (T, T) -> T"""
    other = """%c = kernel.constant {value = 4.0 : f32} : T
  %d = kernel.mul %x, %k : (T, T) -> T
  %q = kernel.div %d, %c : (T, T) -> T"""
    assert pair(8, other + FLOOR, whole + FLOOR) is None


def test_inverses_with_a_sign() -> None:
    divided = "%q = kernel.div %x, %k : (T, T) -> T"
    negative = """%m = kernel.neg %n : (T) -> T
  %p = kernel.neg %x : (T) -> T
  %q = kernel.mul %m, %p : (T, T) -> T"""
    assert pair(8, divided + FLOOR, INVERSE + negative + FLOOR) is not None


def test_terms_that_are_divided() -> None:
    """`floor(sum(x) / 41)`, and of `x / 41`: 41 terms of which each is rounded."""
    whole = "%d = kernel.cumsum %x {dim = 1 : i64} : (T) -> T\n  " + DIVIDED
    terms = (
        """%d = kernel.div %x, %c41 : (T, T) -> T
  %q = kernel.cumsum %d {dim = 1 : i64} : (T) -> T"""
        + FLOOR
    )
    assert pair(64, whole, terms) is not None
    assert pair(64, terms, terms) is None
