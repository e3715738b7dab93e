"""
Extracts graphs from a hypergraph: one edge for each value that is needed, from the outputs
backwards.

Extraction is a branch and bound by static weights. Of graphs that differ only in where scalars are
applied the lightest is kept; of those that differ in matmuls, sums and loads, the lightest few.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph

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

Values = int
"""A set of values: the bit of a value is its place in topological order."""

Structure = int
"""A set of structural edges, each with the value that it computes; the numbers of bits are those of
an extraction."""


@dataclass(frozen=True)
class Derivation:
    """A graph: one edge for each value; values are in an order in which operands come first."""

    values: tuple[int, ...]
    edges: tuple[Edge, ...]
    goals: tuple[int, ...]
    weight: float


@dataclass(frozen=True)
class _Choice:
    """One way to compute a value."""

    weight: float
    edge: Edge
    operands: Values
    structure: Structure


@dataclass
class Extraction:
    """
    The lightest graphs that compute all `goals`; `weigh` gives the static weight of an edge.

    Invariant: unless the extraction was cut, each graph that `run` returns is the lightest of its
    structure (of equal ones the first that was found), up to the rounding of sums of weights.

    Proof. A path of choices is left for one of two reasons. Its weight and a lower bound on what
    it still needs exceed `_bound`: then so does each graph below it. Or `_reached` holds a path of
    at most the same weight to the same needs and structure: then each way to complete this path
    completes that one too, to a graph of the same structure that is no heavier. Let B be the bound
    at the end, the least that it ever was, since it never rises. By induction over the path, a
    graph of weight at most B is found, or one of its structure that is no heavier. `run` returns
    graphs of weight at most B only, so none has a lighter form that was left. A graph that was
    kept while the bound was above its weight, and that is heavier than B, may have one: it is not
    returned.
    """

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
    _reached: dict[tuple[Values, Structure], float] = field(
        default_factory=dict[tuple[Values, Structure], float]
    )
    _least: dict[Values, float] = field(default_factory=dict[Values, float])
    """What sets of values weigh at least."""
    _bound: float = float("inf")
    """The weight above which no graph is pursued; it never rises."""

    def run(self) -> list[Derivation]:
        """At most `keep` graphs of different structure, the lightest first."""
        self._place = self.graph.order()
        self._values = sorted(range(len(self._place)), key=lambda value: self._place[value])
        self._lightest: list[float] = []
        self._chains: list[float] = []
        self._needs: list[Values] = []
        self._choices: list[list[_Choice]] = []
        self._structural = 0
        for value in self._values:
            self._prepare(value)
        self._descend(self._set(self.goals), 0, {}, 0.0)
        kept = [found for found in self._best.values() if found[0] <= self._bound]
        kept.sort(key=lambda found: found[0])
        return [self._derivation(weight, chosen) for weight, chosen in kept[: self.keep]]

    def _set(self, values: Iterable[int]) -> Values:
        return sum({1 << self._place[value] for value in values})

    def _prepare(self, value: int) -> None:
        """
        Prepare the next value in topological order.

        For each value this notes its choices, those of the lightest chains first; the weight of its
        lightest edge and of its heaviest unavoidable chain; and the values that each of its graphs
        has.
        """
        choices: list[tuple[float, _Choice]] = []
        needed: Values = -1
        for edge in self.graph.edges[value]:
            own, structure = self.weigh(value, edge), 0
            if edge.kind in STRUCTURAL:
                structure = 1 << self._structural
                self._structural += 1
            places = [self._place[operand] for operand in edge.operands]
            chain = own + max((self._chains[place] for place in places), default=0.0)
            choices.append((chain, _Choice(own, edge, self._set(edge.operands), structure)))
            below = 0
            for place in places:
                below |= self._needs[place]
            needed &= below
        self._needs.append(needed | 1 << self._place[value])
        self._lightest.append(min(choice.weight for _, choice in choices))
        self._chains.append(min(chain for chain, _ in choices))
        choices.sort(key=lambda pair: pair[0])
        self._choices.append([choice for _, choice in choices])

    def _descend(
        self, needed: Values, structure: Structure, chosen: dict[int, Edge], weight: float
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
        last = needed.bit_length() - 1
        others, value = needed ^ 1 << last, self._values[last]
        for choice in self._choices[last]:
            if self.steps >= MAX_STEPS:
                self.cut = True
                return
            self.steps += 1
            pending, total = others | choice.operands, weight + choice.weight
            if total + self._lower_bound(pending) > self._bound:
                continue
            chosen[value] = choice.edge
            self._descend(pending, structure | choice.structure, chosen, total)
            del chosen[value]

    def _lower_bound(self, pending: Values) -> float:
        """
        A lower bound on the weight of `pending` values: of what all of their graphs have, or of one
        chain.
        """
        if (known := self._least.get(pending)) is None:
            chain, needed = 0.0, 0
            for place in _places(pending):
                chain = max(chain, self._chains[place])
                needed |= self._needs[place]
            together = sum(self._lightest[place] for place in _places(needed))
            known = self._least[pending] = max(chain, together)
        return known

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


def _places(values: Values) -> Iterator[int]:
    """The positions of a set of values, the last first."""
    while values:
        last = values.bit_length() - 1
        yield last
        values ^= 1 << last
