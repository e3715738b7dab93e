"""Data of zero, and as large and as small as programs bear: divided before it is raised."""

from __future__ import annotations

import pytest
from bodies import compare, programs
from gate_losses import loss

from mirage_mlir.equivalence import Verdict
from mirage_mlir.equivalence.float_inputs import kinds_of

SIZE = """
%q = square %0 : 8x32 -> 8x32
%m = reduce_mean %q {dims = array<i64: 1>} : 8x32 -> 8x1
%t = sqrt %m : 8x1 -> 8x1
%c = constant {value = 1.0e-12 : f32} : 1x1
%s = max %t, %c : 8x1 1x1 -> 8x1
"""
KURTOSIS = (
    SIZE
    + """
%n = div %0, %s : 8x32 8x1 -> 8x32
%p = square %n : 8x32 -> 8x32
%f = square %p : 8x32 -> 8x32
%r = reduce_mean %f {dims = array<i64: 1>} : 8x32 -> 8x1
"""
)
RAISED_FIRST = (
    SIZE
    + """
%p = square %q : 8x32 -> 8x32
%f = reduce_mean %p {dims = array<i64: 1>} : 8x32 -> 8x1
%u = square %s : 8x1 -> 8x1
%v = square %u : 8x1 -> 8x1
%r = div %f, %v : 8x1 8x1 -> 8x1
"""
)
DIVIDED_TWICE = (
    SIZE
    + """
%u = square %s : 8x1 -> 8x1
%n = div %q, %u : 8x32 8x1 -> 8x32
%f = square %n : 8x32 -> 8x32
%r = reduce_mean %f {dims = array<i64: 1>} : 8x32 -> 8x1
"""
)

LARGEST = """
%a = abs %0 : 8x32 -> 8x32
%l = reduce_max %a {dims = array<i64: 1>} : 8x32 -> 8x1
%c = constant {value = 1.0e-37 : f32} : 1x1
%s = max %l, %c : 8x1 1x1 -> 8x1
"""
SAFE = (
    LARGEST
    + """
%n = div %0, %s : 8x32 8x1 -> 8x32
%q = square %n : 8x32 -> 8x32
%m = reduce_sum %q {dims = array<i64: 1>} : 8x32 -> 8x1
%t = sqrt %m : 8x1 -> 8x1
%r = mul %t, %s : 8x1 8x1 -> 8x1
"""
)
UNSAFE = """
%q = square %0 : 8x32 -> 8x32
%m = reduce_sum %q {dims = array<i64: 1>} : 8x32 -> 8x1
%r = sqrt %m : 8x1 -> 8x1
"""

RANGE = """
%l = reduce_max %0 {dims = array<i64: 1>} : 8x32 -> 8x1
%n = neg %0 : 8x32 -> 8x32
%k = reduce_max %n {dims = array<i64: 1>} : 8x32 -> 8x1
%s = neg %k : 8x1 -> 8x1
%c = constant {value = 1.0e-08 : f32} : 1x1
"""
GUARDED_LAST = (
    RANGE
    + """
%d = sub %l, %s : 8x1 8x1 -> 8x1
%g = add %d, %c : 8x1 1x1 -> 8x1
%f = sub %0, %s : 8x32 8x1 -> 8x32
%r = div %f, %g : 8x32 8x1 -> 8x32
"""
)
GUARDED_FIRST = (
    RANGE
    + """
%d = add %l, %c : 8x1 1x1 -> 8x1
%g = sub %d, %s : 8x1 8x1 -> 8x1
%f = sub %0, %s : 8x32 8x1 -> 8x32
%r = div %f, %g : 8x32 8x1 -> 8x32
"""
)
PARTS_OF_LARGEST = """
%l = reduce_max %0 {dims = array<i64: 1>} : 4x41 -> 4x1
%d = div %0, %l : 4x41 4x1 -> 4x41
%s = scale %d {factor = 2.55e+02 : f32} : 4x41 -> 4x41
%r = floor %s : 4x41 -> 4x41
"""
SCALED_FIRST = """
%l = reduce_max %0 {dims = array<i64: 1>} : 4x41 -> 4x1
%s = scale %0 {factor = 2.55e+02 : f32} : 4x41 -> 4x41
%d = div %s, %l : 4x41 4x1 -> 4x41
%r = floor %d : 4x41 -> 4x41
"""


def test_guards_of_differences() -> None:
    """Of rows of equal elements a guard is all of the divisor, unless their size absorbs it."""
    assert not loss("equal", "8x32", "8x32", GUARDED_LAST, GUARDED_FIRST).acceptable
    assert loss("equal", "8x32", "8x32", GUARDED_LAST, GUARDED_LAST).acceptable
    assert loss("normal", "8x32", "8x32", GUARDED_LAST, GUARDED_FIRST).acceptable
    assert compare("8x32", "8x32", GUARDED_LAST, GUARDED_FIRST).verdict is Verdict.INACCURATE


def test_floors_of_parts_of_the_largest() -> None:
    """The largest is 255 whole parts of itself, if it is divided first; one draw may not tell."""
    assert compare("4x41", "4x41", PARTS_OF_LARGEST, SCALED_FIRST).verdict is Verdict.INACCURATE
    assert compare("4x41", "4x41", PARTS_OF_LARGEST, PARTS_OF_LARGEST).verdict is Verdict.EQUAL


@pytest.mark.parametrize("step", ["floor", "round"])
def test_steps_of_products_with_inverse_roots(step: str) -> None:
    """Of 41 over the root of 1681 they are 1 where that is divided by."""
    root = "%a = abs %1 : 4x16 -> 4x16\n"
    divided = "%s = sqrt %a : 4x16 -> 4x16\n%q = div %0, %s : 4x16 4x16 -> 4x16\n"
    multiplied = "%s = rsqrt %a : 4x16 -> 4x16\n%q = mul %0, %s : 4x16 4x16 -> 4x16\n"
    result = f"%r = {step} %q : 4x16 -> 4x16"
    bodies = [root + each + result for each in (divided, multiplied)]
    assert compare("4x16 4x16", "4x16", *bodies).verdict is Verdict.INACCURATE
    assert compare("4x16 4x16", "4x16", bodies[1], bodies[1]).verdict is Verdict.EQUAL


@pytest.mark.parametrize("kind", ["zero", "large", "small"])
def test_powers_of_what_is_divided(kind: str) -> None:
    """Fourth powers of a guard of 1e-12 are zero in f32, and those of 2e10 infinite."""
    assert not loss(kind, "8x32", "8x1", KURTOSIS, RAISED_FIRST).acceptable
    assert loss("normal", "8x32", "8x1", KURTOSIS, RAISED_FIRST).acceptable
    assert loss(kind, "8x32", "8x1", KURTOSIS, KURTOSIS).acceptable


@pytest.mark.parametrize("kind", ["large", "small"])
def test_squares_of_what_is_divided(kind: str) -> None:
    """2e10 is not so large that its square is."""
    assert loss(kind, "8x32", "8x1", KURTOSIS, DIVIDED_TWICE).acceptable


@pytest.mark.parametrize("kind", ["large", "small"])
def test_sums_of_squares_without_overflow(kind: str) -> None:
    """A program that divides by the largest bears 2^100; without that its squares overflow."""
    assert not loss(kind, "8x32", "8x1", SAFE, UNSAFE).acceptable
    assert loss(kind, "8x32", "8x1", UNSAFE, SAFE).acceptable


def test_weights_stay_as_they_are() -> None:
    """Data, gain and weights of 2e10 each would be too much for any order of a norm's factors."""
    norm = """
%q = square %0 : 8x32 -> 8x32
%m = reduce_mean %q {dims = array<i64: 1>} : 8x32 -> 8x1
%i = rsqrt %m : 8x1 -> 8x1
"""
    gained = "%n = mul %0, %i : 8x32 8x1 -> 8x32\n%g = mul %n, %1 : 8x32 1x32 -> 8x32\n"
    first = norm + gained + "%r = matmul %g, %2 : 8x32 32x16 -> 8x16"
    other = norm + (
        "%g = mul %0, %1 : 8x32 1x32 -> 8x32\n%p = matmul %g, %2 : 8x32 32x16 -> 8x16\n"
        "%r = mul %p, %i : 8x16 8x1 -> 8x16"
    )
    for kind in ("large", "small"):
        assert loss(kind, "8x32 1x32 32x16", "8x16", first, other).acceptable


def test_all_of_it() -> None:
    report = compare("8x32", "8x1", KURTOSIS, RAISED_FIRST)
    assert report.verdict is Verdict.INACCURATE


def test_scores_are_not_made_as_large() -> None:
    """Rounding decides then which of them is all of a softmax."""
    softmax = "%r = softmax %0 {dim = 1 : i64} : 8x32 -> 8x32"
    (program,) = programs("8x32", "8x32", softmax)
    names = [kind.name for kind in kinds_of(program, exponentials=True)]
    assert "inputs as large as the program bears" not in names
    assert "inputs as small as the program bears" in names
