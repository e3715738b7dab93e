"""
The values that a block can hold under one configuration, and all ways to compute each.

A value is a normal form at a stage; an edge computes it from other values. There is no order of
operations and no choice yet: one hypergraph holds every graph of its configuration.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from mirage_mlir.expr.heads import Poly
from mirage_mlir.search.program.program import Kind


class Stage(IntEnum):
    """When a block computes a value."""

    INVARIANT = 0
    """Once, before the loop or after it."""
    LOOP = 1
    """In every iteration of the loop."""
    POST = 2
    """Once, after the loop."""


@dataclass(frozen=True)
class Edge:
    """One way to compute a value; operands are indices of values."""

    kind: Kind
    operands: tuple[int, ...] = ()
    axis: str | None = None
    """What a reduction or matmul sums over."""
    name: str = ""
    """Of a function."""
    source: int = 0
    """Which input or constant."""


@dataclass(frozen=True)
class Value:
    """A normal form at a stage."""

    form: Poly
    stage: Stage


class Hypergraph:
    """Values in order of discovery, each with its edges; never a value from itself."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.edges: list[list[Edge]] = []
        self._index: dict[Value, int] = {}

    def find(self, value: Value) -> int | None:
        """The index of `value` if it is in the hypergraph, else None."""
        return self._index.get(value)

    def add(self, value: Value, edge: Edge) -> int:
        """Add an edge that computes `value`; returns the index of `value`."""
        index = self._index.get(value)
        if index is None:
            index = self._index[value] = len(self.values)
            self.values.append(value)
            self.edges.append([edge])
        elif edge not in self.edges[index] and not self._needs(edge.operands, index):
            self.edges[index].append(edge)
        return index

    def _needs(self, operands: tuple[int, ...], index: int) -> bool:
        """Whether some derivation of `operands` uses the value `index`."""
        seen: set[int] = set()
        pending = list(operands)
        while pending:
            value = pending.pop()
            if value == index:
                return True
            if value in seen:
                continue
            seen.add(value)
            for edge in self.edges[value]:
                pending += edge.operands
        return False

    def order(self) -> list[int]:
        """For each value its place in an order in which operands come before results."""
        place = [-1] * len(self.values)
        count = 0
        for root in range(len(self.values)):
            pending = [(root, False)]
            while pending:
                value, ready = pending.pop()
                if place[value] >= 0:
                    continue
                if ready:
                    place[value] = count
                    count += 1
                    continue
                pending.append((value, True))
                for edge in self.edges[value]:
                    pending += [(operand, False) for operand in edge.operands]
        return place

    def unavoidable(self, goals: Iterable[int]) -> list[int]:
        """The values that every derivation of `goals` has, operands first."""
        place = self.order()
        values = sorted(range(len(place)), key=place.__getitem__)
        needs: list[int] = []
        for value in values:
            needed = -1
            for edge in self.edges[value]:
                below = 0
                for operand in edge.operands:
                    below |= needs[place[operand]]
                needed &= below
            needs.append(needed | 1 << place[value])
        together = 0
        for goal in goals:
            together |= needs[place[goal]]
        return [value for number, value in enumerate(values) if together >> number & 1]
