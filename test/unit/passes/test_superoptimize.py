"""The superoptimize pass on programs that nobody wrote, and what it offers to other code."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from random_functions import FunctionMaker
from sampling import sampled
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from mirage_mlir.diagnostics import PassFailure, collect_remarks
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import compiler_context, functions, parse_program, text_of
from mirage_mlir.effort import Effort
from mirage_mlir.equivalence import EquivalenceReport, Verdict
from mirage_mlir.equivalence.comparison_report import Comparison
from mirage_mlir.equivalence.parts import Pairs, PartVerifier
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.frontend.plan import stays
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline
from mirage_mlir.passes.verify_equivalence import VerifyEquivalencePass
from mirage_mlir.verification import verify

WORKLOADS = Path(__file__).parents[2] / "workloads"

SEEDS = range(150)
"""Programs of four operators each; thousands of them, of up to six, were tried once."""

NORM = """
func.func @norm(%x: tensor<16x256xf16>, %w: tensor<256x192xf16>) -> tensor<16x192xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %o = kernel.matmul %y, %w : (tensor<16x256xf16>, tensor<256x192xf16>) -> tensor<16x192xf16>
  func.return %o : tensor<16x192xf16>
}
"""


def norm() -> FuncOp:
    return functions(parse_program(NORM, "norm.mlir"))[0]


def same(function: FuncOp, other: FuncOp, seed: int) -> bool:
    """Whether both give the same in float64 on normal inputs."""
    random = np.random.default_rng(seed)
    inputs = [
        random.standard_normal(kernel.shape_of(argument)) for argument in function.body.block.args
    ]
    wanted = run_function(function, inputs, rounding=False)
    got = run_function(other, inputs, rounding=False)
    return all(
        np.linalg.norm(a - b) <= 1e-9 * np.linalg.norm(a) + 1e-12
        for a, b in zip(wanted, got, strict=True)
    )


@pytest.mark.parametrize("seed", sampled(SEEDS, 10))
def test_random_functions(seed: int) -> None:
    """Every candidate is valid, holds graphs and views only, and computes the same."""
    function = FunctionMaker(seed).make(operators=4)
    verify(ModuleOp([function.clone()]))
    before = str(function)
    with collect_remarks():
        found = list(islice(candidates(function), 3))
    assert found
    assert str(function) == before
    for candidate in found:
        verify(ModuleOp([candidate.function]))
        ops = list(candidate.function.body.block.ops)
        assert all(stays(op) for op in ops if not isinstance(op, ReturnOp))
        assert same(function, candidate.function, seed)


def test_candidates_are_in_order() -> None:
    found = list(candidates(norm()))
    times = [candidate.plan.seconds for candidate in found]
    assert times == sorted(times)
    assert [candidate.alone for candidate in found] == [False] * (len(found) - 1) + [True]
    assert len(found[-1].plan.kernels) == 2


def test_each_candidate_has_a_report_of_its_own() -> None:
    first, *_, last = candidates(norm())
    assert first.report.kernels == 1
    assert first.report.structure.startswith("grid(")
    assert first.report.modelled == first.plan.seconds < first.report.modelled_alone
    assert (first.report.kernels, last.report.kernels) == (1, 2)
    assert last.report.structure.count("; ") == 1


def test_refused_candidates_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every comparison is heard of, also where none is accepted and the search fails."""
    wrong = EquivalenceReport(Verdict.DIFFERENT, 0, reason="it is wrong")

    def compared(verifier: PartVerifier, candidate: FuncOp, pairs: Pairs) -> EquivalenceReport:
        return wrong

    monkeypatch.setattr(PartVerifier, "compare", compared)
    heard: list[Comparison] = []
    module = parse_program(NORM, "norm.mlir")
    *searching, verification = SuperoptimizePipeline(time_limit=60).passes()
    assert isinstance(verification, VerifyEquivalencePass)
    with collect_remarks():
        for each in searching:
            each.apply(compiler_context(), module)
        with pytest.raises(PassFailure, match="no kernels that are verified"):
            verification.verify(module, heard.append)
    assert len(heard) > 1
    assert {each.reference for each in heard} == {"norm"}
    assert all(each.report is wrong for each in heard)


def test_places_of_graphs() -> None:
    """A kernel is where the last operator that it computes was."""
    found = next(candidates(norm()))
    (graph,) = (op for op in found.function.body.block.ops if isinstance(op, kernel.GraphDefinedOp))
    assert str(graph.location) == str(
        next(op for op in norm().body.block.ops if isinstance(op, kernel.MatmulOp)).location
    )


def test_twice_the_same() -> None:
    """A second run over the result changes nothing: there are no operators left."""
    module = parse_program(NORM, "norm.mlir")
    SuperoptimizePipeline().apply(compiler_context(), module)
    once = text_of(module)
    SuperoptimizePipeline().apply(compiler_context(), module)
    assert text_of(module) == once


@pytest.mark.usefixtures("first_look")
def test_a_whole_layer_is_fused() -> None:
    """
    No kernel of the many that its pieces become is the reason that all are refused.

    Attention over a cache and a new key is in one piece, and the norm that f16 does not bear inside
    of products in another. Pieces become one kernel each: their cuts are tests of the search.
    """
    text = (WORKLOADS / "llama3_decoder_layer.mlir").read_text(encoding="utf-8")
    (layer,) = functions(parse_program(text, "layer.mlir"))
    with collect_remarks():
        first, *_, last = candidates(layer, effort=Effort(max_kernels=1))
    assert last.alone
    assert not first.alone
    assert first.report.modelled < 0.85 * last.report.modelled
    assert first.report.kernels <= 12
    report = PartVerifier(layer).compare(first.function, list(first.attribute().pairs))
    assert report.verdict is Verdict.EQUAL, str(report)


def test_unknown_target() -> None:
    with pytest.raises(ValueError, match="unknown target 'H900'"):
        next(candidates(norm(), "H900"))
    with pytest.raises(ValueError, match="tcgen05, have no lowering"):
        next(candidates(norm(), "B200"))
