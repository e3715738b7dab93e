"""Whether two functions have the same normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import thread
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
from mirage_mlir.equivalence.symbolic.maxima import Maxima
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import TooManySteps, Undecided


@dataclass(frozen=True)
class Proof:
    """Whether normal forms show that two functions are equal; none shows that they differ."""

    proved: bool
    reason: str = ""
    """Why there is no proof."""


def prove(reference: FuncOp, candidate: FuncOp) -> Proof:
    """
    Compare the normal forms of two functions of one signature.

    What is proved holds for all inputs for which the reference's values are real numbers.
    """
    numbers: Numbers = {}
    pairs = zip(numbered(reference, numbers), numbered(candidate, numbers), strict=True)
    wanted = [number for number, (left, right) in enumerate(pairs) if left != right]
    try:
        left, right = ([returned(f)[n] for n in wanted] for f in (reference, candidate))
        try:
            different = first_difference(reference, candidate, left, right)
        except TooManySteps:
            cuts = cut_points(reference, candidate)
            different = first_difference(reference, candidate, left, right, cuts)
    except Undecided as error:
        return Proof(False, str(error))
    if different is not None:
        return Proof(False, f"the normal forms of output {wanted[different]} differ")
    return Proof(True)


Cuts = Sequence[tuple[SSAValue, SSAValue]]
"""Values of a reference and a candidate that were proved equal, and are taken for arguments."""


def first_difference(
    reference: FuncOp,
    candidate: FuncOp,
    left: Sequence[SSAValue],
    right: Sequence[SSAValue],
    cuts: Cuts = (),
) -> int | None:
    """
    Which value of the candidate has first another normal form than that of the reference.

    Args:
        reference: a function.
        candidate: one of the same signature.
        left: values of the reference.
        right: values of the candidate, of the same types.
        cuts: what is known of others.

    Raises:
        Undecided: a value has no normal form.
    """
    lowered = any(isinstance(op, thread.GraphOp) for f in (reference, candidate) for op in f.walk())
    forms = Maxima(expand_sigmoid=lowered)
    tensors = Tensors(forms)
    operators = Operators(tensors)
    expected = forms_of(operators, reference.body.block, left, [value for value, _ in cuts])
    for piece in (piece for result in expected for piece in result.pieces):
        forms.grant(piece.form, piece.guards)
    forms.role = Role.CANDIDATE
    found = forms_of(operators, candidate.body.block, right, [value for _, value in cuts])
    forms.role = Role.NEITHER
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        dims = [(dim, dim) for dim in range(len(one.dims))]
        if not _equal(forms, one, tensors.aligned(one, other, dims)):
            return number
    return None


MOST_TRIED = 40
"""Pairs of values that are compared to cut two functions into parts: those of a decoder layer."""


def cut_points(reference: FuncOp, candidate: FuncOp) -> Cuts:
    """
    Values of two functions that are equal, each by the equality of earlier ones.

    Functions are equal if they are equal with equal values as further arguments, so that each part
    of a large program is compared by itself. Only values that the reference needs whole are taken:
    all elements of others need not be real numbers. Names propose pairs, and prove nothing.
    """
    needed = needed_whole(returned(reference))
    named = {
        value.name_hint: value
        for op in reference.body.block.ops
        if op in needed
        for value in op.results
        if value.name_hint is not None
    }
    pairs = [
        (named[value.name_hint], value)
        for op in candidate.body.block.ops
        for value in op.results
        if value.name_hint in named and named[value.name_hint].type == value.type
    ]
    cuts: list[tuple[SSAValue, SSAValue]] = []
    for left, right in pairs[:MOST_TRIED]:
        try:
            if first_difference(reference, candidate, [left], [right], cuts) is None:
                cuts.append((left, right))
        except TooManySteps:
            break
        except Undecided:
            continue
    return cuts


def _equal(forms: Maxima, left: Symbolic, right: Symbolic) -> bool:
    """Whether tensors with the same indices have equal elements."""
    equality = Equality(forms)
    for a in left.pieces:
        for b in right.pieces:
            guards = guards_.both(a.guards, b.guards)
            if guards is not None and not equality.holds(a.form, b.form, guards):
                return False
    return True
