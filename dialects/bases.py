"""
Bases of the operators on tensors and of those on tiles: parameters, builders, inferred shapes.

A dialect derives from these, and adds the name, the types of operands and results, and the default
type of a result. The bases of operators that only move elements are in `rearrangement_bases`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import inf, isfinite
from typing import ClassVar, cast

from xdsl.dialects.builtin import ContainerType, ShapedType, StringAttr, f32
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, opt_prop_def, prop_def, traits_def
from xdsl.traits import Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import (
    F32,
    f32_attr,
    f32_parameter,
    i64_array,
    i64_array_parameter,
    string_parameter,
)
from mirage_mlir.operators.table import PREDICATES
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape, ShapeError, check_static, format_shape

TF32 = "tf32"
"""The `precision` of a matmul that may round its f32 operands."""


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


def verify_finite(op: Operation, **parameters: F32) -> None:
    """The numbers that `op` has as `parameters` are neither infinite nor NaN."""
    for name, attribute in parameters.items():
        if not isfinite(value := attribute.value.data):
            raise invalid(op, f"has {name} {value}, which is no finite number")


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


class CompareBase(BinaryBase, ABC):
    """A comparison of two values by `predicate`."""

    predicate = prop_def(string_parameter("predicate", "lt"))

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        predicate: str,
        result_type: Attribute | None = None,
    ):
        super().__init__(lhs, rhs, result_type)
        self.properties["predicate"] = StringAttr(predicate)

    def verify_(self) -> None:
        super().verify_()
        if (predicate := self.predicate.data) not in PREDICATES:
            known = ", ".join(PREDICATES)
            raise invalid(self, f'has predicate "{predicate}", which is none of {known}')


class SelectBase(InferredShapeOp, ABC):
    """One of two values, by a condition; all three broadcast as in numpy."""

    def __init__(
        self,
        condition: SSAValue,
        lhs: SSAValue,
        rhs: SSAValue,
        result_type: Attribute | None = None,
    ):
        operands = (condition, lhs, rhs)
        if result_type is None:
            result_type = self.default_type(_together(operands), condition)
        super().__init__(operands=operands, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return _together(self.operands)


def _together(values: Iterable[SSAValue]) -> Shape:
    """The shape to which all values broadcast."""
    return reduce(shapes.broadcast, map(shape_of, values))


class MatmulBase(InferredShapeOp, ABC):
    """
    A matmul, whose leading dimensions broadcast.

    With `precision = "tf32"` the operands, which are f32 then, may be rounded to tf32 (a fraction
    of 10 bits): tensor cores multiply once. Without it the result is as precise as f32.
    """

    precision = opt_prop_def(string_parameter("precision", TF32))

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        result_type: Attribute | None = None,
        precision: str | None = None,
    ):
        if result_type is None:
            shape = shapes.matmul(shape_of(lhs), shape_of(rhs))
            result_type = self.default_type(shape, lhs)
        properties = {"precision": None if precision is None else StringAttr(precision)}
        super().__init__(operands=[lhs, rhs], properties=properties, result_types=[result_type])

    @property
    def in_tf32(self) -> bool:
        """Whether operands may be rounded to tf32."""
        return self.precision is not None

    def verify_(self) -> None:
        super().verify_()
        if self.precision is None:
            return
        if (precision := self.precision.data) != TF32:
            raise invalid(self, f'has precision "{precision}": "{TF32}" is the only one to ask for')
        operand = cast(ContainerType[Attribute], self.operands[0].type)
        if (element := operand.get_element_type()) != f32:
            raise invalid(self, f"rounds f32 to {TF32}, and its operands are {element}")

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

    approximate = prop_def(
        string_parameter("approximate", "tanh"), default_value=StringAttr("none")
    )

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

    min = prop_def(f32_parameter("min"))
    max = prop_def(f32_parameter("max"))

    def __init__(
        self, input: SSAValue, min: float, max: float, result_type: Attribute | None = None
    ):
        super().__init__(input, result_type, {"min": f32_attr(min), "max": f32_attr(max)})

    def verify_(self) -> None:
        super().verify_()
        verify_finite(self, min=self.min, max=self.max)
        low, high = self.min.value.data, self.max.value.data
        if low > high:
            raise invalid(self, f"has min {low} above max {high}")


class PowBase(UnaryBase, ABC):
    """`x^exponent`."""

    exponent = prop_def(f32_parameter("exponent"))

    def __init__(self, input: SSAValue, exponent: float, result_type: Attribute | None = None):
        super().__init__(input, result_type, {"exponent": f32_attr(exponent)})

    def verify_(self) -> None:
        super().verify_()
        verify_finite(self, exponent=self.exponent)


class ScaleBase(UnaryBase, ABC):
    """`factor * x`."""

    factor = prop_def(f32_parameter("factor"))

    def __init__(self, input: SSAValue, factor: float, result_type: Attribute | None = None):
        super().__init__(input, result_type, {"factor": f32_attr(factor)})

    def verify_(self) -> None:
        super().verify_()
        verify_finite(self, factor=self.factor)


class CastBase(UnaryBase, ABC):
    """The same numbers in another element type, rounded to nearest."""

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(input, result_type)


class ReductionBase(InferredShapeOp, ABC):
    """An operator that reduces `dims`, which stay with size 1."""

    dims = prop_def(i64_array_parameter("dims"))

    def __init__(self, input: SSAValue, dims: Sequence[int], result_type: Attribute | None = None):
        if result_type is None:
            result_type = self.default_type(shapes.reduce(shape_of(input), dims), input)
        super().__init__(
            operands=[input], properties={"dims": i64_array(dims)}, result_types=[result_type]
        )

    def inferred_shape(self) -> Shape:
        return shapes.reduce(shape_of(self.operands[0]), self.dims.get_values())


class NormBase(InferredShapeOp, ABC):
    """A normalization of the last dimension of the first operand; the others are rows."""

    PARAMETER_NAMES: ClassVar[tuple[str, ...]] = ("weight", "bias")

    eps = prop_def(f32_parameter("eps"))

    def __init__(
        self,
        input: SSAValue,
        parameters: Sequence[SSAValue | None],
        eps: float,
        result_type: Attribute | None,
    ):
        super().__init__(
            operands=[input, [value for value in parameters if value is not None]],
            properties={"eps": f32_attr(eps)},
            result_types=[result_type or input.type],
        )

    def inferred_shape(self) -> Shape:
        input, *parameters = map(shape_of, self.operands)
        if len(parameters) > len(self.PARAMETER_NAMES):
            names = " and a ".join(self.PARAMETER_NAMES)
            raise ShapeError(f"takes a {names} besides its input, not {len(parameters)} tensors")
        return shapes.normalize(input, parameters)

    def verify_(self) -> None:
        super().verify_()
        verify_finite(self, eps=self.eps)
        if (eps := self.eps.value.data) < 0:
            raise invalid(self, f"has eps {eps}, which is below 0")


class ConstantBase(InferredShapeOp, ABC):
    """A value whose elements are all `value`, a number or -inf."""

    value = prop_def(f32_parameter("value"))

    assembly_format = "attr-dict `:` type(results)"

    def __init__(self, value: float, result_type: Attribute):
        super().__init__(properties={"value": f32_attr(value)}, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shape_of(self.results[0])

    def verify_(self) -> None:
        super().verify_()
        if self.value.value.data != -inf:
            verify_finite(self, value=self.value)


def constant_value(value: SSAValue) -> float | None:
    """What every element of `value` is, if the program says so."""
    owner = value.owner
    return owner.value.value.data if isinstance(owner, ConstantBase) else None
