"""
Plans whose kernels no block has room for, found out before one is offered.

The model estimates what layouts and buffers take; the lowering knows. A kernel that it refuses
gives way to the next best for the same part of the program, so that the others stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.printed import printed
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.proofs import candidate_of_piece
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan
from mirage_mlir.search.report import SearchReport

Lower = Callable[[ModuleOp], None]
"""Lowers a module until it is known what each block needs; raises DiagnosticException where that is
too much."""


def lowers_anything(module: ModuleOp) -> None:
    """For those who do not lower."""


@dataclass
class Fitting:
    """Puts a plan first whose kernels can be lowered; each kernel is lowered once."""

    report: SearchReport
    lower: Lower = lowers_anything
    _problems: dict[str, str] = field(default_factory=dict[str, str])
    """By the text of a kernel; empty for one that can be lowered."""

    def settled(
        self, plans: Sequence[PlannedKernel], again: Callable[[KernelPlan], PlannedKernel]
    ) -> list[PlannedKernel]:
        """
        The plans that are left, the fastest in the model first, of which the first can be lowered.

        Those behind it are not lowered: they matter where something else speaks against the first.

        Args:
            plans: for one piece, in any order.
            again: a plan of that piece as `plans` has them.
        """
        waiting = sorted(plans, key=lambda plan: plan.seconds)
        unwritten: list[PlannedKernel] = []
        while waiting:
            first = waiting.pop(0)
            try:
                place = self._unfit(first)
            except ArrangementError:
                # Who writes it says so.
                unwritten.append(first)
                continue
            if place is None:
                waiting.insert(0, first)
                break
            other = None if first.plan is None else first.plan.next_best(place)
            if other is not None and all(other != plan.plan for plan in waiting):
                waiting = sorted([*waiting, again(other)], key=lambda plan: plan.seconds)
        return sorted([*unwritten, *waiting], key=lambda plan: plan.seconds)

    def fits(self, planned: PlannedKernel) -> bool:
        """Whether all kernels of a plan can be lowered, as far as they can be written."""
        try:
            return self._unfit(planned) is None
        except ArrangementError:
            return True

    def _unfit(self, planned: PlannedKernel) -> int | None:
        """
        The number of the first kernel that cannot be lowered; None where all can.

        Raises:
            ArrangementError: the plan cannot be written.
        """
        if planned.plan is None:
            return None
        block = candidate_of_piece(planned).body.block
        graphs = [op for op in block.ops if isinstance(op, kernel.GraphDefinedOp)]
        # Those behind the kernels of the plan put results together; they are checked when planned.
        for place, graph in enumerate(graphs[: len(planned.plan.kernels)]):
            if problem := self._problem(graph):
                self.report.refuse(f"{planned.plan.kernels[place].graph}: {problem}")
                return place
        return None

    def _problem(self, graph: kernel.GraphDefinedOp) -> str:
        module = ModuleOp([_function(graph)])
        text = printed(module)
        if text not in self._problems:
            self._problems[text] = self._tried(module)
        return self._problems[text]

    def _tried(self, module: ModuleOp) -> str:
        """Why a module cannot be lowered; empty where it can."""
        try:
            with collect_remarks(), self.report.phase("lowering"):
                self.lower(module)
        except DiagnosticException as error:
            # Where it happened is no line of the program.
            return str(error).partition("error: ")[2] or str(error)
        return ""


def _function(graph: kernel.GraphDefinedOp) -> FuncOp:
    """A kernel as a function of its own."""
    inputs = [value.type for value in graph.inputs]
    block = Block(arg_types=inputs)
    copy = graph.clone(dict(zip(graph.inputs, block.args, strict=False)))
    block.add_ops([copy, ReturnOp(*copy.outputs)])
    return FuncOp("kernel", (inputs, [value.type for value in copy.outputs]), Region(block))
