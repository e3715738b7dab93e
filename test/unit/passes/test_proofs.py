"""Plans of many pieces, compared piece by piece."""

from dataclasses import replace

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict
from mirage_mlir.passes.frontend import proofs
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan
from mirage_mlir.passes.frontend.proofs import PieceProofs
from mirage_mlir.passes.superoptimize import candidates

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


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "MOST_AT_ONCE", 1)


@pytest.fixture(scope="module")
def alone() -> tuple[FuncOp, Plan]:
    """A function, and its plan of each operator alone."""
    function = functions(parse_program(CHAIN, "chain.mlir"))[0]
    *_, last = candidates(function)
    return function, last.plan


def test_equal_pieces_are_equal_programs(alone: tuple[FuncOp, Plan]) -> None:
    function, plan = alone
    report = PieceProofs().compare(plan, function, FunctionWriter(plan).write())
    assert report.verdict is Verdict.EQUAL
    assert report.tests.counts
    assert 0 < report.tests.bound < 1e-9
    assert "piece by piece, 4 of them, 2 different" in str(report)


def test_a_wrong_piece_is_found(alone: tuple[FuncOp, Plan]) -> None:
    function, plan = alone
    matmul, relu = plan.kernels[-1], plan.kernels[-2]
    wrong = replace(relu, write=matmul.write, arguments=matmul.arguments)
    kernels = tuple(wrong if planned is relu else planned for planned in plan.kernels)
    report = PieceProofs().compare(
        replace(plan, kernels=kernels), function, FunctionWriter(plan).write()
    )
    assert report.verdict is not Verdict.EQUAL


def test_pieces_put_together_wrongly_are_found(alone: tuple[FuncOp, Plan]) -> None:
    """Each piece is right; the second product reads the first weights."""
    function, plan = alone
    x, w, v = plan.function.body.block.args
    exchanged: dict[SSAValue, SSAValue] = {w: v, v: w, x: x}
    kernels = tuple(
        replace(p, arguments=tuple(exchanged.get(value, value) for value in p.arguments))
        for p in plan.kernels
    )
    written = FunctionWriter(replace(plan, kernels=kernels)).write()
    report = PieceProofs().compare(plan, function, written)
    assert report.verdict is Verdict.INACCURATE


def test_views_of_one_tensor_belong_together() -> None:
    """A rotation reads a tensor and both its halves."""
    function = functions(parse_program(VIEWS, "views.mlir"))[0]
    for candidate in candidates(function):
        report = PieceProofs().compare(candidate.plan, function, candidate.function)
        assert report.verdict is Verdict.EQUAL
