"""Calls of kernels that JAX traces, under `jax.jit` say: foreign functions of XLA."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.xla_ffi import Call, handler

if TYPE_CHECKING:
    from mirage_mlir.runtime.kernel import CompiledKernel

TARGET = "mirage_mlir_kernel"
"""What XLA knows the function by, on each platform."""

NUMBER = "kernel"
"""The attribute that says which kernel is called."""

kernels: dict[int, CompiledKernel] = {}
"""All that were traced, by a hash of their artifacts: executables, on disk too, outlive a trace."""


def is_traced(tensors: Sequence[Any]) -> bool:
    """Whether one of `tensors` stands for arrays that a function of JAX will be called with."""
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(tensor, jax.core.Tracer) for tensor in tensors)


def call_traced(kernel: CompiledKernel, tensors: Sequence[Any]) -> list[Any]:
    """
    The outputs of a kernel, as tracers.

    Raises:
        TypeError: an element type does not fit.
        ValueError: a shape does not fit, or the kernel keeps packed copies of its inputs.
        NotImplementedError: a batch of calls is asked for, by `jax.vmap`, or a gradient; that is
            when the function which is traced is transformed.
    """
    jax: Any = import_module("jax")
    inputs, outputs = kernel.artifact.inputs, kernel.artifact.outputs
    for number, (tensor, spec) in enumerate(zip(tensors, inputs, strict=True)):
        _check(tensor, spec, f"input {number} ('{spec.name}')")
    if any(code.packed for code in kernel.artifact.targets):
        raise ValueError(
            f"'{kernel.artifact.name}' keeps packed copies of constants, and under jax.jit nothing "
            f"says when they change: compile it without pack=True"
        )
    shapes = [jax.ShapeDtypeStruct(each.shape, each.element_type.array_name) for each in outputs]
    if scratch := max(code.scratch_bytes for code in kernel.artifact.targets):
        shapes.append(jax.ShapeDtypeStruct((scratch,), "uint8"))
    _register()
    number = _number_of(kernel)

    def call(*arrays: Any) -> Any:
        return jax.ffi.ffi_call(TARGET, shapes)(*arrays, **{NUMBER: np.int64(number)})

    alone = jax.custom_batching.custom_vmap(call)
    alone.def_vmap(_refuse_batches)
    alone = jax.custom_jvp(alone)
    alone.defjvp(_refuse_gradients)
    return list(alone(*tensors))[: len(outputs)]


def _refuse_gradients(*_: Any) -> Any:
    raise NotImplementedError(
        "a kernel has no gradient, and that of mirage_mlir.jax.operator or mirage_mlir.compile has "
        "no second one: mirage_mlir.jax.operator(graph) makes a function with gradients"
    )


def _refuse_batches(size: int, *_: Any) -> Any:
    raise NotImplementedError(
        f"jax.vmap asks for {size} calls of a kernel, whose shapes are fixed: write the program "
        f"with the batch as a dimension, or loop over it with jax.lax.map"
    )


def _check(tensor: Any, spec: TensorSpec, label: str) -> None:
    if (found := str(tensor.dtype)) != spec.element_type.array_name:
        raise TypeError(f"{label} has type {found}, not {spec.element_type.array_name}")
    if tuple(tensor.shape) != spec.shape:
        raise ValueError(f"{label} has shape {tuple(tensor.shape)}, not {spec.shape}")


def _number_of(kernel: CompiledKernel) -> int:
    digest = sha256(kernel.artifact.to_bytes()).digest()
    number = int.from_bytes(digest[:8], "little", signed=True)
    kernels[number] = kernel
    return number


@cache
def _register() -> tuple[Any, ...]:
    """Make XLA know the function; the pointers are kept for ever."""
    ffi: Any = import_module("jax").ffi
    pointers = {"cpu": handler(_interpret), "CUDA": handler(launch)}
    for platform, pointer in pointers.items():
        ffi.register_ffi_target(TARGET, ffi.pycapsule(pointer), platform=platform)
    return tuple(pointers.values())


def _called(call: Call) -> CompiledKernel:
    number = call.attribute(NUMBER)
    if number not in kernels:
        raise ValueError(f"kernel {number} is not in this process: trace its call before")
    return kernels[number]


def _interpret(call: Call) -> None:
    # The interpreter needs the compiler, which is above this layer; a GPU does not.
    from mirage_mlir.driver.interpret import interpret

    artifact = _called(call).artifact
    results = interpret(artifact, [each.array() for each in call.arguments])
    # What is left is memory for kernels on a GPU.
    for target, value in zip(call.results, results, strict=False):
        target.array()[...] = value


def launch(call: Call) -> None:
    """Queue the kernel on XLA's stream."""
    kernel = _called(call)
    results = [each.address for each in call.results]
    count = len(kernel.artifact.outputs)
    scratch = results[count] if len(results) > count else 0
    code = kernel.loaded(call.device())
    arguments = [each.address for each in call.arguments]
    # XLA may compute a constant anew in each call, in the same memory: nothing says that it does.
    code.launch(arguments, results[:count], scratch, call.stream(), None)
