"""Rules of differentiation that a function of JAX brings along."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

jax: Any = import_module("jax")
"""Untyped: an optional dependency."""

_JAX = f"{Path(str(jax.__file__)).parent}/"


def has_rules(jaxpr: Any) -> bool:
    """
    Whether the user says what a gradient is: `stop_gradient`, `custom_vjp`, `custom_jvp`.

    Those in functions of JAX itself, as in `jax.nn.softmax`, say what the program says.
    """
    return any(_is_rule(equation) for equation in _equations(jaxpr))


def pulled_back(program: Callable[..., Any], inputs: int) -> Callable[..., Any]:
    """The gradient of `program` by JAX: it takes its inputs, then the gradient of each result."""

    def gradient(*values: Any) -> list[Any]:
        results, back = jax.vjp(program, *values[:inputs])
        return [*back(type(results)(values[inputs:]))]

    return gradient


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        if not _is_of_jax(equation):
            for each in jax.tree.leaves([*equation.params.values()], is_leaf=_is_jaxpr):
                if _is_jaxpr(each):
                    yield from _equations(getattr(each, "jaxpr", each))


def _is_jaxpr(value: object) -> bool:
    return hasattr(value, "eqns")


def _is_rule(equation: Any) -> bool:
    if equation.primitive.name == "stop_gradient":
        return not _is_called_by_jax(equation)
    return equation.primitive.name.startswith("custom_") and not _is_of_jax(equation)


def _is_of_jax(equation: Any) -> bool:
    """Whether an equation is a call of a function with a rule that JAX defines."""
    called = equation.params.get("call_jaxpr")
    if not equation.primitive.name.startswith("custom_") or called is None:
        return False
    return _JAX in str(getattr(called, "jaxpr", called).debug_info.func_src_info)


def _is_called_by_jax(equation: Any) -> bool:
    """Whether it is a function of JAX that calls `stop_gradient`."""
    traceback = equation.source_info.traceback
    frames = [] if traceback is None else [*traceback.frames]
    at = [n for n, frame in enumerate(frames) if frame.function_name == "stop_gradient"]
    outer = frames[at[-1] + 1 :] if at else []
    return bool(outer) and outer[0].file_name.startswith(_JAX)
