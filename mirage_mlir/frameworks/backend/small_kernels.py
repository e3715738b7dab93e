"""
Small kernels that inductor compiles beside parts of ours, several in one launch.

A decode step writes keys and values into a cache, makes a mask, and counts, once for each layer.
Each is a kernel of a microsecond, most of which is the launch. Inductor can put kernels that do
not depend on each other into one launch (its combo kernels). This module says which: of those that
inductor itself would join with others those of few elements, and each as late as what reads it
allows, since that is where those of a layer meet.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from math import prod
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=Hashable)

FEW_ELEMENTS = 1 << 18
"""Of a kernel: 3 MB or so, which an H200 moves in less time than the launch takes."""

AT_ONCE = 8
"""Kernels in one launch, inductor's own bound."""


@contextmanager
def few_launches() -> Generator[None]:
    """
    Let inductor compile small kernels into few launches meanwhile.

    Versions of torch that do not have what this needs compile as they do without.
    """
    config: Any = import_module("torch._inductor.config")
    nodes: Any = import_module("torch._inductor.scheduler").ForeachKernelSchedulerNode
    name = "group_algorithm_for_combo_kernels"
    if not (hasattr(config, "combo_kernels") and hasattr(nodes, name)):
        yield
        return
    before = nodes.__dict__[name]
    setattr(nodes, name, staticmethod(partial(small_groups, inductor_groups=getattr(nodes, name))))
    try:
        with config.patch(combo_kernels=True):
            yield
    finally:
        setattr(nodes, name, before)


def small_groups(
    scheduler: Any, inductor_groups: Callable[[Any], Iterable[Iterable[Any]]]
) -> list[list[Any]]:
    """
    Of the kernels of inductor, those to put into one launch each.

    Args:
        scheduler: inductor's.
        inductor_groups: inductor's own choice. What it leaves out is left out: some nodes it
            writes otherwise, as the end of a sum that is part of another kernel.
    """
    joinable = {node for group in inductor_groups(scheduler) for node in group}
    streams: Mapping[Any, int] = getattr(scheduler, "node_to_stream", {})
    needed = {node: scheduler._get_unmet_dep_nodes(node) for node in scheduler.nodes}
    found: dict[tuple[object, ...], list[Any]] = {}
    for node, level in latest_levels(needed).items():
        if node in joinable and _is_small(node):
            place = level, node.get_device(), streams.get(node, 0)
            found.setdefault(place, []).append(node)
    return [
        nodes[first : first + AT_ONCE]
        for nodes in found.values()
        for first in range(0, len(nodes), AT_ONCE)
    ]


def latest_levels(needed: Mapping[_Node, Iterable[_Node]]) -> dict[_Node, int]:
    """
    How many steps before the last each node comes at the latest, if all take one.

    Nodes of one level do not depend on each other, however many of them become one.

    Args:
        needed: what each node needs; all come after what they need.
    """
    levels = dict.fromkeys(needed, 0)
    for node in reversed(levels):
        for before in needed[node]:
            levels[before] = max(levels[before], levels[node] + 1)
    return levels


def _is_small(node: Any) -> bool:
    """Of few elements, of a GPU, and compiled by inductor: it has a space that it iterates over."""
    device = node.get_device()
    if device is None or device.type != "cuda" or not hasattr(node, "group"):
        return False
    sizes: tuple[Any, ...] = node.group[1]
    return all(size.is_number for size in sizes) and bool(prod(sizes) <= FEW_ELEMENTS)
