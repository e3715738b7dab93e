"""
Softmaxes of scaled scores, as they were written.

Inductor subtracts the maximum before it scales, and since torch 2.13 asks of each row whether all
of it is finite, to do so only there:

    where(all(isfinite(s)), (x - amax(x)) * c, s - amax(s))      for s = x * c

Both sides are the same numbers but for rounding. Kernels compute with numbers, and have no question
whether they are: the second side, which was there before, is left.
"""

from collections.abc import Iterator
from importlib import import_module
from math import inf
from typing import Any, cast

from mirage_mlir.frameworks.backend.nodes import CASTS, is_call, stem_of

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


def restore_softmax(graph: Any) -> None:
    """Put `s - amax(s)` in the place of inductor's two forms of it, in a graph in order."""
    found = [node for node in graph.nodes if _is_guarded(node)]
    for node in found:
        node.replace_all_uses_with(node.args[2])
    if found:
        graph.eliminate_dead_code()


def _is_guarded(node: Any) -> bool:
    if not _matches(node, ("where", ..., ..., ("sub", ..., ("amax", ..., ..., True)))):
        return False
    condition, stable, original = node.args
    scaled, maximum = original.args
    dims = maximum.args[1]
    return (
        _matches(maximum, ("amax", scaled, dims, True))
        and _matches(condition, _all_finite(scaled, dims))
        and any(_matches(stable, form) for form in _scaled_later(stable, scaled, dims))
    )


def _all_finite(x: Any, dims: Any) -> tuple[Any, ...]:
    """What `all(isfinite(x), dims)` becomes."""
    finite = ("mul", ("eq", x, x), ("ne", ("abs", x), inf))
    return ("logical_not", ("any", ("logical_not", finite), dims, True))


def _scaled_later(stable: Any, scaled: Any, dims: Any) -> Iterator[tuple[Any, ...]]:
    """
    Forms of `x - amax(x)` times c, for `scaled` as x times c; or divided by it.

    Inductor multiplies x by the sign of c before it takes the maximum, and c by it.
    """
    product = _uncast(scaled)
    if not _matches(stable, (..., ("sub", ("mul", ..., ...), ...), ...)) or not is_call(product):
        return
    operator, shifted = stem_of(product), stable.args[0].args[0]
    x, sign = shifted.args
    pairs = {"mul": [product.args, product.args[::-1]], "div": [product.args]}
    for factor, c in pairs.get(operator, []):
        if _uncast(x) is _uncast(factor) and _is_sign(sign, c) and _is_alike(c, scaled, dims):
            size = ("mul", sign, c) if isinstance(c, torch.fx.Node) else abs(c)
            yield (operator, ("sub", shifted, ("amax", shifted, dims, True)), size)


def _is_sign(sign: Any, c: Any) -> bool:
    """Whether `sign` is 1 where c is not negative, and else -1."""
    if not isinstance(c, torch.fx.Node):
        return sign == (1 if c >= 0 else -1)
    if not _matches(sign, ("where", ("ge", c, 0), ("scalar_tensor", 1), ("neg", ...))):
        return False
    return sign.args[2].args[0] is sign.args[1]


def _is_alike(c: Any, scaled: Any, dims: Any) -> bool:
    """Whether c has one element for all along the dimensions of `scaled`."""
    if not isinstance(c, torch.fx.Node):
        return True
    rank, shape = scaled.meta["val"].ndim, c.meta["val"].shape
    whole = (1,) * (rank - len(shape)) + tuple(shape)
    return all(whole[dim] == 1 for dim in dims)


def _matches(value: Any, form: Any) -> bool:
    """
    Whether a node is what a form says.

    A form is the name of an operator and forms of its arguments, a value itself, or `...`, which is
    anything, of names too.
    """
    if form is ...:
        return True
    if not isinstance(form, tuple):
        return value is form or (not isinstance(form, torch.fx.Node) and value == form)
    if not isinstance(value, torch.fx.Node) or not is_call(value):
        return False
    stem, *arguments = cast(tuple[Any, ...], form)
    if stem is not ... and stem_of(value) != stem:
        return False
    return len(value.args) == len(arguments) and all(map(_matches, value.args, arguments))


def _uncast(node: Any) -> Any:
    while isinstance(node, torch.fx.Node) and is_call(node) and stem_of(node) in CASTS:
        node = node.args[0]
    return node
