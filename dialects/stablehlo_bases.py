"""What operations of StableHLO derive from: tensors of static shapes, elementwise functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation
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
    """An operation on tensors of static shapes, without effects."""

    traits = traits_def(Pure())

    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            try:
                check_static(shape_of(value), "a value")
            except ShapeError as error:
                raise invalid(self, str(error)) from error


class ShapedOp(TensorOp, ABC):
    """One with one result, whose shape follows from the operands and attributes."""

    @abstractmethod
    def inferred_shape(self) -> Shape:
        """The shape of the result; raises `ShapeError` where the attributes are wrong."""

    def verify_(self) -> None:
        super().verify_()
        try:
            expected = self.inferred_shape()
        except ShapeError as error:
            raise invalid(self, str(error)) from error
        if (got := shape_of(self.results[0])) != expected:
            raise invalid(
                self, f"result shape must be {format_shape(expected)}, got {format_shape(got)}"
            )


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
