"""What is accepted, what is rejected, and what is said about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bodies import compare, programs
from graph_mutants import mutants
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import (
    EquivalenceReport,
    Verdict,
    Verifier,
    check_equivalence,
    comparison,
)
from mirage_mlir.interpreters.forms import Proof

UGRAPHS = Path(__file__).parents[2] / "ugraphs"

EQUAL: dict[str, tuple[str, str, str, str]] = {
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
def test_valid_rewrites_are_accepted(name: str) -> None:
    for direction in (1, -1):
        inputs, output, *bodies = EQUAL[name]
        report = compare(inputs, output, *bodies[::direction])
        assert report.verdict is Verdict.EQUAL, str(report)
        # Random tests do not know that a maximum of one number twice is the number.
        assert report.arguments == ("proved", "tested")[: 1 if name == "relu twice" else 2]


@pytest.mark.parametrize("name", INACCURATE)
def test_rewrites_that_lose_accuracy(name: str) -> None:
    inputs, output, *bodies = INACCURATE[name]
    report = compare(inputs, output, *bodies)
    assert report.verdict is Verdict.INACCURATE, str(report)
    assert "proved" in report.arguments
    assert compare(inputs, output, *bodies[::-1]).verdict is Verdict.EQUAL


def test_candidates_may_be_defined_where_references_are_not() -> None:
    """sqrt(x)^2 becomes x; x does not become sqrt(x)^2, which negative numbers do not have."""
    bodies = (
        "%p = sqrt %0 : 2x2 -> 2x2\n%r = square %p : 2x2 -> 2x2",
        "%r = scale %0 {factor = 1.0 : f32} : 2x2 -> 2x2",
    )
    assert compare("2x2", "2x2", *bodies).verdict is Verdict.EQUAL
    assert compare("2x2", "2x2", *bodies[::-1]).verdict is Verdict.UNDECIDED


DIFFERENT: dict[str, tuple[str, str, str, str]] = {
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
    "silu of silu": (
        "4x8",
        "4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = silu %s : 4x8 -> 4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = square %s : 4x8 -> 4x8",
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
def test_wrong_rewrites_are_rejected(name: str) -> None:
    report = compare(*DIFFERENT[name])
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.witness is not None
    assert "instead of" in str(report)


def test_witness() -> None:
    """The first place that differs, and what f64 says there."""
    report = compare(
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
    assert report.witness.difference is not None
    assert report.witness.difference.element == (0, 4095)
    assert report.witness.floats is not None
    floats = report.witness.floats
    assert floats.element == (0, 4095)
    assert (floats.inputs, floats.reference, floats.candidate) == (
        "argument 0 = 1 everywhere",
        2,
        3,
    )


def test_not_decided() -> None:
    """A law that only numbers have: max(x, y) + z = max(x + z, y + z)."""
    report = compare(
        "4x8 4x8 4x8",
        "4x8",
        "%m = max %0, %1 : 4x8 4x8 -> 4x8\n%r = add %m, %2 : 4x8 4x8 -> 4x8",
        "%a = add %0, %2 : 4x8 4x8 -> 4x8\n%b = add %1, %2 : 4x8 4x8 -> 4x8\n"
        "%r = max %a, %b : 4x8 4x8 -> 4x8",
    )
    assert report.verdict is Verdict.UNDECIDED
    assert "f64 shows no difference" in str(report)


def test_zero_denominators_everywhere() -> None:
    """x / (x - x) has no value anywhere: nothing is known of it but by its normal form."""
    tail = "%z = sub %0, %0 : 4x8 4x8 -> 4x8\n%r = div %n, %z : 4x8 4x8 -> 4x8"
    report = compare(
        "4x8 4x8",
        "4x8",
        f"%n = silu %0 : 4x8 -> 4x8\n{tail}",
        f"%n = silu %1 : 4x8 -> 4x8\n{tail}",
    )
    assert report.verdict is Verdict.UNDECIDED
    assert "some element of a result has a zero denominator in all draws" in str(report)


def test_a_program_without_operators() -> None:
    kind = "tensor<4x8xf32>"
    text = f"func.func @{{}}(%x: {kind}) -> {kind} {{{{ func.return %x : {kind} }}}}"
    one, other = functions(parse_program(text.format("f") + "\n" + text.format("g"), "test"))
    assert check_equivalence(one, other).verdict is Verdict.EQUAL


def test_different_types() -> None:
    (one,) = programs("4x8", "4x8", "%r = relu %0 : 4x8 -> 4x8")
    (other,) = programs("4x9", "4x9", "%r = relu %0 : 4x9 -> 4x9")
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
def test_cancellation_is_caught(element_type: str) -> None:
    """The variance in one pass is equal over the fields, and useless far from zero."""
    wide = {"shape": "4x4096", "rows": "4x1"}
    head = "%c0 = cast %0 : 4x4096:f16 -> 4x4096\n" if element_type == "f16" else ""
    bodies = [head + text.format(**wide).strip() for text in (VARIANCE, ONE_PASS)]
    if head:
        bodies = [body.replace("%0,", "%c0,").replace("%0 {", "%c0 {") for body in bodies]
        bodies = [body.replace("square %0 ", "square %c0 ") for body in bodies]
    shape = f"4x4096:{element_type}"
    report = compare(shape, "4x1", *bodies)
    assert report.verdict is Verdict.INACCURATE, str(report)
    assert report.worst is not None
    assert report.worst.inputs == "argument 0 far from zero"
    assert "over" in str(report)
    # The other way round the reference is no better, and nobody can complain.
    assert compare(shape, "4x1", *bodies[::-1]).verdict is Verdict.EQUAL


def test_overflow_of_scores_is_caught() -> None:
    """exp of large scores does not fit f16; a softmax of the same program does."""
    report = compare(
        "4x64",
        "4x64",
        "%r = softmax %0 {dim = 1 : i64} : 4x64 -> 4x64",
        "%s = exp %0 : 4x64 -> 4x64\n%h = cast %s : 4x64 -> 4x64:f16\n"
        "%w = cast %h : 4x64:f16 -> 4x64\n"
        "%t = reduce_sum %w {dims = array<i64: 1>} : 4x64 -> 4x1\n"
        "%r = div %w, %t : 4x64 4x1 -> 4x64",
    )
    assert report.verdict is Verdict.INACCURATE
    assert "arguments of exp up to 1e4" in [
        loss.inputs for loss in report.losses if not loss.acceptable
    ]


def same(one: EquivalenceReport, other: EquivalenceReport) -> bool:
    return replace(one, seconds=0.0) == replace(other, seconds=0.0)


def test_seeds_reproduce() -> None:
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    one, two, other = (check_equivalence(reference, candidate, seed=s) for s in (5, 5, 6))
    assert one.seed == 5
    assert same(one, two)
    assert one.losses != other.losses


def test_candidates_do_not_matter_to_each_other() -> None:
    """A verifier says of each candidate what it says of that one alone."""
    path = UGRAPHS / "ntrans.mlir"
    reference, graph, *_ = functions(parse_program(path.read_text(), path.name))
    wrong = [mutant.function for mutant in mutants(graph, every=7)]
    verifier = Verifier(reference)
    for candidate in [graph, *wrong[:6], graph, reference.clone()]:
        assert same(verifier.compare(candidate), check_equivalence(reference, candidate))


def test_number_of_primes() -> None:
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    few, many = (check_equivalence(reference, candidate, tests=n) for n in (3, 5))
    assert "modulo 3 primes" in few.tests.theorem
    assert "modulo 5 primes" in many.tests.theorem
    assert 0 < many.tests.bound < few.tests.bound <= 1e-9
    assert "sqrt as random functions" in few.tests.theorem


def test_budget() -> None:
    """What would take too long is left to normal forms, and the report says so."""
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.EQUAL
    assert report.arguments == ("proved",)
    assert "random tests would take about 0 s, 0 s are allowed" in str(report)
    assert report.tests.bound == 1.0


def says(proof: Proof) -> Callable[[FuncOp, FuncOp], Proof]:
    """What normal forms say, whatever they are asked."""

    def prove(reference: FuncOp, candidate: FuncOp) -> Proof:
        return proof

    return prove


def test_neither_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without proof and tests the same functions are not accepted, and different ones are told."""
    monkeypatch.setattr(comparison, "prove", says(Proof(False, "it was not tried")))
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.UNDECIDED
    assert report.arguments == ()
    assert not report.accepted(unverified=False)
    assert report.accepted(unverified=True)
    assert "normal forms: it was not tried; not tested: random tests would take" in str(report)
    reference, candidate = programs(*DIFFERENT["another epsilon"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.DIFFERENT
    assert not report.accepted(unverified=True)


def test_arguments_that_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A normal form that says that polynomials are equal, of which tests know better."""
    monkeypatch.setattr(comparison, "prove", says(Proof(True)))
    report = compare(*DIFFERENT["a sum for a mean"])
    assert report.verdict is Verdict.UNDECIDED
    assert "the arguments contradict each other, which is a bug" in str(report)


def test_reports_as_json() -> None:
    equal = compare(*EQUAL["a norm below a matmul"])
    inaccurate = compare(*INACCURATE["softmax without a shift"])
    different = compare(*DIFFERENT["a sum for a mean"])
    fields = [json.loads(json.dumps(each.fields())) for each in (equal, inaccurate, different)]
    assert [each["status"] for each in fields] == ["verified", "NOT VERIFIED", "NOT VERIFIED"]
    assert [each["verdict"] for each in fields] == ["equal", "inaccurate", "not equal"]
    assert fields[0]["arguments"] == ["proved", "tested"]
    assert fields[0]["bound"] == equal.tests.bound
    assert fields[0]["normal_form"] is fields[0]["not_tested"] is fields[0]["witness"] is None
    assert fields[0]["scope"] == "all elements" or "stand for all" in fields[0]["scope"]
    losses = fields[1]["losses"]
    assert {loss["output"] for loss in losses} == {0}
    assert any(not loss["error"] <= loss["tolerance"] for loss in losses)
    witness = fields[2]["witness"]
    assert witness["f64"]["candidate"] == pytest.approx(6 * witness["f64"]["reference"])
    assert witness["f64"]["element"] == witness["residues"]["element"]


def test_full_size() -> None:
    """X[16,4096] x W[4096,6144]: slabs of rows and columns stand for all of them."""
    path = UGRAPHS / "rmsnorm_linear.mlir"
    reference, candidate, *_ = functions(parse_program(path.read_text(), path.name))
    report = check_equivalence(reference, candidate)
    assert report.verdict is Verdict.EQUAL
    assert report.arguments == ("proved", "tested")
    assert report.tests.bound < 1e-9
    assert "of 6144), which stand for all elements" in report.tests.scope
