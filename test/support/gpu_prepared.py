"""
What tests on a GPU need of the CPU: kernels and their values in float64, made in other processes.

Everything is plain data, so that it travels between processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from host_program_cases import HOST_CASES
from host_programs import shared_library
from kernel_kinds import KINDS, compiled
from lowered_kernels import distance, function_of, roundoff_of
from numpy.typing import NDArray
from numpy_reference import TOLERANCE, error, representable
from operators import OPERATORS
from ugraph_programs import path_of

import mirage_mlir as mi
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.artifact import Artifact, TensorSpec
from mirage_mlir.runtime.element_types import numpy_dtype

Arrays = list[NDArray[Any]]

EPS = 1e-5


@dataclass(frozen=True)
class Prepared:
    """
    A kernel, and what it must compute of `inputs`.

    Args:
        artifact: the kernel, as a file has it.
        inputs: numbers that the element types have, in f32; none where they are drawn by name.
        wanted: the outputs in float64.
        limits: of the relative error of each.
    """

    artifact: bytes
    inputs: Arrays
    wanted: Arrays
    limits: list[float]

    def kernel(self) -> mi.CompiledKernel:
        """The kernel, not yet loaded on any device."""
        return mi.CompiledKernel(Artifact.from_bytes(self.artifact))


def kind(name: str, chip: str, *, here: str) -> Prepared:
    """A kind of kernel for a chip; as PTX where that is not the one `here`."""
    artifact, module = compiled(name, chip, here), KINDS[name].module()
    inputs = [
        representable(normal(spec.shape, number), spec.element_type.value)
        for number, spec in enumerate(artifact.inputs)
    ]
    function = function_of(module)
    wanted = run_function(function, inputs, rounding=False)
    rounded = run_function(function, inputs)
    limits = [
        4 * roundoff_of(module) + 2 * distance(close, exact) / float(np.linalg.norm(exact))
        for close, exact in zip(rounded, wanted, strict=True)
    ]
    return Prepared(artifact.to_bytes(), inputs, wanted, limits)


def kind_here(name: str, *, here: str) -> Prepared:
    """A kind of kernel for the chip `here`."""
    return kind(name, here, here=here)


def host_kind(name: str, *, here: str) -> tuple[bytes, Prepared]:
    """A kind of kernel as a shared library that code of MLIR makes, and what it must compute."""
    made = shared_library(str(KINDS[name].module()), here, pack=bool(KINDS[name].constants))
    return made, kind(name, here, here=here)


def host_program(name: str, *, here: str) -> bytes:
    """The shared library of a host program."""
    case = HOST_CASES[name]
    return shared_library(case.text, here, *case.passes, f"--superoptimize=target={here}")


def packed_linear(dtype: str, *, here: str) -> bytes:
    """A product in kernels that read a packed copy of the weight."""
    return rmsnorm_linear((16, 4096, 6144), dtype, pack=True, here=here)


def normal(shape: Sequence[int], seed: int) -> NDArray[np.float32]:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(tuple(shape), np.float32)


def workload(path: Path, *, here: str) -> Prepared:
    """
    A program in a file, and its values as it was written, interpreted in float64.

    How near these are to a kernel's depends on the program (a softmax magnifies the rounding of its
    scores), so the limit is what the interpreter loses with a kernel's rounding, with room for
    another order of sums.
    """
    kernel = mi.superoptimize_file(path, compile_for=[here])
    artifact = kernel.artifact
    inputs = scaled_inputs(artifact.inputs)
    function = function_named(parse_program(path.read_text(), path.name), artifact.name)
    wanted = run_function(function, [x.astype(np.float64) for x in inputs], rounding=False)
    arrays = [
        x.astype(numpy_dtype(spec.element_type))
        for x, spec in zip(inputs, artifact.inputs, strict=True)
    ]
    results = kernel(*arrays)
    interpreted = list(results) if len(artifact.outputs) > 1 else [results]
    limits = [
        max(TOLERANCE[spec.element_type.value], 2 * error(result, exact))
        for spec, result, exact in zip(artifact.outputs, interpreted, wanted, strict=True)
    ]
    # Inputs may be large: who needs them draws them again.
    return Prepared(artifact.to_bytes(), [], wanted, limits)


def scaled_inputs(specs: Sequence[TensorSpec]) -> list[NDArray[np.float32]]:
    """Normal numbers, the same each time; weights are scaled so that products stay near 1."""
    generator = np.random.default_rng(2)
    arrays: list[NDArray[np.float32]] = []
    for spec in specs:
        array = generator.standard_normal(spec.shape, np.float32)
        if spec.constant and len(spec.shape) > 1:
            array /= np.float32(spec.shape[-2] ** 0.5)
        arrays.append(representable(array, spec.element_type.value))
    return arrays


def operator(name: str, element_type: str, *, here: str) -> bytes:
    """The kernel of an operator."""
    (found,) = [each for each in OPERATORS if each.name == name]
    return found.graph(element_type).superoptimize(compile_for=[here]).artifact.to_bytes()


def ugraph(name: str, *, here: str) -> bytes:
    """The kernels of a uGraph by hand."""
    return mi.compile_file(path_of(name), "ugraph", compile_for=[here]).artifact.to_bytes()


def rmsnorm_linear(
    shape: tuple[int, int, int], dtype: str, pack: bool = False, *, here: str
) -> bytes:
    """The kernel for X[batch, depth] times W[depth, width], X normalized before; W is constant."""
    batch, depth, width = shape
    graph = mi.new_kernel_graph("rmsnorm_linear")
    x = graph.new_input(dims=(batch, depth), dtype=dtype)
    w = graph.new_input(dims=(depth, width), dtype=dtype, constant=True)
    graph.mark_output(graph.matmul(graph.rms_norm(x, eps=EPS), w))
    return graph.superoptimize(compile_for=[here], pack=pack).artifact.to_bytes()


def linear_f32(shape: tuple[int, int, int], precision: str, *, here: str) -> bytes:
    """A product of f32, in one product of tf32 or in three."""
    batch, depth, width = shape
    graph = mi.new_kernel_graph("linear")
    x = graph.new_input(dims=(batch, depth), dtype="f32")
    w = graph.new_input(dims=(depth, width), dtype="f32", constant=True)
    graph.mark_output(graph.matmul(x, w))
    return graph.superoptimize(compile_for=[here], f32=precision).artifact.to_bytes()
