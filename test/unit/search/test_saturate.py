"""The hypergraph of a configuration: sound, closed, and bounded."""

from collections.abc import Callable
from itertools import product

import pytest
from search_programs import PROGRAMS, lora, rmsnorm_linear

from mirage_mlir.expr.heads import GRID, LOOP, TILE, Poly
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation import saturate
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage
from mirage_mlir.search.saturation.interning import key_of
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra, apply_pairwise


def resident(algebra: Algebra, configuration: Configuration, form: Poly, axis: str) -> int:
    """The bits of `axis` that a tile holds."""
    bits = algebra.forms.free(form)[axis]
    if axis in configuration.grid:
        bits &= ~GRID
    return bits & ~LOOP if axis in configuration.loop else bits


def recomputed(
    algebra: Algebra, configuration: Configuration, graph: Hypergraph, edge: Edge
) -> Poly | None:
    """The form that an edge makes of its operands, computed here anew."""
    forms = algebra.forms
    operands = [graph.values[operand].form for operand in edge.operands]
    bits = 0
    if edge.axis is not None:
        bits = resident(algebra, configuration, operands[0], edge.axis)
    axis = edge.axis or ""
    ways: dict[Kind, Callable[[], Poly | None]] = {
        Kind.INPUT: lambda: algebra.sources[edge.source],
        Kind.CONSTANT: lambda: algebra.constants[edge.source][0],
        Kind.FUNCTION: lambda: forms.function(edge.name, operands[0]),
        Kind.INVERSE: lambda: forms.inverse(operands[0]),
        Kind.MATMUL: lambda: forms.bind(forms.mul(*operands), axis, bits),
        Kind.REDUCE_SUM: lambda: forms.bind(operands[0], axis, bits),
        Kind.REDUCE_MAX: lambda: forms.bind_max(operands[0], axis, bits),
        Kind.ACCUMULATE_SUM: lambda: forms.bind(operands[0], configuration.loop[0], LOOP),
        Kind.ACCUMULATE_MAX: lambda: forms.bind_max(operands[0], configuration.loop[0], LOOP),
    }
    if edge.kind in ways:
        return ways[edge.kind]()
    return apply_pairwise(forms, edge.kind, *operands)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_edge_makes_its_value(name: str) -> None:
    program = resolve(PROGRAMS[name]())
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        saturation = Saturation(algebra, configuration)
        graph = saturation.run()
        assert not saturation.cut
        for value, edges in zip(graph.values, graph.edges, strict=True):
            assert edges
            assert algebra.closure.has(value.form) or edges[0].kind is Kind.INPUT
            for edge in edges:
                form = recomputed(algebra, configuration, graph, edge)
                assert form is not None
                # Of products of sums the form does not tell all that is equal.
                if form != value.form:
                    assert edge.kind in (Kind.MUL, Kind.MATMUL)
                    assert key_of(algebra.forms, form) == key_of(algebra.forms, value.form)


@pytest.mark.parametrize("expansion_limit", [1, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_products_that_are_ruled_out_at_a_glance(name: str, expansion_limit: int) -> None:
    """No product of two values, nor a sum of it over a part of an axis, is in the closure."""
    program = resolve(PROGRAMS[name]())
    algebra = Algebra.of(program, expansion_limit)
    *_, configuration = one_kernel_configurations(program)
    values = [value.form for value in Saturation(algebra, configuration).run().values]
    forms = algebra.forms
    for a, b in product(dict.fromkeys(values), repeat=2):
        if not algebra.prospects.may_multiply(a, b):
            value = forms.mul(a, b)
            assert not algebra.closure.has(value)
            for axis in program.sizes:
                assert not algebra.closure.has(forms.bind(value, axis, LOOP))
                assert not algebra.closure.has(forms.bind(value, axis, TILE))


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages(name: str) -> None:
    """Nothing mixes the loop with what follows it, and only accumulators lead out of it."""
    program = resolve(PROGRAMS[name]())
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        graph = Saturation(algebra, configuration).run()
        for value, edges in zip(graph.values, graph.edges, strict=True):
            for edge in edges:
                stages = {graph.values[operand].stage for operand in edge.operands}
                if edge.kind in (Kind.ACCUMULATE_SUM, Kind.ACCUMULATE_MAX):
                    assert stages == {Stage.LOOP}
                    assert value.stage is Stage.POST
                elif stages:
                    assert not stages >= {Stage.LOOP, Stage.POST}
                    assert value.stage is max(stages)


def test_operands_come_first() -> None:
    program = resolve(lora())
    graph = Saturation(Algebra.of(program), Configuration(("k",), ("j",))).run()
    order = graph.order()
    assert sorted(order) == list(range(len(graph.values)))
    for value, edges in enumerate(graph.edges):
        assert all(order[o] < order[value] for edge in edges for o in edge.operands)


def test_norm_after_the_matmul() -> None:
    """The division by the norm moves behind the sum over the loop."""
    program = resolve(rmsnorm_linear())
    algebra = Algebra.of(program)
    graph = Saturation(algebra, Configuration(("k",), ("j",))).run()
    (output,) = algebra.outputs
    ways = [
        {graph.values[operand].stage for operand in edge.operands}
        for value, edges in zip(graph.values, graph.edges, strict=True)
        if value.form == output
        for edge in edges
    ]
    assert {Stage.POST} in ways


def test_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many values the program as it is written is what stays."""
    program = resolve(rmsnorm_linear())
    algebra = Algebra.of(program)
    whole = Saturation(algebra, Configuration(("k",))).run()
    written = {value.form for value in whole.values if algebra.is_of_program(value.form)}
    monkeypatch.setattr(saturate, "MAX_VALUES", len(written))
    saturation = Saturation(algebra, Configuration(("k",)))
    graph = saturation.run()
    assert saturation.cut
    assert len(graph.values) < len(whole.values)
    assert set(algebra.outputs) <= {value.form for value in graph.values}


def test_time_is_over() -> None:
    """Without time the program as it is written is found all the same."""
    algebra = Algebra.of(resolve(rmsnorm_linear()))
    saturation = Saturation(algebra, Configuration(("k",)), lambda: True)
    graph = saturation.run()
    assert saturation.cut
    assert set(algebra.outputs) <= {value.form for value in graph.values}
