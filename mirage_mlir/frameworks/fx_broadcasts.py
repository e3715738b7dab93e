"""Expansions of an FX graph that elementwise operators do without."""

from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


def skip_expansions(graph: Any) -> None:
    """Let elementwise operators read what is expanded for them, in place: they broadcast."""
    for node in graph.nodes:
        if node.target is torch.ops.aten.expand.default:
            for user in list(node.users):
                if _broadcasts(user, node):
                    user.replace_input_with(node, node.args[0])


def _broadcasts(user: Any, expanded: Any) -> bool:
    """Whether `user` has the same result of what `expanded` expands."""
    if torch.Tag.pointwise not in getattr(user.target, "tags", ()):
        return False
    read = (expanded.args[0] if each is expanded else each for each in user.all_input_nodes)
    shapes = [each.meta["val"].shape for each in read]
    return torch.broadcast_shapes(*shapes) == user.meta["val"].shape
