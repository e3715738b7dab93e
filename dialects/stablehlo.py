"""
The part of the `stablehlo` dialect that `convert-stablehlo-to-kernel` reads, in the generic form.

    %y = "stablehlo.add"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

It is what programs of JAX are printed in. Other operations of the dialect are read, too, as unknown
ones.

Source: the StableHLO specification, https://openxla.org/stablehlo/spec.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsTerminator

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import shape_of
from mirage_mlir.dialects.stablehlo_attributes import (
    ATTRIBUTES,
    ComparisonAttr,
    DirectionAttr,
    DotAttr,
    PrecisionAttr,
)
from mirage_mlir.dialects.stablehlo_bases import (
    INTEGER,
    SAME,
    TENSOR,
    BinaryOp,
    ShapedOp,
    TensorOp,
    UnaryOp,
    operations,
)
from mirage_mlir.dialects.stablehlo_rearrangements import (
    BroadcastInDimOp,
    ConcatenateOp,
    DynamicSliceOp,
    GatherOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from mirage_mlir.dialects.stablehlo_reductions import ReduceOp, ReduceWindowOp
from mirage_mlir.hints import isa
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape, ShapeError, format_shape

UNARY = {
    "ceil": "The smallest integer that is not below `x`, elementwise.",
    "cosine": "The cosine, elementwise.",
    "exponential": "`e^x`, elementwise.",
    "exponential_minus_one": "`e^x - 1`, elementwise.",
    "floor": "The largest integer that is not above `x`, elementwise.",
    "log": "The natural logarithm, elementwise.",
    "log_plus_one": "`log(x + 1)`, elementwise.",
    "logistic": "`1 / (1 + e^-x)`, elementwise.",
    "negate": "`-x`, elementwise.",
    "not": "The complement, elementwise: of booleans their negation.",
    "round_nearest_even": "The integer nearest to `x`; of two, the even one, elementwise.",
    "rsqrt": "`1 / sqrt(x)`, elementwise.",
    "sign": "-1, 1, or `x` where it is a zero or NaN, elementwise.",
    "sine": "The sine, elementwise.",
    "sqrt": "The square root, elementwise.",
    "tanh": "The hyperbolic tangent, elementwise.",
}
"""What each operator of one tensor is."""

REGIONS = {
    "case": "The region of the number `values[0]`, run.",
    "if": "One of two regions, run, as `values[0]` says.",
    "while": "The second region, run as long as the first one gives true.",
}
"""What each operation with control flow is; none is converted."""

BINARY = {
    "add": "`lhs + rhs`, elementwise; of booleans their disjunction.",
    "and": "Conjunction, elementwise.",
    "divide": "`lhs / rhs`, elementwise.",
    "maximum": "The larger of `lhs` and `rhs`, elementwise; NaN where one is.",
    "minimum": "The smaller of `lhs` and `rhs`, elementwise; NaN where one is.",
    "multiply": "`lhs * rhs`, elementwise; of booleans their conjunction.",
    "or": "Disjunction, elementwise.",
    "power": "`lhs` to the power of `rhs`, elementwise.",
    "remainder": "What division that rounds towards 0 leaves, elementwise.",
    "subtract": "`lhs - rhs`, elementwise.",
    "xor": "Exclusive disjunction, elementwise.",
}
"""What each operator of two tensors is."""


@irdl_op_definition
class AbsOp(ShapedOp):
    """The absolute value, elementwise: of complex numbers a real one."""

    name = "stablehlo.abs"

    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        super().verify_()
        kind, got = _element(self.operand), _element(self.result)
        if got != (kind.element_type if isa(kind, ComplexType[AnyFloat]) else kind):
            raise invalid(self, f"gives elements of type {got} for {kind}")

    def inferred_shape(self) -> Shape:
        return shape_of(self.operand)


def _element(value: SSAValue) -> Attribute:
    assert isa(value.type, TensorType[Attribute])
    return value.type.element_type


@irdl_op_definition
class ConvertOp(ShapedOp):
    """The same numbers in another element type."""

    name = "stablehlo.convert"

    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        return shape_of(self.operand)


@irdl_op_definition
class IsFiniteOp(ShapedOp):
    """Whether an element is a number, neither infinite nor NaN."""

    name = "stablehlo.is_finite"

    operand = operand_def(TENSOR)
    result = result_def(TensorType.constr(i1))

    def inferred_shape(self) -> Shape:
        return shape_of(self.operand)


@irdl_op_definition
class ConstantOp(ShapedOp):
    """A tensor of the elements that `value` has."""

    name = "stablehlo.constant"

    value = prop_def(DenseIntOrFPElementsAttr | DenseResourceAttr)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        return self.value.type.get_shape()


@irdl_op_definition
class IotaOp(ShapedOp):
    """Each element is its index along `iota_dimension`."""

    name = "stablehlo.iota"

    iota_dimension = prop_def(INTEGER)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.result)
        shapes.check_dim(self.iota_dimension.value.data, len(shape))
        return shape


@irdl_op_definition
class CompareOp(ShapedOp):
    """Whether `lhs` and `rhs` are as `comparison_direction` says, elementwise."""

    name = "stablehlo.compare"

    comparison_direction = prop_def(DirectionAttr)
    compare_type = opt_prop_def(ComparisonAttr)
    lhs = operand_def(SAME)
    rhs = operand_def(SAME)
    result = result_def(TensorType.constr(i1))

    def inferred_shape(self) -> Shape:
        return shape_of(self.lhs)


@irdl_op_definition
class SelectOp(ShapedOp):
    """`on_true` where `pred` holds, `on_false` elsewhere; `pred` is of their shape or a scalar."""

    name = "stablehlo.select"

    pred = operand_def(TensorType.constr(i1))
    on_true = operand_def(SAME)
    on_false = operand_def(SAME)
    result = result_def(SAME)

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.on_true)
        if shape_of(self.pred) not in ((), shape):
            of = format_shape(shape_of(self.pred))
            raise ShapeError(f"has a pred of shape {of} for tensors of {format_shape(shape)}")
        return shape


@irdl_op_definition
class ClampOp(ShapedOp):
    """`operand`, but at least `min` and at most `max`, tensors of its shape or scalars."""

    name = "stablehlo.clamp"

    min = operand_def(TENSOR)
    operand = operand_def(SAME)
    max = operand_def(TENSOR)
    result = result_def(SAME)

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.operand)
        for bound in (self.min, self.max):
            if shape_of(bound) not in ((), shape):
                of = format_shape(shape_of(bound))
                raise ShapeError(f"has a bound of shape {of} for {format_shape(shape)}")
        return shape


@irdl_op_definition
class DotGeneralOp(ShapedOp):
    """
    The sum of products over the contracting dimensions, for each index of the batching ones.

    The result has the batching dimensions, then the others of `lhs`, then those of `rhs`. Its
    element type may be another one. `precision_config` and `algorithm` say how precise at least.
    """

    name = "stablehlo.dot_general"

    dot_dimension_numbers = prop_def(DotAttr)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    algorithm = opt_prop_def(Attribute)
    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    def free(self, side: str) -> tuple[int, ...]:
        """The dimensions of the operand `lhs` or `rhs` that are neither batching nor contracted."""
        numbers = self.dot_dimension_numbers
        taken = (
            *numbers.of(f"{side}_batching_dimensions"),
            *numbers.of(f"{side}_contracting_dimensions"),
        )
        rank = len(shape_of(self.lhs if side == "lhs" else self.rhs))
        shapes.check_dims(taken, rank)
        return tuple(dim for dim in range(rank) if dim not in taken)

    def inferred_shape(self) -> Shape:
        lhs, rhs, numbers = shape_of(self.lhs), shape_of(self.rhs), self.dot_dimension_numbers
        free = [lhs[dim] for dim in self.free("lhs")] + [rhs[dim] for dim in self.free("rhs")]
        for kind in ("batching", "contracting"):
            left = [lhs[dim] for dim in numbers.of(f"lhs_{kind}_dimensions")]
            right = [rhs[dim] for dim in numbers.of(f"rhs_{kind}_dimensions")]
            if left != right:
                raise ShapeError(f"has {kind} dimensions of sizes {left} and {right}")
        return (*(lhs[dim] for dim in numbers.of("lhs_batching_dimensions")), *free)


@irdl_op_definition
class OptimizationBarrierOp(TensorOp):
    """The same tensors, all of which are there before one is used."""

    name = "stablehlo.optimization_barrier"

    operand = var_operand_def(TENSOR)
    result = var_result_def(TENSOR)

    def verify_(self) -> None:
        super().verify_()
        if [value.type for value in self.operand] != [value.type for value in self.result]:
            raise invalid(self, "gives what it takes, and the types differ")


class RegionsOp(TensorOp, ABC):
    """An operation that runs its regions; what is in them may call functions of the module."""

    values = var_operand_def(TENSOR)
    bodies = var_region_def()
    outputs = var_result_def(TENSOR)

    traits = traits_def()


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The values that a region of an operation of the dialect gives."""

    name = "stablehlo.return"

    values = var_operand_def(Attribute)
    traits = traits_def(IsTerminator())


Stablehlo = Dialect(
    "stablehlo",
    [
        *operations("stablehlo", UNARY, UnaryOp),
        *operations("stablehlo", BINARY, BinaryOp),
        *operations("stablehlo", REGIONS, RegionsOp),
        *(AbsOp, ConvertOp, IsFiniteOp, ConstantOp, IotaOp, CompareOp, SelectOp, ClampOp),
        *(BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp, DynamicSliceOp, ConcatenateOp, PadOp),
        *(ReverseOp, GatherOp, DotGeneralOp, ReduceOp, ReduceWindowOp),
        *(OptimizationBarrierOp, ReturnOp),
    ],
    ATTRIBUTES,
)
