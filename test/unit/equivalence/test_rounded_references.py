"""The floating-point gate of programs that are made of what rounding takes away."""

import pytest
from gate_losses import loss

ROUNDED = """
%h = cast %0 : 16x64 -> 16x64:bf16
%b = cast %h : 16x64:bf16 -> 16x64
"""

LEFT = {
    "negated": "%n = neg %b : 16x64 -> 16x64\n%r = add %0, %n : 16x64 16x64 -> 16x64",
    "squares": """
    %p = mul %0, %0 : 16x64 16x64 -> 16x64
    %q = mul %0, %b : 16x64 16x64 -> 16x64
    %r = sub %p, %q : 16x64 16x64 -> 16x64
    """,
    "logarithm": "%q = div %0, %b : 16x64 16x64 -> 16x64\n%r = log %q : 16x64 -> 16x64",
    "functions": """
    %e = exp %0 : 16x64 -> 16x64
    %f = exp %b : 16x64 -> 16x64
    %r = sub %e, %f : 16x64 16x64 -> 16x64
    """,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_rounding_takes_away(name: str) -> None:
    """It is 0, if numbers were real; and not to be left out."""
    program = ROUNDED + LEFT[name]
    nothing = "%r = sub %0, %0 : 16x64 16x64 -> 16x64"
    for kind in ("normal", "tiny", "far"):
        assert loss(kind, "16x64 16x64", "16x64", program, program).acceptable
    assert not loss("normal", "16x64 16x64", "16x64", program, nothing).acceptable


def test_small_beside_the_rest() -> None:
    """Half of a result, and an error beside what it is added to."""
    zero = "%l = sub %0, %0 : 16x64 16x64 -> 16x64"
    both = "%r = concat %0, %l {dim = 1 : i64} : 16x64 16x64 -> 16x128"
    left = ROUNDED + "%l = sub %0, %b : 16x64 16x64 -> 16x64\n"
    assert loss("normal", "16x64", "16x128", left + both, left + both).acceptable
    assert not loss("normal", "16x64", "16x128", left + both, f"{zero}\n{both}").acceptable
    added = "%s = add %0, %1 : 16x64 16x64 -> 16x64\n%r = sub %s, %{x} : 16x64 16x64 -> 16x64"
    carried, only = ROUNDED + added.format(x="b"), added.format(x="0")
    assert loss("normal", "16x64 16x64", "16x64", carried, carried).acceptable
    assert not loss("normal", "16x64 16x64", "16x64", carried, only).acceptable


def test_a_compensated_sum() -> None:
    """What it carries on is exact: no luck decides about it."""
    program = """
    %s = add %1, %2 : 16x64:bf16 16x64:bf16 -> 16x64:bf16
    %n = add %0, %s : 16x64:bf16 16x64:bf16 -> 16x64:bf16
    %d = sub %0, %n : 16x64:bf16 16x64:bf16 -> 16x64:bf16
    %r = add %s, %d : 16x64:bf16 16x64:bf16 -> 16x64:bf16
    """
    nothing = "%r = sub %0, %0 : 16x64:bf16 16x64:bf16 -> 16x64:bf16"
    inputs = "16x64:bf16 16x64:bf16 16x64:bf16"
    assert loss("normal", inputs, "16x64:bf16", program, program).acceptable
    assert not loss("normal", inputs, "16x64:bf16", program, nothing).acceptable


def test_ties_that_are_rounded_the_other_way() -> None:
    """A quotient, or a product with an inverse: few values are rounded to another neighbour."""
    body = """
    %a = abs %0 : 64x128 -> 64x128
    %m = reduce_max %a {dims = array<i64: 0>} : 64x128 -> 1x128
    {quotient}
    %h = cast %q : 64x128 -> 64x128:bf16
    %b = cast %h : 64x128:bf16 -> 64x128
    %x = matmul %q, %1 : 64x128 128x16 -> 64x16
    %y = matmul %b, %1 : 64x128 128x16 -> 64x16
    %r = sub %x, %y : 64x16 64x16 -> 64x16
    """
    quotient = "%q = div %0, %m : 64x128 1x128 -> 64x128"
    inverse = """
    %s = square %m : 1x128 -> 1x128
    %i = rsqrt %s : 1x128 -> 1x128
    %q = mul %0, %i : 64x128 1x128 -> 64x128
    """
    programs = [body.replace("{quotient}", each) for each in (quotient, inverse)]
    for kind in ("normal", "tiny", "far"):
        assert loss(kind, "64x128 128x16", "64x16", *programs).acceptable


def test_what_no_tie_decides() -> None:
    """A product of a residual has all digits, and a difference of products has not."""
    left = ROUNDED + "%l = sub %0, %b : 16x64 16x64 -> 16x64\n"
    product = left + "%r = mul %l, %1 : 16x64 16x64 -> 16x64"
    difference = (
        ROUNDED
        + """
    %p = mul %0, %1 : 16x64 16x64 -> 16x64
    %q = mul %b, %1 : 16x64 16x64 -> 16x64
    %r = sub %p, %q : 16x64 16x64 -> 16x64
    """
    )
    assert loss("normal", "16x64 16x64", "16x64", product, product).acceptable
    assert not loss("normal", "16x64 16x64", "16x64", product, difference).acceptable


def test_more_precise_than_the_program() -> None:
    """A cast that says nothing may be left out, also where it is coarse."""
    mean = """
    %m = reduce_mean %{x} {{dims = array<i64: 1>}} : 16x64 -> 16x1
    %r = sub %{x}, %m : 16x64 16x1 -> 16x64
    """
    program, candidate = ROUNDED + mean.format(x="b"), mean.format(x="0")
    for kind in ("normal", "far"):
        assert loss(kind, "16x64 16x64", "16x64", program, candidate).acceptable
