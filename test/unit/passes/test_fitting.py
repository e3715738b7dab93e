"""Kernels that cannot be lowered give way to the next best; the plan stays."""

from dataclasses import dataclass, field, replace

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.effort import Effort
from mirage_mlir.passes import superoptimize
from mirage_mlir.passes.frontend.fitting import Lower, lowers_anything
from mirage_mlir.passes.frontend.from_ir import Piece, read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.pieces import PieceSearch
from mirage_mlir.passes.frontend.plan import PlannedKernel, returned, to_compute
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

ATTENTION = """
func.func @f(%q: tensor<1x64x4096xf16>, %k: tensor<1x4096x64xf16>, %v: tensor<1x64x4096xf16>)
    -> tensor<1x64x4096xf16> {
  %s = kernel.matmul %q, %k
      : (tensor<1x64x4096xf16>, tensor<1x4096x64xf16>) -> tensor<1x64x64xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
  %o = kernel.matmul %p, %v
      : (tensor<1x64x64xf16>, tensor<1x64x4096xf16>) -> tensor<1x64x4096xf16>
  func.return %o : tensor<1x64x4096xf16>
}
"""
"""Scores of long vectors, which a kernel of its own sums, and their product with long vectors."""


def function() -> FuncOp:
    (found,) = functions(parse_program(ATTENTION, "f"))
    return found


def plans(lower: Lower, report: SearchReport | None = None) -> list[PlannedKernel]:
    whole = function()
    normalise(whole)
    search = PieceSearch(H200, Limits(), report or SearchReport(), lower)
    return search.plans(piece_of(whole), max_kernels=2)


def piece_of(whole: FuncOp) -> Piece:
    operators = [op for op in whole.body.block.ops if op.name.startswith("kernel.")]
    return read_piece(operators, to_compute(returned(whole)))


@dataclass
class Refusing:
    """Refuses kernels by their numbers, in the order in which they are first seen."""

    refused: set[int]
    seen: list[str] = field(default_factory=list[str])

    def __call__(self, module: ModuleOp) -> None:
        self.seen.append(str(module))
        if len(self.seen) - 1 in self.refused:
            (graph,) = (op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp))
            fail(graph, "has no room")


def test_next_best_kernel_of_the_same_plan() -> None:
    """The first kernel that is tried is refused; no kernel is lowered twice."""
    best = plans(lowers_anything)[0]
    assert best.plan is not None
    assert len(best.plan.kernels) == 2
    report, lower = SearchReport(), Refusing({0})
    found = plans(lower, report)[0]
    assert found.plan is not None
    first, second = found.plan.kernels
    assert first == replace(best.plan.kernels[0], graph=best.plan.kernels[0].others[0])
    assert second == best.plan.kernels[1]
    assert found.seconds >= best.seconds
    assert ["has no room" in line for line in report.refused] == [True]
    assert len(set(lower.seen)) == len(lower.seen)


def test_none_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operator alone is left, and the report says why."""

    def refuse(target: str, module: ModuleOp) -> None:
        fail(module, f"has no room on {target}")

    monkeypatch.setattr(superoptimize, "_plan_memory", refuse)
    first, *others = candidates(function(), effort=Effort(max_kernels=1))
    assert first.alone
    assert {each.plan.structure for each in others} <= {first.plan.structure}
    assert any("has no room on H200" in line for line in first.report.refused)
