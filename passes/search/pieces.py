"""Pieces of functions as plans: what the search finds for a piece, written as kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.graph.target import Target
from mirage_mlir.passes.search.from_ir import Piece
from mirage_mlir.passes.search.plan import PlannedKernel
from mirage_mlir.passes.search.to_ir import Kernel, reshaped, write_graph
from mirage_mlir.search.block_graph import BlockGraph
from mirage_mlir.search.cuts import Source
from mirage_mlir.search.engine import search
from mirage_mlir.search.kernels import KernelPlan, in_one_kernel, search_kernels
from mirage_mlir.search.limits import Limits
from mirage_mlir.search.program import Program
from mirage_mlir.search.report import SearchReport


@dataclass
class PieceSearch:
    """Searches pieces; equal programs are searched once. `report` counts what was searched."""

    target: Target
    limits: Limits
    report: SearchReport
    _plans: dict[object, list[KernelPlan]] = field(default_factory=dict[object, list[KernelPlan]])
    _seconds: dict[object, float] = field(default_factory=dict[object, float])
    _alone: dict[object, list[BlockGraph]] = field(default_factory=dict[object, list[BlockGraph]])

    def plans(self, piece: Piece, max_kernels: int) -> list[PlannedKernel]:
        """The plans for a piece, the fastest in the model first; may be empty."""
        key = piece.program.key(), max_kernels
        if key not in self._plans:
            report = SearchReport()
            limits = replace(self.limits, max_kernels=max_kernels)
            self._plans[key] = search_kernels(piece.program, self.target, limits, report)
            self.report.add(report)
        return [planned(piece, plan) for plan in self._plans[key]]

    def seconds(self, piece: Piece) -> float:
        """The modelled time of a piece as one kernel, on few tile sizes; infinite if it is none."""
        key = piece.program.key()
        if key not in self._seconds:
            graphs = self._search(piece.program, replace(self.limits, coarse=True))
            self._seconds[key] = graphs[0].seconds if graphs else float("inf")
        return self._seconds[key]

    def operator(self, piece: Piece) -> PlannedKernel | None:
        """The kernel of a piece of one operator, whatever the limits; it takes milliseconds."""
        key = piece.program.key()
        if key not in self._alone:
            self._alone[key] = search(piece.program, self.target, Limits(), SearchReport())
        graphs = self._alone[key]
        return planned(piece, in_one_kernel(piece.program, graphs[0])) if graphs else None

    def _search(self, program: Program, limits: Limits) -> list[BlockGraph]:
        report = SearchReport()
        graphs = search(program, self.target, limits, report)
        self.report.add_part(report)
        return graphs


def planned(piece: Piece, plan: KernelPlan) -> PlannedKernel:
    """The kernels found for a piece, as a kernel (or several in order) of a function's plan."""
    return PlannedKernel(
        piece.arguments,
        piece.results,
        lambda arguments: written(piece, plan, arguments),
        plan.seconds,
        str(plan),
        len(plan.kernels),
    )


def written(piece: Piece, plan: KernelPlan, arguments: Sequence[SSAValue]) -> Kernel:
    """
    The kernels of a plan in order, on the arguments of a piece.

    Raises:
        ArrangementError: the tiles of one do not fit each other.
    """
    operations: list[Operation] = []
    made: list[Sequence[SSAValue]] = []

    def value(source: Source) -> SSAValue:
        return (
            arguments[source.number]
            if source.kernel is None
            else made[source.kernel][source.number]
        )

    for one in plan.kernels:
        given = [value(source) for source in one.arguments]
        graph = write_graph(one.program, one.graph, given, [None for _ in one.program.outputs])
        operations += graph.operations
        made.append(graph.results)
    results = [
        reshaped(value(source), kernel.tensor_type(result), operations)
        for source, result in zip(plan.results, piece.results, strict=True)
    ]
    return Kernel(tuple(operations), tuple(results))
