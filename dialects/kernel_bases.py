"""What the operators of the `kernel` dialect derive from: tensors, and classes of operators."""

from __future__ import annotations

from abc import ABC
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.pattern_rewriter import RewritePattern

from mirage_mlir.dialects.bases import (
    BinaryBase,
    InferredShapeOp,
    ReductionBase,
    UnaryBase,
)
from mirage_mlir.dialects.common import (
    ELEMENT_TYPE,
    FloatConstr,
    FloatType,
    StoredConstr,
    i64_attr,
    i64_parameter,
)
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape

TensorConstr = TensorType.constr(FloatConstr)
StoredTensorConstr = TensorType.constr(StoredConstr)


def tensor_type(value: SSAValue) -> TensorType[FloatType]:
    """The type of `value`, which its operation's constraints make a float tensor."""
    kind = value.type
    assert isinstance(kind, TensorType)
    return cast(TensorType[FloatType], kind)


def shape_of(value: SSAValue) -> Shape:
    """The shape of `value`, which its operation's constraints make a float tensor."""
    return tensor_type(value).get_shape()


class TensorOp(InferredShapeOp, ABC):
    """An operator on tensors with one result, by default in the element type of the operands."""

    @classmethod
    def default_type(cls, shape: Shape, operand: SSAValue) -> TensorType[FloatType]:
        return TensorType(tensor_type(operand).element_type, shape)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from mirage_mlir.passes.patterns.kernel import canonicalization_patterns

        return canonicalization_patterns(cls)


class BinaryOp(BinaryBase, TensorOp, ABC):
    """An elementwise operator on two tensors, which broadcast as in numpy."""

    lhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    rhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))


class InputOp(TensorOp, ABC):
    """An operator on one tensor, its `input`."""

    input = operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))


class UnaryOp(UnaryBase, InputOp, ABC):
    """An elementwise function of one tensor."""


class ReductionOp(ReductionBase, InputOp, ABC):
    """An operator that reduces `dims`, which stay with size 1."""


class AlongDimOp(InputOp, ABC):
    """An operator along one dimension, whose result has the shape of the input."""

    dim = prop_def(i64_parameter("dim"))

    def __init__(self, input: SSAValue, dim: int, result_type: Attribute | None = None):
        super().__init__(
            operands=[input],
            properties={"dim": i64_attr(dim)},
            result_types=[result_type or input.type],
        )

    def inferred_shape(self) -> Shape:
        shapes.check_dim(self.dim.value.data, len(shape_of(self.input)))
        return shape_of(self.input)
