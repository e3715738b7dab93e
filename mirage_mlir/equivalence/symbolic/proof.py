"""Proves that two functions have the same normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.equivalence.definedness import NUMBERS
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.definedness import Role
from mirage_mlir.equivalence.symbolic.equality import Equality
from mirage_mlir.equivalence.symbolic.evaluate import (
    Numbers,
    forms_of,
    needed_whole,
    numbered,
    returned,
)
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import ProofWork, TooManySteps, Undecided
from mirage_mlir.interpreters.operators import is_lowest, mnemonic
from mirage_mlir.interpreters.spelled_out import expands_sigmoid


@dataclass(frozen=True)
class Proof:
    """Whether normal forms show that two functions are equal; they never show that two differ."""

    proved: bool
    reason: str = ""
    """Why there is no proof."""


def prove(reference: FuncOp, candidate: FuncOp, *, roundings: bool = False) -> Proof:
    """
    Compare the normal forms of two functions of one signature.

    What is proved holds for all inputs for which the reference's values are real numbers. With
    `roundings` it also holds if tiles and scalars are rounded to their element types.
    """
    numbers: Numbers = {}
    pairs = zip(numbered(reference, numbers), numbered(candidate, numbers), strict=True)
    wanted = [number for number, (left, right) in enumerate(pairs) if left != right]
    functions = _Functions(reference, candidate, roundings)
    try:
        left, right = ([returned(f)[n] for n in wanted] for f in (reference, candidate))
        try:
            different = functions.first_difference(left, right, ProofWork())
        except TooManySteps:
            different = functions.first_difference_in_parts(left, right)
    except Undecided as error:
        return Proof(False, str(error))
    if different is not None:
        return Proof(False, f"the normal forms of output {wanted[different]} differ")
    return Proof(True)


Cuts = Sequence[tuple[SSAValue, SSAValue]]
"""Values of a reference and a candidate that were proved equal, and are taken for arguments."""


MOST_TRIED = 40
"""Pairs of values that are compared to cut two functions into parts: those of a decoder layer."""


@dataclass(frozen=True)
class _Functions:
    """Two functions of one signature; with `roundings` also rounding must be the same."""

    reference: FuncOp
    candidate: FuncOp
    roundings: bool

    def first_difference(
        self,
        left: Sequence[SSAValue],
        right: Sequence[SSAValue],
        work: ProofWork,
        cuts: Cuts = (),
    ) -> int | None:
        """
        The first value of the candidate whose normal form differs from that of the reference.

        Args:
            left: values of the reference.
            right: values of the candidate, of the same types.
            work: counts the steps.
            cuts: what is known of others.

        Raises:
            Undecided: a value has no normal form.
        """
        expanded = expands_sigmoid(self.reference, self.candidate)
        forms = Forms(work, expand_sigmoid=expanded, roundings=self.roundings)
        tensors = Tensors(forms)
        operators = Operators(tensors)
        block = self.reference.body.block
        expected = forms_of(operators, block, left, [value for value, _ in cuts])
        for piece in (piece for result in expected for piece in result.pieces):
            forms.grant(piece.form, piece.guards)
        forms.role = Role.CANDIDATE
        block = self.candidate.body.block
        found = forms_of(operators, block, right, [value for _, value in cuts])
        forms.role = Role.NEITHER
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            dims = [(dim, dim) for dim in range(len(one.dims))]
            if not _equal(forms, one, tensors.aligned(one, other, dims)):
                return number
        return None

    def first_difference_in_parts(
        self, left: Sequence[SSAValue], right: Sequence[SSAValue]
    ) -> int | None:
        """
        The same, where functions are too large to be compared whole.

        Functions are equal if they are equal with equal values as further arguments, so that each
        part of a large program is compared by itself. Only values that the reference needs whole
        are taken: all elements of others need not be real numbers.

        Raises:
            Undecided: a value has no normal form.
        """
        cuts: list[tuple[SSAValue, SSAValue]] = []
        steps = 0
        for pair in self._pairs():
            work = ProofWork.of_part(steps)
            try:
                if self.first_difference([pair[0]], [pair[1]], work, cuts) is None:
                    cuts.append(pair)
            except TooManySteps:
                break
            except Undecided:
                pass
            steps += work.steps
        return self.first_difference(left, right, ProofWork.of_part(steps), cuts)

    def _pairs(self) -> Sequence[tuple[SSAValue, SSAValue]]:
        """Values that may be equal: names propose them, and prove nothing."""
        needed = needed_whole(returned(self.reference))
        named = {
            value.name_hint: value
            for op in self.reference.body.block.ops
            if op in needed
            for value in op.results
            if value.name_hint is not None and not _may_be_lowest(value)
        }
        pairs = [
            (named[value.name_hint], value)
            for op in self.candidate.body.block.ops
            for value in op.results
            if value.name_hint in named and named[value.name_hint].type == value.type
        ]
        return pairs[:MOST_TRIED]


def _may_be_lowest(value: SSAValue) -> bool:
    """Whether elements of a value may be -inf: an argument in its place is a real number."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        value = pending.pop()
        op = value.owner
        if value in seen or not isinstance(op, Operation):
            continue
        seen.add(value)
        if mnemonic(op) == "constant" and is_lowest(op):
            return True
        if op.regions:
            inner = [each for each in op.walk() if mnemonic(each) == "constant"]
            if any(is_lowest(each) for each in inner):
                return True
        if mnemonic(op) not in NUMBERS:
            pending += op.operands
    return False


def _equal(forms: Forms, left: Symbolic, right: Symbolic) -> bool:
    """Whether tensors with the same indices have equal elements."""
    equality = Equality(forms)
    for a in left.pieces:
        for b in right.pieces:
            guards = guards_.both(a.guards, b.guards)
            if guards is not None and not equality.holds(a.form, b.form, guards):
                return False
    return True
