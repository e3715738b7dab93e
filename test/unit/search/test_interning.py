"""Products of sums that are equal to values of other form: which edges are added, and which not."""

from fractions import Fraction

import pytest
from search_programs import PROGRAMS, in_bf16, kinds

from mirage_mlir.expr.heads import FULL, TILE
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage
from mirage_mlir.search.saturation.interning import intern_by_value, key_of
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.engine import Limits, search
from mirage_mlir.targets.target import H200


def sum_of_linears(rows: int = 64, depth: int = 512, columns: int = 256) -> ProgramBuilder:
    """`x (u + v) + y (u + v)`."""
    b = ProgramBuilder()
    x, y = b.input((rows, depth)), b.input((rows, depth))
    s = b.binary(Kind.ADD, b.input((depth, columns)), b.input((depth, columns)))
    b.output(b.binary(Kind.ADD, b.matmul(x, s), b.matmul(y, s)))
    return b


def product_edges(algebra: Algebra, graph: Hypergraph, kind: Kind) -> list[Edge]:
    """Edges that multiply two sums."""
    terms = [len(algebra.forms.monomials(value.form)) for value in graph.values]
    return [
        edge
        for edges in graph.edges
        for edge in edges
        if edge.kind is kind and all(terms[operand] > 1 for operand in edge.operands)
    ]


def test_one_product_of_two_sums() -> None:
    """In every configuration `(x + y) (u + v)` is a way to the result, or to its parts."""
    program = in_bf16(resolve(sum_of_linears()))
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        graph = Saturation(algebra, configuration).run()
        (edge,) = product_edges(algebra, graph, Kind.MATMUL)
        sums = {graph.values[operand].form for operand in edge.operands}
        x, y, u, v = algebra.sources
        assert sums == {algebra.forms.add(x, y), algebra.forms.add(u, v)}


def test_the_search_takes_it() -> None:
    """One product instead of two, where products take the time."""
    program = in_bf16(resolve(sum_of_linears(4096, 4096, 4096)))
    best, *_ = search(program, H200, Limits(coarse=True), SearchReport())
    assert kinds(best)[Kind.MATMUL] == 1
    assert kinds(best)[Kind.ADD] == 2


def test_elementwise() -> None:
    b = ProgramBuilder()
    x, y, u, v = (b.input((64, 64)) for _ in range(4))
    s = b.binary(Kind.ADD, u, v)
    b.output(b.binary(Kind.SUB, b.binary(Kind.MUL, x, s), b.binary(Kind.MUL, y, s)))
    program = resolve(b)
    algebra = Algebra.of(program)
    graph = Saturation(algebra, Configuration(())).run()
    (output,) = algebra.outputs
    (goal,) = (index for index, value in enumerate(graph.values) if value.form == output)
    made = [edge for edge in product_edges(algebra, graph, Kind.MUL) if edge in graph.edges[goal]]
    assert len(made) == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_circles(name: str) -> None:
    """However values are computed, operands come first; a second run adds nothing."""
    program = resolve(PROGRAMS[name]())
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        saturation = Saturation(algebra, configuration)
        graph = saturation.run()
        order = graph.order()
        for value, edges in enumerate(graph.edges):
            assert all(order[o] < order[value] for edge in edges for o in edge.operands)
        assert intern_by_value(algebra, configuration, graph, saturation.resident) == 0


def test_keys() -> None:
    """Equal for equal values of different form, and only for them."""
    nf = NormalForm()
    x, y, u, v = (nf.input(name, "ik") for name in "xyuv")
    s = nf.add(u, v)
    kept = nf.mul(nf.add(x, y), s)
    out = nf.add(nf.mul(x, s), nf.mul(y, s))
    assert kept is not None
    assert out is not None
    assert kept != out
    assert key_of(nf, kept) == key_of(nf, out)
    assert key_of(nf, kept) != key_of(nf, x)
    for bits in (TILE, FULL):
        part, other = nf.bind(kept, "k", bits), nf.bind(out, "k", bits)
        assert part is not None
        assert other is not None
        assert part != other
        assert key_of(nf, part) == key_of(nf, other)
        assert key_of(nf, part) != key_of(nf, kept)
    assert key_of(nf, nf.constant(Fraction(1, 2))) != key_of(nf, nf.constant(2))


def test_partial_values_of_unlike_terms() -> None:
    """What is summed differently far in its terms is not told."""
    nf = NormalForm()
    x, y = nf.input("x", "i"), nf.bind(nf.input("y", "k"), "k", TILE)
    mixed = nf.add(x, y)
    assert mixed is not None
    assert key_of(nf, mixed) is None
    partial = nf.bind_max(nf.input("x", "k"), "k", TILE)
    assert partial is not None
    assert key_of(nf, partial) is None


def test_stages_are_kept_apart() -> None:
    """After the loop there is another value than in it."""
    program = in_bf16(resolve(sum_of_linears()))
    algebra = Algebra.of(program)
    graph = Saturation(algebra, Configuration((), ("j",))).run()
    (edge,) = product_edges(algebra, graph, Kind.MATMUL)
    (value,) = (value for value, edges in enumerate(graph.edges) if edge in edges)
    assert graph.values[value].stage is Stage.LOOP
