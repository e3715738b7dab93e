"""What is done to a graph of ATen, forward and backward, before inductor cuts it in two."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from mirage_mlir.frameworks.backend.compared import keep_compared
from mirage_mlir.frameworks.backend.scaled_softmax import restore_softmax

FILES = tuple(
    str(Path(__file__).with_name(f"{name}.py"))
    for name in ("compared", "joint_pass", "scaled_softmax")
)
"""Graphs that torch keeps are those of this code."""


def pass_for_inductor(before: Sequence[Any]) -> Any:
    """
    Our changes as what inductor calls with a graph before it cuts that in two.

    Args:
        before: passes that run before it. Torch 2.11 takes one pass only: they are part of ours.
    """
    passes: Any = import_module("torch._inductor.custom_graph_pass")
    matcher: Any = import_module("torch._inductor.pattern_matcher")

    def run(_: Any, graph: Any) -> None:
        for each in before:
            each(graph)
        # Inductor's own patterns leave it out of order: attention that becomes one operator.
        matcher.stable_topological_sort(graph)
        restore_softmax(graph)
        keep_compared(graph)

    def uuid(_: Any) -> Any:
        """Inductor keeps graphs under it, among other things; none where one of them has none."""
        parts = [each.uuid() if hasattr(each, "uuid") else None for each in before]
        ours = passes.get_hash_for_files(FILES)
        return None if None in parts else (*parts, ours)

    methods: dict[str, Any] = {"__call__": run, "uuid": uuid}
    return type("JointPass", (passes.CustomGraphPass,), methods)()
