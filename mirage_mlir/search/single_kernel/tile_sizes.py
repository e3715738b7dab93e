"""Finds the best tile sizes of graphs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.search.cost_model.block_graph import BlockGraph, block_graph
from mirage_mlir.search.cost_model.cost import CostModel
from mirage_mlir.search.cost_model.instantiate import (
    Array,
    Mesh,
    instantiate,
    share_counts,
)
from mirage_mlir.search.cost_model.lower_bound import (
    least_seconds_of_graphs,
)
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.hypergraph import Hypergraph, Stage
from mirage_mlir.search.single_kernel.found import Found, different
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.stabilization.degrees import UnstableError
from mirage_mlir.search.stabilization.stabilization import stabilized
from mirage_mlir.search.structures import MISJUDGED
from mirage_mlir.targets.target import Target

TILINGS_PER_GRAPH = 3
"""Tile sizes that are kept of a graph, at least: verification and timing may reject the first."""

CANDIDATES_PER_TILING = 2
"""Of more candidates, some are other tilings of the same graphs: one for so many."""

NEAR = 1.2
"""Of a graph the tile sizes are looked at first whose bounds are this near to its best time."""

VARIED = 2.0
"""The same for kernels with blocks of another kind, where it is not known how long the launch takes
that they share."""


class TileSizes:
    """Finds tile sizes of graphs of one program."""

    def __init__(
        self,
        program: Program,
        target: Target,
        limits: Limits,
        report: SearchReport,
        bound: float,
    ) -> None:
        """
        Args:
            program: what is computed.
            target: for which GPU.
            limits: how many tile sizes to try.
            report: where to count.
            bound: seconds; graphs that take longer need not be found.
        """
        self.program = program
        self.target = target
        self.limits = limits
        self.report = report
        self.bound = bound

    def _shares(
        self, configuration: Configuration, graph: Hypergraph, goals: Sequence[int]
    ) -> list[int]:
        """
        The numbers of blocks that may share a loop; only 1 where an output does not depend on the
        loop.

        Only one of them may store such an output.
        """
        looped = not configuration.cluster
        if looped and any(graph.values[goal].stage is not Stage.POST for goal in goals):
            return [1]
        return self._share_counts(configuration)

    def _share_counts(self, configuration: Configuration) -> list[int]:
        return share_counts(self.program, configuration, self.target)

    def _mesh(self, configuration: Configuration, shares: Sequence[int], *, fine: bool) -> Mesh:
        parts = self.limits.parts
        return instantiate(self.program, configuration, self.target, shares, fine=fine, parts=parts)

    def _refine(self, found: Sequence[Found]) -> list[BlockGraph]:
        """The graphs, each with its best tile sizes."""
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
        near = self._slowest_varied(one.seconds) if self.limits.varied else NEAR * one.seconds
        few = mesh.where(bounds <= near)
        graphs, slowest = self._graphs(one, few)
        if self.limits.coarse or slowest <= NEAR * one.seconds:
            return graphs
        return self._graphs(one, mesh)[0]

    def _graphs(self, one: Found, mesh: Mesh) -> tuple[list[BlockGraph], float]:
        """
        A graph with its best tile sizes, and the time up to which no other tile sizes are wanted.

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

        Among them is the fastest for each number of blocks that share the loop, as far as it is
        near: what the model misjudges of their exchange it misjudges of all tile sizes alike.
        Where a sum stays open, these are the fastest for each number of blocks: how long the
        kernel takes that adds up their parts is not known here.
        """
        by_time = np.argsort(seconds, kind="stable")
        fitting = by_time[np.isfinite(seconds[by_time])]
        ordered = fitting.tolist()
        open_sums = sorted(self.program.open_sums)
        if not open_sums:
            best = different(ordered, mesh)[: self._wanted]
            near = fitting[seconds[fitting] <= MISJUDGED * seconds[fitting[:1]]]
            _, first = np.unique(mesh.shares[near], return_index=True)
            best = sorted({*best, *near[first].tolist()}, key=ordered.index)
            varies = self.limits.varied and fitting.size > 0
            others = self._varied(fitting, seconds, mesh) if varies else []
            return [*dict.fromkeys([*best, *sorted(others, key=ordered.index)])]
        fastest: dict[tuple[float, ...], int] = {}
        counts = [mesh.counts[axis][fitting].tolist() for axis in open_sums]
        for index, *parts in zip(ordered, *counts, strict=True):
            fastest.setdefault(tuple(parts), index)
        return list(fastest.values())

    def _slowest_varied(self, fastest: float) -> float:
        """
        How long a kernel of a joint launch may take alone: as long as the launch, if that is known.
        """
        return self.bound if self.bound < np.inf else VARIED * fastest

    def _varied(self, ordered: NDArray[np.intp], seconds: Array, mesh: Mesh) -> list[int]:
        """
        For each number of blocks that share a loop the fastest combination, and fewer blocks.

        With fewer blocks a kernel takes longer alone, but leaves the other multiprocessors to those
        that share its launch: a combination is kept if all with as few blocks take longer.
        """
        found: list[int] = []
        slowest = self._slowest_varied(float(seconds[ordered[0]]))
        shares = mesh.shares[ordered]
        for share in np.unique(shares):
            some = ordered[shares == share]
            # In any case the fastest.
            some = some[: max(1, np.count_nonzero(seconds[some] <= slowest))]
            blocks = mesh.blocks[some]
            fewer = np.flatnonzero(blocks < np.r_[np.inf, np.minimum.accumulate(blocks)[:-1]])
            found += some[fewer].tolist()
        return found

    @property
    def _wanted(self) -> int:
        """Tile sizes that are kept of a graph."""
        return max(TILINGS_PER_GRAPH, self.limits.candidates // CANDIDATES_PER_TILING)
