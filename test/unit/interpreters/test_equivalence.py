"""What is accepted, what is rejected, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from graph_mutants import mutants
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import EquivalenceReport, Verdict, Verifier, check_equivalence

Parse = Callable[[str], list[FuncOp]]

UGRAPHS = Path(__file__).parents[2] / "ugraphs"

HEADER = "func.func @{name}({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}\n"


def programs(parse: Parse, inputs: str, output: str, *bodies: str) -> list[FuncOp]:
    """
    Functions of arguments %0, %1, ... that return %r.

    A line of a body is an operator of the kernel dialect with its types as shapes:
    `%s = add %0, %1 : 4x8 1x8 -> 4x8`.
    """
    shapes = inputs.split()
    arguments = ", ".join(f"%{i}: {tensor(shape)}" for i, shape in enumerate(shapes))
    text = ""
    for number, body in enumerate(bodies):
        lines = "\n".join(map(operator, body.strip().splitlines()))
        text += HEADER.format(
            name=f"f{number}", arguments=arguments, result=tensor(output), body=lines
        )
    return parse(text)


def tensor(shape: str) -> str:
    shape, _, element_type = shape.partition(":")
    return f"tensor<{shape}x{element_type or 'f32'}>"


def operator(line: str) -> str:
    head, _, types = line.strip().rpartition(" : ")
    operands, arrow, result = types.rpartition("-> ")
    name, _, rest = head.partition(" = ")
    head = f"{name} = kernel.{rest}"
    if not arrow:
        return f"{head} : {tensor(result)}"
    return f"{head} : ({', '.join(map(tensor, operands.split()))}) -> {tensor(result)}"


def compare(parse: Parse, inputs: str, output: str, *bodies: str) -> EquivalenceReport:
    reference, candidate = programs(parse, inputs, output, *bodies)
    return check_equivalence(reference, candidate)


EQUAL: dict[str, tuple[str, str, str, str]] = {
    "silu is x times sigmoid": (
        "4x8",
        "4x8",
        "%r = silu %0 : 4x8 -> 4x8",
        "%s = sigmoid %0 : 4x8 -> 4x8\n%r = mul %s, %0 : 4x8 4x8 -> 4x8",
    ),
    "a quotient of quotients": (
        "4x8 4x8 4x8",
        "4x8",
        "%p = mul %1, %2 : 4x8 4x8 -> 4x8\n%r = div %0, %p : 4x8 4x8 -> 4x8",
        "%p = div %0, %1 : 4x8 4x8 -> 4x8\n%r = div %p, %2 : 4x8 4x8 -> 4x8",
    ),
    "division undone": (
        "4x8 4x8",
        "4x8",
        "%r = scale %0 {factor = 1.0 : f32} : 4x8 -> 4x8",
        "%p = div %0, %1 : 4x8 4x8 -> 4x8\n%r = mul %p, %1 : 4x8 4x8 -> 4x8",
    ),
    "the square of a square root": (
        "2x2",
        "2x2",
        "%r = exp %0 : 2x2 -> 2x2",
        "%e = exp %0 : 2x2 -> 2x2\n%p = sqrt %e : 2x2 -> 2x2\n%r = square %p : 2x2 -> 2x2",
    ),
    "the square root of a product": (
        "2x1 2x1",
        "2x1",
        "%p = exp %0 : 2x1 -> 2x1\n%s = mul %p, %1 : 2x1 2x1 -> 2x1\n%r = sqrt %s : 2x1 -> 2x1",
        "%p = exp %0 : 2x1 -> 2x1\n%s = sqrt %p : 2x1 -> 2x1\n%t = sqrt %1 : 2x1 -> 2x1\n"
        "%r = mul %s, %t : 2x1 2x1 -> 2x1",
    ),
    "rsqrt is one over sqrt": (
        "4x8 4x8",
        "4x8",
        "%s = rsqrt %1 : 4x8 -> 4x8\n%r = mul %0, %s : 4x8 4x8 -> 4x8",
        "%s = sqrt %1 : 4x8 -> 4x8\n%r = div %0, %s : 4x8 4x8 -> 4x8",
    ),
    "an integer power is a product": (
        "4x8",
        "4x8",
        "%r = pow %0 {exponent = 3.0 : f32} : 4x8 -> 4x8",
        "%s = square %0 : 4x8 -> 4x8\n%r = mul %s, %0 : 4x8 4x8 -> 4x8",
    ),
    "exp of a sum": (
        "4x8 4x1",
        "4x8",
        "%s = add %0, %1 : 4x8 4x1 -> 4x8\n%r = exp %s : 4x8 -> 4x8",
        "%s = exp %0 : 4x8 -> 4x8\n%t = exp %1 : 4x1 -> 4x1\n%r = mul %s, %t : 4x8 4x1 -> 4x8",
    ),
    "a mean is a scaled sum": (
        "5x6144",
        "5x1",
        "%r = reduce_mean %0 {dims = array<i64: 1>} : 5x6144 -> 5x1",
        "%s = reduce_sum %0 {dims = array<i64: 1>} : 5x6144 -> 5x1\n"
        "%r = scale %s {factor = 1.62760422e-04 : f32} : 5x1 -> 5x1",
    ),
    "maxima in parts": (
        "4x12",
        "4x1",
        "%r = reduce_max %0 {dims = array<i64: 1>} : 4x12 -> 4x1",
        "%a = slice %0 {offsets = array<i64: 0, 5>, sizes = array<i64: 4, 7>, "
        "strides = array<i64: 1, 1>} : 4x12 -> 4x7\n"
        "%b = slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 5>, "
        "strides = array<i64: 1, 1>} : 4x12 -> 4x5\n"
        "%c = reduce_max %a {dims = array<i64: 1>} : 4x7 -> 4x1\n"
        "%d = reduce_max %b {dims = array<i64: 1>} : 4x5 -> 4x1\n"
        "%r = max %c, %d : 4x1 4x1 -> 4x1",
    ),
    "a norm below a matmul": (
        "16x4096 4096x64",
        "16x64",
        "%n = rms_norm %0 {eps = 1.0e-05 : f32} : 16x4096 -> 16x4096\n"
        "%r = matmul %n, %1 : 16x4096 4096x64 -> 16x64",
        "%p = matmul %0, %1 : 16x4096 4096x64 -> 16x64\n"
        "%s = square %0 : 16x4096 -> 16x4096\n"
        "%m = reduce_mean %s {dims = array<i64: 1>} : 16x4096 -> 16x1\n"
        "%e = constant {value = 1.0e-05 : f32} : 16x1\n"
        "%d = add %m, %e : 16x1 16x1 -> 16x1\n"
        "%t = rsqrt %d : 16x1 -> 16x1\n"
        "%r = mul %p, %t : 16x64 16x1 -> 16x64",
    ),
    "associativity and distribution": (
        "8x16 16x4 4x24 16x24",
        "8x24",
        "%p = matmul %1, %2 : 16x4 4x24 -> 16x24\n%s = add %p, %3 : 16x24 16x24 -> 16x24\n"
        "%r = matmul %0, %s : 8x16 16x24 -> 8x24",
        "%p = matmul %0, %1 : 8x16 16x4 -> 8x4\n%q = matmul %p, %2 : 8x4 4x24 -> 8x24\n"
        "%s = matmul %0, %3 : 8x16 16x24 -> 8x24\n%r = add %q, %s : 8x24 8x24 -> 8x24",
    ),
    "views": (
        "4x12",
        "12x4",
        "%r = transpose %0 {permutation = array<i64: 1, 0>} : 4x12 -> 12x4",
        "%a = reshape %0 : 4x12 -> 4x3x4\n"
        "%b = transpose %a {permutation = array<i64: 1, 2, 0>} : 4x3x4 -> 3x4x4\n"
        "%r = reshape %b : 3x4x4 -> 12x4",
    ),
    "relu twice": (
        "4x8",
        "4x8",
        "%r = relu %0 : 4x8 -> 4x8",
        "%s = relu %0 : 4x8 -> 4x8\n%r = relu %s : 4x8 -> 4x8",
    ),
}


INACCURATE: dict[str, tuple[str, str, str, str]] = {
    "softmax without a shift": (
        "4x8",
        "4x8",
        "%r = softmax %0 {dim = 1 : i64} : 4x8 -> 4x8",
        "%s = exp %0 : 4x8 -> 4x8\n%t = reduce_sum %s {dims = array<i64: 1>} : 4x8 -> 4x1\n"
        "%r = div %s, %t : 4x8 4x1 -> 4x8",
    ),
    "softmax with any shift of rows": (
        "4x8 4x1",
        "4x8",
        "%r = softmax %0 {dim = 1 : i64} : 4x8 -> 4x8",
        "%c = sub %0, %1 : 4x8 4x1 -> 4x8\n%r = softmax %c {dim = 1 : i64} : 4x8 -> 4x8",
    ),
}
"""What is equal, but only numbers near zero survive."""


@pytest.mark.parametrize("name", EQUAL)
def test_valid_rewrites_are_accepted(parse: Parse, name: str) -> None:
    for direction in (1, -1):
        inputs, output, *bodies = EQUAL[name]
        report = compare(parse, inputs, output, *bodies[::direction])
        assert report.verdict is Verdict.EQUAL, str(report)
        assert report.tests >= 3


@pytest.mark.parametrize("name", INACCURATE)
def test_rewrites_that_lose_accuracy(parse: Parse, name: str) -> None:
    inputs, output, *bodies = INACCURATE[name]
    report = compare(parse, inputs, output, *bodies)
    assert report.verdict is Verdict.INACCURATE, str(report)
    assert report.tests >= 3
    assert compare(parse, inputs, output, *bodies[::-1]).verdict is Verdict.EQUAL


def test_candidates_may_be_defined_where_references_are_not(parse: Parse) -> None:
    """sqrt(x)^2 becomes x; x does not become sqrt(x)^2, which negative numbers do not have."""
    bodies = (
        "%p = sqrt %0 : 2x2 -> 2x2\n%r = square %p : 2x2 -> 2x2",
        "%r = scale %0 {factor = 1.0 : f32} : 2x2 -> 2x2",
    )
    assert compare(parse, "2x2", "2x2", *bodies).verdict is Verdict.EQUAL
    assert compare(parse, "2x2", "2x2", *bodies[::-1]).verdict is Verdict.DIFFERENT


DIFFERENT: dict[str, tuple[str, str, str, str]] = {
    "the root of a square is not the number": (
        "4x8",
        "4x8",
        "%r = scale %0 {factor = 1.0 : f32} : 4x8 -> 4x8",
        "%s = square %0 : 4x8 -> 4x8\n%r = sqrt %s : 4x8 -> 4x8",
    ),
    "another epsilon": (
        "16x4096",
        "16x4096",
        "%r = rms_norm %0 {eps = 1.0e-05 : f32} : 16x4096 -> 16x4096",
        "%r = rms_norm %0 {eps = 1.0e-06 : f32} : 16x4096 -> 16x4096",
    ),
    "a sum for a mean": (
        "4x6",
        "4x1",
        "%r = reduce_mean %0 {dims = array<i64: 1>} : 4x6 -> 4x1",
        "%r = reduce_sum %0 {dims = array<i64: 1>} : 4x6 -> 4x1",
    ),
    "another dimension": (
        "8x8",
        "8x8",
        "%r = softmax %0 {dim = 0 : i64} : 8x8 -> 8x8",
        "%r = softmax %0 {dim = 1 : i64} : 8x8 -> 8x8",
    ),
    "another weight": (
        "4x8 8x8 8x8",
        "4x8",
        "%a = matmul %0, %1 : 4x8 8x8 -> 4x8\n%b = matmul %0, %2 : 4x8 8x8 -> 4x8\n"
        "%s = silu %a : 4x8 -> 4x8\n%r = mul %s, %b : 4x8 4x8 -> 4x8",
        "%a = matmul %0, %1 : 4x8 8x8 -> 4x8\n%b = matmul %0, %2 : 4x8 8x8 -> 4x8\n"
        "%s = silu %b : 4x8 -> 4x8\n%r = mul %s, %a : 4x8 4x8 -> 4x8",
    ),
    "silu of silu": (
        "4x8",
        "4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = silu %s : 4x8 -> 4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = square %s : 4x8 -> 4x8",
    ),
    "exp of exp": (
        "4x8",
        "4x8",
        "%s = exp %0 : 4x8 -> 4x8\n%r = exp %s : 4x8 -> 4x8",
        "%t = relu %0 : 4x8 -> 4x8\n%s = exp %t : 4x8 -> 4x8\n%r = exp %s : 4x8 -> 4x8",
    ),
    "bounds of a clamp": (
        "4x8",
        "4x8",
        "%r = clamp %0 {min = -1.0 : f32, max = 1.0 : f32} : 4x8 -> 4x8",
        "%r = clamp %0 {min = -1.0 : f32, max = 5.0e-01 : f32} : 4x8 -> 4x8",
    ),
    "a transposed square matrix": (
        "8x8 8x8",
        "8x8",
        "%r = matmul %0, %1 : 8x8 8x8 -> 8x8",
        "%t = transpose %1 {permutation = array<i64: 1, 0>} : 8x8 -> 8x8\n"
        "%r = matmul %0, %t : 8x8 8x8 -> 8x8",
    ),
    "repeat for repeat_interleave": (
        "4x8",
        "8x8",
        "%r = repeat %0 {dim = 0 : i64, times = 2 : i64} : 4x8 -> 8x8",
        "%r = repeat_interleave %0 {dim = 0 : i64, times = 2 : i64} : 4x8 -> 8x8",
    ),
    "a slice moved by one in a long dimension": (
        "4x4096",
        "4x100",
        "%r = slice %0 {offsets = array<i64: 0, 1000>, sizes = array<i64: 4, 100>, "
        "strides = array<i64: 1, 1>} : 4x4096 -> 4x100",
        "%r = slice %0 {offsets = array<i64: 0, 1001>, sizes = array<i64: 4, 100>, "
        "strides = array<i64: 1, 1>} : 4x4096 -> 4x100",
    ),
    "another order of heads": (
        "4x4096",
        "4x4096",
        "%a = reshape %0 : 4x4096 -> 4x32x128\n"
        "%b = transpose %a {permutation = array<i64: 0, 2, 1>} : 4x32x128 -> 4x128x32\n"
        "%r = reshape %b : 4x128x32 -> 4x4096",
        "%a = reshape %0 : 4x4096 -> 4x128x32\n"
        "%b = transpose %a {permutation = array<i64: 0, 2, 1>} : 4x128x32 -> 4x32x128\n"
        "%r = reshape %b : 4x32x128 -> 4x4096",
    ),
    "gelu and its approximation": (
        "4x8",
        "4x8",
        "%r = gelu %0 : 4x8 -> 4x8",
        '%r = gelu %0 {approximate = "tanh"} : 4x8 -> 4x8',
    ),
    "a softmax without its normaliser": (
        "4x8 4x1",
        "4x8",
        "%r = exp %0 : 4x8 -> 4x8",
        "%c = sub %0, %1 : 4x8 4x1 -> 4x8\n%r = exp %c : 4x8 -> 4x8",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_wrong_rewrites_are_rejected(parse: Parse, name: str) -> None:
    report = compare(parse, *DIFFERENT[name])
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.witness is not None
    assert "instead of" in str(report)


def test_witness(parse: Parse) -> None:
    """The first place that differs, and what f64 says there."""
    report = compare(
        parse,
        "4x4096",
        "4x4096",
        "%r = scale %0 {factor = 2.0 : f32} : 4x4096 -> 4x4096",
        "%c = constant {value = 2.0 : f32} : 1x4095\n"
        "%d = constant {value = 3.0 : f32} : 1x1\n"
        "%e = concat %c, %d {dim = 1 : i64} : 1x4095 1x1 -> 1x4096\n"
        "%r = mul %0, %e : 4x4096 1x4096 -> 4x4096",
    )
    assert report.verdict is Verdict.DIFFERENT
    assert report.witness is not None
    assert report.witness.difference.element == (0, 4095)
    assert report.witness.floats is not None
    floats = report.witness.floats
    assert floats.element == (0, 4095)
    assert (floats.inputs, floats.reference, floats.candidate) == (
        "argument 0 = 1 everywhere",
        2,
        3,
    )


def test_not_decided(parse: Parse) -> None:
    """A law that only numbers have: max(x, y) + z = max(x + z, y + z)."""
    report = compare(
        parse,
        "4x8 4x8 4x8",
        "4x8",
        "%m = max %0, %1 : 4x8 4x8 -> 4x8\n%r = add %m, %2 : 4x8 4x8 -> 4x8",
        "%a = add %0, %2 : 4x8 4x8 -> 4x8\n%b = add %1, %2 : 4x8 4x8 -> 4x8\n"
        "%r = max %a, %b : 4x8 4x8 -> 4x8",
    )
    assert report.verdict is Verdict.UNDECIDED
    assert "f64 shows no difference" in str(report)


def test_zero_denominators_everywhere(parse: Parse) -> None:
    body = "%z = sub %0, %0 : 4x8 4x8 -> 4x8\n%r = div %0, %z : 4x8 4x8 -> 4x8"
    report = compare(parse, "4x8", "4x8", body, body)
    assert report.verdict is Verdict.UNDECIDED
    assert "0 of 64 random tests had no zero denominator" in str(report)


def test_different_types(parse: Parse) -> None:
    (one,) = programs(parse, "4x8", "4x8", "%r = relu %0 : 4x8 -> 4x8")
    (other,) = programs(parse, "4x9", "4x9", "%r = relu %0 : 4x9 -> 4x9")
    report = check_equivalence(one, other)
    assert report.verdict is Verdict.UNDECIDED
    assert "the types differ" in str(report)


VARIANCE = """
%s = reduce_mean %0 {{dims = array<i64: 1>}} : {shape} -> {rows}
%c = sub %0, %s : {shape} {rows} -> {shape}
%q = square %c : {shape} -> {shape}
%r = reduce_mean %q {{dims = array<i64: 1>}} : {shape} -> {rows}
"""

ONE_PASS = """
%q = square %0 : {shape} -> {shape}
%a = reduce_mean %q {{dims = array<i64: 1>}} : {shape} -> {rows}
%s = reduce_mean %0 {{dims = array<i64: 1>}} : {shape} -> {rows}
%b = square %s : {rows} -> {rows}
%r = sub %a, %b : {rows} {rows} -> {rows}
"""


@pytest.mark.parametrize("element_type", ["f16", "f32"])
def test_cancellation_is_caught(parse: Parse, element_type: str) -> None:
    """The variance in one pass is equal over the fields, and useless far from zero."""
    wide = {"shape": "4x4096", "rows": "4x1"}
    head = "%c0 = cast %0 : 4x4096:f16 -> 4x4096\n" if element_type == "f16" else ""
    bodies = [head + text.format(**wide).strip() for text in (VARIANCE, ONE_PASS)]
    if head:
        bodies = [body.replace("%0,", "%c0,").replace("%0 {", "%c0 {") for body in bodies]
        bodies = [body.replace("square %0 ", "square %c0 ") for body in bodies]
    shape = f"4x4096:{element_type}"
    report = compare(parse, shape, "4x1", *bodies)
    assert report.verdict is Verdict.INACCURATE, str(report)
    assert report.worst is not None
    assert report.worst.inputs == "argument 0 far from zero"
    assert "over" in str(report)
    # The other way round the reference is no better, and nobody can complain.
    assert compare(parse, shape, "4x1", *bodies[::-1]).verdict is Verdict.EQUAL


def test_overflow_of_scores_is_caught(parse: Parse) -> None:
    """exp of scores up to 60 does not fit f16; a softmax of the same program does."""
    report = compare(
        parse,
        "4x64",
        "4x64",
        "%r = softmax %0 {dim = 1 : i64} : 4x64 -> 4x64",
        "%s = exp %0 : 4x64 -> 4x64\n%h = cast %s : 4x64 -> 4x64:f16\n"
        "%w = cast %h : 4x64:f16 -> 4x64\n"
        "%t = reduce_sum %w {dims = array<i64: 1>} : 4x64 -> 4x1\n"
        "%r = div %w, %t : 4x64 4x1 -> 4x64",
    )
    assert report.verdict is Verdict.INACCURATE
    assert "arguments of exp up to 60" in [
        loss.inputs for loss in report.losses if not loss.acceptable
    ]


def test_seeds_reproduce(parse: Parse) -> None:
    inputs, output, *bodies = EQUAL["a norm below a matmul"]
    reference, candidate = programs(parse, inputs, output, *bodies)
    one, two, other = (check_equivalence(reference, candidate, seed=s) for s in (5, 5, 6))
    assert one.seeds == (5,)
    assert replace(one, seconds=0.0) == replace(two, seconds=0.0)
    assert one.losses != other.losses


def test_candidates_do_not_matter_to_each_other(parse: Parse) -> None:
    """A verifier says of each candidate what it says of that one alone."""
    reference, graph, *_ = parse((UGRAPHS / "ntrans.mlir").read_text())
    wrong = [mutant.function for mutant in mutants(graph, every=7)]
    verifier = Verifier(reference)
    for candidate in [graph, *wrong[:6], graph, reference.clone()]:
        together, alone = verifier.compare(candidate), check_equivalence(reference, candidate)
        assert replace(together, seconds=0.0) == replace(alone, seconds=0.0)


def test_number_of_tests(parse: Parse) -> None:
    inputs, output, *bodies = EQUAL["a norm below a matmul"]
    reference, candidate = programs(parse, inputs, output, *bodies)
    few, many = (check_equivalence(reference, candidate, tests=n) for n in (1, 5))
    assert (few.tests, many.tests) == (1, 5)
    assert many.bound == pytest.approx(few.bound**5, rel=1e-6)
    assert "Schwartz-Zippel" in many.theorem


def test_exponentials_have_the_weaker_theorem(parse: Parse) -> None:
    report = compare(parse, *INACCURATE["softmax without a shift"])
    assert "Theorem 2" in report.theorem
    assert report.bound > 1e-6


def test_keyed_functions_are_named(parse: Parse) -> None:
    report = compare(parse, *EQUAL["silu is x times sigmoid"])
    assert "sigmoid as random functions" in report.theorem


def test_cost_at_full_size(parse: Parse) -> None:
    """X[16,4096] x W[4096,6144], rounding included, in well below half a second."""
    reference, candidate, *_ = parse((UGRAPHS / "rmsnorm_linear.mlir").read_text())
    report = check_equivalence(reference, candidate)
    assert report.verdict is Verdict.EQUAL
    assert report.bound < 1e-20
    assert report.seconds < 0.5
