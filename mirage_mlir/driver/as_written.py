"""Compiling uGraphs that a person wrote, or an earlier run found: no search."""

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir import __version__
from mirage_mlir.dialects.target import resolve_target, target_of
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.report import kernel_lines
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.targets.target import DEFAULT_CHIPS


def compile_as_written(
    module: ModuleOp, name: str, chips: Sequence[str] | None = None, *, pack: bool = False
) -> tuple[Artifact, tuple[CompiledFunction, ...]]:
    """
    Compile the function `name` of uGraphs and views.

    Where `chips` are not given, they are that of the GPU that `module` names (`kernel.target`), or
    all that there are.

    Raises:
        ValueError: there is no such function or chip.
        DiagnosticException: it cannot be compiled, or `module` names a GPU without one of `chips`;
            the message says where and why.
    """
    function = function_named(module, name)
    known = target_of(module)
    if chips is None:
        chips = DEFAULT_CHIPS if known is None else (known.chip,)
    if known is not None:
        # That the module says what each chip stands for: sm_90a is an H100 there, or an H200.
        chips = [resolve_target(module, chip, "the artifact").name for chip in chips]
    compiled = tuple(compile_function(module, name, target, pack=pack) for target in chips)
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
