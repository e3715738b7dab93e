"""
Plans several kernels: a later one reads what an earlier one stores.

A program is computed by one kernel, or cut into two parts that are planned in the same way. It is
cut at stored values, at sums of which a first kernel stores partial sums, or by outputs. Plans of
two kernels are searched first, then those of three, and so on. A cut is searched only if its lower
bound (launches, and bytes that each part must move) is below the best time so far. Parts are
searched once each, on coarse tile sizes; the kernels of the best plans again on all tile sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mirage_mlir.progress import Progress
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import (
    least_in_one_kernel,
    least_seconds,
    least_seconds_of_any,
    least_seconds_of_work,
)
from mirage_mlir.search.multi_kernel.joint_launches import joint_seconds
from mirage_mlir.search.multi_kernel.kernel_plan import (
    KEPT,
    BestPlans,
    KernelPlan,
    in_one_kernel,
    joined,
    of_few_tilings,
    with_plan_for,
)
from mirage_mlir.search.multi_kernel.kernel_searches import ALLOWANCE, KernelSearches
from mirage_mlir.search.multi_kernel.split import Split, splits
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.program.program_cuts import ProgramCut, cuts
from mirage_mlir.search.program.shifted_cuts import shifted_cuts
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.found import Explored
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.structures import spread
from mirage_mlir.targets.target import Target

MAX_CUTS, MAX_CUTS_OF_PARTS = 40, 8
"""Cuts of the whole program, and of a part of it, that are looked at: those at one value and then
those with the lowest bounds, so that what is left out moves more bytes."""

CUT_AGAIN = 4
"""Cuts whose parts are cut again: those with the least time by what is known of their parts."""

PARTS_TRIED = 8
"""First kernels of a split that are tried with what follows: of each structure the fastest for each
number of blocks over which the sum is left open."""


FAR, FAR_SECONDS = 2.0, 5e-6
"""A kernel of several that takes so many times as long as its bytes and matmuls do, and so many
seconds more, is planned by itself. A matmul took 34 us of 61 in the model beside a sum of the rows
that it reads, which makes its tiles narrow; the two take 14 apart."""

KEPT_AGAIN = 2
"""Plans of it that are kept: one may need too many registers."""


@dataclass
class Planner(KernelSearches):
    """Plans `program` and its parts, and remembers the plans of each part."""

    _cuts: dict[object, list[tuple[float, ProgramCut]]] = field(
        default_factory=dict[object, list[tuple[float, ProgramCut]]]
    )
    _splits: dict[object, list[Split]] = field(default_factory=dict[object, list[Split]])
    _plans: dict[object, tuple[float, list[KernelPlan]]] = field(
        default_factory=dict[object, tuple[float, list[KernelPlan]]]
    )
    _least_of_one: dict[object, float] = field(default_factory=dict[object, float])

    def plans(self, program: Program, kernels: int, bound: float) -> list[KernelPlan]:
        """
        The best plans of at most `kernels` kernels that take less than `bound` seconds.

        Tile sizes are coarse.
        """
        key = program.key(), kernels
        if key in self._plans:
            searched, found = self._plans[key]
            if searched >= bound or found:
                return [plan for plan in found if plan.seconds < bound]
        found = self._planned(program, kernels, bound)
        # What was not looked at may be when plans of more kernels are; but the effort that those
        # have is for them, and not for what two kernels cannot do.
        if found or not self._is_over() or program.key() in self._whole:
            self._plans[key] = bound, found
        return found

    def _planned(self, program: Program, kernels: int, bound: float) -> list[KernelPlan]:
        if self._least(program, kernels) >= bound:
            return []
        if kernels == 1:
            graphs = self.graphs(program, bound)
            return [in_one_kernel(program, g) for g in graphs[:1] if g.seconds < bound]
        found = self.plans(program, kernels - 1, bound)
        if not program.is_whole:
            return found
        best = BestPlans(found, bound)
        for plan in self._cut_in_two(program, kernels, best):
            best.add(plan)
            if program.key() in self._whole:
                self.bound = min(self.bound, best.bound)
                if best.plans:  # The bound may have refused the plan.
                    Progress.found(min(each.seconds for each in best.plans))
        return best.plans

    def _cut_in_two(self, program: Program, kernels: int, best: BestPlans) -> Iterator[KernelPlan]:
        """The plans of exactly `kernels` kernels that are faster than `best`."""
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
        order = effort if program.key() in self._whole else self._outputs_apart
        for least, way in sorted(ways, key=lambda pair: order(pair[1])):
            if isinstance(way, Split):
                yield from self._of_split(way, best)
            elif least < best.bound:
                yield from self._of_cut(way, 1, 1, best)

    @staticmethod
    def _outputs_apart(way: ProgramCut | Split) -> tuple[bool, int]:
        """The sort key of cuts by outputs: first those that store nothing more, then by effort."""
        return isinstance(way, Split) or stored(way) > 0, effort(way)

    def _least(self, program: Program, kernels: int) -> float:
        """A lower bound on the time of at most so many kernels."""
        if kernels > 1:
            return least_seconds(program, self.target)
        key = program.key()
        if key not in self._least_of_one:
            self._least_of_one[key] = least_in_one_kernel(program, self.target)
        return self._least_of_one[key]

    def _of_cut(
        self, cut: ProgramCut, own: int, others: int, best: BestPlans
    ) -> Iterator[KernelPlan]:
        """The plans of a cut, with so many kernels for each part."""
        after = self._least(cut.second.program, others)
        firsts = self.plans(cut.first.program, own, best.bound - after)
        for first in firsts[:1]:
            second = self._rest(cut, others, best.bound - first.seconds)
            if second is not None:
                yield joined(cut, first, second)

    def _rest(self, cut: ProgramCut, kernels: int, bound: float) -> KernelPlan | None:
        """
        The best plan of the second part; it is searched even beyond limits, since the first part is
        found.
        """
        before, self._finishing = self._finishing, kernels == 1
        plans = self.plans(cut.second.program, kernels, bound)
        self._finishing = before
        return plans[0] if plans else None

    def _of_split(self, split: Split, best: BestPlans) -> Iterator[KernelPlan]:
        """
        The plans of a split: the first kernel for some numbers of partial sums, and what follows
        it.
        """
        first = split.first.program
        bound = best.bound - least_seconds_of_any(self.target)
        if least_seconds(first, self.target) >= bound:
            return
        (axis,) = first.open_sums
        fastest: dict[tuple[int, str], BlockGraph] = {}
        for graph in self.graphs(first, bound):
            fastest.setdefault((graph.counts[axis], str(graph)), graph)
        pairs = [(graph, split.cut(parts)) for (parts, _), graph in fastest.items()]
        pairs.sort(key=lambda pair: pair[0].seconds + self._least_after(pair[1]))
        for graph, cut in pairs[:PARTS_TRIED]:
            own = in_one_kernel(first, graph)
            second = self._rest(cut, 1, best.near - graph.seconds)
            if second is None:
                return
            yield joined(cut, own, second)

    def _least_after(self, cut: ProgramCut) -> float:
        return least_seconds(cut.second.program, self.target)

    def _all_cuts(self, program: Program) -> list[tuple[float, ProgramCut]]:
        """
        The cuts with their lower bounds.

        Few store what a row needs to be walked again, and those come first; then those at one
        value, and the lowest bounds.
        """
        key = program.key()
        if key not in self._cuts:
            at_rows = [(self._least_of_cut(cut), cut) for cut in shifted_cuts(program)]
            bounds = [(self._least_of_cut(cut), cut) for cut in cuts(program)]
            bounds.sort(key=lambda pair: (stored(pair[1]), pair[0]))
            ways = {
                (cut.first.program.key(), cut.second.program.key()): (least, cut)
                for least, cut in (*at_rows, *bounds)
            }
            self._cuts[key] = list(ways.values())
        return self._cuts[key]

    def _least_of_cut(self, cut: ProgramCut) -> float:
        return least_seconds(cut.first.program, self.target) + self._least_after(cut)

    def _promising(self, program: Program, bound: float) -> list[ProgramCut]:
        """
        The cuts whose parts are worth cutting again.

        First come cuts at row statistics: they are few, and each part is simple. Then come those of
        which both parts are kernels, the fastest first. Of all others the lower bound stands for
        the time.
        """
        at_rows: list[ProgramCut] = []
        ranked: list[tuple[int, float, ProgramCut]] = []
        for least, cut in self._all_cuts(program)[:MAX_CUTS]:
            if least >= bound:
                continue
            if stores_maximum(cut):
                at_rows.append(cut)
                continue
            times = [self._known_seconds(part.program) for part in (cut.first, cut.second)]
            known = sum(seconds for seconds, _ in times)
            ranked.append((sum(missing for _, missing in times), known, cut))
        ranked.sort(key=lambda entry: entry[:2])
        return [*at_rows, *(cut for _, _, cut in ranked[:CUT_AGAIN])]

    def _all_splits(self, program: Program) -> list[Split]:
        key = program.key()
        if key not in self._splits:
            explored = self._explored.pop(key, None)
            explored = explored or Explored(Algebra.of(program, careful=self.limits.careful))
            self._splits[key] = list(splits(program, self.target, explored))
        return self._splits[key]

    def cut_again(self, plan: KernelPlan | None) -> Iterator[KernelPlan]:
        """
        The plan with two kernels for one that takes long for what it does.

        Few of the cuts of parts are looked at, and what is left of the effort may not be enough.
        """
        if plan is None or not 1 < len(plan.kernels) < self.limits.max_kernels:
            return
        for place, kernel in enumerate(plan.kernels):
            own, program = kernel.graph.seconds, kernel.program
            least = least_seconds_of_work(program, self.target)
            far = own > FAR * least and own - least > FAR_SECONDS
            if far and program.is_whole:
                limits = replace(self.limits, max_kernels=2, bound=own)
                report = SearchReport()
                others = search_kernels(program, self.target, limits, report)
                self.report.add_part(report)
                yield from (with_plan_for(plan, place, each) for each in others[:KEPT_AGAIN])


def effort(way: ProgramCut | Split) -> int:
    """
    An estimate of the search of a part; the second part of a split is left out.

    It is 0 for sums of exps, which gain most by a split. It is 0 as well where outputs lie along
    the axis of a sum: one kernel makes them with the partial sums, and two kernels would each read
    their operands.
    """
    if isinstance(way, Split) and (way.shifts or way.whole):
        return 0
    parts = [way.first, way.second] if isinstance(way, ProgramCut) else [way.first]
    total = 0
    for part in parts:
        kinds = [node.kind for node in part.program.operations()]
        total += len(kinds) ** 2 * (1 + kinds.count(Kind.MATMUL))
    return total


def stored(cut: ProgramCut) -> int:
    """The number of tensors that the first part of a cut stores for the second."""
    return sum(1 for source in cut.second.arguments if source.kernel is not None)


def stores_maximum(cut: ProgramCut) -> bool:
    """Whether a cut is at a sum of exps, whose row maximum is stored, too."""
    return any(output.shift is not None for output in cut.first.program.outputs)


def search_kernels(
    program: Program, target: Target, limits: Limits, report: SearchReport
) -> list[KernelPlan]:
    """
    The plans of up to `limits.max_kernels` kernels, the fastest in the model first.

    The list may be empty.
    """
    planner = Planner(program, target, limits, report)
    graphs = planner.whole(program)
    found = [in_one_kernel(program, graph) for graph in graphs]
    if graphs:
        Progress.found(graphs[0].seconds)
    planner.bound = min(limits.bound, ALLOWANCE * graphs[0].seconds if graphs else float("inf"))
    several: list[KernelPlan] = []
    forms = planner.forms(graphs) if limits.max_kernels > 1 else []
    for kernels in range(2, limits.max_kernels + 1):
        planner.kernels = kernels
        for form in forms:
            several += planner.plans(form, kernels, planner.bound)
    several.sort(key=lambda plan: plan.seconds)
    best = {plan.key(): plan for plan in several if len(plan.kernels) > 1}
    tilings = of_few_tilings(best.values())
    for plan in spread(tilings, KEPT, str, lambda plan: plan.seconds, KernelPlan.looped_tiling):
        found += planner.refined(plan)
    found += planner.cut_again(min(found, key=lambda plan: plan.seconds, default=None))
    times = {id(plan): joint_seconds(plan, target) for plan in found}
    found.sort(key=lambda plan: times[id(plan)])
    return spread(
        of_few_tilings(found),
        limits.candidates,
        str,
        lambda plan: times[id(plan)],
        KernelPlan.looped_tiling,
    )
