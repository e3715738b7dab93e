"""The module's `kernel.target` is what the driver and the API search and compile for."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

import mirage_mlir as mi
from mirage_mlir.driver import choose
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import parse_program
from mirage_mlir.driver.superoptimize import superoptimize_function

PROGRAM = """
builtin.module attributes {kernel.target = #kernel.target<"GPU">} {
  func.func @twice(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
    %y = kernel.add %x, %x : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
    func.return %y : tensor<8x64xf16>
  }
}
"""


def program(gpu: str, folder: Path) -> Path:
    path = folder / f"{gpu}.mlir"
    path.write_text(PROGRAM.replace("GPU", gpu))
    return path


def test_a_file_says_what_to_search_for(tmp_path: Path) -> None:
    kernel = mi.superoptimize_file(program("A100", tmp_path))
    assert "search of @twice for A100" in kernel.artifact.report
    with pytest.raises(DiagnosticException, match=r"is compiled for A100 .* is asked for H200"):
        mi.superoptimize_file(program("A100", tmp_path), target="H200")


def test_a_file_of_kernels_says_what_to_compile_for(tmp_path: Path) -> None:
    path = program("A100", tmp_path)
    with pytest.raises(DiagnosticException, match=r"is compiled for A100 .* is asked for sm_90a"):
        mi.compile_file(path, compile_for=["sm_90a"])
    found = mi.superoptimize_file(path, compile_for=["sm_80"]).artifact.targets[0].ugraph
    path.write_text(
        found.replace("module", 'module attributes {kernel.target = #kernel.target<"A100">}', 1)
    )
    assert [code.target for code in mi.compile_file(path).artifact.targets] == ["sm_80"]


def test_what_is_searched_for_a_gpu_is_lowered_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for another GPU with its instruction set."""
    asked: list[str] = []

    def compiled(module: ModuleOp, name: str, target: str, *, pack: bool) -> CompiledFunction:
        asked.append(target)
        return compile_function(module, name, target, pack=pack)

    monkeypatch.setattr(choose, "compile_function", compiled)
    module = parse_program(PROGRAM.replace("GPU", "H100"), "twice.mlir")
    superoptimize_function(module, "twice", Options(target="H100"))
    assert asked == ["H100", "sm_80"]
