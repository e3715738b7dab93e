"""Lower bounds on whole configurations: no graph is faster."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from sampling import sampled
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

from mirage_mlir.search.cost_model.cost import CostModel
from mirage_mlir.search.cost_model.instantiate import Array, instantiate, share_counts
from mirage_mlir.search.cost_model.lower_bound import (
    least_seconds_of_graphs,
    least_seconds_of_loads,
)
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.multi_kernel.split import splits
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.extract import Derivation, Extraction
from mirage_mlir.search.saturation.hypergraph import Hypergraph, Stage, Value
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.targets.target import A100, H200, Target

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

LEAST = 1 - 1e-12
"""Rounding."""

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


@dataclass(frozen=True)
class Bounded:
    """How much longer than the bounds one graph takes, for all tile sizes that fit."""

    configuration: Configuration
    loads: Array
    """Over the bound from loads and stores."""
    common: Array
    """Over that from all that the graphs of the configuration have in common."""


def bounded(program: Program, target: Target, expansion: int = 1) -> Iterator[Bounded]:
    """All graphs that have tiles that fit."""
    algebra = Algebra.of(program, expansion)
    for configuration in one_kernel_configurations(program):
        graph = Saturation(algebra, configuration).run()
        for derivation in derivations(algebra, graph):
            later = all(graph.values[goal].stage is Stage.POST for goal in derivation.goals)
            shares = share_counts(program, configuration, target) if later else [1]
            mesh = instantiate(program, configuration, target, shares, fine=False)
            if not mesh.blocks.size:
                continue
            loads = least_seconds_of_loads(program, algebra, configuration, target, mesh)
            tiling = Tiling(program, algebra, graph, target, mesh)
            common = least_seconds_of_graphs(tiling, derivation.goals)
            seconds = CostModel(tiling, derivation).seconds()
            fits = np.isfinite(seconds)
            assert np.isfinite(loads[fits]).all()
            assert np.isfinite(common[fits]).all()
            if fits.any():
                time = seconds[fits]
                yield Bounded(configuration, time / loads[fits], time / common[fits])


@pytest.mark.parametrize("target", [A100, H200], ids=lambda target: target.name)
@pytest.mark.parametrize("builder", sampled(list(BUILDERS), 2))
def test_no_graph_is_faster(builder: ProgramBuilder, target: Target) -> None:
    found = list(bounded(resolve(builder), target))
    assert found
    for one in found:
        assert one.loads.min() >= LEAST, one.configuration
        assert one.common.min() >= LEAST, one.configuration


def test_no_part_of_a_split_is_faster() -> None:
    program = resolve(attention())
    for split in splits(program, H200):
        for one in bounded(split.first.program, H200):
            assert one.loads.min() >= LEAST, one.configuration
            assert one.common.min() >= LEAST, one.configuration


def test_multiplied_out() -> None:
    for one in bounded(resolve(ntrans()), H200, expansion=4):
        assert one.common.min() >= LEAST, one.configuration


def test_close_where_memory_is_what_counts() -> None:
    """One row times a matrix of 50 MB: little but reading it."""
    found = list(bounded(resolve(rmsnorm_linear(1)), H200))
    assert min(one.loads.min() for one in found) < 1.05


def test_close_where_all_graphs_are_alike() -> None:
    """One product of large matrices, which all graphs have."""
    b = ProgramBuilder()
    b.output(b.matmul(b.input((4096, 4096)), b.input((4096, 4096))))
    found = list(bounded(resolve(b), H200))
    assert all(one.common.max() < one.loads.max() for one in found)
    assert min(one.common.min() for one in found) < 1.1
