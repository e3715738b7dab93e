"""Functions of JAX that are compiled when they are called."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature, unwrap
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.dialects.func import FuncOp

from mirage_mlir.api.graph import KernelGraph, SearchOptions
from mirage_mlir.bridge.stablehlo_text import printed
from mirage_mlir.diagnostics import (
    Diagnostic,
    PassFailure,
    Severity,
    UnsupportedOperation,
    diagnostic_at,
)
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.frameworks.jax_constants import with_constants
from mirage_mlir.frameworks.jax_rules import has_rules, pulled_back
from mirage_mlir.frameworks.number_keys import exactly
from mirage_mlir.jax import JaxOperator, listed
from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass
from mirage_mlir.passes.parts.inlining import inline_calls
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.recognition import target_of_gpu
from mirage_mlir.targets.target import target_named

OURS = f"{Path(str(import_module('mirage_mlir').__file__)).parent}/"
"""Where this package is."""

jax: Any = import_module("jax")
"""Untyped: an optional dependency."""

ENTRY = "main"
"""What JAX calls the function that it lowers."""

STORED = {"bool": "float32"}
"""Element types that kernels take as another one: masks are zeros and ones."""


class JaxFrontend:
    """
    A function of JAX, and its programs for shapes of its arguments.

    Arrays may be anywhere in nested containers, in arguments and results; booleans are masks.
    Numbers, strings and other values are part of the program. So are, as constant inputs, arrays
    that the function uses without taking them.
    """

    def __init__(
        self, function: Callable[..., Any], target: str | None, options: SearchOptions
    ) -> None:
        self._function, self._target, self._options = function, target, options
        self._name = _identifier(getattr(function, "__name__", type(function).__name__))

    def key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
        """Shapes and types of arrays, and values of all else; `TypeError` where these have none."""
        leaves, structure = jax.tree.flatten((tuple(args), dict(kwargs)))
        key = (structure, *map(_kind, leaves))
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(f"arguments are arrays or constants: {error}") from error
        return key

    def specialize(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "JaxCall":
        """
        The program of one call, compiled.

        Raises:
            UnsupportedOperation: the kernel dialect has no operator for something.
            DiagnosticException: the program cannot be compiled.
        """
        leaves, structure = jax.tree.flatten((tuple(args), dict(kwargs)))
        arrays = [leaf for leaf in leaves if _is_array(leaf)]
        results: list[_Results] = []

        def flat(*values: Any) -> list[Any]:
            left = (value.astype(each.dtype) for value, each in zip(values, arrays, strict=True))
            given = [next(left) if _is_array(leaf) else leaf for leaf in leaves]
            positional, named = jax.tree.unflatten(structure, given)
            made, tree = jax.tree.flatten(self._function(*positional, **named))
            made = [jax.numpy.asarray(each) for each in made]
            results.append(_Results(tree, tuple(each.dtype for each in made)))
            return [_stored(each) for each in made]

        names = self._names(args, kwargs)
        for name, each in zip(names, arrays, strict=True):
            if 0 in each.shape:
                message = f"input '{name}': dims are positive, not {tuple(each.shape)}"
                raise UnsupportedOperation(Diagnostic(Severity.ERROR, message))
        like = [_shape_of(each) for each in arrays]
        as_written = jax.make_jaxpr(flat)(*like)
        traced = with_constants(as_written)

        def program(*values: Any) -> Any:
            own, captured = values[: len(arrays)], values[len(arrays) :]
            whole = [each.astype(c.dtype) for each, c in zip(captured, traced.consts, strict=True)]
            return jax.core.eval_jaxpr(traced.jaxpr, whole, *own)

        like += [_shape_of(each) for each in traced.consts]
        names += [f"captured{number}" for number in range(len(traced.consts))]
        place = _place_of(self._function)
        function = _converted(program, like, self._name, names, place)
        graph = KernelGraph.of(function, range(len(arrays), len(like)))

        def gradient() -> KernelGraph:
            if not has_rules(as_written.jaxpr):
                return graph.backward()
            made = jax.eval_shape(program, *like)
            seeds = [f"gradient{number}" for number in range(len(made))]
            back = pulled_back(program, len(like))
            name = f"{self._name}_backward"
            converted = _converted(back, [*like, *made], name, [*names, *seeds], place)
            return KernelGraph.of(converted, ())

        operator = self._compiled(graph, arrays, gradient)
        return JaxCall(graph, operator, [*map(_stored, traced.consts)], results[-1])

    def _compiled(
        self, graph: KernelGraph, arrays: Sequence[Any], gradient: Callable[[], KernelGraph]
    ) -> JaxOperator:
        """For the GPU that the first array is on, where the options name none."""
        found = _target_of(arrays[0]) if arrays else None
        if found is None:
            return JaxOperator(graph, self._target, self._options, gradient)
        options: SearchOptions = {"compile_for": [target_named(found).chip], **self._options}
        return JaxOperator(graph, self._target or found, options, gradient)

    def _names(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """What messages call the arrays among the arguments: `params_w` for `params["w"]`."""
        try:
            names = [*signature(self._function).bind_partial(*args).arguments]
        except (TypeError, ValueError):
            names = []
        names += [f"input{number}" for number in range(len(names), len(args))]
        arguments = (*zip(names, args, strict=False), *sorted(kwargs.items()))
        found: list[str] = []
        for name, argument in arguments:
            for path, leaf in jax.tree_util.tree_flatten_with_path(argument)[0]:
                if _is_array(leaf):
                    found.append(_identifier("_".join([name, *map(_part, path)])))
        return found


@dataclass(frozen=True)
class _Results:
    """The structure of what a function returns, and the element types of its arrays."""

    structure: Any
    dtypes: tuple[Any, ...]


@dataclass(frozen=True)
class JaxCall:
    """The kernel for one list of shapes and types, under `jax.jit` and with gradients too."""

    graph: KernelGraph
    """The program that JAX traced."""
    operator: JaxOperator
    captured: Sequence[Any]
    """Arrays that the function uses and does not take."""
    results: _Results

    @property
    def kernel(self) -> CompiledKernel:
        """What was found for it; it takes the arrays of `jax.tree.leaves`, then captured ones."""
        return self.operator.kernel

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function returns."""
        leaves = jax.tree.leaves((tuple(args), dict(kwargs)))
        arrays = [_stored(jax.numpy.asarray(leaf)) for leaf in leaves if _is_array(leaf)]
        made = listed(self.operator(*arrays, *self.captured))
        typed = [each.astype(kind) for each, kind in zip(made, self.results.dtypes, strict=True)]
        return jax.tree.unflatten(self.results.structure, typed)


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def _kind(leaf: Any) -> object:
    """What of an argument the program depends on."""
    return (tuple(leaf.shape), str(leaf.dtype)) if _is_array(leaf) else exactly(leaf)


def _shape_of(array: Any) -> Any:
    """What the kernel takes for an array."""
    return jax.ShapeDtypeStruct(array.shape, STORED.get(str(array.dtype), array.dtype))


def _stored(array: Any) -> Any:
    """An array as kernels take and give it."""
    return array.astype(STORED.get(str(array.dtype), array.dtype))


def _target_of(array: Any) -> str | None:
    """What to search for on the GPU of an array; None for the host, and while tracing."""
    if isinstance(array, jax.core.Tracer) or not isinstance(array, jax.Array):
        return None
    (device, *_) = array.devices()
    if device.platform != "gpu":
        return None
    major = device.compute_capability.partition(".")[0]
    # AMD's are called gfx90a.
    return target_of_gpu(device.device_kind, int(major)) if major.isdigit() else None


def _part(entry: Any) -> str:
    """The key, index or attribute that a step of a path is."""
    found = next((f for f in ("key", "idx", "name") if hasattr(entry, f)), None)
    return str(entry if found is None else getattr(entry, found))


def _identifier(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_")
    return name if name.isidentifier() else f"f_{name}".rstrip("_")


def _place_of(function: Callable[..., Any]) -> LocationAttr:
    """Where a function is written; unknown of other callables."""
    code = getattr(unwrap(function), "__code__", None)
    if code is None:
        return UNKNOWN_LOC
    return FileLineColLoc(StringAttr(code.co_filename), IntAttr(code.co_firstlineno), IntAttr(1))


def _converted(
    program: Callable[..., Any],
    like: Sequence[Any],
    name: str,
    names: Sequence[str],
    place: LocationAttr,
) -> FuncOp:
    """
    What JAX makes of `program` for GPUs, in the kernel dialect, as a function of that name.

    Errors say `place` of what has no line of its own.
    """
    traced = jax.jit(program, keep_unused=True).trace(*like)
    try:
        lowered = traced.lower(lowering_platforms=("cuda",))
    except (ValueError, NotImplementedError) as error:
        # Of callbacks to the host, which are for the platform of this process.
        (reason, *_) = str(error).splitlines() or [type(error).__name__]
        message = f"JAX does not compile it for GPUs from here: {reason}"
        raise UnsupportedOperation(diagnostic_at(place, Severity.ERROR, message)) from error
    try:
        module = parse_program(printed(lowered.compiler_ir("stablehlo"), name), name)
    except PassFailure as error:
        message = f"JAX makes a program of '{name}' that is not of StableHLO alone: {error}"
        raise UnsupportedOperation(Diagnostic(Severity.ERROR, message)) from error
    for op in module.walk():
        if isinstance(op.location, FileLineColLoc) and (
            op.location.filename.data == name or op.location.filename.data.startswith(OURS)
        ):
            # A line of the text that JAX printed, or of this package, says nobody anything.
            op.location = UNKNOWN_LOC
    entry = function_named(module, ENTRY)
    entry.location = place
    for argument, each in zip(entry.body.block.args, names, strict=True):
        argument.name_hint = each
    ConvertStablehloToKernelPass().apply(Context(), module)
    # Not before: a function that it calls may have that name.
    converted = function_named(module, ENTRY)
    # What computes nothing is no operation of StableHLO.
    inline_calls(module, converted, lambda _: True)
    converted.sym_name = StringAttr(name)
    return converted
