"""
Searches for graphs of one kernel, within a time limit.

Configurations are searched one by one: each is saturated, its lightest graphs are costed on coarse
tile sizes, and the best graphs of all configurations are costed again on fine ones. All choices are
made in a fixed order, so that every run that no time limit cuts gives the same result.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.cost import CostModel
from mirage_mlir.search.cost_model.instantiate import (
    mesh_of,
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
from mirage_mlir.search.single_kernel.found import Bounded, Explored, Found
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.single_kernel.tile_sizes import VARIED, TileSizes
from mirage_mlir.search.structures import spread
from mirage_mlir.targets.target import Target

GRAPHS_PER_CONFIGURATION = 24
"""Graphs of different structure that are costed; the static weight orders them well enough that
the best in cost was among the first ten in all workloads."""

REFINED = 12
"""Graphs that are costed again with all tile sizes."""

KEPT_COARSE = 4
"""Graphs that are kept where this is not done: only the best is of use, or, of a kernel that leaves
a sum open, the best for each number of blocks."""

EXPANDED = 4
"""Terms up to which a product of sums is multiplied out in a second search: the square of a
difference. Larger products make the closure grow too fast to be searched in seconds."""

WORTH = 0.7
"""Fewer tile sizes than this part of all are worth a new tiling, which makes its arrays anew."""

MAX_EXPANDED_OPERATORS = 24
"""Operators of a program whose products are multiplied out: the closure of a chain of three norms,
which has 31, took 3 s and led to nothing."""

FINER = 1.1
"""How many times as long as the bound a graph may take before its tile sizes are refined: of a
product of 512 rows with itself these make 2.27 us of 2.45 in the model."""

NOMINAL_TILE = 64
"""The extent at which static weights are taken."""


class Search(TileSizes):
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
        super().__init__(program, target, limits, report, bound)
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
        if not self._found and self.algebra.hides_values and not self.limits.expired():
            self._explore_all(configurations, 1, 0, as_written=True)
        # Multiplied out, sums need not wait for each other: that matters where they are walked.
        looped = [one for one in configurations if one.loop or self.program.open_sums]
        small = sum(1 for _ in self.program.operations()) <= MAX_EXPANDED_OPERATORS
        expands = looped and small and self.algebra.has_products_of_sums
        as_it_is = self.limits.coarse or self.limits.careful or self.limits.expired()
        if expands and not as_it_is:
            self._explore_all(looped, EXPANDED, len(configurations))
        found = self._refine(self._found)
        return found if self.limits.varied else self._kept(found)

    def refined(self) -> list[BlockGraph]:
        """The graphs of an earlier, coarse search, each with its best tile sizes."""
        self.limits = replace(self.limits, coarse=False)
        return self._kept(self._refine(self._found))

    def _kept(self, found: Sequence[BlockGraph]) -> list[BlockGraph]:
        if self.limits.coarse:
            return [*found[: self.limits.candidates]]
        return spread(
            found,
            self.limits.candidates,
            str,
            lambda graph: graph.seconds,
            lambda graph: (graph.blocks, graph.trip_counts),
        )

    @property
    def _cutoff(self) -> float:
        """The time above which a graph would not be kept."""
        if self.limits.varied:
            fastest = self._found[0].seconds if self._found else np.inf
            return min(VARIED * fastest, FINER * self.bound)
        kept = KEPT_COARSE if self.limits.coarse else REFINED
        slowest = self._found[kept - 1].seconds if len(self._found) >= kept else np.inf
        return min(slowest, self.bound if self.limits.coarse else FINER * self.bound)

    def _keep(self, found: Found) -> None:
        kept = KEPT_COARSE if self.limits.coarse else REFINED
        together = sorted([*self._found, found], key=lambda one: (one.seconds, one.order))
        self._found = together[:kept]
        if self.limits.varied:
            fastest: dict[Configuration, Found] = {}
            for one in together:
                fastest.setdefault(one.configuration, one)
            self._found += [one for one in fastest.values() if one not in self._found]

    def _explore_all(
        self,
        configurations: Sequence[Configuration],
        expansion_limit: int,
        order: int,
        *,
        as_written: bool = False,
    ) -> None:
        """
        Search `configurations`; products of sums with up to so many terms are multiplied out.

        With `as_written`, values of the program are admitted, too, that are no sub-expressions of
        its outputs; gradients often have such values. Configurations come in the order of their
        lower bounds. The search ends at the first whose bound is above the times of all graphs that
        are kept.
        """
        report = self.report
        with report.phase("normal forms"):
            self.algebra = Algebra.of(
                self.program,
                expansion_limit,
                as_written=as_written,
                careful=self.limits.careful,
            )
        if as_written or self.explored is None:
            self.explored = Explored(self.algebra)
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
        """A lower bound on the time of every graph of a configuration, on coarse tile sizes."""
        mesh = self._mesh(configuration, self._share_counts(configuration), fine=False)
        bounds = least_seconds_of_loads(
            self.program, self.algebra, configuration, self.target, mesh
        )
        return float(bounds.min(initial=np.inf))

    def _explore(self, configuration: Configuration, order: int) -> None:
        """Search one configuration, and cost its graphs on coarse tile sizes."""
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
        """The values to store: each output behind the loop, or a tile of it in each iteration."""
        goals: list[int] = []
        loop = configuration.loop
        for form, output in zip(self.algebra.outputs, self.program.computed, strict=True):
            if form is None:
                return None
            in_each = loop and all(axis in output.axes for axis in loop)
            stages = [Stage.LOOP] if in_each else [Stage.POST, Stage.INVARIANT]
            found = [graph.find(Value(form, stage)) for stage in stages]
            goal = next((value for value in found if value is not None), None)
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
