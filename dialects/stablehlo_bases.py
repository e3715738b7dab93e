"""What operations of StableHLO derive from: tensors and their shapes, elementwise functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import shape_of
from mirage_mlir.shapes.shapes import Shape, ShapeError, check_static, format_shape

TENSOR = base(TensorType[Attribute])
SAME = VarConstraint("T", TENSOR)
"""One type for all operands and results that share the constraint."""
DIMS = DenseArrayBase.constr(i64)
INTEGER = IntegerAttr[I64]


class TensorOp(IRDLOperation, ABC):
    """
    An operation on tensors, without effects.

    What it says of shapes is checked where all sizes are known and none is 0: others stay with the
    host, and are refused where they are converted.
    """

    traits = traits_def(Pure())

    def verify_(self) -> None:
        if not all(_is_static(value) for value in (*self.operands, *self.results)):
            return
        try:
            self.check_shapes()
        except ShapeError as error:
            raise invalid(self, str(error)) from error

    def check_shapes(self) -> None:
        """Raise `ShapeError` where shapes and attributes do not go together."""


class ShapedOp(TensorOp, ABC):
    """One with one result, whose shape follows from the operands and attributes."""

    @abstractmethod
    def inferred_shape(self) -> Shape:
        """The shape of the result; raises `ShapeError` where the attributes are wrong."""

    def check_shapes(self) -> None:
        check_result(self, self.inferred_shape())


def check_result(op: TensorOp, expected: Shape) -> None:
    """Raise `ShapeError` where a result has another shape."""
    for value in op.results:
        if (got := shape_of(value)) != expected:
            raise ShapeError(
                f"result shape must be {format_shape(expected)}, got {format_shape(got)}"
            )


def _is_static(value: SSAValue) -> bool:
    try:
        check_static(shape_of(value), "a value")
    except ShapeError:
        return False
    return True


class UnaryOp(TensorOp, ABC):
    """An elementwise function of one tensor."""

    operand = operand_def(SAME)
    result = result_def(SAME)


class BinaryOp(TensorOp, ABC):
    """An elementwise function of two tensors of one type."""

    lhs = operand_def(SAME)
    rhs = operand_def(SAME)
    result = result_def(SAME)


def operation(dialect: str, name: str, said: str, kind: type[TensorOp]) -> type[TensorOp]:
    """The class of an operation of which its base, name and sentence are all there is."""
    title = "".join(part.capitalize() for part in name.split("_"))
    members = {"__doc__": said, "__module__": __name__, "name": f"{dialect}.{name}"}
    return irdl_op_definition(type(f"{title}Op", (kind,), members))


def operations(
    dialect: str, rows: Mapping[str, str], kind: type[TensorOp]
) -> list[type[Operation]]:
    """The classes of a table."""
    return [operation(dialect, name, said, kind) for name, said in rows.items()]
