"""
Searches the kernels of a program and of its parts, each once.

Parts are searched with coarse tile sizes, and no longer than it is likely to pay. The kernels of
the best plans are searched again with all tile sizes.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import (
    least_seconds,
)
from mirage_mlir.search.multi_kernel.forms import with_fewer_products
from mirage_mlir.search.multi_kernel.joint_launches import fitting_each_other, side_by_side
from mirage_mlir.search.multi_kernel.kernel_plan import (
    KernelPlan,
    PlanKernel,
)
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import Search
from mirage_mlir.search.single_kernel.found import Explored
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target

OTHERS = 3
"""Graphs of each kernel of several that are offered with the best of the others."""

ALLOWANCE = 1.1
"""How much slower than one kernel, whose tile sizes are the best of all, a plan with coarse tile
sizes may be: finer ones make kernels faster by 2 to 10 %."""

MAX_TRIED = {2: 8_000, 3: 14_000, 4: 18_000}
"""Operations tried on values in searches of parts (some 80 microseconds each, all costs
included), all together, when the last plans of so many kernels are looked at and there is a plan
already. With twice as many no workload has a better plan."""

USUAL_MATMULS = 2
"""Programs with more products have more ways to be cut: as much more is tried. The gradient of
attention has five."""

MAX_TRIED_FOR_ANY = {2: 100_000, 3: 200_000, 4: 300_000}
"""The same while there is no plan. Many kernels have their share: no two compute the gradient of
attention with scaled scores, and to see that takes 200,000."""

MAX_TRIED_BOUNDED = 100_000
"""The same in the search of one kernel for a program of which there is another plan, whose time is
the bound: that none computes the gradient of attention with normalised queries and keys took two
minutes to see."""

LEAST_TRIED = 12_000
"""Operations tried in the search of one part, whatever was tried before, until a graph is found. Of
what one kernel can compute, a configuration with one of the lowest bounds has graphs; those take
4000 for attention with its queries and keys normalised."""


@dataclass
class KernelSearches:
    """Finds and remembers the kernels of `program` and of its parts."""

    program: Program
    target: Target
    limits: Limits
    report: SearchReport
    tried: int = 0
    """Operations that were tried on values in searches of parts."""
    kernels: int = 2
    """The plans of how many kernels are looked at."""
    bound: float = float("inf")
    """The time of the best plan for the whole program."""
    _graphs: dict[object, list[BlockGraph]] = field(default_factory=dict[object, list[BlockGraph]])

    def __post_init__(self) -> None:
        self._whole: set[object] = {self.program.key()}
        self._explored: dict[object, Explored | None] = {}
        self._searches: dict[object, Search] = {}
        self._slower: dict[object, float] = {}
        """Seconds that each kernel of a program takes for which none was found; infinity if there
        is none."""
        self._refined_graphs: dict[object, list[BlockGraph]] = {}
        self._varied_graphs: dict[object, list[BlockGraph]] = {}
        self._finishing = False
        self._matmuls = [node.kind for node in self.program.nodes].count(Kind.MATMUL)

    def graphs(self, program: Program, bound: float) -> list[BlockGraph]:
        """
        The graphs of one kernel on coarse tile sizes, if any of them takes less than `bound`
        seconds.
        """
        key = program.key()
        if key not in self._graphs or (
            not self._graphs[key] and self._slower.get(key, np.inf) < bound
        ):
            if self._is_over():
                return []
            report = SearchReport()
            limits = replace(self.limits, coarse=True)
            # Beside the best others are wanted that take little more.
            most = ALLOWANCE * bound
            tried = self._most_tried() - self.tried
            search = Search(program, self.target, limits, report, most, max(tried, LEAST_TRIED))
            self._graphs[key] = search.run()
            self._slower[key] = most if search.bounded else np.inf
            # A split of the program wants what is known of it.
            self._explored[key], search.explored = search.explored, None
            self._searches[key] = search
            self.report.add_part(report)
            self.tried += report.tried
        return self._graphs[key]

    def whole(self, program: Program) -> list[BlockGraph]:
        """The graphs of one kernel for the whole program, on all tile sizes."""
        bound = self.limits.bound
        tried = MAX_TRIED_BOUNDED if bound < np.inf else np.inf
        search = Search(program, self.target, self.limits, self.report, bound, tried)
        self._graphs[program.key()] = search.run()
        self._explored[program.key()] = search.explored
        return self._graphs[program.key()]

    def forms(self, graphs: list[BlockGraph]) -> list[Program]:
        """
        The program as written, whose graphs are known, and other programs that are planned, too.
        """
        explored = self._explored.get(self.program.key())
        if self.limits.expired() or explored is None:
            return [self.program]
        form = with_fewer_products(explored, self.target)
        if form is None:
            return [self.program]
        # One kernel computes both in the same ways.
        self._graphs[form.key()] = graphs
        self._whole.add(form.key())
        return [form, self.program]

    def _most_tried(self) -> int:
        limits = MAX_TRIED_FOR_ANY if self.bound == float("inf") else MAX_TRIED
        most = limits.get(self.kernels, max(limits.values()))
        if limits is MAX_TRIED_FOR_ANY:
            return most
        return int(most * max(1.0, self._matmuls / USUAL_MATMULS))

    def _is_over(self) -> bool:
        """Whether the limit on the search of parts is reached; the report then says so."""
        most = self._most_tried()
        if (self._finishing or self.tried < most) and not self.limits.expired():
            return False
        why = self.limits.reason if self.limits.expired() else f"{most} operations tried"
        reason = f"plans of several kernels after {why}"
        if reason not in self.report.cut:
            self.report.cut.append(reason)
        return True

    def _known_seconds(self, program: Program) -> tuple[float, int]:
        """The known time of one kernel, and 0; or a lower bound on that of any kernels, and 1."""
        key = program.key()
        if graphs := self._graphs.get(key):
            return graphs[0].seconds, 0
        least, slower = least_seconds(program, self.target), self._slower.get(key, np.inf)
        return (max(least, slower), 0) if slower < np.inf else (least, 1)

    def refined(self, plan: KernelPlan) -> list[KernelPlan]:
        """
        The plan with the best of all tile sizes, then others; numbers of partial sums stay the
        same.

        The others are faster where kernels share launches, or differ in one kernel: verification,
        registers or timing may rule one out.
        """
        choices = [self._refined(kernel) for kernel in plan.kernels]
        best = tuple(kernels[0] for kernels in choices)
        plans = [replace(plan, kernels=best)]
        plans += self._sharing_launches(plans[0])
        for place, kernels in enumerate(choices):
            for other in kernels[1:OTHERS]:
                changed = (*best[:place], other, *best[place + 1 :])
                plans.append(replace(plan, kernels=changed))
        return plans

    def _sharing_launches(self, plan: KernelPlan) -> list[KernelPlan]:
        """The plan with kernels whose blocks are alike, where that may be faster."""
        choices: list[list[PlanKernel]] = [[kernel] for kernel in plan.kernels]
        for launch in side_by_side(plan, self.target):
            # Alone no kernel of the launch may take longer than all of them do now.
            most = sum(plan.kernels[number].graph.seconds for number in launch)
            for number in launch:
                choices[number] += self._varied(plan.kernels[number], most)
        return fitting_each_other(plan, choices, self.target)

    def _varied(self, kernel: PlanKernel, most: float) -> list[PlanKernel]:
        """
        The kernel with blocks of other kinds, the fastest first, which may be slower alone.

        At most they take `most` seconds, or what was asked for when they were first searched.
        """
        key = kernel.program.key()
        if kernel.program.open_sums:
            return []
        if key not in self._varied_graphs:
            report = SearchReport()
            limits = replace(self.limits, varied=True)
            search = Search(kernel.program, self.target, limits, report, most, LEAST_TRIED)
            self._varied_graphs[key] = search.run()
            self.report.add_part(report)
        return [replace(kernel, graph=graph, others=()) for graph in self._varied_graphs[key]]

    def _refined(self, kernel: PlanKernel) -> list[PlanKernel]:
        """A kernel on all tile sizes, the fastest first."""
        key = kernel.program.key()
        if key not in self._refined_graphs:
            with self.report.phase("refining"):
                search = self._searches.get(key)
                self._refined_graphs[key] = search.refined() if search is not None else []
        open_sums = sorted(kernel.program.open_sums)
        graphs = [
            graph
            for graph in self._refined_graphs[key]
            if all(graph.counts[axis] == kernel.graph.counts[axis] for axis in open_sums)
        ]
        return [
            replace(kernel, graph=graph, others=tuple(graphs[number + 1 :]))
            for number, graph in enumerate(graphs)
        ] or [kernel]
