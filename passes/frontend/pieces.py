"""Pieces of functions as plans: what the search finds for a piece, written as kernels."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.frontend.direct import Joining
from mirage_mlir.passes.frontend.fitting import Fitting, Lower, lowers_anything
from mirage_mlir.passes.frontend.from_ir import Piece
from mirage_mlir.passes.frontend.joining import JoinedTiles, joined_tiles
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.passes.frontend.to_ir import Kernel, reshaped, write_graph
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.joint_launch import common_of
from mirage_mlir.search.multi_kernel.kernels import KernelPlan, in_one_kernel
from mirage_mlir.search.multi_kernel.parallel import search_all
from mirage_mlir.search.program.axes import JoinedResult
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.program.program_cuts import Source
from mirage_mlir.search.program.shifts import unshifted_exps
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target

MOST_UNLIKE = 6
"""Graphs of one operator with unlike blocks: more are far slower than the first."""


@dataclass
class PieceSearch:
    """Searches pieces; equal programs are searched once. `report` counts what was searched."""

    target: Target
    limits: Limits
    report: SearchReport
    lower: Lower = lowers_anything
    """Tells of a kernel whether a block has room for it."""
    _plans: dict[object, list[KernelPlan]] = field(default_factory=dict[object, list[KernelPlan]])
    _coarse: dict[object, list[BlockGraph]] = field(default_factory=dict[object, list[BlockGraph]])
    _above: dict[object, float] = field(default_factory=dict[object, float])
    """Seconds up to which a program without coarse graphs was searched."""
    _fastest: dict[object, float] = field(default_factory=dict[object, float])
    """What one kernel takes with the best of all tile sizes, where that is known."""
    _unlike: dict[object, list[BlockGraph]] = field(default_factory=dict[object, list[BlockGraph]])
    """Graphs with blocks of each kind, of programs that may share a launch."""
    _alone: dict[object, list[BlockGraph]] = field(default_factory=dict[object, list[BlockGraph]])
    """By programs and the types of their values: which graphs can be written, with blocks unlike
    each other."""

    def __post_init__(self) -> None:
        self._fitting = Fitting(self.report, self.lower)

    def plans(
        self,
        piece: Piece,
        max_kernels: int,
        most: float = inf,
        *,
        careful: bool = False,
    ) -> list[PlannedKernel]:
        """
        The plans for a piece, the fastest in the model first; may be empty.

        The first can be lowered.

        If it was not searched before, plans that take longer than `most` need not be among them.
        With `careful` no kernel adds, subtracts or divides values where the piece does not.
        """
        if join_seconds(piece, self.target) == inf:
            return []
        self.search([piece], max_kernels, most, careful=careful)
        found = self._plans[piece.program.key(), max_kernels, careful]

        def again(plan: KernelPlan) -> PlannedKernel:
            return planned(piece, plan, self.target)

        return self._fitting.settled([again(plan) for plan in found], again)

    def best(self, piece: Piece, max_kernels: int) -> PlannedKernel | None:
        """The fastest plan for a piece whose tiles fit each other."""
        for one in self.plans(piece, max_kernels):
            try:
                one.write(piece.arguments)
            except ArrangementError as error:
                self.report.refuse(f"{one.structure}: {error}")
                continue
            return one
        return None

    def search(
        self,
        pieces: Iterable[Piece],
        max_kernels: int,
        most: float = inf,
        *,
        careful: bool = False,
    ) -> None:
        """
        Find the plans of pieces, of several at the same time where the limits allow that.

        Plans that take longer than `most` need not be found; for `careful` see `plans`.
        """
        programs = {
            (piece.program.key(), max_kernels, careful): piece.program
            for piece in pieces
            if join_seconds(piece, self.target) < inf
        }
        new = [key for key in programs if key not in self._plans]
        limits = replace(self.limits, max_kernels=max_kernels, bound=most, careful=careful)
        found = search_all([programs[key] for key in new], self.target, limits)
        for key, searched in zip(new, found, strict=True):
            self._plans[key] = searched.plans
            if not careful:
                alone = [plan.seconds for plan in searched.plans if len(plan.kernels) == 1]
                self._fastest[key[0]] = min(alone, default=0.0)
            self.report.add(searched.report)
            self.report.unshifted += len(unshifted_exps(programs[key]))

    def seconds(self, piece: Piece, most: float = inf) -> float:
        """
        The modelled time of a piece as one kernel, on few tile sizes.

        Infinite if it is none, or takes more than `most`.
        """
        key = piece.program.key()
        if self._fastest.get(key, 0.0) >= most:
            return inf
        if not self._coarse.get(key) and self._above.get(key, 0.0) < most:
            coarse = replace(self.limits, coarse=True)
            self._coarse[key] = self._search(piece.program, coarse, most)
            self._above[key] = most
        plans = [in_one_kernel(piece.program, graph) for graph in self._coarse[key]]
        return min(
            (
                plan.seconds + join_seconds(piece, self.target, _in_kernels(piece, plan))
                for plan in plans
            ),
            default=inf,
        )

    def rough(self, piece: Piece) -> Iterator[PlannedKernel]:
        """The plans of one kernel that are known from asking for `seconds`, and can be lowered."""
        graphs = self._coarse.get(piece.program.key(), [])
        plans = [planned(piece, in_one_kernel(piece.program, g), self.target) for g in graphs]
        return filter(self._fitting.fits, plans)

    def operator(self, piece: Piece) -> PlannedKernel | None:
        """The kernel of a piece of one operator, whatever the limits; it takes milliseconds."""
        values = (*piece.arguments, *piece.results)
        key = (piece.program.key(), piece.joined, tuple(value.type for value in values))
        if key not in self._alone:
            self._alone[key] = self._operator(piece)
        first, *others = [
            planned(piece, in_one_kernel(piece.program, graph), self.target)
            for graph in self._alone[key]
        ] or [None]
        return first and replace(first, rivals=tuple(other for other in others if other))

    def _operator(self, piece: Piece) -> list[BlockGraph]:
        """
        The graphs of a piece of one operator that can be written, the fastest first.

        Besides the fastest those are kept that may share a launch with other kernels.
        """
        found: dict[object, BlockGraph] = {}
        for graph in search(piece.program, self.target, Limits(varied=True), SearchReport()):
            if found and (len(found) == MOST_UNLIKE or common_of(graph, self.target) in found):
                continue
            plan = in_one_kernel(piece.program, graph)
            try:
                written(piece, plan, piece.arguments, self.target)
            except ArrangementError as error:
                self.report.refuse(f"{graph} of one operator: {error}")
                continue
            found[common_of(graph, self.target)] = graph
        return list(found.values())

    def unlike(self, piece: Piece, most: float) -> list[PlannedKernel]:
        """
        Single kernels for a piece, some of each kind of block, the fastest first.

        One that takes longer than `most` alone need not be among them.
        """
        if join_seconds(piece, self.target) == inf:
            return []
        key = piece.program.key()
        if key not in self._unlike:
            limits = replace(self.limits, varied=True)
            self._unlike[key] = self._search(piece.program, limits, most)
        plans = [in_one_kernel(piece.program, graph) for graph in self._unlike[key]]
        found = [planned(piece, plan, self.target) for plan in plans]
        return [one for one in found if one.count == 1]

    def _search(self, program: Program, limits: Limits, most: float) -> list[BlockGraph]:
        report = SearchReport()
        graphs = search(program, self.target, limits, report, most)
        self.report.add_part(report)
        return graphs


def planned(piece: Piece, plan: KernelPlan, target: Target) -> PlannedKernel:
    """The kernels found for a piece, as a kernel (or several in order) of a function's plan."""
    joins = _joins(piece, target, _in_kernels(piece, plan))
    return PlannedKernel(
        piece.arguments,
        piece.results,
        lambda arguments: written(piece, plan, arguments, target),
        plan.seconds + sum(join.seconds for join in joins),
        str(plan),
        len(plan.kernels) + len(joins),
        plan,
    )


def _joining(result: SSAValue, joined: JoinedResult, target: Target) -> Joining:
    sizes = tuple(part.size for part in joined.parts)
    return Joining.dense(kernel.tensor_type(result), sizes, joined.inner, target)


def _joins(piece: Piece, target: Target, done: Container[JoinedResult]) -> list[Joining]:
    """The kernels that put results of a piece together, but for those that are done."""
    return [
        _joining(result, joined, target)
        for result, joined in zip(piece.results, piece.joined, strict=True)
        if len(joined.parts) > 1 and joined not in done
    ]


def join_seconds(piece: Piece, target: Target, done: Container[JoinedResult] = ()) -> float:
    """The modelled time to put results of a piece together; infinite if a block cannot."""
    joins = _joins(piece, target, done)
    return sum(join.seconds for join in joins) if all(join.fits for join in joins) else inf


@dataclass(frozen=True)
class JoinedInKernel:
    """A result that kernel `number` of a plan puts together before it stores it."""

    number: int
    tiles: JoinedTiles


def _in_kernels(piece: Piece, plan: KernelPlan) -> dict[JoinedResult, JoinedInKernel]:
    """
    The results whose parts one kernel of a plan makes and can put together.

    The parts are then no tensors of their own: nothing else may read them.
    """
    readers = Counter(source for one in plan.kernels for source in one.arguments)
    readers.update(
        plan.results[part.number]
        for joined in piece.joined
        for part in joined.parts
        if not part.passed
    )
    found: dict[JoinedResult, JoinedInKernel] = {}
    for joined in piece.joined:
        if len(joined.parts) < 2 or any(part.passed for part in joined.parts):
            continue
        sources = [plan.results[part.number] for part in joined.parts]
        (number, *others) = {source.kernel for source in sources}
        if number is None or others or any(readers[source] > 1 for source in sources):
            continue
        one = plan.kernels[number]
        outputs = tuple(source.number for source in sources)
        if (tiles := joined_tiles(one.program, one.graph, joined, outputs)) is not None:
            found[joined] = JoinedInKernel(number, tiles)
    return found


def written(
    piece: Piece, plan: KernelPlan, arguments: Sequence[SSAValue], target: Target
) -> Kernel:
    """
    The kernels of a plan in order, on the arguments of a piece.

    Raises:
        ArrangementError: the tiles of one do not fit each other.
    """
    done = _in_kernels(piece, plan)
    try:
        return _written(piece, plan, arguments, target, done)
    except ArrangementError:
        if not done:
            raise
        return _written(piece, plan, arguments, target, {})


def _written(
    piece: Piece,
    plan: KernelPlan,
    arguments: Sequence[SSAValue],
    target: Target,
    done: Mapping[JoinedResult, JoinedInKernel],
) -> Kernel:
    operations: list[Operation] = []
    made: list[Sequence[SSAValue]] = []

    def value(source: Source) -> SSAValue:
        return (
            arguments[source.number]
            if source.kernel is None
            else made[source.kernel][source.number]
        )

    for number, one in enumerate(plan.kernels):
        given = [value(source) for source in one.arguments]
        shapes = [None for _ in one.program.outputs]
        joins = [each.tiles for each in done.values() if each.number == number]
        graph = write_graph(one.program, one.graph, given, shapes, joins)
        operations += graph.operations
        made.append(graph.results)
    outputs = [value(source) for source in plan.results]
    results: list[SSAValue] = []
    for result, joined in zip(piece.results, piece.joined, strict=True):
        parts = [(arguments if part.passed else outputs)[part.number] for part in joined.parts]
        if len(parts) == 1 or joined in done:
            results.append(reshaped(parts[0], kernel.tensor_type(result), operations))
            continue
        together = _joining(result, joined, target).write(parts)
        operations += together.operations
        results += together.results
    return Kernel(tuple(operations), tuple(results))
