"""Extraction against the enumeration of all graphs of small random hypergraphs."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.expr.heads import Poly
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.extract import STRUCTURAL, Derivation, Extraction
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage, Value

KINDS = (Kind.ADD, Kind.MUL, Kind.MATMUL, Kind.REDUCE_SUM)

Weights = dict[tuple[int, Edge], float]


@st.composite
def weighted_hypergraphs(draw: st.DrawFn) -> tuple[Hypergraph, Weights]:
    """Up to eight values; each is loaded or has up to three ways to be computed."""
    graph = Hypergraph()
    for number in range(draw(st.integers(2, 8))):
        value = Value(Poly(number), Stage.INVARIANT)
        if number < 2:
            graph.add(value, Edge(Kind.INPUT, source=number))
            continue
        earlier = st.integers(0, number - 1)
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(KINDS))
            count = 1 if kind is Kind.REDUCE_SUM else 2
            operands = tuple(draw(earlier) for _ in range(count))
            graph.add(value, Edge(kind, operands))
    weights: Weights = {}
    for value, edges in enumerate(graph.edges):
        for edge in edges:
            weights[value, edge] = float(draw(st.integers(0, 9)))
    return graph, weights


def all_graphs(graph: Hypergraph, goals: list[int]) -> Iterator[dict[int, Edge]]:
    """Every choice of one edge for each value that is needed."""

    def choose(needed: set[int], chosen: dict[int, Edge]) -> Iterator[dict[int, Edge]]:
        if not needed:
            yield dict(chosen)
            return
        value = max(needed)
        for edge in graph.edges[value]:
            more = (needed - {value}) | set(edge.operands)
            yield from choose(more, {**chosen, value: edge})

    yield from choose(set(goals), {})


def structure(chosen: dict[int, Edge]) -> frozenset[tuple[int, Edge]]:
    return frozenset(pair for pair in chosen.items() if pair[1].kind in STRUCTURAL)


def extract(
    graph: Hypergraph, weights: Weights, goals: list[int], keep: int
) -> tuple[list[Derivation], Extraction]:
    extraction = Extraction(graph, goals, lambda value, edge: weights[value, edge], keep)
    return extraction.run(), extraction


@given(weighted_hypergraphs(), st.data())
def test_lightest_of_each_structure(drawn: tuple[Hypergraph, Weights], data: st.DataObject) -> None:
    """With room for all, each structure near the lightest weight comes with its lightest graph."""
    graph, weights = drawn
    last = len(graph.values) - 1
    goals = sorted({last, data.draw(st.integers(0, last))})
    found, extraction = extract(graph, weights, goals, keep=10_000)
    assert not extraction.cut
    best: dict[frozenset[tuple[int, Edge]], float] = {}
    for chosen in all_graphs(graph, goals):
        weight = sum(weights[pair] for pair in chosen.items())
        best[structure(chosen)] = min(best.get(structure(chosen), weight), weight)
    lightest = min(best.values())
    assert found[0].weight == lightest
    got = {structure(dict(zip(one.values, one.edges, strict=True))): one.weight for one in found}
    assert len(got) == len(found)
    for key, weight in got.items():
        assert weight == best[key]
    # The bound leaves out what is twice as heavy as the lightest, and nothing else.
    assert {key for key, weight in best.items() if weight <= 2 * lightest} <= got.keys()


def test_what_is_above_the_bound_in_the_end_is_not_returned() -> None:
    """
    Graphs that load y weigh 12 where b is computed alone, and 11 where it is computed from a.

    The first is kept while the lightest graph weighs 6, so that the bound is 12. Then one of 5 is
    found, and the graph of 11 is not pursued: the one of 12 must not stand for it.
    """
    graph = Hypergraph()
    x, y, a, b = (Value(Poly(number), Stage.INVARIANT) for number in range(4))
    weights: Weights = {}
    for value, edge, weight in (
        (x, Edge(Kind.INPUT, source=0), 0.0),
        (y, Edge(Kind.INPUT, source=1), 3.0),
        (a, Edge(Kind.ADD, (0, 0)), 2.0),
        (a, Edge(Kind.ADD, (0, 1)), 5.0),
        (b, Edge(Kind.ADD, (0, 0)), 4.0),
        (b, Edge(Kind.ADD, (0, 2)), 3.0),
    ):
        weights[graph.add(value, edge), edge] = weight
    found, _ = extract(graph, weights, [2, 3], keep=10)
    assert [one.weight for one in found] == [5.0]


@given(weighted_hypergraphs(), st.integers(1, 4))
def test_keeps_the_lightest(drawn: tuple[Hypergraph, Weights], keep: int) -> None:
    graph, weights = drawn
    goals = [len(graph.values) - 1]
    few, _ = extract(graph, weights, goals, keep)
    many, _ = extract(graph, weights, goals, 10_000)
    assert [one.weight for one in few] == [one.weight for one in many[:keep]]


@given(weighted_hypergraphs())
def test_operands_come_first(drawn: tuple[Hypergraph, Weights]) -> None:
    graph, weights = drawn
    for one in extract(graph, weights, [len(graph.values) - 1], 10)[0]:
        done: set[int] = set()
        for value, edge in zip(one.values, one.edges, strict=True):
            assert edge in graph.edges[value]
            assert done.issuperset(edge.operands)
            done.add(value)
        assert done.issuperset(one.goals)
        assert one.weight == sum(weights[pair] for pair in zip(one.values, one.edges, strict=True))


def test_says_that_it_was_cut() -> None:
    """A ladder of n values with two ways each to use the two before has 2^n structures."""
    graph = Hypergraph()
    for number in range(2):
        graph.add(Value(Poly(number), Stage.INVARIANT), Edge(Kind.INPUT, source=number))
    for number in range(2, 40):
        for kind in (Kind.MATMUL, Kind.REDUCE_SUM):
            value = Value(Poly(number), Stage.INVARIANT)
            graph.add(value, Edge(kind, (number - 1, number - 2)))
    extraction = Extraction(graph, [39], lambda value, edge: 1.0, keep=10**6)
    found = extraction.run()
    assert extraction.cut
    assert found


def test_no_value_needs_itself() -> None:
    """An edge that would close a cycle is left out."""
    graph = Hypergraph()
    a = graph.add(Value(Poly(0), Stage.INVARIANT), Edge(Kind.INPUT))
    b = graph.add(Value(Poly(1), Stage.INVARIANT), Edge(Kind.FUNCTION, (a,), name="sqrt"))
    graph.add(Value(Poly(0), Stage.INVARIANT), Edge(Kind.MUL, (b, b)))
    assert graph.edges[a] == [Edge(Kind.INPUT)]
    graph.add(Value(Poly(1), Stage.INVARIANT), Edge(Kind.MUL, (b, a)))
    assert graph.edges[b] == [Edge(Kind.FUNCTION, (a,), name="sqrt")]
