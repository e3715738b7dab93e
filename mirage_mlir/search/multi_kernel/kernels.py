"""
Plans of several kernels: what one stores, a later one reads.

A program is computed by one kernel, or cut in two parts (at stored values, at sums of which a first
kernel stores parts, by outputs) that are planned in the same way. First all plans of two kernels
are looked at, then those of three and so on, and only those whose lower bound (launches, and bytes
that each part must move) is below the best so far. Parts are searched with coarse tile sizes and
once each; the kernels of the best plans are searched again with all tile sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import (
    least_in_one_kernel,
    least_seconds,
    least_seconds_of_any,
)
from mirage_mlir.search.multi_kernel.forms import with_fewer_products
from mirage_mlir.search.multi_kernel.kernel_plan import (
    KEPT,
    BestPlans,
    KernelPlan,
    PlanKernel,
    in_one_kernel,
    joined,
)
from mirage_mlir.search.multi_kernel.split import Split, splits
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.program.program_cuts import ProgramCut, cuts
from mirage_mlir.search.program.shifted_cuts import shifted_cuts
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

MAX_CUTS, MAX_CUTS_OF_PARTS = 40, 8
"""Cuts of the whole program, and of a part of it, that are looked at: those at one value and then
those with the lowest bounds, so that what is left out moves more bytes."""

CUT_AGAIN = 4
"""Cuts whose parts are cut again: those with the least time by what is known of their parts."""

PART_COUNTS = 3
"""Numbers of blocks over which a sum is left open that are tried with what follows."""

MAX_TRIED = {2: 8_000, 3: 14_000, 4: 18_000}
"""Operations tried on values in searches of parts (some 80 microseconds each, all costs
included), all together, when the last plans of so many kernels are looked at and there is a plan
already. With twice as many no workload has a better plan."""

MAX_TRIED_FOR_ANY = 200_000
"""The same while there is no plan."""

LEAST_TRIED = 12_000
"""Operations tried in the search of one part, whatever was tried before, until a graph is found. Of
what one kernel can compute, a configuration with one of the lowest bounds has graphs; those take
4000 for attention with its queries and keys normalised."""


@dataclass
class Planner:
    """Plans `program` and its parts; what was found for one is remembered for all."""

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
    _cuts: dict[object, list[tuple[float, ProgramCut]]] = field(
        default_factory=dict[object, list[tuple[float, ProgramCut]]]
    )
    _splits: dict[object, list[Split]] = field(default_factory=dict[object, list[Split]])
    _plans: dict[object, tuple[float, list[KernelPlan]]] = field(
        default_factory=dict[object, tuple[float, list[KernelPlan]]]
    )

    def __post_init__(self) -> None:
        self._whole: set[object] = {self.program.key()}
        self._explored: dict[object, Explored | None] = {}
        self._searches: dict[object, Search] = {}
        self._slower: dict[object, float] = {}
        """Seconds that each kernel of a program takes for which none was found; infinity if there
        is none."""
        self._least_of_one: dict[object, float] = {}
        self._refined_graphs: dict[object, list[BlockGraph]] = {}
        self._finishing = False

    def graphs(self, program: Program, bound: float) -> list[BlockGraph]:
        """The graphs of one kernel, with coarse tile sizes, if any takes less than `bound`."""
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
        """The graphs of one kernel for the program that is planned, with all tile sizes."""
        search = Search(program, self.target, self.limits, self.report, self.limits.bound)
        self._graphs[program.key()] = search.run()
        self._explored[program.key()] = search.explored
        return self._graphs[program.key()]

    def forms(self, graphs: list[BlockGraph]) -> list[Program]:
        """The program as written, whose graphs of one kernel are known, and what is planned too."""
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
        if self.bound == float("inf"):
            return MAX_TRIED_FOR_ANY
        return MAX_TRIED.get(self.kernels, max(MAX_TRIED.values()))

    def _is_over(self) -> bool:
        """Whether no more parts are searched: the report says so."""
        most = self._most_tried()
        if (self._finishing or self.tried < most) and not self.limits.expired():
            return False
        why = self.limits.reason if self.limits.expired() else f"{most} operations tried"
        reason = f"plans of several kernels after {why}"
        if reason not in self.report.cut:
            self.report.cut.append(reason)
        return True

    def plans(self, program: Program, kernels: int, bound: float) -> list[KernelPlan]:
        """
        The best plans of at most `kernels` kernels that take less than `bound` seconds.

        Coarse: tile sizes are those of a first look.
        """
        key = program.key(), kernels
        if key in self._plans:
            searched, found = self._plans[key]
            if searched >= bound or found:
                return [plan for plan in found if plan.seconds < bound]
        found = self._planned(program, kernels, bound)
        self._plans[key] = bound, found
        return found

    def _planned(self, program: Program, kernels: int, bound: float) -> list[KernelPlan]:
        if self._least(program, kernels) >= bound:
            return []
        if kernels == 1:
            graphs = self.graphs(program, bound)
            return [in_one_kernel(program, g) for g in graphs[:1] if g.seconds < bound]
        found = self.plans(program, kernels - 1, bound)
        if program.open_sums or len(program.computed) < len(program.outputs):
            return found
        best = BestPlans(found, bound)
        for plan in self._cut_in_two(program, kernels, best):
            best.add(plan)
            if program.key() in self._whole:
                self.bound = min(self.bound, best.bound)
        return best.plans

    def _cut_in_two(self, program: Program, kernels: int, best: BestPlans) -> Iterator[KernelPlan]:
        """Plans of exactly `kernels` kernels that are better than what `best` has."""
        others = (kernels - 1) * least_seconds_of_any(self.target)
        if least_seconds(program, self.target) + others >= best.bound:
            return
        if kernels > 2:
            for cut in self._promising(program, best.bound):
                for own in range(1, kernels):
                    yield from self._of_cut(cut, own, kernels - own, best)
            return
        if self._is_over():
            return
        most = MAX_CUTS if program.key() in self._whole else MAX_CUTS_OF_PARTS
        ways: list[tuple[float, ProgramCut | Split]] = [
            *((0.0, split) for split in self._all_splits(program)),
            *self._all_cuts(program)[:most],
        ]
        # What costs little is looked at first: it bounds the others, and effort is limited.
        for least, way in sorted(ways, key=lambda pair: effort(pair[1])):
            if isinstance(way, Split):
                yield from self._of_split(way, best)
            elif least < best.bound:
                yield from self._of_cut(way, 1, 1, best)

    def _least(self, program: Program, kernels: int) -> float:
        """A lower bound on what at most so many kernels take."""
        if kernels > 1:
            return least_seconds(program, self.target)
        key = program.key()
        if key not in self._least_of_one:
            self._least_of_one[key] = least_in_one_kernel(program, self.target)
        return self._least_of_one[key]

    def _of_cut(
        self, cut: ProgramCut, own: int, others: int, best: BestPlans
    ) -> Iterator[KernelPlan]:
        """Plans of a cut with so many kernels for each part."""
        after = self._least(cut.second.program, others)
        firsts = self.plans(cut.first.program, own, best.bound - after)
        for first in firsts[:1]:
            second = self._rest(cut, others, best.bound - first.seconds)
            if second is not None:
                yield joined(cut, first, second)

    def _rest(self, cut: ProgramCut, kernels: int, bound: float) -> KernelPlan | None:
        """The best plan for the second part, also when enough was searched: the first is there."""
        before, self._finishing = self._finishing, kernels == 1
        plans = self.plans(cut.second.program, kernels, bound)
        self._finishing = before
        return plans[0] if plans else None

    def _of_split(self, split: Split, best: BestPlans) -> Iterator[KernelPlan]:
        """Plans of a split: the first kernel for some numbers of parts, and what follows it."""
        first = split.first.program
        bound = best.bound - least_seconds_of_any(self.target)
        if least_seconds(first, self.target) >= bound:
            return
        (axis,) = first.open_sums
        fastest: dict[int, BlockGraph] = {}
        for graph in self.graphs(first, bound):
            fastest.setdefault(graph.counts[axis], graph)
        pairs = [(graph, split.cut(parts)) for parts, graph in fastest.items()]
        pairs.sort(key=lambda pair: pair[0].seconds + self._least_after(pair[1]))
        for graph, cut in pairs[:PART_COUNTS]:
            own = in_one_kernel(first, graph)
            second = self._rest(cut, 1, best.bound - graph.seconds)
            if second is None:
                return
            yield joined(cut, own, second)

    def _least_after(self, cut: ProgramCut) -> float:
        return least_seconds(cut.second.program, self.target)

    def _all_cuts(self, program: Program) -> list[tuple[float, ProgramCut]]:
        """The cuts with their lower bounds, those at one value first, then the lowest bounds."""
        key = program.key()
        if key not in self._cuts:
            ways = (*shifted_cuts(program), *cuts(program))
            found = {(c.first.program.key(), c.second.program.key()): c for c in ways}
            bounds = [(self._least_of_cut(cut), cut) for cut in found.values()]
            self._cuts[key] = sorted(bounds, key=lambda pair: (stored(pair[1]), pair[0]))
        return self._cuts[key]

    def _least_of_cut(self, cut: ProgramCut) -> float:
        return least_seconds(cut.first.program, self.target) + self._least_after(cut)

    def _promising(self, program: Program, bound: float) -> list[ProgramCut]:
        """
        The cuts whose parts are worth being cut again.

        First those of which both parts are kernels, the fastest first; of the others, what the
        parts take that are none is not known, and their lower bounds stand for it.
        """
        ranked: list[tuple[int, float, ProgramCut]] = []
        for least, cut in self._all_cuts(program)[:MAX_CUTS]:
            if least < bound:
                times = [self._known_seconds(part.program) for part in (cut.first, cut.second)]
                known = sum(seconds for seconds, _ in times)
                ranked.append((sum(missing for _, missing in times), known, cut))
        ranked.sort(key=lambda entry: entry[:2])
        return [cut for _, _, cut in ranked[:CUT_AGAIN]]

    def _known_seconds(self, program: Program) -> tuple[float, int]:
        """The time of one kernel, and 0; or the lower bound of any kernels, and 1."""
        key = program.key()
        if graphs := self._graphs.get(key):
            return graphs[0].seconds, 0
        least, slower = least_seconds(program, self.target), self._slower.get(key, np.inf)
        return (max(least, slower), 0) if slower < np.inf else (least, 1)

    def _all_splits(self, program: Program) -> list[Split]:
        key = program.key()
        if key not in self._splits:
            explored = self._explored.pop(key, None)
            self._splits[key] = list(splits(program, self.target, explored))
        return self._splits[key]

    def refined(self, plan: KernelPlan) -> list[KernelPlan]:
        """
        The plan with the best of all tile sizes, then others; parts of sums stay as many.

        The others differ in one kernel: verification, registers or timing may speak against one.
        """
        choices = [self._refined(kernel) for kernel in plan.kernels]
        best = tuple(kernels[0] for kernels in choices)
        plans = [replace(plan, kernels=best)]
        for place, kernels in enumerate(choices):
            for other in kernels[1:OTHERS]:
                changed = (*best[:place], other, *best[place + 1 :])
                plans.append(replace(plan, kernels=changed))
        return plans

    def _refined(self, kernel: PlanKernel) -> list[PlanKernel]:
        """A kernel with all tile sizes, the fastest first."""
        key = kernel.program.key()
        if key not in self._refined_graphs:
            with self.report.phase("refining"):
                search = self._searches.get(key)
                self._refined_graphs[key] = search.refined() if search is not None else []
        open_sums = sorted(kernel.program.open_sums)
        fitting = [
            replace(kernel, graph=graph)
            for graph in self._refined_graphs[key]
            if all(graph.counts[axis] == kernel.graph.counts[axis] for axis in open_sums)
        ]
        return fitting or [kernel]


def effort(way: ProgramCut | Split) -> int:
    """
    How much the search of the parts does, roughly, the second part of a split left aside.

    Nothing for sums of exps: of what one kernel has to walk, that is most of all worth a split.
    """
    if isinstance(way, Split) and way.shifts:
        return 0
    parts = [way.first, way.second] if isinstance(way, ProgramCut) else [way.first]
    total = 0
    for part in parts:
        kinds = [node.kind for node in part.program.operations()]
        total += len(kinds) ** 2 * (1 + kinds.count(Kind.MATMUL))
    return total


def stored(cut: ProgramCut) -> int:
    """How many tensors the second part of a cut reads that the first stores."""
    return sum(1 for source in cut.second.arguments if source.kernel is not None)


def search_kernels(
    program: Program, target: Target, limits: Limits, report: SearchReport
) -> list[KernelPlan]:
    """
    The plans of one kernel, two, and up to `limits.max_kernels`, the fastest in the model first.

    The list may be empty.
    """
    planner = Planner(program, target, limits, report)
    graphs = planner.whole(program)
    found = [in_one_kernel(program, graph) for graph in graphs]
    planner.bound = min(limits.bound, ALLOWANCE * graphs[0].seconds if graphs else float("inf"))
    several: list[KernelPlan] = []
    forms = planner.forms(graphs) if limits.max_kernels > 1 else []
    for kernels in range(2, limits.max_kernels + 1):
        planner.kernels = kernels
        for form in forms:
            several += planner.plans(form, kernels, planner.bound)
    several.sort(key=lambda plan: plan.seconds)
    best = list({plan.key(): plan for plan in several if len(plan.kernels) > 1}.values())[:KEPT]
    for plan in best:
        found += planner.refined(plan)
    return sorted(found, key=lambda plan: plan.seconds)[: limits.candidates]
