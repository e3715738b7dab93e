"""
Kernels as functions of JAX, with gradients: `operator(graph)`.

They work under `jax.jit` and `jax.grad`. Arrays in host memory are interpreted.
"""

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, Unpack

from mirage_mlir.api.failures import failures_at_line
from mirage_mlir.api.graph import KernelGraph, SearchOptions
from mirage_mlir.runtime.kernel import CompiledKernel

jax: Any = import_module("jax")
"""Untyped: an optional dependency."""


class JaxOperator:
    """
    A program as a function on JAX's arrays, which `jax.jit` and `jax.grad` see through.

    `gradient` makes the program of its gradients, where it is not that of `graph.backward()`.
    """

    def __init__(
        self,
        graph: KernelGraph,
        target: str | None,
        options: SearchOptions,
        gradient: Callable[[], KernelGraph] | None = None,
    ) -> None:
        self._graph, self._target, self._options = graph, target, options
        self._program = gradient or graph.backward
        with failures_at_line(graph):
            self.kernel = graph.superoptimize(target, **options)
        self._call: Any = jax.custom_vjp(self._run)
        self._call.defvjp(self._forward, self._backward)

    def __call__(self, *tensors: Any) -> Any:
        """One output as an array, several as a tuple."""
        return self._call(*tensors)

    def _run(self, *tensors: Any) -> Any:
        return self.kernel(*tensors)

    def _forward(self, *tensors: Any) -> Any:
        return self._call(*tensors), tensors

    def _backward(self, tensors: Any, gradient: Any) -> Any:
        return tuple(listed(self._gradient(*tensors, *listed(gradient))))

    @cached_property
    def _gradient(self) -> CompiledKernel:
        with failures_at_line(self._graph, "its gradient"):
            return self._program().superoptimize(self._target, **self._options)


def listed(arrays: Any) -> list[Any]:
    """What a kernel gives: one array, or several in a tuple."""
    return [*arrays] if isinstance(arrays, tuple | list) else [arrays]


def operator(
    graph: KernelGraph, target: str | None = None, **options: Unpack[SearchOptions]
) -> JaxOperator:
    """
    A function on JAX's arrays that computes what `graph` says.

    It is called as the kernel is: one array for each input, positions only. The kernel of its
    gradients is searched for when one is asked for.

    Args:
        graph: the program.
        target: the GPU to search for; the one that is there unless given.
        options: as for `KernelGraph.superoptimize`.

    Raises:
        ValueError: no output was marked, or an argument is out of range.
        DiagnosticException: the program cannot be compiled; the message says where and why.
    """
    return JaxOperator(graph, target, options)
