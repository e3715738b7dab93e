"""What is accepted, what is rejected, and what is said about it."""

from __future__ import annotations

import pytest
from bodies import compare, programs
from rewritten_programs import DIFFERENT, EQUAL, INACCURATE, UGRAPHS

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.equivalence.check import Verifier


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


@pytest.mark.parametrize("name", INACCURATE)
def test_parts_that_lose_accuracy_are_told_quickly(name: str) -> None:
    """The whole is compared again, but would be refused for one of its parts."""
    inputs, output, *bodies = INACCURATE[name]
    reference, candidate = programs(inputs, output, *bodies)
    report = Verifier(reference, quick=True).compare(candidate)
    assert report.verdict is Verdict.INACCURATE, str(report)


def test_candidates_may_be_defined_where_references_are_not() -> None:
    """sqrt(x)^2 becomes x; x does not become sqrt(x)^2, which negative numbers do not have."""
    bodies = (
        "%p = sqrt %0 : 2x2 -> 2x2\n%r = square %p : 2x2 -> 2x2",
        "%r = scale %0 {factor = 1.0 : f32} : 2x2 -> 2x2",
    )
    assert compare("2x2", "2x2", *bodies).verdict is Verdict.EQUAL
    assert compare("2x2", "2x2", *bodies[::-1]).verdict is Verdict.UNDECIDED


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


def test_full_size() -> None:
    """X[16,4096] x W[4096,6144]: slabs of rows and columns stand for all of them."""
    path = UGRAPHS / "rmsnorm_linear.mlir"
    reference, candidate, *_ = functions(parse_program(path.read_text(), path.name))
    report = check_equivalence(reference, candidate)
    assert report.verdict is Verdict.EQUAL
    assert report.arguments == ("proved", "tested")
    assert report.tests.bound < 1e-9
    assert "of 6144), which stand for all elements" in report.tests.scope


ONE_ITERATION = """
func.func @f(%a0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = kernel.tanh %a0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %r : tensor<8x8xf32>
}
func.func @g(%a0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %o = kernel.graph_defined ins(%a0) grid [2] loop [1] {
  ^bb0(%a: tensor<8x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [1]
      : (tensor<8x8xf32>) -> !threadblock.tile<4x8xf32>
    %u = threadblock.tanh %t : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %u grid_map [0] loop_map [_] : !threadblock.tile<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %o : tensor<8x8xf32>
}
"""


def test_a_loop_of_one_iteration_stores_all() -> None:
    """No dimension is cut by it, so that its map need not name one."""
    reference, candidate = functions(parse_program(ONE_ITERATION, "one.mlir"))
    report = check_equivalence(reference, candidate)
    assert report.verdict is Verdict.EQUAL, str(report)
