"""Plans that subtract what the program does not, where they are refused for that."""

from pathlib import Path

import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import EquivalenceReport, Verdict
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.optimizer import Optimizer
from mirage_mlir.passes.frontend.piece_extraction import PieceCut
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.proofs import PieceProofs
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

PROGRAM = Path(__file__).parents[2] / "passes" / "superoptimize-cancel.mlir"


class Refusing(PieceProofs):
    """Takes all plans but careless ones."""

    def of(self, planned: PlannedKernel) -> EquivalenceReport:
        verdict = Verdict.INACCURATE if planned.careless else Verdict.EQUAL
        return EquivalenceReport(verdict, seed=0)


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("refused", [False, True])
def test_other_plans_are_looked_for(*, refused: bool, in_pieces: bool) -> None:
    """One kernel that may cancel; where it is refused another one that does not."""
    (function,) = functions(parse_program(PROGRAM.read_text(), PROGRAM.name))
    normalise(function)
    *operators, last = function.body.block.ops
    cuts = [PieceCut(tuple(operators), tuple(last.operands))] if in_pieces else []
    limits = Limits(max_kernels=1, coarse=True)
    optimizer = Optimizer(function, H200, limits, SearchReport(), cuts=cuts)
    if refused:
        optimizer.proofs = Refusing()
        optimizer.accurate = lambda plan: not plan.careless
    plans = [plan for plan, alone in optimizer.plans() if not alone]
    assert plans[0].careless is not (refused and in_pieces)
    assert any(not plan.careless for plan in plans) is refused
    assert all(plan.count == 1 for plan in plans)
