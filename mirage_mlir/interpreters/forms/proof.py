"""Whether two functions have the same normal form."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import thread
from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.definedness import Role
from mirage_mlir.interpreters.forms.equality import Equality
from mirage_mlir.interpreters.forms.evaluate import Numbers, numbered, outputs
from mirage_mlir.interpreters.forms.maxima import Maxima
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.symbolic import Symbolic
from mirage_mlir.interpreters.forms.tensors import Tensors
from mirage_mlir.interpreters.forms.terms import Undecided


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
    lowered = any(isinstance(op, thread.GraphOp) for f in (reference, candidate) for op in f.walk())
    forms = Maxima(expand_sigmoid=lowered)
    tensors = Tensors(forms)
    operators = Operators(tensors)
    numbers: Numbers = {}
    pairs = zip(numbered(reference, numbers), numbered(candidate, numbers), strict=True)
    wanted = [number for number, (left, right) in enumerate(pairs) if left != right]
    try:
        expected = outputs(operators, reference, wanted)
        for piece in (piece for result in expected for piece in result.pieces):
            forms.grant(piece.form, piece.guards)
        forms.role = Role.CANDIDATE
        found = outputs(operators, candidate, wanted)
        forms.role = Role.NEITHER
        for number, left, right in zip(wanted, expected, found, strict=True):
            dims = [(dim, dim) for dim in range(len(left.dims))]
            if not _equal(forms, left, tensors.aligned(left, right, dims)):
                return Proof(False, f"the normal forms of output {number} differ")
    except Undecided as error:
        return Proof(False, str(error))
    return Proof(True)


def _equal(forms: Maxima, left: Symbolic, right: Symbolic) -> bool:
    """Whether tensors with the same indices have equal elements."""
    equality = Equality(forms)
    for a in left.pieces:
        for b in right.pieces:
            guards = guards_.both(a.guards, b.guards)
            if guards is not None and not equality.holds(a.form, b.form, guards):
                return False
    return True
