"""
Plans of many pieces, compared piece by piece with the operators that they stand for.

A comparison over fields takes time that grows with the size of a program, and much faster with its
square roots, all of whose arguments must be squares at once. If each piece is equal to its
operators for any values that it reads, the whole is equal to the program; what is left to see is
that pieces were put together rightly, which a run of the whole in floating point shows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.interpreters.equivalence import EquivalenceReport, Verdict, Verifier
from mirage_mlir.interpreters.forms import Proof
from mirage_mlir.passes.search.plan import Plan, PlannedKernel
from mirage_mlir.passes.search.printed import printed
from mirage_mlir.passes.search.views import is_strided_view

MOST_AT_ONCE = 5
"""Pieces of a plan that are compared as one program: of more, normal forms are too large to be
compared, and square roots too many for all their arguments to be squares in a test."""


@dataclass
class PieceProofs:
    """What comparisons of pieces came to; equal pieces are compared once."""

    _known: dict[str, EquivalenceReport] = field(default_factory=dict[str, EquivalenceReport])
    _pieces: dict[str, Verifier] = field(default_factory=dict[str, Verifier])
    """By the text of what a piece stands for."""
    _wholes: dict[FuncOp, Verifier] = field(default_factory=dict[FuncOp, Verifier])

    def of(self, planned: PlannedKernel) -> EquivalenceReport:
        """
        Compare the kernels of a piece with its operators.

        Raises:
            ArrangementError: the kernels cannot be written.
        """
        reference, candidate = _reference(planned), _candidate(planned)
        expected = printed(ModuleOp([reference.clone()]))
        text = expected + printed(ModuleOp([candidate.clone()]))
        if text not in self._known:
            verifier = self._pieces.setdefault(expected, Verifier(reference))
            self._known[text] = verifier.compare(candidate)
        return self._known[text]

    def compare(self, plan: Plan, reference: FuncOp, written: FuncOp) -> EquivalenceReport:
        """
        Compare what was written for a plan with its reference, if need be piece by piece.

        The reference must stay as it is.
        """
        verifier = self._wholes.setdefault(reference, Verifier(reference))
        if len(plan.kernels) <= MOST_AT_ONCE:
            return verifier.compare(written)
        reports = [self.of(planned) for planned in plan.kernels]
        for report in reports:
            if report.verdict is not Verdict.EQUAL:
                return report
        losses = tuple(verifier.losses(written))
        accurate = all(loss.acceptable for loss in losses)
        return _together(reports, accurate, losses=losses)


def _together(
    reports: Sequence[EquivalenceReport], accurate: bool, **changes: object
) -> EquivalenceReport:
    """One report of the equality of all pieces."""
    different = list({id(report): report for report in reports}.values())
    unproved = [report.proof for report in different if not report.proof.proved]
    remarks = dict.fromkeys(remark for report in different for remark in report.remarks)
    how = f"piece by piece, {len(reports)} of them, {len(different)} different"
    return replace(
        different[0],
        verdict=Verdict.EQUAL if accurate else Verdict.INACCURATE,
        tests=min(report.tests for report in different),
        bound=min(1.0, sum(report.bound for report in different)),
        theorem=_longest(report.theorem for report in different),
        remarks=(how, *remarks),
        proof=unproved[0] if unproved else Proof(True),
        ragged=any(report.ragged for report in different),
        seconds=sum(report.seconds for report in different),
        **changes,
    )


def _longest(theorems: Iterable[str]) -> str:
    """The theorem with the most conditions."""
    return max(theorems, key=len)


def _reference(planned: PlannedKernel) -> FuncOp:
    """The operators that a piece stands for, as a function of the tensors that it reads."""
    copier = _Copier(planned)
    return _function(planned, copier.block, [copier.copy(value) for value in planned.results])


def _candidate(planned: PlannedKernel) -> FuncOp:
    """The kernels of a piece as a function of the tensors that it reads."""
    copier = _Copier(planned)
    written = planned.write([copier.copy(value) for value in planned.arguments])
    copier.block.add_ops(written.operations)
    return _function(planned, copier.block, written.results)


class _Copier:
    """Copies operators that follow from the tensors of which a piece reads views."""

    def __init__(self, planned: PlannedKernel) -> None:
        roots = dict.fromkeys(map(_root, planned.arguments))
        self.block = Block(arg_types=[root.type for root in roots])
        self._values: dict[SSAValue, SSAValue] = dict(zip(roots, self.block.args, strict=True))

    def copy(self, value: SSAValue) -> SSAValue:
        """The copy of a value; operators are copied when they are first needed."""
        if value not in self._values:
            op = value.owner
            assert isinstance(op, Operation), "a piece needs what it does not read"
            for operand in op.operands:
                self.copy(operand)
            self.block.add_op(op.clone(self._values))
        return self._values[value]


def _root(value: SSAValue) -> SSAValue:
    """The tensor behind views: several views of one are not independent."""
    while isinstance(value.owner, Operation) and is_strided_view(value.owner):
        value = value.owner.operands[0]
    return value


def _function(planned: PlannedKernel, block: Block, results: Sequence[SSAValue]) -> FuncOp:
    block.add_op(ReturnOp(*results))
    types = [value.type for value in block.args], [value.type for value in planned.results]
    return FuncOp("piece", types, Region(block))
