"""
What every graph of a configuration takes at least, in the model, for all tile sizes at once.

Whatever a kernel computes, it reads the tiles of its inputs and stores those of its outputs, and
which tiles these are, and in which turns, the configuration says alone. So the model of a graph
that does nothing else is a lower bound: configurations and tile sizes that cannot be among the
best need no hypergraph and no costs.
"""

import numpy as np

from mirage_mlir.graph.schedule import MIN_THREADS
from mirage_mlir.graph.target import Target
from mirage_mlir.search.config import Configuration
from mirage_mlir.search.cost import CostModel
from mirage_mlir.search.extract import Derivation
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.instantiate import Array, Mesh
from mirage_mlir.search.program import Kind, Program
from mirage_mlir.search.resources import Resources
from mirage_mlir.search.tiling import Tiling
from mirage_mlir.search.values import Algebra


class _LeastResources(Resources):
    """Few threads, so that many blocks run at the same time; a graph may need more of them."""

    def _threads(self) -> Array:
        return np.full_like(self.tiling.one, float(MIN_THREADS))


class _LeastCost(CostModel):
    """Costs loads and stores; what may be more or less with other operations is least."""

    def _first_answer(self, at_once: Array) -> Array:
        # Where other operations leave room for fewer blocks, less is asked for at the start.
        return self._latency(self.tiling.one)

    def _busy(self, at_once: Array) -> Array:
        return self.tiling.one


def least_seconds_of_graphs(
    program: Program,
    algebra: Algebra,
    configuration: Configuration,
    target: Target,
    mesh: Mesh,
) -> Array:
    """
    A lower bound on the time of each graph of a configuration, for each combination of tile sizes.

    Infinite where none fits.
    """
    graph = Hypergraph()
    edges: dict[int, Edge] = {}
    for number, form in enumerate(algebra.sources):
        if form in algebra.read:
            wide = [a for a in algebra.tile_axes(form) if a not in configuration.single]
            if len(wide) > algebra.max_rank:
                return np.full_like(mesh.blocks, np.inf)
            looped = any(axis in configuration.loop for axis in algebra.forms.free(form))
            edge = Edge(Kind.INPUT, source=number)
            value = Value(form, Stage.LOOP if looped else Stage.INVARIANT)
            edges[graph.add(value, edge)] = edge
    goals: list[int] = []
    for form in algebra.outputs:
        if form is None:
            return np.full_like(mesh.blocks, np.inf)
        goals.append(graph.add(Value(form, Stage.POST), Edge(Kind.CONSTANT)))
    loads = Derivation(tuple(edges), tuple(edges.values()), tuple(goals), 0.0)
    tiling = Tiling(program, algebra, graph, target, mesh)
    return _LeastCost(tiling, loads, _LeastResources(tiling, loads)).seconds()
