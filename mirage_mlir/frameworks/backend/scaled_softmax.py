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
from typing import Any

from mirage_mlir.frameworks.backend.nodes import is_call, stem_of

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

_ASKING = {"abs", "ne", "eq", "mul", "logical_not", "logical_and", "any", "all", "isfinite"}
"""Operators that `all(isfinite(s))` becomes."""

_CASTS = ("_to_copy", "convert_element_type")


def restore_softmax(graph: Any) -> None:
    """Put `s - amax(s)` in the place of inductor's two forms of it, in a graph in order."""
    found = [node for node in graph.nodes if _is_guarded(node)]
    for node in found:
        node.replace_all_uses_with(node.args[2])
    if found:
        graph.eliminate_dead_code()


def _is_guarded(node: Any) -> bool:
    if not is_call(node) or stem_of(node) != "where" or len(node.args) != 3:
        return False
    condition, stable, original = node.args
    scaled = _shifted(original)
    return (
        scaled is not None and _asks_only_of(scaled, condition) and _is_scaled_later(stable, scaled)
    )


def _shifted(node: Any) -> Any:
    """Of `x - amax(x)` x, else None."""
    if not _is(node, "sub") or not _is(node.args[1], "amax"):
        return None
    return node.args[0] if node.args[1].args[0] is node.args[0] else None


def _is_scaled_later(node: Any, scaled: Any) -> bool:
    """Whether a node is `(x - amax(x)) * c`, where `scaled` is x times something, too."""
    if not (_is(node, "mul") or _is(node, "div")):
        return False
    unscaled = _shifted(node.args[0])
    scaled = _uncast(scaled)
    if unscaled is None or not (_is(scaled, "mul") or _is(scaled, "div")):
        return False
    # Inductor multiplies x by the sign of c before it takes the maximum.
    return bool({*_factors(unscaled)} & {*_factors(scaled)})


def _factors(node: Any) -> Iterator[Any]:
    """What a product is made of, itself first, without casts."""
    node = _uncast(node)
    yield node
    if _is(node, "mul") or _is(node, "div"):
        yield from (_uncast(each) for each in node.args if isinstance(each, torch.fx.Node))


def _asks_only_of(scaled: Any, condition: Any) -> bool:
    """Whether a condition asks of nothing but `scaled` whether it is finite."""
    if condition is scaled:
        return True
    if not is_call(condition) or stem_of(condition) not in _ASKING:
        return False
    return all(_asks_only_of(scaled, each) for each in condition.all_input_nodes)


def _uncast(node: Any) -> Any:
    while is_call(node) and stem_of(node) in _CASTS:
        node = node.args[0]
    return node


def _is(node: Any, stem: str) -> bool:
    return isinstance(node, torch.fx.Node) and is_call(node) and stem_of(node) == stem
