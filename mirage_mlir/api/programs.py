"""From programs, built in Python or read from MLIR files, to kernels."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack, cast

from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.api.graph import KernelGraph, SearchOptions, options_of
from mirage_mlir.api.options import checked
from mirage_mlir.bridge.stablehlo_text import BYTECODE, generic_form
from mirage_mlir.dialects.target import resolve_target, target_of
from mirage_mlir.driver.kept import compiled
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.runtime.present_gpu import present_target


def new_kernel_graph(name: str = "kernel_graph") -> KernelGraph:
    """An empty tensor program."""
    return KernelGraph(name)


def superoptimize(
    graph: KernelGraph, target: str | None = None, **options: Unpack[SearchOptions]
) -> CompiledKernel:
    """The same as `graph.superoptimize(...)`."""
    if not isinstance(cast(object, graph), KernelGraph):
        raise TypeError(f"superoptimize takes a graph, not {type(graph).__qualname__}")
    return graph.superoptimize(target, **options)


def compile_file(
    path: str | os.PathLike[str],
    function: str | None = None,
    *,
    compile_for: Sequence[str] | None = None,
    pack: bool = False,
) -> CompiledKernel:
    """
    Compile uGraphs from an MLIR file as they stand: no search, no verification.

    Args:
        path: a module whose functions hold `kernel.graph_defined` and views.
        function: which of its functions, where it has several.
        compile_for: instruction sets that the result has machine code for; if not given that of the
            module's `kernel.target`, or sm_90a and sm_80.
        pack: let kernels read copies of constant inputs, packed in the first call.

    Raises:
        OSError: the file cannot be read.
        ValueError: it does not say which function is meant, or has none.
        DiagnosticException: it is no valid program, or cannot be compiled.
    """
    # Who takes a kernel from the cache does not load the compiler.
    from mirage_mlir.driver.as_written import compile_as_written

    module, name = _read(path, function)
    options = {"compile_for": compile_for, "pack": pack}
    known = checked(options, {"compile_for": Sequence[str] | None, "pack": bool})
    artifact, _ = compile_as_written(module, name, known["compile_for"], pack=known["pack"])
    return CompiledKernel(artifact)


def superoptimize_file(
    path: str | os.PathLike[str],
    function: str | None = None,
    target: str | None = None,
    **options: Unpack[SearchOptions],
) -> CompiledKernel:
    """
    What `KernelGraph.superoptimize` does, for a program in an MLIR file.

    Args:
        path: a module whose functions hold operators of the kernel dialect, StableHLO or linalg.
        function: which of its functions, where it has several.
        target: the GPU to search for; if not given the module's `kernel.target`, the one
            that is there, or H200 without one.
        options: as for `KernelGraph.superoptimize`.

    Raises:
        OSError: the file cannot be read.
        ValueError: it does not say which function is meant, has none, or an option is wrong.
        DiagnosticException: it is no valid program, is for another target, or cannot be compiled.
    """
    module, name = _read(path, function)
    asked = checked({"target": target}, {"target": str | None})["target"]
    if asked is None and target_of(module) is None:
        asked = present_target()
    chosen = resolve_target(module, asked, "superoptimize_file").name
    return CompiledKernel(compiled(module, name, options_of(chosen, options)))


def _read(path: str | os.PathLike[str], function: str | None) -> tuple[ModuleOp, str]:
    """The program in a file, and the function that is meant."""
    module = read_programs(path)
    names = [found.sym_name.data for found in functions(module)]
    if function is None and len(names) != 1:
        raise ValueError(f"{os.fspath(path)} has {len(names)} functions: {', '.join(names)}")
    return module, function or names[0]


def read_programs(path: str | os.PathLike[str]) -> ModuleOp:
    """
    The programs in a file, of StableHLO and linalg those that were made of it.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no text.
        DiagnosticException: it is no valid program.
    """
    data = Path(path).read_bytes()
    try:
        is_bytecode = data.startswith(BYTECODE)
        text = generic_form(data, os.fspath(path)) if is_bytecode else data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)} is not UTF-8 text") from error
    module = parse_program(text, os.fspath(path))
    from mirage_mlir.passes.convert_linalg_to_kernel import ConvertLinalgToKernelPass
    from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass

    ConvertStablehloToKernelPass().apply(compiler_context(), module)
    ConvertLinalgToKernelPass().apply(compiler_context(), module)
    return module
