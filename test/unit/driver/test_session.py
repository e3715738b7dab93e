"""What `mirage-opt --report --artifacts` writes and says."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.dialects.target import TARGET
from mirage_mlir.driver.session import Session
from mirage_mlir.driver.source import compiler_context, parse_program, text_of
from mirage_mlir.equivalence import EquivalenceReport
from mirage_mlir.equivalence.parts import Pairs, PartVerifier
from mirage_mlir.passes.kernel_decompose import KernelDecomposePass
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline
from mirage_mlir.runtime.artifact import Artifact

PROGRAM = """
func.func @f(%x: tensor<4x64xf16>, %w: tensor<64x48xf16>) -> tensor<4x48xf16> {
  %y = kernel.silu %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %z = kernel.matmul %y, %w : (tensor<4x64xf16>, tensor<64x48xf16>) -> tensor<4x48xf16>
  func.return %z : tensor<4x48xf16>
}
"""


def run(
    session: Session, text: str, search: SuperoptimizePipeline | None
) -> tuple[str | None, str]:
    """The report, and the program that comes out, without the target that it was searched for."""
    module = parse_program(text, "f.mlir")
    with collect_remarks():
        passes: Sequence[ModulePass] = [] if search is None else search.passes()
        started = session.start(module, passes)
        for each in passes:
            started.apply(each, compiler_context(), module)
        report = started.finish(module)
    module.attributes.pop(TARGET, None)
    return report, text_of(module)


def test_artifacts_and_report(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    session = Session(report=True, artifacts=folder, verbose=True)
    report, text = run(session, PROGRAM, SuperoptimizePipeline())
    assert sorted(path.name for path in folder.iterdir()) == [
        "f.mirage",
        "f.sm_80.cubin",
        "f.sm_80.ptx",
        "f.sm_90a.cubin",
        "f.sm_90a.ptx",
    ]
    artifact = Artifact.load(folder / "f.mirage")
    assert artifact.targets[0].ugraph == text
    assert artifact.targets[0].cubin == (folder / "f.sm_90a.cubin").read_bytes()
    assert ".target sm_80" in (folder / "f.sm_80.ptx").read_text()
    assert report is not None
    for words in ("search of @f", "verified: proved", "registers", f"wrote {folder}/f.mirage"):
        assert words in report
    assert "seconds by pass: kernel-decompose " in report
    assert ", verify-equivalence " in report


def test_what_the_pass_proved_is_not_proved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[FuncOp] = []

    class Watched(PartVerifier):
        def compare(self, candidate: FuncOp, pairs: Pairs = ()) -> EquivalenceReport:
            compared.append(candidate)
            return super().compare(candidate, pairs)

    monkeypatch.setattr("mirage_mlir.driver.choose.PartVerifier", Watched)
    session = Session(report=True, artifacts=tmp_path)
    report, _ = run(session, PROGRAM, SuperoptimizePipeline())
    assert report is not None
    assert "verified: proved" in report
    assert compared == []
    # After another pass it was another program that was proved equal.
    compared.clear()
    module = parse_program(PROGRAM, "f.mlir")
    passes = [KernelDecomposePass(), *SuperoptimizePipeline().passes()]
    started = session.start(module, passes)
    with collect_remarks():
        for each in passes:
            started.apply(each, compiler_context(), module)
    assert len(compared) == 2  # the graphs for both chips


def test_statistics_need_no_kernels() -> None:
    session = Session()
    report, text = run(session, PROGRAM, SuperoptimizePipeline(top_k=2))
    assert report is None
    assert "@f__candidate_1" in text
    assert [search.function for search in session.searches] == ["f"]
    assert [comparison.reference for comparison in session.comparisons] == ["f", "f"]
    assert session.explained == {}


def test_without_report_nothing_is_said(tmp_path: Path) -> None:
    session = Session(artifacts=tmp_path)
    report, _ = run(session, PROGRAM, SuperoptimizePipeline())
    assert report is None
    assert (tmp_path / "f.mirage").exists()


def test_further_candidates_are_compiled_too(tmp_path: Path) -> None:
    session = Session(report=True, artifacts=tmp_path)
    run(session, PROGRAM, SuperoptimizePipeline(top_k=2))
    assert (tmp_path / "f.mirage").exists()
    assert (tmp_path / "f__candidate_1.mirage").exists()


def test_graphs_are_compiled_as_they_are(tmp_path: Path) -> None:
    session = Session(report=True, artifacts=tmp_path)
    _, text = run(session, PROGRAM, SuperoptimizePipeline())
    report, _ = run(session, text, None)
    assert report is not None
    assert report.startswith("@f, compiled as it was written")


def test_operators_without_a_search_are_an_error(tmp_path: Path) -> None:
    session = Session(report=True, artifacts=tmp_path)
    with pytest.raises(DiagnosticException, match=r"f\.mlir:3:8: error: 'kernel\.silu' op"):
        run(session, PROGRAM, None)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Session(report=True, artifacts=tmp_path / "file")


FEW_COLUMNS = """
func.func @f(%x: tensor<16x4096xf16>, %w: tensor<4096x1024xf16>) -> tensor<16x1024xf16> {
  %z = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  func.return %z : tensor<16x1024xf16>
}
"""
"""Several blocks share each column; how many pays depends on how many multiprocessors there are."""


@pytest.mark.parametrize(("target", "own"), [("H200", 0), ("A100", 1)])
def test_each_chip_gets_a_graph_of_its_own(tmp_path: Path, target: str, own: int) -> None:
    session = Session(report=True, artifacts=tmp_path)
    report, text = run(session, FEW_COLUMNS, SuperoptimizePipeline(target=target))
    codes = Artifact.load(tmp_path / "f.mirage").targets
    assert [code.target for code in codes] == ["sm_90a", "sm_80"]
    assert codes[0].ugraph != codes[1].ugraph
    assert text == codes[own].ugraph
    assert report is not None
    assert "not taken" not in report
