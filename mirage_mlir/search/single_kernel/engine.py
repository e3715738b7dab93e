"""
The search for one-kernel graphs, start to end, within a time limit.

Configurations are independent of each other: each is saturated, its lightest graphs are costed on
a coarse set of tile sizes, and the best of all configurations are costed again on a fine one. All
choices are made in a fixed order, so that every run that is not cut by time gives the same result.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mirage_mlir.search.cost_model.block_graph import BlockGraph, block_graph
from mirage_mlir.search.cost_model.cost import CostModel
from mirage_mlir.search.cost_model.instantiate import (
    Array,
    Mesh,
    instantiate,
    mesh_of,
    share_counts,
)
from mirage_mlir.search.cost_model.lower_bound import (
    least_seconds_of_graphs,
    least_seconds_of_loads,
)
from mirage_mlir.search.cost_model.static_weights import static_weights
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.extract import Derivation, Extraction
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.found import Bounded, Explored, Found, different
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.stabilization.degrees import UnstableError
from mirage_mlir.search.stabilization.stabilization import stabilized
from mirage_mlir.targets.target import Target

GRAPHS_PER_CONFIGURATION = 24
"""Graphs of different structure that are costed; the static weight orders them well enough that
the best in cost was among the first ten in all workloads."""

REFINED = 12
"""Graphs that are costed again with all tile sizes."""

KEPT_COARSE = 4
"""Graphs that are kept where this is not done: only the best is of use, or, of a kernel that leaves
a sum open, the best for each number of blocks."""

TILINGS_PER_GRAPH = 3
"""Tile sizes that are kept of a graph, at least: verification and timing may reject the first."""

CANDIDATES_PER_TILING = 4
"""Of more candidates, some are other tilings of the same graphs: one for so many."""

EXPANDED = 4
"""Terms up to which a product of sums is multiplied out in a second search: the square of a
difference. Larger products make the closure grow too fast to be searched in seconds."""

NEAR = 1.2
"""Of a graph the tile sizes are looked at first whose bounds are this near to its best time."""

WORTH = 0.7
"""Fewer tile sizes than this part of all are worth a new tiling, which makes its arrays anew."""

MAX_EXPANDED_OPERATORS = 24
"""Operators of a program whose products are multiplied out: the closure of a chain of three norms,
which has 31, took 3 s and led to nothing."""

NOMINAL_TILE = 64
"""The extent at which static weights are taken."""


class Search:
    """Searches one program; `run` returns the candidates, the fastest in the model first."""

    def __init__(
        self,
        program: Program,
        target: Target,
        limits: Limits,
        report: SearchReport,
        bound: float = np.inf,
        most_tried: float = np.inf,
    ) -> None:
        """
        Args:
            program: what is computed.
            target: for which GPU.
            limits: when to stop.
            report: where to count.
            bound: seconds; graphs that take longer need not be found.
            most_tried: operations tried on values after which no more configurations are looked at
                if no graph was found.
        """
        self.program = program
        self.target = target
        self.limits = limits
        self.report = report
        self.bound = bound
        self.most_tried = most_tried
        self.bounded = False
        """Whether anything was left out for taking longer than the bound."""
        self.explored: Explored | None = None
        self._found: list[Found] = []

    def run(self) -> list[BlockGraph]:
        """The candidates; empty when one kernel cannot hold the program."""
        self.report.axes += len(self.program.sizes)
        self.report.operators += sum(1 for _ in self.program.operations())
        configurations = list(one_kernel_configurations(self.program))
        self._explore_all(configurations, 1, 0)
        # Multiplied out, sums need not wait for each other: that matters where they are walked.
        looped = [one for one in configurations if one.loop or self.program.open_sums]
        small = sum(1 for _ in self.program.operations()) <= MAX_EXPANDED_OPERATORS
        expands = looped and small and self.algebra.has_products_of_sums and not self.limits.coarse
        if expands and not self.limits.expired():
            self._explore_all(looped, EXPANDED, len(configurations))
        return self._refine(self._found)[: self.limits.candidates]

    def refined(self) -> list[BlockGraph]:
        """What a first look found, with the best of all tile sizes."""
        self.limits = replace(self.limits, coarse=False)
        return self._refine(self._found)[: self.limits.candidates]

    @property
    def _cutoff(self) -> float:
        """What a graph may take that would be kept."""
        kept = KEPT_COARSE if self.limits.coarse else REFINED
        slowest = self._found[kept - 1].seconds if len(self._found) >= kept else np.inf
        return min(slowest, self.bound)

    def _keep(self, found: Found) -> None:
        kept = KEPT_COARSE if self.limits.coarse else REFINED
        together = sorted([*self._found, found], key=lambda one: (one.seconds, one.order))
        self._found = together[:kept]

    def _explore_all(
        self, configurations: Sequence[Configuration], expansion_limit: int, order: int
    ) -> None:
        """
        Look for graphs of `configurations`, with products of sums up to a size multiplied out.

        Those come first whose lower bounds are lowest; where a bound is above the times of all
        that is kept, there is nothing more to find.
        """
        report = self.report
        with report.phase("normal forms"):
            self.algebra = Algebra.of(self.program, expansion_limit)
        self.explored = self.explored or Explored(self.algebra)
        report.configurations += len(configurations)
        roots = 0
        with report.phase("bounds"):
            bounds = [self._least(configuration) for configuration in configurations]
        for number in sorted(range(len(configurations)), key=lambda number: bounds[number]):
            if self.limits.expired():
                report.cut.append(f"configurations after {self.limits.reason}")
                break
            if self.algebra.tried > self.most_tried and not self._found:
                report.cut.append(f"configurations after {self.algebra.tried} operations tried")
                break
            if bounds[number] > self._cutoff or bounds[number] == np.inf:
                self.bounded = self.bounded or self.bound < bounds[number] < np.inf
                break
            with report.phase("normal forms"):
                roots = len(self.algebra.closure.roots)
            self._explore(configurations[number], order + number)
        report.roots += roots
        report.tried += self.algebra.tried

    def _least(self, configuration: Configuration) -> float:
        """What each graph of a configuration takes at least on coarse tile sizes."""
        mesh = self._mesh(configuration, self._share_counts(configuration), fine=False)
        bounds = least_seconds_of_loads(
            self.program, self.algebra, configuration, self.target, mesh
        )
        return float(bounds.min(initial=np.inf))

    def _explore(self, configuration: Configuration, order: int) -> None:
        """Look for graphs of one configuration with their times on coarse tile sizes."""
        report = self.report
        with report.phase("saturation"):
            saturation = Saturation(self.algebra, configuration, self.limits.expired)
            graph = saturation.run()
        if self.explored is not None and self.explored.algebra is self.algebra:
            self.explored.graphs[configuration] = graph
        if saturation.cut:
            report.cut.append(f"values of {configuration}")
        report.values += len(graph.values)
        report.edges += sum(len(edges) for edges in graph.edges)
        goals = self._goals(graph, configuration)
        if goals is None:
            return
        with report.phase("bounds"):
            shares = self._shares(configuration, graph, goals)
            bounded = self._bounded(configuration, graph, goals, shares, fine=False)
            self.bounded = self.bounded or self.bound < bounded.least < np.inf
            bounded = bounded.within(self._cutoff)
        if not bounded.seconds.size:
            return
        with report.phase("extraction"):
            derivations = self._extract(graph, configuration, goals)
        report.graphs += len(derivations)
        with report.phase("costing"):
            self._cost(configuration, graph, derivations, bounded, order)

    def _bounded(
        self,
        configuration: Configuration,
        graph: Hypergraph,
        goals: Sequence[int],
        shares: Sequence[int],
        *,
        fine: bool,
    ) -> Bounded:
        mesh = self._mesh(configuration, shares, fine=fine)
        tiling = Tiling(self.program, self.algebra, graph, self.target, mesh)
        return Bounded(mesh, least_seconds_of_graphs(tiling, goals))

    def _goals(self, graph: Hypergraph, configuration: Configuration) -> list[int] | None:
        """The values to store: each output, once the loop is over."""
        goals: list[int] = []
        for form in self.algebra.outputs:
            if form is None:
                return None
            after = graph.find(Value(form, Stage.POST))
            whole = graph.find(Value(form, Stage.INVARIANT))
            goal = whole if after is None else after
            if goal is None:
                return None
            goals.append(goal)
        # A loop of which no output depends is another configuration.
        if configuration.loop and all(
            graph.values[goal].stage is Stage.INVARIANT for goal in goals
        ):
            return None
        return goals

    def _extract(
        self, graph: Hypergraph, configuration: Configuration, goals: Sequence[int]
    ) -> list[Derivation]:
        sizes = self.program.sizes
        cut = (*configuration.grid, *configuration.loop)
        nominal = [
            [1 if axis in configuration.single else min(NOMINAL_TILE, sizes[axis])] for axis in cut
        ]
        mesh = mesh_of(self.program, configuration, nominal)
        tiling = Tiling(self.program, self.algebra, graph, self.target, mesh)
        weights = list(static_weights(tiling, graph))

        def weigh(value: int, edge: Edge) -> float:
            return weights[value][edge]

        extraction = Extraction(graph, goals, weigh, GRAPHS_PER_CONFIGURATION)
        derivations = extraction.run()
        if extraction.cut:
            self.report.cut.append(f"graphs of {configuration}")
        return derivations

    def _cost(
        self,
        configuration: Configuration,
        graph: Hypergraph,
        derivations: Sequence[Derivation],
        bounded: Bounded,
        order: int,
    ) -> None:
        tiling = Tiling(self.program, self.algebra, graph, self.target, bounded.mesh)
        for place, derivation in enumerate(derivations):
            if bounded.count(self._cutoff) < WORTH * bounded.seconds.size:
                bounded = bounded.within(self._cutoff)
                if not bounded.seconds.size:
                    return
                tiling = Tiling(self.program, self.algebra, graph, self.target, bounded.mesh)
            seconds = CostModel(tiling, derivation).seconds()
            self.report.instantiations += seconds.size
            best = float(seconds.min())
            self.bounded = self.bounded or self.bound < best < np.inf
            if best <= self._cutoff and np.isfinite(best):
                self._keep(
                    Found(best, (order, place), self.algebra, configuration, graph, derivation)
                )

    def _shares(
        self, configuration: Configuration, graph: Hypergraph, goals: Sequence[int]
    ) -> list[int]:
        """
        Numbers of blocks that may share the loop: 1 alone where an output does not depend on it.

        Each block would store such an output, which only one may.
        """
        if any(graph.values[goal].stage is not Stage.POST for goal in goals):
            return [1]
        return self._share_counts(configuration)

    def _share_counts(self, configuration: Configuration) -> list[int]:
        return share_counts(self.program, configuration, self.target)

    def _mesh(self, configuration: Configuration, shares: Sequence[int], *, fine: bool) -> Mesh:
        parts = self.limits.parts
        return instantiate(self.program, configuration, self.target, shares, fine=fine, parts=parts)

    def _refine(self, found: Sequence[Found]) -> list[BlockGraph]:
        """The graphs with the best of all tile sizes."""
        candidates: list[BlockGraph] = []
        with self.report.phase("costing"):
            for one in found:
                candidates += self._refine_one(one)
        # The sort is stable: of equal times the graph that was found first wins.
        return sorted(candidates, key=lambda candidate: candidate.seconds)

    def _refine_one(self, one: Found) -> list[BlockGraph]:
        goals = one.derivation.goals
        shares = self._shares(one.configuration, one.graph, goals)
        mesh = self._mesh(one.configuration, shares, fine=not self.limits.coarse)
        if self.limits.coarse and self.program.open_sums:
            return self._graphs(one, mesh)[0]
        tiling = Tiling(self.program, one.algebra, one.graph, self.target, mesh)
        bounds = least_seconds_of_graphs(tiling, goals)
        few = mesh.where(bounds <= NEAR * one.seconds)
        graphs, slowest = self._graphs(one, few)
        if self.limits.coarse or slowest <= NEAR * one.seconds:
            return graphs
        return self._graphs(one, mesh)[0]

    def _graphs(self, one: Found, mesh: Mesh) -> tuple[list[BlockGraph], float]:
        """
        A graph with its best tile sizes, and the time up to which these are all that are wanted.

        The time is infinite where not enough tile sizes fit.
        """
        tiling = Tiling(self.program, one.algebra, one.graph, self.target, mesh)
        model = CostModel(tiling, one.derivation)
        seconds = model.seconds(explained=True)
        self.report.instantiations += seconds.size
        best = self._best(seconds, mesh)
        enough = len(best) >= self._wanted and not self.program.open_sums
        graphs = [
            block_graph(
                self.program,
                one.algebra,
                one.configuration,
                one.graph,
                one.derivation,
                mesh.point(int(index)),
                model.modelled(index, float(seconds[index])),
            )
            for index in best
        ]
        stable: list[BlockGraph] = []
        for graph in graphs:
            try:
                stable.append(stabilized(self.program, one.algebra, graph))
            except UnstableError as error:
                self.report.refuse(f"{one.configuration}: {error}")
        slowest = float(seconds[best[-1]]) if enough else np.inf
        return stable, slowest

    def _best(self, seconds: Array, mesh: Mesh) -> list[int]:
        """
        The combinations to keep, the fastest first.

        Where a sum stays open, these are the fastest for each number of blocks: how long the
        kernel takes that adds up their parts is not known here.
        """
        ordered = [int(i) for i in np.argsort(seconds, kind="stable") if np.isfinite(seconds[i])]
        if not self.program.open_sums:
            return different(ordered, mesh)[: self._wanted]
        fastest: dict[tuple[float, ...], int] = {}
        for index in ordered:
            axes = sorted(self.program.open_sums)
            parts = tuple(float(mesh.counts[axis][index]) for axis in axes)
            fastest.setdefault(parts, index)
        return list(fastest.values())

    @property
    def _wanted(self) -> int:
        """Tile sizes that are kept of a graph."""
        return max(TILINGS_PER_GRAPH, self.limits.candidates // CANDIDATES_PER_TILING)


def search(
    program: Program,
    target: Target,
    limits: Limits,
    report: SearchReport,
    bound: float = np.inf,
) -> list[BlockGraph]:
    """
    The one-kernel graphs of `program`, the fastest in the model first; may be empty.

    Those that take longer than `bound` seconds need not be among them.
    """
    return Search(program, target, limits, report, bound).run()
