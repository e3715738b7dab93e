"""
Plans for pieces of a program, compared with the operators that they stand for.

So that a plan of many pieces is not refused for one of them, each is compared before it is taken:
normal forms alone do not tell whether it is accurate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from mirage_mlir.effort import VERIFY_BUDGET
from mirage_mlir.equivalence.check import Verifier
from mirage_mlir.equivalence.comparison_report import EquivalenceReport
from mirage_mlir.equivalence.printed import printed
from mirage_mlir.passes.analysis.index_formulas import is_formula
from mirage_mlir.passes.frontend.plan import PlannedKernel, varying
from mirage_mlir.passes.frontend.strided_views import is_strided_view


class _Written(NamedTuple):
    """A plan for a piece as functions, and their texts."""

    planned: PlannedKernel
    reference: FuncOp
    candidate: FuncOp
    expected: str
    """The text of the reference."""
    text: str
    """Of both."""


@dataclass
class PieceProofs:
    """What comparisons of pieces came to; equal pieces are compared once."""

    budget: float = VERIFY_BUDGET
    """Seconds that random tests of one comparison may take."""
    _known: dict[str, EquivalenceReport] = field(default_factory=dict[str, EquivalenceReport])
    _pieces: dict[str, Verifier] = field(default_factory=dict[str, Verifier])
    """By the text of what a piece stands for."""
    _written: dict[int, _Written] = field(default_factory=dict[int, _Written])
    """By the identity of a plan, which is kept with it."""

    def _write(self, planned: PlannedKernel) -> _Written:
        """What a plan for a piece stands for, and its kernels, written once."""
        if id(planned) not in self._written:
            reference, candidate = _reference(planned), candidate_of_piece(planned)
            expected = printed(ModuleOp([reference.clone()]))
            text = expected + printed(ModuleOp([candidate.clone()]))
            self._written[id(planned)] = _Written(planned, reference, candidate, expected, text)
        return self._written[id(planned)]

    def of(self, planned: PlannedKernel) -> EquivalenceReport:
        """
        Compare the kernels of a piece with its operators.

        Raises:
            ArrangementError: the kernels cannot be written.
        """
        _, reference, candidate, expected, text = self._write(planned)
        if text not in self._known:
            new = Verifier(reference, budget=self.budget, quick=True)
            verifier = self._pieces.setdefault(expected, new)
            self._known[text] = verifier.compare(candidate)
        return self._known[text]


def _reference(planned: PlannedKernel) -> FuncOp:
    """The operators that a piece stands for, as a function of the tensors that it reads."""
    copier = _Copier(planned)
    return _function(planned, copier.block, [copier.copy(value) for value in planned.results])


def candidate_of_piece(planned: PlannedKernel) -> FuncOp:
    """The kernels of a piece as a function of the tensors that it reads."""
    copier = _Copier(planned)
    written = planned.write([copier.copy(value) for value in planned.arguments])
    copier.block.add_ops(written.operations)
    return _function(planned, copier.block, written.results)


class _Copier:
    """
    Copies operators that follow from the tensors of which a piece reads views.

    Tensors that depend on no argument, such as masks of indices, are computed here, too: what they
    select is known then.
    """

    def __init__(self, planned: PlannedKernel) -> None:
        every = dict.fromkeys(map(_root, planned.arguments))
        maker = planned.results[0].owner
        assert isinstance(maker, Operation)
        assert maker.parent is not None
        depends = varying(maker.parent)
        # The owner of an argument is its block.
        read = [root for root in every if not is_formula(root)]
        roots = [r for r in read if isinstance(r, BlockArgument) or r.owner in depends] or read
        self.block = Block(arg_types=[root.type for root in roots])
        self._values: dict[SSAValue, SSAValue] = dict(zip(roots, self.block.args, strict=True))

    def copy(self, value: SSAValue) -> SSAValue:
        """The copy of a value; operators are copied when they are first needed."""
        pending = [value]
        # Not by recursion: a formula of indices may have thousands of operators.
        while pending:
            if pending[-1] in self._values:
                pending.pop()
                continue
            op = pending[-1].owner
            assert isinstance(op, Operation), "a piece needs what it does not read"
            if missing := [operand for operand in op.operands if operand not in self._values]:
                pending += reversed(missing)
            else:
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
