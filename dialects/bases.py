"""
Operators that the dialects `kernel` and `threadblock` both have: parameters, builders, shapes.

A dialect derives from these, adds its operand and result types and the name, and says which type
a result has by default.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ShapedType, StringAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, prop_def, traits_def
from xdsl.traits import Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import (
    F32,
    I64ArrayConstr,
    I64AttrConstr,
    f32_attr,
    i64_array,
    i64_attr,
)
from mirage_mlir.graph import shapes
from mirage_mlir.graph.shapes import Shape, ShapeError, check_static, format_shape


def shape_of(value: SSAValue) -> Shape:
    """The shape of a tensor or a tile."""
    assert isinstance(value.type, ShapedType)
    return value.type.get_shape()


def verify_static(op: Operation) -> None:
    """All shapes of `op` are known and without zeros."""
    named = [(f"operand {i}", value) for i, value in enumerate(op.operands)]
    named += [(f"result {i}", value) for i, value in enumerate(op.results)]
    for name, value in named:
        try:
            check_static(shape_of(value), name)
        except ShapeError as error:
            raise invalid(op, str(error)) from error


class InferredShapeOp(IRDLOperation, HasCanonicalizationPatternsInterface, ABC):
    """An operation with one result, whose shape its operands and parameters give."""

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    @classmethod
    @abstractmethod
    def default_type(cls, shape: Shape, operand: SSAValue) -> Attribute:
        """The type of a result of `shape`, unless the builder is told; `operand` is the first."""

    @abstractmethod
    def inferred_shape(self) -> Shape:
        """
        The shape that the result must have.

        Raises:
            ShapeError: the operands or parameters are wrong.
        """

    def verify_(self) -> None:
        verify_static(self)
        try:
            expected = self.inferred_shape()
        except ShapeError as error:
            raise invalid(self, str(error)) from error
        if (got := shape_of(self.results[0])) != expected:
            raise invalid(
                self, f"result shape must be {format_shape(expected)}, got {format_shape(got)}"
            )


class BinaryBase(InferredShapeOp, ABC):
    """An elementwise operator on two values, which broadcast as in numpy."""

    def __init__(self, lhs: SSAValue, rhs: SSAValue, result_type: Attribute | None = None):
        if result_type is None:
            shape = shapes.broadcast(shape_of(lhs), shape_of(rhs))
            result_type = self.default_type(shape, lhs)
        super().__init__(operands=[lhs, rhs], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.broadcast(*map(shape_of, self.operands))


class MatmulBase(InferredShapeOp, ABC):
    """A product of matrices, whose leading dimensions broadcast."""

    def __init__(self, lhs: SSAValue, rhs: SSAValue, result_type: Attribute | None = None):
        if result_type is None:
            shape = shapes.matmul(shape_of(lhs), shape_of(rhs))
            result_type = self.default_type(shape, lhs)
        super().__init__(operands=[lhs, rhs], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.matmul(*map(shape_of, self.operands))


class UnaryBase(InferredShapeOp, ABC):
    """An elementwise function of one value."""

    def __init__(
        self,
        input: SSAValue,
        result_type: Attribute | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
    ):
        if result_type is None:
            result_type = self.default_type(shape_of(input), input)
        super().__init__(operands=[input], properties=properties or {}, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shape_of(self.operands[0])


class GeluBase(UnaryBase, ABC):
    """
    `x * P(X <= x)` for a normal X; with `approximate = "tanh"` its usual approximation.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016), section 2.
    """

    approximate = prop_def(StringAttr, default_value=StringAttr("none"))

    def __init__(
        self, input: SSAValue, approximate: str = "none", result_type: Attribute | None = None
    ):
        super().__init__(input, result_type, {"approximate": StringAttr(approximate)})

    def verify_(self) -> None:
        super().verify_()
        if (kind := self.approximate.data) not in ("none", "tanh"):
            raise invalid(self, f'has approximate "{kind}", which is neither "none" nor "tanh"')


class ClampBase(UnaryBase, ABC):
    """`x`, but at least `min` and at most `max`."""

    min = prop_def(F32)
    max = prop_def(F32)

    def __init__(
        self, input: SSAValue, min: float, max: float, result_type: Attribute | None = None
    ):
        super().__init__(input, result_type, {"min": f32_attr(min), "max": f32_attr(max)})

    def verify_(self) -> None:
        super().verify_()
        low, high = self.min.value.data, self.max.value.data
        if not low <= high:
            raise invalid(self, f"has min {low} above max {high}")


class PowBase(UnaryBase, ABC):
    """`x^exponent`."""

    exponent = prop_def(F32)

    def __init__(self, input: SSAValue, exponent: float, result_type: Attribute | None = None):
        super().__init__(input, result_type, {"exponent": f32_attr(exponent)})


class ScaleBase(UnaryBase, ABC):
    """`factor * x`."""

    factor = prop_def(F32)

    def __init__(self, input: SSAValue, factor: float, result_type: Attribute | None = None):
        super().__init__(input, result_type, {"factor": f32_attr(factor)})


class CastBase(UnaryBase, ABC):
    """The same numbers in another element type, rounded to nearest."""

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(input, result_type)


class ReductionBase(InferredShapeOp, ABC):
    """An operator that reduces `dims`, which stay with size 1."""

    dims = prop_def(I64ArrayConstr)

    def __init__(self, input: SSAValue, dims: Sequence[int], result_type: Attribute | None = None):
        if result_type is None:
            result_type = self.default_type(shapes.reduce(shape_of(input), dims), input)
        super().__init__(
            operands=[input], properties={"dims": i64_array(dims)}, result_types=[result_type]
        )

    def inferred_shape(self) -> Shape:
        return shapes.reduce(shape_of(self.operands[0]), self.dims.get_values())


class TransposeBase(InferredShapeOp, ABC):
    """Dimension i of the result is dimension `permutation[i]` of the input."""

    permutation = prop_def(I64ArrayConstr)

    def __init__(
        self, input: SSAValue, permutation: Sequence[int], result_type: Attribute | None = None
    ):
        if result_type is None:
            result_type = self.default_type(shapes.transpose(shape_of(input), permutation), input)
        super().__init__(
            operands=[input],
            properties={"permutation": i64_array(permutation)},
            result_types=[result_type],
        )

    def inferred_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.operands[0]), self.permutation.get_values())


class BroadcastBase(InferredShapeOp, ABC):
    """The input repeated along its dimensions of size 1 and along new leading ones (numpy)."""

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(operands=[input], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.broadcast_to(shape_of(self.operands[0]), shape_of(self.results[0]))


class ConcatBase(InferredShapeOp, ABC):
    """The inputs one after the other along `dim`."""

    dim = prop_def(I64AttrConstr)

    def __init__(self, inputs: Sequence[SSAValue], dim: int, result_type: Attribute | None = None):
        if result_type is None:
            shape = shapes.concat([shape_of(value) for value in inputs], dim)
            result_type = self.default_type(shape, inputs[0])
        super().__init__(
            operands=[inputs], properties={"dim": i64_attr(dim)}, result_types=[result_type]
        )

    def inferred_shape(self) -> Shape:
        return shapes.concat([shape_of(value) for value in self.operands], self.dim.value.data)


class ConstantBase(InferredShapeOp, ABC):
    """A value whose elements are all `value`."""

    value = prop_def(F32)

    assembly_format = "attr-dict `:` type(results)"

    def __init__(self, value: float, result_type: Attribute):
        super().__init__(properties={"value": f32_attr(value)}, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shape_of(self.results[0])
