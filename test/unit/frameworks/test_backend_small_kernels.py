"""Which small kernels of inductor share a launch."""

from dataclasses import dataclass, field
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.frameworks.backend.small_kernels import (
    AT_ONCE,
    FEW_ELEMENTS,
    few_launches,
    latest_levels,
    small_groups,
)

sympy = pytest.importorskip("sympy")


@st.composite
def graphs(draw: st.DrawFn) -> dict[int, list[int]]:
    size = draw(st.integers(0, 12))
    return {n: [e for e in range(n) if draw(st.booleans())] for n in range(size)}


@given(graphs())
def test_nodes_of_a_level_may_become_one(needed: dict[int, list[int]]) -> None:
    """Each edge leads to a lower level, so that no cycle can arise, whichever are joined."""
    levels = latest_levels(needed)
    assert list(levels) == list(needed)
    assert all(levels[before] > levels[node] for node in needed for before in needed[node])


@given(graphs())
def test_levels_are_the_latest(needed: dict[int, list[int]]) -> None:
    levels = latest_levels(needed)
    for node, level in levels.items():
        readers = [levels[other] for other in needed if node in needed[other]]
        assert level == max(readers, default=-1) + 1


class Device(NamedTuple):
    """As much of torch's."""

    type: str


@dataclass(eq=False)
class Node:
    """As much of a node of inductor's scheduler as is asked for."""

    name: str
    sizes: tuple[int, ...] = (64,)
    needs: list[Any] = field(default_factory=list[Any])
    device: str = "cuda"
    stream: int = 0
    joinable: bool = True

    @property
    def group(self) -> tuple[str, tuple[Any, ...]]:
        return self.device, tuple(map(sympy.Integer, self.sizes))

    def get_device(self) -> Device:
        return Device(self.device)


class Part:
    """A call of ours, which iterates over nothing that inductor sees."""

    name = "part"

    def __init__(self, *needs: Any) -> None:
        self.needs = needs

    def get_device(self) -> Device:
        return Device("cuda")


def groups_of(*nodes: Any) -> list[list[str]]:
    scheduler = SimpleNamespace(
        nodes=nodes,
        _get_unmet_dep_nodes=attrgetter("needs"),
        node_to_stream={node: node.stream for node in nodes if isinstance(node, Node)},
    )
    return [[node.name for node in group] for group in small_groups(scheduler, inductor_groups)]


def inductor_groups(scheduler: Any) -> list[list[Any]]:
    """As inductor's: nodes that it writes otherwise are in none."""
    return [[node] for node in scheduler.nodes if getattr(node, "joinable", True)]


def test_a_mask_is_made_where_the_cache_is_written() -> None:
    """The mask depends on nothing, but attention is what reads it."""
    projections = (mask := Node("mask"), first := Part())
    written = [Node(name, needs=[first]) for name in ("keys", "values")]
    attention = Part(mask, *written)
    assert groups_of(*projections, *written, attention) == [["mask", "keys", "values"]]


def test_large_kernels_and_those_of_another_device_stay_alone() -> None:
    small, large = Node("small"), Node("large", (FEW_ELEMENTS, 2))
    assert groups_of(small, large, Node("host", device="cpu")) == [["small"]]


def test_what_inductor_leaves_out_stays_alone() -> None:
    """The end of a split sum that is part of a kernel of several orders is no kernel at all."""
    ends = [Node("scale"), Node("weight", joinable=False), Node("bias")]
    assert groups_of(*ends) == [["scale", "bias"]]


def test_kernels_of_one_stream_share_a_launch() -> None:
    nodes = [Node("a"), Node("b", stream=1), Node("c"), Node("d", stream=1)]
    assert groups_of(*nodes) == [["a", "c"], ["b", "d"]]


def test_unknown_sizes_stay_alone() -> None:
    node = Node("unknown")
    node.__class__ = type(
        "Unknown", (Node,), {"group": property(lambda _: ("cuda", (sympy.Symbol("n"),)))}
    )
    assert groups_of(node) == []


def test_a_launch_has_a_bound() -> None:
    assert [len(each) for each in groups_of(*(Node(str(n)) for n in range(20)))] == [8, 8, 4]
    assert AT_ONCE == 8


def test_inductor_is_left_as_it_was() -> None:
    inductor = pytest.importorskip("torch._inductor")
    config, nodes = (
        inductor.config,
        pytest.importorskip("torch._inductor.scheduler").ForeachKernelSchedulerNode,
    )
    before = config.combo_kernels, nodes.group_algorithm_for_combo_kernels
    with few_launches():
        assert config.combo_kernels
        assert nodes.group_algorithm_for_combo_kernels.func is small_groups
    assert before == (config.combo_kernels, nodes.group_algorithm_for_combo_kernels)
