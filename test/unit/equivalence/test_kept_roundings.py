"""Which roundings have to stay as a program has them."""

import pytest
from bodies import programs

from mirage_mlir.equivalence.kept_roundings import kept_roundings

HALVES = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%l = sub %0, %b : {0} {0} -> {0}
%r = exp %l : {0} -> {0}
"""

COMPENSATED = """
%h = add %1, %2 : {0}:f16 {0}:f16 -> {0}:f16
%n = add %0, %h : {0}:f16 {0}:f16 -> {0}:f16
%d = sub %0, %n : {0}:f16 {0}:f16 -> {0}:f16
%r = add %h, %d : {0}:f16 {0}:f16 -> {0}:f16
"""

NORM = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%n = rms_norm %b {{eps = 1.0e-05 : f32}} : {0} -> {0}
%r = add %0, %n : {0} {0} -> {0}
"""


CARRIED = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%s = add %0, %1 : {0} {0} -> {0}
%r = sub %s, %b : {0} {0} -> {0}
"""

THIRDS = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%l = sub %0, %b : {0} {0} -> {0}
%m = cast %l : {0} -> {0}:bf16
%c = cast %m : {0}:bf16 -> {0}
%r = sub %l, %c : {0} {0} -> {0}
"""

QUOTIENT = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%r = div %0, %b : {0} {0} -> {0}
"""

MORE_THAN_ONE = """
%h = cast %0 : {0} -> {0}:bf16
%b = cast %h : {0}:bf16 -> {0}
%o = constant {{value = 1.0 : f32}} : 1x1
%s = add %0, %o : {0} 1x1 -> {0}
%r = sub %s, %b : {0} {0} -> {0}
"""


def kept(shape: str, inputs: str, result: str, body: str) -> set[str | None]:
    """The names of the operators."""
    (function,) = programs(inputs.format(shape), result.format(shape), body.format(shape))
    return {op.results[0].name_hint for op in kept_roundings(function)}


@pytest.mark.parametrize("shape", ["8x16", "4096x4096"])
def test_what_is_kept(shape: str) -> None:
    assert kept(shape, "{0}", "{0}", HALVES) == {"h", "l"}
    three = "{0}:f16 {0}:f16 {0}:f16"
    assert kept(shape, three, "{0}:f16", COMPENSATED) == {"h", "n", "d", "r"}
    assert kept(shape, "{0}", "{0}", NORM) == set()
    # Small beside what is added to it, if that is normal; what is left of what is left.
    assert kept(shape, "{0} {0}", "{0}", CARRIED) == {"h", "r"}
    assert kept(shape, "{0}", "{0}", MORE_THAN_ONE) == {"h", "r"}
    assert kept(shape, "{0}", "{0}", THIRDS) == {"h", "l", "m", "r"}
    # One, but for rounding.
    assert kept(shape, "{0}", "{0}", QUOTIENT) == {"h", "r"}


def test_too_large_to_be_run() -> None:
    """Casts of what is read otherwise, too, are kept."""
    total = """
    %t = reduce_sum %0 {{dims = array<i64: 0, 1>}} : {0} -> 1x1
    %h = cast %0 : {0} -> {0}:bf16
    %b = cast %h : {0}:bf16 -> {0}
    %r = add %b, %t : {0} 1x1 -> {0}
    """
    assert kept("512x512", "{0}", "{0}", total) == set()
    assert kept("16384x16384", "{0}", "{0}", total) == {"h"}
