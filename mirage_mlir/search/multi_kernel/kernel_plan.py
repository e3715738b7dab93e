"""Plans of one or more kernels, and how plans of two parts of a program are joined."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.program.program_cuts import ProgramCut, ProgramPart, Source
from mirage_mlir.search.structures import in_any_order

KEPT = 8
"""Plans of several kernels that are kept: verification and timing may reject some."""

ALIKE = 2
"""Plans with equal tiles that are kept: they differ in the order of operations, of which one may
need too many registers. To time more of them tells nothing."""

NEAR_PLANS = 1.1
"""How much longer than the best the others of these may take in the model. Flash-decoding of 1,024
keys with 8 sequences took 5.9 us on an H200 with 6 partial sums, first in the model, and 5.5 with
8, which the model has 6 % later."""


@dataclass(frozen=True)
class PlanKernel:
    """One kernel of a plan: its graph, and the sources of its program's arguments."""

    program: Program
    graph: BlockGraph
    arguments: tuple[Source, ...]
    others: tuple[BlockGraph, ...] = field(default=(), compare=False)
    """What stands for the graph where that cannot be lowered, the fastest first."""

    def next_best(self) -> "PlanKernel | None":
        """The kernel with its next best graph; None if it has no other."""
        if not self.others:
            return None
        return replace(self, graph=self.others[0], others=self.others[1:])


@dataclass(frozen=True)
class KernelPlan:
    """Kernels in order, and for each output of the program the kernel and result that make it."""

    kernels: tuple[PlanKernel, ...]
    results: tuple[Source, ...]

    @property
    def seconds(self) -> float:
        """The modelled time of all kernels, one after the other."""
        return sum(kernel.graph.seconds for kernel in self.kernels)

    @property
    def careless(self) -> bool:
        """Whether a kernel adds, subtracts or divides where the program does not do so."""
        return any(kernel.graph.careless for kernel in self.kernels)

    def next_best(self, place: int) -> "KernelPlan | None":
        """The plan with the next best graph of kernel `place`; None if there is no other."""
        kernel = self.kernels[place].next_best()
        if kernel is None:
            return None
        kernels = (*self.kernels[:place], kernel, *self.kernels[place + 1 :])
        return replace(self, kernels=kernels)

    def key(self) -> tuple[object, ...]:
        """Equal for plans that cut a program in the same way."""
        return tuple((kernel.program.key(), str(kernel.graph)) for kernel in self.kernels)

    def tiling(self) -> tuple[object, ...]:
        """Equal for plans whose kernels have equal structures and tiles, in any order."""
        return (in_any_order(str(self)), *_sizes([kernel.graph for kernel in self.kernels]))

    def looped_tiling(self) -> tuple[object, ...]:
        """
        The tiles of kernels with loops, if there are any: the others take little time.

        It tells tilings of one structure apart, in any order of the kernels.
        """
        graphs = [kernel.graph for kernel in self.kernels]
        return (*_sizes([graph for graph in graphs if graph.trip_counts] or graphs),)

    def __str__(self) -> str:
        """The structure of each kernel, for people."""
        return "; ".join(str(kernel.graph) for kernel in self.kernels)


def _sizes(graphs: Sequence[BlockGraph]) -> list[tuple[object, ...]]:
    """What tells tilings of the same structures apart, in any order of the kernels."""
    return sorted((g.blocks, g.trip_counts, *sorted(g.tiles.items())) for g in graphs)


def in_one_kernel(program: Program, graph: BlockGraph) -> KernelPlan:
    """The plan of a single kernel."""
    arguments = 1 + max((tensor.argument for tensor in program.inputs), default=-1)
    kernel = PlanKernel(program, graph, tuple(Source(number) for number in range(arguments)))
    outputs = range(len(program.outputs))
    return KernelPlan((kernel,), tuple(Source(number, kernel=0) for number in outputs))


def joined(cut: ProgramCut, first: KernelPlan, second: KernelPlan) -> KernelPlan:
    """The plan that runs `first`, then `second`: plans of the parts of `cut`."""

    def outer(source: Source, part: ProgramPart, shift: int) -> Source:
        """What an argument or a kernel of a part's plan is in the joined plan."""
        if source.kernel is not None:
            return Source(source.number, source.kernel + shift)
        given = part.arguments[source.number]
        return given if given.kernel is None else first.results[given.number]

    kernels: list[PlanKernel] = []
    plans = ((cut.first, first, 0), (cut.second, second, len(first.kernels)))
    for part, plan, shift in plans:
        for kernel in plan.kernels:
            arguments = tuple(outer(source, part, shift) for source in kernel.arguments)
            kernels.append(replace(kernel, arguments=arguments))
    results = tuple(
        outer(plan.results[source.number], part, shift)
        for source in cut.results
        for part, plan, shift in (plans[source.kernel or 0],)
    )
    return KernelPlan(tuple(kernels), results)


def with_plan_for(plan: KernelPlan, place: int, other: KernelPlan) -> KernelPlan:
    """`plan` with `other`, a plan of the same program, in the place of one of its kernels."""
    own = plan.kernels[place]
    more = len(other.kernels) - 1

    def moved(source: Source) -> Source:
        """What a source of `plan` is now."""
        if source.kernel is None or source.kernel < place:
            return source
        if source.kernel > place:
            return Source(source.number, source.kernel + more)
        return inner(other.results[source.number])

    def inner(source: Source) -> Source:
        """What a source of `other` is now."""
        if source.kernel is None:
            return own.arguments[source.number]
        return Source(source.number, source.kernel + place)

    def reading(kernel: PlanKernel, new: Callable[[Source], Source]) -> PlanKernel:
        return replace(kernel, arguments=tuple(map(new, kernel.arguments)))

    kernels = (
        *plan.kernels[:place],
        *(reading(kernel, inner) for kernel in other.kernels),
        *(reading(kernel, moved) for kernel in plan.kernels[place + 1 :]),
    )
    return KernelPlan(kernels, tuple(map(moved, plan.results)))


@dataclass
class BestPlans:
    """The best plans so far, the fastest first."""

    plans: list[KernelPlan]
    bound: float
    """What a plan must be faster than to be the best."""

    def __post_init__(self) -> None:
        self.plans = list(self.plans)
        self._most = self.bound
        if self.plans:
            self.bound = min(self.bound, self.plans[0].seconds)

    @property
    def near(self) -> float:
        """What a plan must be faster than to be kept."""
        return min(self._most, NEAR_PLANS * self.bound)

    def add(self, plan: KernelPlan) -> None:
        """Insert a plan; of plans with equal times the first stays in front."""
        if plan.seconds < self.near:
            plans = sorted([*self.plans, plan], key=lambda one: one.seconds)
            self.plans = of_few_tilings(plans)[:KEPT]
            self.bound = self.plans[0].seconds


def of_few_tilings(plans: Iterable[KernelPlan]) -> list[KernelPlan]:
    """`ALIKE` plans of each tiling, in their order."""
    seen: Counter[object] = Counter()
    kept: list[KernelPlan] = []
    for plan in plans:
        tiling = plan.tiling()
        seen[tiling] += 1
        if seen[tiling] <= ALIKE:
            kept.append(plan)
    return kept
