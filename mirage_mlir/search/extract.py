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

Signature = frozenset[tuple[int, Edge]]


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
    _best: dict[Signature, tuple[float, dict[int, Edge]]] = field(
        default_factory=dict[Signature, tuple[float, dict[int, Edge]]]
    )
    _bound: float = float("inf")

    def run(self) -> list[Derivation]:
        """At most `keep` graphs of different structure, the lightest first."""
        self._place = self.graph.order()
        self._choices = [
            sorted(((self.weigh(value, edge), i) for i, edge in enumerate(edges)))
            for value, edges in enumerate(self.graph.edges)
        ]
        self._least = self._least_weights()
        self._descend(frozenset(self.goals), {}, 0.0)
        kept = sorted(self._best.values(), key=lambda found: found[0])[: self.keep]
        return [self._derivation(weight, chosen) for weight, chosen in kept]

    def _least_weights(self) -> list[float]:
        """For each value the weight of its heaviest unavoidable chain of operations."""
        least = [0.0] * len(self.graph.values)
        for value in sorted(range(len(least)), key=lambda value: self._place[value]):
            least[value] = min(
                weight + max((least[o] for o in self.graph.edges[value][i].operands), default=0.0)
                for weight, i in self._choices[value]
            )
        return least

    def _descend(self, needed: frozenset[int], chosen: dict[int, Edge], weight: float) -> None:
        if not needed:
            self._keep(chosen, weight)
            return
        value = max(needed, key=lambda value: self._place[value])
        rest = needed - {value}
        for own, index in self._choices[value]:
            if self.steps >= MAX_STEPS:
                self.cut = True
                return
            self.steps += 1
            edge = self.graph.edges[value][index]
            pending = rest | {operand for operand in edge.operands if operand not in chosen}
            total = weight + own
            if total + self._lower_bound(pending) > self._bound:
                continue
            chosen[value] = edge
            self._descend(pending, chosen, total)
            del chosen[value]

    def _lower_bound(self, pending: frozenset[int]) -> float:
        """What `pending` values weigh at least: each its lightest edge, or one whole chain."""
        if not pending:
            return 0.0
        chain = max(self._least[value] for value in pending)
        return max(chain, sum(self._choices[value][0][0] for value in pending))

    def _keep(self, chosen: dict[int, Edge], weight: float) -> None:
        signature = frozenset(
            (value, edge) for value, edge in chosen.items() if edge.kind in STRUCTURAL
        )
        known = self._best.get(signature)
        if known is None or weight < known[0]:
            self._best[signature] = weight, dict(chosen)
        weights = sorted(found[0] for found in self._best.values())
        self._bound = SLACK * weights[0]
        if len(weights) >= self.keep:
            self._bound = min(self._bound, weights[self.keep - 1])

    def _derivation(self, weight: float, chosen: dict[int, Edge]) -> Derivation:
        values = sorted(chosen, key=lambda value: self._place[value])
        return Derivation(
            tuple(values), tuple(chosen[v] for v in values), tuple(self.goals), weight
        )
