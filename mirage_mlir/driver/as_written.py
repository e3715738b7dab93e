"""Compiling uGraphs that a person wrote, or an earlier run found: no search."""

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir import __version__
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.report import kernel_lines
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.graph.target import DEFAULT_CHIPS
from mirage_mlir.runtime.artifact import Artifact


def compile_as_written(
    module: ModuleOp, name: str, chips: tuple[str, ...] = DEFAULT_CHIPS, *, pack: bool = False
) -> tuple[Artifact, tuple[CompiledFunction, ...]]:
    """
    Compile the function `name` of uGraphs and views.

    Raises:
        ValueError: there is no such function or chip.
        DiagnosticException: it cannot be compiled; the message says where and why.
    """
    function = function_named(module, name)
    compiled = tuple(compile_function(module, name, chip, pack=pack) for chip in chips)
    return _artifact(function, compiled), compiled


def _artifact(function: func.FuncOp, compiled: tuple[CompiledFunction, ...]) -> Artifact:
    lines = [f"  {line}" for one in compiled for line in kernel_lines(one)]
    report = "\n".join([f"@{compiled[0].name}, compiled as it was written", *lines]) + "\n"
    return Artifact(
        name=compiled[0].name,
        inputs=compiled[0].inputs,
        outputs=compiled[0].outputs,
        targets=tuple(one.code for one in compiled),
        program=text_of(alone(function)),
        report=report,
        producer=f"mirage_mlir {__version__}",
    )
