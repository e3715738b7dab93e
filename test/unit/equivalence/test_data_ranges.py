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
