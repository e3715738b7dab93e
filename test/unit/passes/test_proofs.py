"""Candidates of many kernels, compared part by part."""

from dataclasses import replace

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.driver.source import alone as alone_in_module
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.equivalence import EquivalenceReport, Verdict, parts
from mirage_mlir.equivalence.check import Verifier
from mirage_mlir.equivalence.parts import Pairs, PartVerifier
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan
from mirage_mlir.passes.kernel_decompose import KernelDecomposePass
from mirage_mlir.passes.superoptimize import Candidate, candidates

CHAIN = """
func.func @f(%x: tensor<8x64xf16>, %w: tensor<64x64xf16>, %v: tensor<64x64xf16>)
    -> tensor<8x64xf16> {
  %a = kernel.matmul %x, %w : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
  %b = kernel.relu %a : (tensor<8x64xf16>) -> tensor<8x64xf16>
  %c = kernel.matmul %b, %v : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
  %d = kernel.relu %c : (tensor<8x64xf16>) -> tensor<8x64xf16>
  func.return %d : tensor<8x64xf16>
}
"""


VIEWS = """
func.func @f(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = kernel.slice %x
      {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 32>, strides = array<i64: 1, 1>}
      : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %b = kernel.slice %x
      {offsets = array<i64: 0, 32>, sizes = array<i64: 8, 32>, strides = array<i64: 1, 1>}
      : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %n = kernel.scale %b {factor = -1.0 : f32} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = kernel.concat %n, %a {dim = 1 : i64}
      : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  %o = kernel.add %x, %h : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %o : tensor<8x64xf32>
}
"""


COUNTED = """
func.func @f(%a0: tensor<32x1x3xf32>, %a1: tensor<1x3xf32>, %a2: tensor<8x4x1x3xf32>)
    -> (tensor<8x4x1x3xf32>, tensor<8x4x1x3xf32>) {
  %v1 = kernel.iota {dim = 0 : i64} : tensor<32x1x3xf32>
  %v2 = kernel.constant {value = 16.0 : f32} : tensor<1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "eq"}
      : (tensor<32x1x3xf32>, tensor<1xf32>) -> tensor<32x1x3xf32>
  %v4 = kernel.constant {value = 0.0 : f32} : tensor<1xf32>
  %v5 = kernel.select %v3, %a0, %v4
      : (tensor<32x1x3xf32>, tensor<32x1x3xf32>, tensor<1xf32>) -> tensor<32x1x3xf32>
  %v6 = kernel.reshape %v5 : (tensor<32x1x3xf32>) -> tensor<8x4x1x3xf32>
  %v7 = kernel.mul %a2, %v6 : (tensor<8x4x1x3xf32>, tensor<8x4x1x3xf32>) -> tensor<8x4x1x3xf32>
  %v8 = kernel.constant {value = -3.0 : f32} : tensor<8x4x1x3xf32>
  %v9 = kernel.max %v7, %v8 : (tensor<8x4x1x3xf32>, tensor<8x4x1x3xf32>) -> tensor<8x4x1x3xf32>
  func.return %v9, %v6 : tensor<8x4x1x3xf32>, tensor<8x4x1x3xf32>
}
"""


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_AT_ONCE", 1)


@pytest.fixture(scope="module")
def alone() -> tuple[FuncOp, Candidate]:
    """A function, and each of its operators alone."""
    function = functions(parse_program(CHAIN, "chain.mlir"))[0]
    *_, last = candidates(function)
    return function, last


def pairs_of(candidate: Candidate) -> Pairs:
    return list(candidate.attribute().pairs)


def compared(function: FuncOp, candidate: Candidate, plan: Plan) -> EquivalenceReport:
    """What is written for another plan with as many kernels, compared with the function."""
    written = FunctionWriter(plan).write()
    return PartVerifier(function).compare(written, pairs_of(candidate))


def test_equal_parts_are_equal_programs(alone: tuple[FuncOp, Candidate]) -> None:
    function, candidate = alone
    report = compared(function, candidate, candidate.plan)
    assert report.verdict is Verdict.EQUAL
    assert report.tests.counts
    assert 0 < report.tests.bound < 1e-9
    assert "part by part, 4 of them, 2 different" in str(report)


def test_the_whole_may_be_too_large_to_be_run(
    alone: tuple[FuncOp, Candidate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part was run."""

    def too_large(verifier: Verifier, candidate: FuncOp) -> None:
        return None

    monkeypatch.setattr(Verifier, "losses", too_large)
    function, candidate = alone
    report = compared(function, candidate, candidate.plan)
    assert report.verdict is Verdict.EQUAL
    assert "rounding errors were measured of parts" in str(report)


def test_a_wrong_part_is_found(alone: tuple[FuncOp, Candidate]) -> None:
    function, candidate = alone
    matmul, relu = candidate.plan.kernels[-1], candidate.plan.kernels[-2]
    wrong = replace(relu, write=matmul.write, arguments=matmul.arguments)
    kernels = tuple(wrong if each is relu else each for each in candidate.plan.kernels)
    report = compared(function, candidate, replace(candidate.plan, kernels=kernels))
    assert report.verdict is not Verdict.EQUAL


def test_parts_put_together_wrongly_are_found(alone: tuple[FuncOp, Candidate]) -> None:
    """Each kernel is right; the second product reads the first weights."""
    function, candidate = alone
    plan = candidate.plan
    x, w, v = plan.function.body.block.args
    exchanged: dict[SSAValue, SSAValue] = {w: v, v: w, x: x}
    kernels = tuple(
        replace(p, arguments=tuple(exchanged.get(value, value) for value in p.arguments))
        for p in plan.kernels
    )
    report = compared(function, candidate, replace(plan, kernels=kernels))
    assert report.verdict is Verdict.DIFFERENT


def test_pairs_prove_nothing(alone: tuple[FuncOp, Candidate]) -> None:
    """Wrong pairs, and those of values that are not there, make no function equal to another."""
    function, candidate = alone
    written = FunctionWriter(candidate.plan).write()
    for wrong in ([[(3, 4)], [(4, 3)]], [[(3, 4)], [(5, 6)]]):
        assert PartVerifier(function).compare(written, wrong).verdict is not Verdict.EQUAL
    nowhere = [[(99, 3)], [(3, 99)]]
    assert PartVerifier(function).compare(written, nowhere).verdict is Verdict.EQUAL


def test_a_constant_is_no_cut() -> None:
    """
    Each of its kernels may have constants of its own.

    The program's 0 and that which counts from it (`iota`) are one value in the kernels; a part of
    the program in which `iota` begins with an unknown number would be different.
    """
    function = functions(parse_program(COUNTED, "counted.mlir"))[0]
    module = alone_in_module(function)
    KernelDecomposePass(only_unsearched=True, keep_program=True).apply(compiler_context(), module)
    for candidate in candidates(functions(module)[0], target="A100", program=function):
        report = PartVerifier(function).compare(candidate.function, pairs_of(candidate))
        assert report.verdict is Verdict.EQUAL, str(report)


def test_views_of_one_tensor_belong_together() -> None:
    """A rotation reads a tensor and both its halves."""
    function = functions(parse_program(VIEWS, "views.mlir"))[0]
    for candidate in candidates(function):
        report = PartVerifier(function).compare(candidate.function, pairs_of(candidate))
        assert report.verdict is Verdict.EQUAL
