"""What a search returns when it is stopped, and that it does not depend on the number of jobs."""

import json
import signal
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import compiler_context, parse_program, text_of
from mirage_mlir.opt_main import main
from mirage_mlir.passes import superoptimize_pipeline
from mirage_mlir.passes.frontend import optimizer
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline

SMALL = """
func.func @small(%x: tensor<16x64xf16>, %w: tensor<64x48xf16>) -> tensor<16x48xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %o = kernel.matmul %y, %w : (tensor<16x64xf16>, tensor<64x48xf16>) -> tensor<16x48xf16>
  %r = kernel.relu %o : (tensor<16x48xf16>) -> tensor<16x48xf16>
  func.return %r : tensor<16x48xf16>
}
"""


def optimized(each: SuperoptimizePipeline) -> tuple[ModuleOp, list[str]]:
    module = parse_program(SMALL, "small.mlir")
    with collect_remarks(details=True) as remarks:
        each.apply(compiler_context(), module)
    return module, [remark.message for remark in remarks]


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best so far is each operator alone, and it is said what was left out."""
    found = optimizer.Optimizer.plans

    def interrupted(self: optimizer.Optimizer) -> object:
        signal.raise_signal(signal.SIGINT)
        return found(self)

    monkeypatch.setattr(optimizer.Optimizer, "plans", interrupted)
    module, remarks = optimized(SuperoptimizePipeline())
    assert text_of(module).count("kernel.graph_defined") == 3
    assert any("the interrupt" in remark for remark in remarks)


def test_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into pieces, a program gives the same for one process and for two."""
    monkeypatch.setattr(superoptimize_pipeline, "MAX_OPERATORS", 3)
    (one, _), (two, _) = (optimized(SuperoptimizePipeline(jobs=jobs)) for jobs in (1, 2))
    assert text_of(one) == text_of(two)


def test_one_kernel_at_most() -> None:
    module, _ = optimized(SuperoptimizePipeline(max_kernels=1))
    assert text_of(module).count("kernel.graph_defined") == 1


def test_options_out_of_range() -> None:
    with pytest.raises(ValueError, match="time-limit is a positive number of seconds, not 0"):
        SuperoptimizePipeline(time_limit=0)
    with pytest.raises(ValueError, match="max-kernels is from 1 to 64, not 0"):
        SuperoptimizePipeline(max_kernels=0)
    with pytest.raises(ValueError, match="jobs is from 1 to 256, not 0"):
        SuperoptimizePipeline(jobs=0)


def test_search_stats(tmp_path: Path) -> None:
    """One entry for each search, in order."""
    program, stats, output = (tmp_path / name for name in ("p.mlir", "s.json", "o.mlir"))
    program.write_text(SMALL + SMALL.replace("@small", "@again"))
    words = ["--superoptimize", f"--search-stats={stats}", str(program), "-o", str(output)]
    assert main(words) == 0
    searches = json.loads(stats.read_text())["searches"]
    assert [search["function"] for search in searches] == ["small", "again"]
    assert all(search["configurations"] > 0 for search in searches)
    assert all(search["kernels"] == 1 for search in searches)


def test_search_stats_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--superoptimize", "--search-stats=/no/such/folder/s.json", "-"]) == 2
    assert "/no/such/folder/s.json" in capsys.readouterr().err
