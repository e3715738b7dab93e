"""Normal forms of thread graphs: arithmetic on the scalars of tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread
from mirage_mlir.equivalence.symbolic.conditions import Conditions
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import Form, Undecided
from mirage_mlir.interpreters.operators import (
    element_type_name,
    is_lowest,
    number_of,
    shape_of,
)
from mirage_mlir.interpreters.thread import FUNCTIONS, PREDICATES

_EXTREMES: dict[type[Operation], str] = {
    arith.MaximumfOp: "ge",
    arith.MaxnumfOp: "ge",
    arith.MinimumfOp: "le",
    arith.MinnumfOp: "le",
}
"""Operations that give one of two operands, and how that stands to the other."""


class ScalarForms:
    """Evaluates thread graphs."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors
        self.forms = forms = tensors.forms
        self.conditions = Conditions(tensors)
        self._binary: dict[type[Operation], Callable[[Form, Form], Form]] = {
            arith.AddfOp: forms.add,
            arith.DivfOp: forms.div,
            arith.MaximumfOp: forms.maximum,
            arith.MaxnumfOp: forms.maximum,
            arith.MinimumfOp: forms.minimum,
            arith.MinnumfOp: forms.minimum,
            arith.MulfOp: forms.mul,
            arith.SubfOp: partial(forms.add, sign=-1),
        }

    def results(self, graph: thread.GraphOp, operands: Sequence[Symbolic]) -> list[Symbolic]:
        """
        The tiles that a graph stores.

        Raises:
            Undecided: an operation has no form.
        """
        block = graph.body.block
        rank = max(len(x.dims) for x in operands) if operands else 0
        values: dict[SSAValue, Symbolic] = dict(
            zip(block.args, (self.tensors.with_rank(x, rank) for x in operands), strict=True)
        )
        stored: list[Symbolic] = []
        for op in block.ops:
            arguments = [values[operand] for operand in op.operands]
            if isinstance(op, thread.StoreOp):
                shape = shape_of(graph.results[len(stored)])
                stored.append(self._spread(arguments[0], shape, operands))
            else:
                values[op.results[0]] = self._result(op, arguments, rank)
        return stored

    def _spread(self, x: Symbolic, shape: Sequence[int], operands: Sequence[Symbolic]) -> Symbolic:
        """`x` at all places of the result that all operands have."""
        whole = self.tensors.constant(Fraction(0), shape)
        for operand in operands:
            # Of -inf there is no multiple.
            nothing = self.tensors.each(lambda _: self.forms.constant(0), operand)
            nothing = replace(nothing, demands=())
            whole = self.tensors.add(whole, nothing)
        return self.tensors.add(whole, x)

    def _constant(self, op: arith.ConstantOp, shape: Sequence[int]) -> Symbolic:
        if is_lowest(op):
            return self.tensors.lowest(shape)
        return self.tensors.constant(_number(op), shape)

    def _signed(self, op: arith.NegfOp | math.AbsFOp, x: Symbolic) -> Symbolic:
        """`-x`, or its magnitude."""
        opposite = self.tensors.scale(x, Fraction(-1))
        if isinstance(op, arith.NegfOp):
            return opposite
        found = self.conditions.extreme("ge", x, opposite)
        return found or self.tensors.pairwise(self.forms.maximum, x, opposite)

    def _of_two(self, op: Operation, x: Symbolic, y: Symbolic) -> Symbolic:
        predicate = _EXTREMES.get(type(op))
        found = self.conditions.extreme(predicate, x, y) if predicate else None
        return found or self.tensors.pairwise(self._binary[type(op)], x, y)

    def _result(self, op: Operation, operands: list[Symbolic], rank: int) -> Symbolic:
        if type(op) in self._binary:
            return self._of_two(op, *operands)
        if (name := FUNCTIONS.get(type(op))) is not None:
            return self.tensors.function(name, operands[0])
        match op:
            case arith.ExtFOp():
                return operands[0]
            case arith.TruncFOp():
                return self.tensors.rounded(operands[0], element_type_name(op.result.type))
            case arith.NegfOp() | math.AbsFOp():
                return self._signed(op, operands[0])
            case arith.CmpfOp() if op.predicate.value.data in PREDICATES:
                return self.conditions.compare(PREDICATES[op.predicate.value.data], *operands)
            case arith.SelectOp():
                return self.conditions.select(*operands)
            case arith.ConstantOp():
                return self._constant(op, (1,) * rank)
            case math.PowFOp() if isinstance(op.rhs.owner, arith.ConstantOp):
                power = partial(self.forms.raised, exponent=_number(op.rhs.owner))
                return self.tensors.each(power, operands[0])
            case _:
                raise Undecided(f"'{op.name}' has no normal form")


def _number(op: arith.ConstantOp) -> Fraction:
    try:
        return number_of(op.value)
    except ValueError as error:
        raise Undecided(f"'arith.constant': {error}") from error
