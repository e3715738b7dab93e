"""What is drawn: nodes in nested layers, edges with shapes, and what is known of each. No IR."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Path = tuple[str, ...]
"""The names of nested layers, the outermost first."""


PROGRAM = "program"
"""The layer of a function as it was written, where it has results."""


class SceneKind(StrEnum):
    """What a node is, which gives it its colour."""

    TENSOR = "tensor"
    """An argument or the results of a function."""
    OPERATOR = "operator"
    LOAD = "load"
    ACCUMULATE = "accumulate"
    STORE = "store"
    KERNEL = "kernel"
    """What is known of a kernel as a whole; without edges."""


@dataclass(frozen=True)
class SceneEdge:
    """A value on its way from a node to another."""

    source: str
    """The id of the node that makes it."""
    output: int
    """Which of its results it is."""
    label: str
    """Its shape and element type: `16x256xf16`."""


@dataclass(frozen=True)
class SceneNode:
    """A node; ids are unique in a scene."""

    id: str
    label: str
    layer: Path
    kind: SceneKind
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    edges: tuple[SceneEdge, ...] = ()
    outputs: tuple[str, ...] = ()
    """The shape and element type of each result."""
    related: tuple[str, ...] = ()
    """The ids of nodes that became of this one, or that it was made of."""


@dataclass
class Scene:
    """One function, or a program beside its results."""

    name: str
    nodes: list[SceneNode] = field(default_factory=list[SceneNode])
    layers: dict[Path, dict[str, str]] = field(default_factory=dict[Path, dict[str, str]])
    """What is known of each layer."""
    numbers: dict[str, dict[str, float | str]] = field(
        default_factory=dict[str, dict[str, float | str]]
    )
    """By what they mean, values of nodes by their ids."""

    def add_number(self, meaning: str, node: str, value: float | str) -> None:
        """Note a value of a node."""
        self.numbers.setdefault(meaning, {})[node] = value
