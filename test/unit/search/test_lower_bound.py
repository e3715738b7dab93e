"""Lower bounds on whole configurations: no graph is faster."""

from collections.abc import Iterator

import numpy as np
import pytest
from search_programs import (
    attention,
    gated_mlp,
    linear_bias_gelu,
    lora,
    ntrans,
    rmsnorm_linear,
    softmax,
    two_products,
)

from mirage_mlir.graph.target import A100, H200, Target
from mirage_mlir.search.axes import resolve
from mirage_mlir.search.builder import ProgramBuilder
from mirage_mlir.search.config import Configuration, one_kernel_configurations
from mirage_mlir.search.cost import CostModel
from mirage_mlir.search.extract import Derivation, Extraction
from mirage_mlir.search.hypergraph import Hypergraph, Stage, Value
from mirage_mlir.search.instantiate import instantiate, share_counts
from mirage_mlir.search.lower_bound import least_seconds_of_graphs
from mirage_mlir.search.program import Program
from mirage_mlir.search.saturate import Saturation
from mirage_mlir.search.split import splits
from mirage_mlir.search.tiling import Tiling
from mirage_mlir.search.values import Algebra

BUILDERS = (
    attention(),
    gated_mlp(),
    linear_bias_gelu(),
    lora(),
    ntrans(),
    rmsnorm_linear(20, 1000, 777),
    softmax(),
    two_products(),
)

KEPT = 6
"""Graphs of each configuration that are costed."""


def derivations(algebra: Algebra, graph: Hypergraph) -> list[Derivation]:
    goals: list[int] = []
    for form in algebra.outputs:
        assert form is not None
        found = [graph.find(Value(form, stage)) for stage in (Stage.POST, Stage.INVARIANT)]
        goals += [goal for goal in found if goal is not None][:1]
    if len(goals) < len(algebra.outputs):
        return []
    return Extraction(graph, goals, lambda _value, _edge: 1.0, KEPT).run()


def ratios(program: Program, target: Target) -> Iterator[tuple[Configuration, float, float]]:
    """For each graph the least and the greatest quotient of its time and the bound."""
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        graph = Saturation(algebra, configuration).run()
        for derivation in derivations(algebra, graph):
            later = all(graph.values[goal].stage is Stage.POST for goal in derivation.goals)
            shares = share_counts(program, configuration, target) if later else [1]
            mesh = instantiate(program, configuration, target, shares, fine=False)
            if mesh.blocks.size:
                least = least_seconds_of_graphs(program, algebra, configuration, target, mesh)
                tiling = Tiling(program, algebra, graph, target, mesh)
                seconds = CostModel(tiling, derivation).seconds()
                fits = np.isfinite(seconds)
                assert np.isfinite(least[fits]).all()
                quotients = seconds[fits] / least[fits]
                if quotients.size:
                    yield configuration, quotients.min(), quotients.max()


@pytest.mark.parametrize("target", [A100, H200], ids=lambda target: target.name)
@pytest.mark.parametrize("builder", BUILDERS)
def test_no_graph_is_faster(builder: ProgramBuilder, target: Target) -> None:
    found = list(ratios(resolve(builder), target))
    assert found
    for configuration, least, _ in found:
        assert least >= 1 - 1e-12, configuration


def test_no_part_of_a_split_is_faster() -> None:
    program = resolve(attention())
    for split in splits(program, H200):
        for configuration, least, _ in ratios(split.first.program, H200):
            assert least >= 1 - 1e-12, configuration


def test_close_where_memory_is_what_counts() -> None:
    """One row times a matrix of 50 MB: little but reading it."""
    assert min(least for _, least, _ in ratios(resolve(rmsnorm_linear(1)), H200)) < 1.05
