"""
Programs as functions of JAX, with gradients, and functions of JAX as programs.

`operator(graph)` is a function on JAX's arrays, also under `jax.jit` and `jax.grad`.
`compile_function(f)` makes one of what JAX traces of a Python function. Arrays in host memory are
interpreted.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from importlib import import_module
from inspect import signature
from re import sub
from typing import Any, Unpack

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from mirage_mlir.api.graph import KernelGraph, SearchOptions
from mirage_mlir.bridge.stablehlo_text import printed
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.target import DEFAULT_TARGET

jax: Any = import_module("jax")
"""Untyped: an optional dependency."""

ENTRY = "main"
"""What JAX calls the function that it lowers."""


class Operator:
    """A program as a function on JAX's arrays, which `jax.jit` and `jax.grad` see through."""

    def __init__(self, graph: KernelGraph, target: str, options: SearchOptions) -> None:
        self._graph, self._target, self._options = graph, target, options
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
        gradients = gradient if isinstance(gradient, tuple | list) else (gradient,)
        found = self._gradient(*tensors, *gradients)
        return found if isinstance(found, tuple) else (found,)

    @cached_property
    def _gradient(self) -> CompiledKernel:
        return self._graph.backward().superoptimize(self._target, **self._options)


def operator(
    graph: KernelGraph, target: str = DEFAULT_TARGET, **options: Unpack[SearchOptions]
) -> Operator:
    """
    A function on JAX's arrays that computes what `graph` says.

    It is called as the kernel is: one array for each input, positions only. The kernel of its
    gradients is searched for when one is asked for.

    Args:
        graph: the program.
        target: the GPU to search for.
        options: as for `KernelGraph.superoptimize`.

    Raises:
        ValueError: no output was marked, or an argument is out of range.
        DiagnosticException: the program cannot be compiled; the message says where and why.
    """
    return Operator(graph, target, options)


@dataclass(frozen=True)
class _Specialized:
    """A function for arguments of certain shapes."""

    operator: Operator
    captured: Sequence[Any]
    """Arrays that the function uses and does not take."""
    results: Any
    """The structure of what it returns."""


class CompiledFunction:
    """
    A function of JAX as kernels: one program for each set of shapes and of arguments without shape.

    Arrays may be anywhere in nested containers, in arguments and results. Numbers, strings and
    other values are part of the program. So are arrays that the function uses without taking them,
    as constants: a function that is to see other ones takes them as arguments.
    """

    def __init__(self, function: Callable[..., Any], target: str, options: SearchOptions) -> None:
        self._function, self._target, self._options = function, target, options
        self._known: dict[Any, _Specialized] = {}
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """
        What the function returns.

        Raises:
            TypeError: an argument is neither an array nor hashable.
            DiagnosticException: the function cannot be compiled; the message names the line.
        """
        arrays, known = self._specialized(arguments, named)
        results = known.operator(*arrays, *known.captured)
        leaves = results if isinstance(results, tuple) else (results,)
        return jax.tree.unflatten(known.results, leaves)

    def kernel(self, *arguments: Any, **named: Any) -> CompiledKernel:
        """
        The kernel for such arguments; `jax.ShapeDtypeStruct` may stand for arrays.

        It takes the arrays among them, in the order of `jax.tree.leaves`, then those that the
        function uses without taking them.
        """
        return self._specialized(arguments, named)[1].operator.kernel

    def report(self) -> str:
        """What was searched, what is proved, and what the kernels need, of all compiled so far."""
        return "\n".join(kernel.report for kernel in self._kernels())

    def explain(self) -> str:
        """Why the kernels were chosen, of all compiled so far."""
        return "\n".join(kernel.explain() for kernel in self._kernels())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the kernel to a file for `mi.load`; `ValueError` where there are several."""
        kernels = self._kernels()
        if len(kernels) > 1:
            raise ValueError(
                f"there are {len(kernels)} kernels, for other shapes each: save one, "
                f"kernel(...).save(path)"
            )
        kernels[0].save(path)

    def _kernels(self) -> list[CompiledKernel]:
        if not self._known:
            raise ValueError("nothing is compiled yet: the first call says for which shapes")
        return [known.operator.kernel for known in self._known.values()]

    def _specialized(self, arguments: Any, named: Any) -> tuple[list[Any], _Specialized]:
        """The arrays among the arguments, and the program for such arguments."""
        leaves, structure = jax.tree.flatten((arguments, named))
        arrays = [_as_array(leaf) for leaf in leaves if _is_array(leaf)]
        key = (structure, tuple(map(_kind, leaves)))
        try:
            known = self._known.get(key)
        except TypeError as error:
            raise TypeError(f"arguments are arrays or constants: {error}") from error
        if known is None:
            known = self._known[key] = self._specialize(leaves, structure, arrays)
        return arrays, known

    def _specialize(self, leaves: list[Any], structure: Any, arrays: list[Any]) -> _Specialized:
        returned: list[Any] = []

        def flat(*values: Any) -> list[Any]:
            left = iter(values)
            given = [next(left) if _is_array(leaf) else leaf for leaf in leaves]
            arguments, named = jax.tree.unflatten(structure, given)
            results, tree = jax.tree.flatten(self._function(*arguments, **named))
            returned.append(tree)
            return results

        like = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arrays]
        traced = jax.make_jaxpr(flat)(*like)
        like += [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in traced.consts]

        def program(*values: Any) -> Any:
            own, captured = values[: len(arrays)], values[len(arrays) :]
            return jax.core.eval_jaxpr(traced.jaxpr, captured, *own)

        names = [*self._names(leaves, structure)]
        names += [f"captured{number}" for number in range(len(traced.consts))]
        function = _converted(program, like, _identifier(self._function.__name__), names)
        constants = range(len(arrays), len(like))
        graph = KernelGraph.of(function, constants)
        made = Operator(graph, self._target, self._options)
        return _Specialized(made, [*map(_as_array, traced.consts)], returned[-1])

    def _names(self, leaves: list[Any], structure: Any) -> list[str]:
        """What messages call the arrays among the arguments: `params_w` for `params["w"]`."""
        arguments, named = jax.tree.unflatten(structure, leaves)
        bound = signature(self._function).bind(*arguments, **named).arguments
        paths, _ = jax.tree_util.tree_flatten_with_path(dict(bound))
        by_leaf = {id(leaf): path for path, leaf in paths}
        found: list[str] = []
        for leaf in leaves:
            if _is_array(leaf):
                path = by_leaf.get(id(leaf), ())
                found.append(_identifier("_".join(str(_part(each)) for each in path)))
        return found


def compile_function(
    function: Callable[..., Any], target: str = DEFAULT_TARGET, **options: Unpack[SearchOptions]
) -> CompiledFunction:
    """
    `function`, of JAX's arrays, as kernels that are searched for in the first call.

    Args:
        function: what `jax.jit` can trace; f16, bf16 and f32.
        target: the GPU to search for.
        options: as for `KernelGraph.superoptimize`.
    """
    return CompiledFunction(function, target, options)


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def _kind(leaf: Any) -> object:
    """What of an argument the program depends on; 1, 1.0 and True are equal, and not the same."""
    return (tuple(leaf.shape), str(leaf.dtype)) if _is_array(leaf) else (type(leaf), leaf)


def _as_array(leaf: Any) -> Any:
    """As JAX would take it; what only has a shape stays."""
    return leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.numpy.asarray(leaf)


def _part(entry: Any) -> object:
    """The key, index or attribute that a step of a path is."""
    for field in ("key", "idx", "name"):
        if hasattr(entry, field):
            return getattr(entry, field)
    return entry


def _identifier(text: str) -> str:
    name = sub(r"\W+", "_", text).strip("_")
    return name if name.isidentifier() else f"f_{name}".rstrip("_")


def _converted(
    program: Callable[..., Any], like: Sequence[Any], name: str, names: Sequence[str]
) -> FuncOp:
    """What JAX makes of `program` for GPUs, in the kernel dialect, as a function of that name."""
    lowered = jax.jit(program, keep_unused=True).trace(*like).lower(lowering_platforms=("cuda",))
    module = parse_program(printed(lowered.compiler_ir("stablehlo"), name), name)
    entry = function_named(module, ENTRY)
    entry.sym_name = StringAttr(name)
    for argument, each in zip(entry.body.block.args, names, strict=True):
        argument.name_hint = each
    ConvertStablehloToKernelPass().apply(Context(), module)
    return function_named(module, name)
