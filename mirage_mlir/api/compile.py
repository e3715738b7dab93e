"""`compile`: functions of PyTorch and JAX, which are compiled when they are called."""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial, update_wrapper
from typing import Any, Protocol, Unpack, cast

from mirage_mlir.api.graph import KernelGraph, SearchOptions, options_of
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.target import DEFAULT_TARGET

SPECIALIZATIONS = 16
"""Lists of shapes that one function is compiled for; one more is an error."""


class Specialization(Protocol):
    """A function for one list of shapes and element types."""

    @property
    def graph(self) -> KernelGraph:
        """The program."""
        ...

    @property
    def kernel(self) -> CompiledKernel:
        """What was found for it."""
        ...

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function returns."""


class Frontend(Protocol):
    """What knows the functions of one framework."""

    def key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
        """What the program depends on; raises `TypeError` for what no program takes."""

    def specialize(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Specialization:
        """The program for such arguments, compiled."""
        ...


class CompiledFunction:
    """
    A function whose kernels are searched for at the first call for each list of shapes and types.

    `graph`, `kernel`, `report()`, `explain()` and `save(path)` are of what was called last.
    """

    def __init__(
        self, function: Callable[..., Any], target: str | None, options: SearchOptions
    ) -> None:
        update_wrapper(self, function, updated=())
        self._function, self._target, self._options = function, target, options
        self._frontends: dict[str, Frontend] = {}
        self._found: dict[tuple[str, object], Specialization] = {}
        self._last: Specialization | None = None
        self._lock = threading.Lock()
        # By identity: equal instances differ, and some have no hash. A method has its instance.
        self._methods: dict[int, CompiledFunction] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """
        What the function returns, by kernels.

        Raises:
            UnsupportedOperation: it does what the kernel dialect has no operator for.
            TypeError: an argument is nothing that kernels take.
            ValueError: it was called with too many different shapes.
            DiagnosticException: its program cannot be compiled.
        """
        return self._specialized(args, kwargs)(args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> "CompiledFunction":
        """Compile for the shapes of such arguments, without a call; raises what a call raises."""
        self._specialized(args, kwargs)
        return self

    def __get__(self, instance: object, owner: type | None = None) -> "CompiledFunction":
        """A method of `instance`, where a function of a class is compiled."""
        if instance is None:
            return self
        if id(instance) not in self._methods:
            bound = self._function.__get__(instance, owner)
            self._methods[id(instance)] = CompiledFunction(bound, self._target, self._options)
        return self._methods[id(instance)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "CompiledFunction":
        """Of a copy of the function: in a module that is copied, a method is that of the copy."""
        return CompiledFunction(deepcopy(self._function, memo), self._target, self._options)

    @property
    def graph(self) -> KernelGraph:
        """The program of the last call; raises `ValueError` before the first one."""
        return self._called().graph

    @property
    def kernel(self) -> CompiledKernel:
        """The kernels of the last call; raises `ValueError` before the first one."""
        return self._called().kernel

    def report(self) -> str:
        """What was searched for the last call, and what is proved."""
        return self.kernel.report

    def explain(self) -> str:
        """Why the kernels of the last call were chosen."""
        return self.kernel.explain()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the kernels of the last call to one file, which `mirage_mlir.load` reads."""
        self.kernel.save(path)

    def __repr__(self) -> str:
        return f"<CompiledFunction {_name_of(self._function)}, {len(self._found)} specializations>"

    def _called(self) -> Specialization:
        if self._last is None:
            raise ValueError(
                f"{_name_of(self._function)} is not compiled yet: call it, or give example_inputs"
            )
        return self._last

    def _specialized(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialization:
        name = framework_of(self._function, [*args, *kwargs.values()])
        if name not in self._frontends:
            self._frontends[name] = _frontend(name, self._function, self._target, self._options)
        frontend = self._frontends[name]
        key = name, frontend.key(args, kwargs)
        with self._lock:
            if key not in self._found:
                self._refuse_more()
                self._found[key] = frontend.specialize(args, kwargs)
            self._last = self._found[key]
        return self._last

    def _refuse_more(self) -> None:
        if len(self._found) >= SPECIALIZATIONS:
            raise ValueError(
                f"{_name_of(self._function)} is compiled for {SPECIALIZATIONS} lists of shapes, "
                f"types and numbers already, and each takes a search: pad the shapes, or compile "
                f"the function again for others"
            )


def compile(
    function: Callable[..., Any] | None = None,
    *,
    example_inputs: Sequence[Any] | None = None,
    target: str | None = None,
    **options: Unpack[SearchOptions],
) -> Any:
    """
    A function or module of PyTorch, or a function of JAX, by kernels that are searched for.

    The first call for given shapes and types takes the function's program, superoptimizes it and
    compiles it; later calls run what was found. It is called as the function is. Without
    `function` it is a decorator.

    Args:
        function: a function of tensors, a `torch.nn.Module`, or a method of one.
        example_inputs: compile for the shapes of these positional arguments now.
        target: the GPU to search for; that of the tensors unless given.
        options: as for `KernelGraph.superoptimize`.

    Raises:
        TypeError: `function` cannot be called, or an option does not exist.
        ValueError: an option is out of range.
        UnsupportedOperation: with `example_inputs`, as a call raises it.
    """
    # A check alone: which GPU is there is asked where a kernel is searched for.
    options_of(DEFAULT_TARGET if target is None else target, options)
    if function is None:
        return partial(cast(Any, compile), example_inputs=example_inputs, target=target, **options)
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"compile takes a function or a module, not {function!r}")
    made = CompiledFunction(function, target, options)
    return made if example_inputs is None else made.compile(*example_inputs)


def framework_of(function: Callable[..., Any], arguments: Iterable[Any]) -> str:
    """
    The framework, `torch` or `jax`, of a function that is called with such arguments.

    Raises:
        TypeError: there is no tensor that would say so.
    """
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    module = getattr(function, "__self__", function)
    if torch is not None and isinstance(module, torch.nn.Module):
        return "torch"
    for leaf in _leaves(arguments):
        if torch is not None and isinstance(leaf, torch.Tensor):
            return "torch"
        if jax is not None and isinstance(leaf, jax.Array | jax.ShapeDtypeStruct):
            return "jax"
    raise TypeError(f"{_name_of(function)} is called without a tensor of torch or jax")


def _leaves(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, Mapping):
            yield from _leaves(cast(Mapping[Any, Any], value).values())
        elif isinstance(value, list | tuple):
            yield from _leaves(cast(Sequence[Any], value))
        else:
            yield value


def _frontend(
    name: str, function: Callable[..., Any], target: str | None, options: SearchOptions
) -> Frontend:
    # Above this layer, and they import their frameworks.
    if name == "torch":
        from mirage_mlir.frameworks.torch_function import TorchFrontend

        return TorchFrontend(function, target, options)
    from mirage_mlir.frameworks.jax_function import JaxFrontend

    return JaxFrontend(function, target, options)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
