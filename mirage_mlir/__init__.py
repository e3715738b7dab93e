"""
A superoptimizer for tensor programs, as an MLIR-style compiler.

`import mirage_mlir as mi` imports nothing else: each name below is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage_mlir import jax as jax
    from mirage_mlir import torch as torch
    from mirage_mlir.api.compile import CompiledFunction, compile
    from mirage_mlir.api.graph import KernelGraph
    from mirage_mlir.api.programs import (
        compile_file,
        new_kernel_graph,
        superoptimize,
        superoptimize_file,
    )
    from mirage_mlir.api.tensor import Tensor
    from mirage_mlir.api.tune import TunedProgram, tune
    from mirage_mlir.diagnostics import UnsupportedOperation
    from mirage_mlir.runtime.artifact import Artifact
    from mirage_mlir.runtime.cuda_driver import CudaError
    from mirage_mlir.runtime.element_types import bfloat16, float16, float32
    from mirage_mlir.runtime.kernel import CompiledKernel, load
    from mirage_mlir.runtime.manifest import ArtifactError

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "ArtifactError",
    "CompiledFunction",
    "CompiledKernel",
    "CudaError",
    "KernelGraph",
    "Tensor",
    "TunedProgram",
    "UnsupportedOperation",
    "bfloat16",
    "compile",
    "compile_file",
    "float16",
    "float32",
    "load",
    "new_kernel_graph",
    "superoptimize",
    "superoptimize_file",
    "tune",
]

_MODULES = {
    "Artifact": "mirage_mlir.runtime.artifact",
    "ArtifactError": "mirage_mlir.runtime.manifest",
    "CompiledFunction": "mirage_mlir.api.compile",
    "CompiledKernel": "mirage_mlir.runtime.kernel",
    "CudaError": "mirage_mlir.runtime.cuda_driver",
    "KernelGraph": "mirage_mlir.api.graph",
    "Tensor": "mirage_mlir.api.tensor",
    "TunedProgram": "mirage_mlir.api.tune",
    "UnsupportedOperation": "mirage_mlir.diagnostics",
    "bfloat16": "mirage_mlir.runtime.element_types",
    "compile": "mirage_mlir.api.compile",
    "compile_file": "mirage_mlir.api.programs",
    "float16": "mirage_mlir.runtime.element_types",
    "float32": "mirage_mlir.runtime.element_types",
    "load": "mirage_mlir.runtime.kernel",
    "new_kernel_graph": "mirage_mlir.api.programs",
    "superoptimize": "mirage_mlir.api.programs",
    "superoptimize_file": "mirage_mlir.api.programs",
    "tune": "mirage_mlir.api.tune",
}


_OF_MIRAGE = {
    "PersistentKernel": "kernels are launched one after the other, and CUDA graphs capture them",
    "new_threadblock_graph": "the search finds graphs of blocks, and compile_file takes your own",
    "set_gpu_device_id": "kernels run on the device of their tensors",
}
"""Names of Mirage's Python interface, and what is there instead."""


_FRAMEWORKS = ("jax", "torch")
"""Modules that need a framework: `mi.torch.explain` imports torch."""


def __getattr__(name: str) -> object:
    if name in _FRAMEWORKS:
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            raise AttributeError(f"module {__name__!r} has no {name!r} here: {error}") from error
    if name not in _MODULES:
        instead = f": {_OF_MIRAGE[name]}" if name in _OF_MIRAGE else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
