"""Whether two functions have the same normal form."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import thread
from mirage_mlir.interpreters.forms.evaluate import outputs
from mirage_mlir.interpreters.forms.functions import Functions
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.tensors import Tensors
from mirage_mlir.interpreters.forms.terms import Undecided


@dataclass(frozen=True)
class Proof:
    """Whether normal forms show that two functions are equal; none shows that they differ."""

    proved: bool
    reason: str = ""
    """Why there is no proof."""


def prove(reference: FuncOp, candidate: FuncOp) -> Proof:
    """Compare the normal forms of two functions of one signature."""
    lowered = any(isinstance(op, thread.GraphOp) for f in (reference, candidate) for op in f.walk())
    forms = Functions(expand_sigmoid=lowered)
    operators = Operators(Tensors(forms))
    try:
        expected = outputs(operators, reference)
        found = outputs(operators, candidate)
        for number, (left, right) in enumerate(zip(expected, found, strict=True)):
            pairs = [(dim, dim) for dim in range(len(left.dims))]
            left, right = operators.tensors.aligned(left, right, pairs)
            if not forms.equal(left.form, right.form):
                return Proof(False, f"the normal forms of output {number} differ")
    except Undecided as error:
        return Proof(False, str(error))
    return Proof(True)
