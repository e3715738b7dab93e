"""
Maxima that a backward pass compares with what they were taken of.

The gradient of a maximum goes to the elements that are equal to it, divided by their number. Where
an element was computed a second time by other kernels it may differ in its last bit, so that none
is equal and the gradient is 0 / 0. What such a maximum was taken of is therefore kept for the
backward pass, and torch takes the maximum of what is kept.
"""

from importlib import import_module
from typing import Any

from mirage_mlir.frameworks.backend.nodes import (
    CASTS,
    COMPARED,
    is_call,
    is_floating,
    is_view,
    stem_of,
)

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

_MAXIMA = ("amax", "amin", "max", "min", "aminmax", "linalg_vector_norm")
"""The norm for the infinity of its order."""


def keep_compared(graph: Any) -> None:
    """
    Mark what a graph compares for equality with a maximum, and the maximum.

    Args:
        graph: of ATen, forward and backward, in order, before it is cut in two; only marks of it
            change.
    """
    policy: Any = import_module("torch.utils.checkpoint").CheckpointPolicy
    first = _first_alike(graph)
    for node in graph.nodes:
        if is_call(node) and stem_of(node) == "eq":
            pair = [_made(each) for each in node.args if isinstance(each, torch.fx.Node)]
            for maximum in filter(_is_maximum, pair):
                maximum.meta[COMPARED] = True
                for each in filter(is_call, map(_signed, pair)):
                    first[each].meta["recompute"] = each.meta["recompute"] = policy.MUST_SAVE


def _first_alike(graph: Any) -> dict[Any, Any]:
    """
    The first node that computes the same, for each node.

    Torch joins such nodes before it cuts the graph, and the marks of the first are left.
    """
    first: dict[Any, Any] = {}
    known: dict[str, Any] = {}
    for node in graph.nodes:
        of = torch.fx.node.map_arg((node.args, node.kwargs), first.__getitem__)
        key = f"{node.target} {of}" if is_call(node) else node.name
        first[node] = known.setdefault(key, node)
    return first


def _made(node: Any) -> Any:
    """What a node views."""
    while is_view(node) or (is_call(node) and stem_of(node) in (*CASTS, "getitem")):
        node = node.args[0]
    return node


def _signed(node: Any) -> Any:
    """
    What a node is the absolute value of, if it is one.

    The gradient of a norm takes absolute values a second time: nodes of the backward pass, which
    are never kept.
    """
    return _made(node.args[0]) if is_call(node) and stem_of(node) == "abs" else node


def _is_maximum(node: Any) -> bool:
    return is_call(node) and stem_of(node) in _MAXIMA and is_floating(node)
