"""Functions and modules of torch that are compiled when they are called."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from mirage_mlir.api.graph import KernelGraph, SearchOptions
from mirage_mlir.diagnostics import Diagnostic, Severity, UnsupportedOperation
from mirage_mlir.frameworks.number_keys import exactly
from mirage_mlir.frameworks.torch_program import ImportedCall, ImportedResult, import_call
from mirage_mlir.frameworks.torch_trace import TracedFunction, pytree
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.target import target_named
from mirage_mlir.torch import RegisteredOperator, target_of

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


class TorchFrontend:
    """A function or a module of torch, and its programs for shapes of its arguments."""

    def __init__(
        self, function: Callable[..., Any], target: str | None, options: SearchOptions
    ) -> None:
        self._name = getattr(function, "__name__", type(function).__name__)
        self._program = TracedFunction(function)
        self._target, self._options = target, options

    def key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
        """Shapes and types of tensors, values of all else, and what is around the function."""
        leaves, structure = pytree.tree_flatten((args, kwargs))
        program = self._program
        program.look_around()
        return (
            structure,
            *(_key_of(leaf) for leaf in leaves),
            *((name, _key_of(each)) for name, each in program.state().items()),
            *((name, _key_of(each)) for name, each in program.tensors().items()),
            *((name, exactly(each)) for name, each in program.numbers().items()),
            *program.helpers().items(),
            *(_autocast(kind) for kind in ("cpu", "cuda")),
        )

    def specialize(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "TorchCall":
        """
        The program of one call, compiled.

        Raises:
            UnsupportedOperation: the kernel dialect has no operator for something.
            DiagnosticException: the program cannot be compiled.
        """
        if torch._C._functorch.peek_interpreter_stack() is not None:
            message = (
                f"the first call of {self._name} for these shapes is under a transform of "
                f"torch.func (grad, vmap), which its program is not: call it outside before"
            )
            raise UnsupportedOperation(Diagnostic(Severity.ERROR, message))
        leaves, structure = pytree.tree_flatten((args, kwargs))
        name = re.sub(r"\W", "_", self._name)
        call = import_call(self._program, leaves, structure, name)
        if not call.inputs:
            message = f"{self._name} computes nothing from tensors that it is given"
            raise UnsupportedOperation(Diagnostic(Severity.ERROR, message))
        tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
        sample = call.inputs[0][0].find(tensors, self._program)
        target = self._target or target_of(sample.device)
        # For the GPU that it is for alone, unless asked: that halves the time.
        options: SearchOptions = {"compile_for": [target_named(target).chip], **self._options}
        return TorchCall(self._program, call, target, options)


def _key_of(leaf: Any) -> tuple[Any, ...]:
    """What a program may depend on of an argument."""
    if isinstance(leaf, torch.Tensor):
        if leaf.layout is not torch.strided:
            raise TypeError(f"arguments are dense tensors, not sparse ones ({leaf.layout})")
        return tuple(leaf.shape), leaf.dtype, leaf.device
    if not isinstance(leaf, bool | int | float | str | bytes | type(None) | torch.dtype):
        raise TypeError(
            f"arguments are tensors, numbers and strings, not {type(leaf).__qualname__}"
        )
    return exactly(leaf)


def _autocast(kind: str) -> object:
    return torch.is_autocast_enabled(kind) and torch.get_autocast_dtype(kind)


class TorchCall:
    """The kernel for one list of shapes and types, as a registered operator."""

    def __init__(
        self, program: TracedFunction, call: ImportedCall, target: str, options: SearchOptions
    ) -> None:
        self._program, self._call = program, call
        refusal = None if call.stopped is None else _no_gradient(*call.stopped)
        self._operator = RegisteredOperator(call.graph, target, options, refusal, fixed=call.fixed)

    @property
    def graph(self) -> KernelGraph:
        """The program that was imported."""
        return self._call.graph

    @property
    def kernel(self) -> CompiledKernel:
        """What was found for it."""
        return self._operator.kernel

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function returns."""
        leaves, _ = pytree.tree_flatten((args, kwargs))
        tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
        given = [source.find(tensors, self._program) for source, _ in self._call.inputs]
        masks = [dtype for _, dtype in self._call.inputs]
        found: Any = self._operator.call(*map(_dense, given, masks))
        made = (found,) if isinstance(found, torch.Tensor) else found
        results = [self._result(each, made, tensors) for each in self._call.results]
        return pytree.tree_unflatten(results, self._call.structure)

    def _result(self, result: ImportedResult, made: Sequence[Any], tensors: Sequence[Any]) -> Any:
        if result.source is not None:
            return result.source.find(tensors, self._program)
        if result.kernel is None:
            return result.value
        found = made[result.kernel]
        return found if found.dtype is result.dtype else found.to(result.dtype)


def _no_gradient(file: str, line: int, column: int) -> Diagnostic:
    message = (
        "a gradient is asked for, and what is computed here lets none through (detach, no_grad or "
        "torch.autograd.Function), which a kernel's gradient does not do: compute it outside"
    )
    return Diagnostic(Severity.ERROR, message, file, line, column)


def _dense(tensor: Any, dtype: Any) -> Any:
    return (tensor if dtype is None else tensor.to(dtype)).contiguous()
