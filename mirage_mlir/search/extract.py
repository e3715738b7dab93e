"""
Graphs out of a hypergraph: one edge for each value that is needed, from the outputs backwards.

Branch and bound by a static weight: of the graphs that differ only in where scalars are applied,
the lightest is kept; of those that differ in their products, sums and loads, the lightest few.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mirage_mlir.search.hypergraph import Edge, Hypergraph
from mirage_mlir.search.program import Kind

STRUCTURAL = (
    Kind.INPUT,
    Kind.MATMUL,
    Kind.REDUCE_SUM,
    Kind.REDUCE_MAX,
    Kind.ACCUMULATE_SUM,
    Kind.ACCUMULATE_MAX,
)
"""What gives a graph its structure; elementwise operations are cheap beside it."""

MAX_STEPS = 20_000
"""Choices tried in one configuration, some 50 ms: above it the search says that it was cut.
Programs of a dozen operators need a few hundred."""

SLACK = 2.0
"""Graphs this many times heavier than the lightest are not pursued: static weights are rough, but
not that rough."""

Structure = frozenset[tuple[int, Edge]]
"""The structural edges of a graph, with the values that they compute."""


@dataclass(frozen=True)
class Derivation:
    """A graph: an edge for each value, values in an order in which operands come first."""

    values: tuple[int, ...]
    edges: tuple[Edge, ...]
    goals: tuple[int, ...]
    weight: float


@dataclass
class Extraction:
    """The lightest graphs that compute all `goals`; `weigh` gives the static weight of an edge."""

    graph: Hypergraph
    goals: Sequence[int]
    weigh: Callable[[int, Edge], float]
    keep: int
    steps: int = 0
    cut: bool = False
    """Whether graphs were left out because there were too many choices."""
    _best: dict[Structure, tuple[float, dict[int, Edge]]] = field(
        default_factory=dict[Structure, tuple[float, dict[int, Edge]]]
    )
    _reached: dict[tuple[frozenset[int], Structure], float] = field(
        default_factory=dict[tuple[frozenset[int], Structure], float]
    )
    _bound: float = float("inf")

    def run(self) -> list[Derivation]:
        """At most `keep` graphs of different structure, the lightest first."""
        self._place = self.graph.order()
        self._weights = [
            [self.weigh(value, edge) for edge in edges]
            for value, edges in enumerate(self.graph.edges)
        ]
        self._chains = self._lightest_chains()
        self._choices = [self._ordered(value) for value in range(len(self._weights))]
        self._descend(frozenset(self.goals), frozenset(), {}, 0.0)
        kept = sorted(self._best.values(), key=lambda found: found[0])[: self.keep]
        return [self._derivation(weight, chosen) for weight, chosen in kept]

    def _lightest_chains(self) -> list[float]:
        """For each value the weight of its heaviest unavoidable chain of operations."""
        chains = [0.0] * len(self.graph.values)
        for value in sorted(range(len(chains)), key=lambda value: self._place[value]):
            ways = zip(self._weights[value], self.graph.edges[value], strict=True)
            chains[value] = min(
                own + max((chains[operand] for operand in edge.operands), default=0.0)
                for own, edge in ways
            )
        return chains

    def _ordered(self, value: int) -> list[tuple[float, Edge]]:
        """The edges of a value with their weights, those of the lightest chains first."""
        ways = list(zip(self._weights[value], self.graph.edges[value], strict=True))

        def chain(way: tuple[float, Edge]) -> float:
            own, edge = way
            return own + max((self._chains[operand] for operand in edge.operands), default=0.0)

        return sorted(ways, key=chain)

    def _descend(
        self,
        needed: frozenset[int],
        structure: Structure,
        chosen: dict[int, Edge],
        weight: float,
    ) -> None:
        """
        Choose edges for `needed`, the last of them in topological order first.

        What was chosen before comes later in that order, so nothing that is still to be chosen
        depends on it: of two ways to the same needs and structure the lighter one is enough.
        """
        if weight >= self._reached.get((needed, structure), float("inf")):
            return
        self._reached[needed, structure] = weight
        if not needed:
            self._keep(structure, chosen, weight)
            return
        value = max(needed, key=lambda value: self._place[value])
        for own, edge in self._choices[value]:
            if self.steps >= MAX_STEPS:
                self.cut = True
                return
            self.steps += 1
            pending = (needed - {value}).union(edge.operands)
            if weight + own + self._lower_bound(pending) > self._bound:
                continue
            chosen[value] = edge
            follows = structure | {(value, edge)} if edge.kind in STRUCTURAL else structure
            self._descend(pending, follows, chosen, weight + own)
            del chosen[value]

    def _lower_bound(self, pending: frozenset[int]) -> float:
        """What `pending` values weigh at least: each its lightest edge, or one whole chain."""
        if not pending:
            return 0.0
        chain = max(self._chains[value] for value in pending)
        return max(chain, sum(min(self._weights[value]) for value in pending))

    def _keep(self, structure: Structure, chosen: dict[int, Edge], weight: float) -> None:
        self._best[structure] = weight, dict(chosen)
        weights = sorted(found for found, _ in self._best.values())
        self._bound = SLACK * weights[0]
        if len(weights) >= self.keep:
            self._bound = min(self._bound, weights[self.keep - 1])

    def _derivation(self, weight: float, chosen: dict[int, Edge]) -> Derivation:
        values = sorted(chosen, key=lambda value: self._place[value])
        edges = tuple(chosen[value] for value in values)
        return Derivation(tuple(values), edges, tuple(self.goals), weight)
