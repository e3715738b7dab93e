"""Proves that two functions have the same normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.equivalence.definedness import NUMBERS
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.definedness import check_defined
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


def prove(
    reference: FuncOp,
    candidate: FuncOp,
    *,
    roundings: bool = False,
    partial: frozenset[int] = frozenset(),
) -> Proof:
    """
    Compare the normal forms of two functions of one signature.

    What is proved holds of each element of each result by itself, for all inputs for which the
    reference's element is a real number.

    Args:
        reference: what is to be computed.
        candidate: what claims to compute it.
        roundings: whether it also has to hold if tiles and scalars are rounded to their element
            types.
        partial: the arguments some of whose elements may be undefined.
    """
    numbers: Numbers = {}
    pairs = zip(numbered(reference, numbers), numbered(candidate, numbers), strict=True)
    wanted = [number for number, (left, right) in enumerate(pairs) if left != right]
    functions = _Functions(reference, candidate, roundings, partial)
    try:
        left, right = ([returned(f)[n] for n in wanted] for f in (reference, candidate))
        try:
            different = functions.compared(left, right, ProofWork()).first
        except TooManySteps:
            different = functions.first_difference_in_parts(left, right)
    except Undecided as error:
        return Proof(False, str(error))
    if different is not None:
        return Proof(False, f"the normal forms of output {wanted[different]} differ")
    return Proof(True)


class Cut(NamedTuple):
    """Values of a reference and a candidate that were proved equal, and are taken for arguments."""

    reference: SSAValue
    candidate: SSAValue
    partial: bool
    """Whether elements of it may be undefined."""


class Compared(NamedTuple):
    """How values of a reference and a candidate compare."""

    first: int | None
    """The first whose normal forms differ; None where all are equal."""
    partial: bool = False
    """Whether elements of them may be undefined."""


MOST_TRIED = 40
"""Pairs of values that are compared to cut two functions into parts: those of a decoder layer."""


@dataclass(frozen=True)
class _Functions:
    """
    Two functions of one signature.

    With `roundings` also rounding must be the same. Elements of `partial` arguments may be
    undefined.
    """

    reference: FuncOp
    candidate: FuncOp
    roundings: bool
    partial: frozenset[int]

    def compared(
        self,
        left: Sequence[SSAValue],
        right: Sequence[SSAValue],
        work: ProofWork,
        cuts: Sequence[Cut] = (),
    ) -> Compared:
        """
        Compare normal forms of values of the candidate with those of the reference.

        Args:
            left: values of the reference.
            right: values of the candidate, of the same types.
            work: counts the steps.
            cuts: what is known of others.

        Raises:
            Undecided: a value has no normal form, or is not defined where that of the reference is.
        """
        expanded = expands_sigmoid(self.reference, self.candidate)
        forms = Forms(work, expand_sigmoid=expanded, roundings=self.roundings)
        tensors = Tensors(forms)
        operators = Operators(tensors, self._partial(cuts))
        block = self.reference.body.block
        expected = forms_of(operators, block, left, [cut.reference for cut in cuts])
        block = self.candidate.body.block
        found = forms_of(operators, block, right, [cut.candidate for cut in cuts])
        found = [
            tensors.aligned(one, other, [(dim, dim) for dim in range(len(one.dims))])
            for one, other in zip(expected, found, strict=True)
        ]
        check_defined(forms, expected, found)
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            if not _equal(forms, one, other):
                return Compared(number)
        return Compared(None, any(one.demands for one in expected))

    def _partial(self, cuts: Sequence[Cut]) -> frozenset[int]:
        """The numbers of arguments, then cuts, some of whose elements may be undefined."""
        first = len(self.reference.body.block.args)
        return self.partial.union(first + n for n, cut in enumerate(cuts) if cut.partial)

    def first_difference_in_parts(
        self, left: Sequence[SSAValue], right: Sequence[SSAValue]
    ) -> int | None:
        """
        The same, where functions are too large to be compared whole.

        Functions are equal if they are equal with equal values as further arguments, so that each
        part of a large program is compared by itself. Elements that may be undefined are read only
        where the reference reads them. Only values that it needs whole are taken: of others too
        few elements may matter.

        Raises:
            Undecided: a value has no normal form.
        """
        cuts: list[Cut] = []
        steps = 0
        for pair in self._pairs():
            work = ProofWork.of_part(steps)
            try:
                found = self.compared([pair[0]], [pair[1]], work, cuts)
                if found.first is None:
                    cuts.append(Cut(*pair, found.partial))
            except TooManySteps:
                break
            except Undecided:
                pass
            steps += work.steps
        return self.compared(left, right, ProofWork.of_part(steps), cuts).first

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
