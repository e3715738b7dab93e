"""
The `kernel` dialect: operators on tensors in device memory, and those defined by a block graph.

    %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
    %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x64xf16>) -> tensor<16x64xf16>

Tensors have static shapes and elements of type f16, bf16 or f32 (`cast` takes f8E4M3FN and f8E5M2
too); an operator has one element type, except `cast` and the result of `matmul`. A function
argument with the attribute `kernel.constant` never changes between calls. The attribute
`kernel.target` of a module names the GPU (see `target`), `kernel.implements` of a function the
program that it claims to compute (see `candidate`).

Source: Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI 2025), whose
kernel graphs these are.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import ConstantBase, MatmulBase
from mirage_mlir.dialects.candidate import AlternativeAttr, CandidateAttr, UnverifiedAttr
from mirage_mlir.dialects.common import (
    ELEMENT_TYPE,
    i64_attr,
    i64_parameter,
)
from mirage_mlir.dialects.elementwise import classes_of_rows
from mirage_mlir.dialects.graph_defined import GraphDefinedOp as GraphDefinedOp
from mirage_mlir.dialects.interface import InterfaceAttr, PackingAttr, TensorMapAttr
from mirage_mlir.dialects.kernel_bases import (
    AlongDimOp,
    InputOp,
    ReductionOp,
    TensorConstr,
    TensorOp,
    UnaryOp,
    shape_of,
)
from mirage_mlir.dialects.kernel_bases import BinaryOp as BinaryOp
from mirage_mlir.dialects.kernel_bases import tensor_type as tensor_type
from mirage_mlir.dialects.kernel_elementwise import (
    AddOp,
    CastOp,
    ClampOp,
    CompareOp,
    DivOp,
    ExpOp,
    GeluOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    PowOp,
    ReluOp,
    RsqrtOp,
    ScaleOp,
    SelectOp,
    SigmoidOp,
    SiluOp,
    SqrtOp,
    SquareOp,
    SubOp,
    TanhOp,
)
from mirage_mlir.dialects.kernel_norms import LayerNormOp, RmsNormOp
from mirage_mlir.dialects.kernel_norms import NormOp as NormOp
from mirage_mlir.dialects.launch import LaunchAttr, WorkspaceAttr
from mirage_mlir.dialects.rearrangement_bases import (
    BroadcastBase,
    ConcatBase,
    RepetitionBase,
    SliceBase,
    TransposeBase,
)
from mirage_mlir.dialects.target_attribute import TargetAttr
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape


@irdl_op_definition
class MatmulOp(MatmulBase, TensorOp):
    """
    `result[..., i, j] = sum_k lhs[..., i, k] * rhs[..., k, j]`; the leading dimensions broadcast.

    Shapes: lhs `... x M x K`, rhs `... x K x N`, result `... x M x N`. The result may have another
    element type than the operands.
    """

    name = "kernel.matmul"

    lhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    rhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorConstr)


@irdl_op_definition
class ReduceSumOp(ReductionOp):
    """The sum over `dims`."""

    name = "kernel.reduce_sum"


@irdl_op_definition
class ReduceMaxOp(ReductionOp):
    """The maximum over `dims`."""

    name = "kernel.reduce_max"


@irdl_op_definition
class ReduceMeanOp(ReductionOp):
    """The arithmetic mean over `dims`."""

    name = "kernel.reduce_mean"


@irdl_op_definition
class CumsumOp(AlongDimOp):
    """
    `result[..., i, ...] = sum_{j <= i} input[..., j, ...]` along `dim`: inclusive prefix sums.

    Sums are in f32, and rounded to the element type once.
    """

    name = "kernel.cumsum"


@irdl_op_definition
class SoftmaxOp(AlongDimOp):
    """`e^x` divided by its sum over `dim`."""

    name = "kernel.softmax"


@irdl_op_definition
class TransposeOp(TransposeBase, InputOp):
    """Dimension i of the result is dimension `permutation[i]` of the input."""

    name = "kernel.transpose"


@irdl_op_definition
class ReshapeOp(InputOp):
    """The same elements, last dimension running fastest, in another shape."""

    name = "kernel.reshape"

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(operands=[input], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.reshape(shape_of(self.input), shape_of(self.result))


@irdl_op_definition
class BroadcastOp(BroadcastBase, InputOp):
    """The input repeated along its dimensions of size 1 and along new leading ones (numpy)."""

    name = "kernel.broadcast"


class RepetitionOp(RepetitionBase, InputOp, ABC):
    """The input `times` times along `dim`."""


@irdl_op_definition
class RepeatOp(RepetitionOp):
    """The whole again and again: element i along `dim` is element `i mod n` of the input."""

    name = "kernel.repeat"


@irdl_op_definition
class RepeatInterleaveOp(RepetitionOp):
    """Each element several times: element i along `dim` is element `i div times` of the input."""

    name = "kernel.repeat_interleave"


@irdl_op_definition
class SliceOp(SliceBase, InputOp):
    """
    Element i of dimension d is element `offsets[d] + i * strides[d]` of the input.

    Dimension d of the result has `sizes[d]` elements.
    """

    name = "kernel.slice"


@irdl_op_definition
class ConcatOp(ConcatBase, TensorOp):
    """The inputs one after the other along `dim`."""

    name = "kernel.concat"

    inputs = var_operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))


@irdl_op_definition
class ConstantOp(ConstantBase, TensorOp):
    """A tensor whose elements are all `value`, a number or -inf, which is `0xFF800000 : f32`."""

    name = "kernel.constant"

    result = result_def(TensorConstr)


@irdl_op_definition
class IotaOp(TensorOp):
    """
    Each element is its index along `dim`, a number of the element type.

    An iota whose largest index the element type cannot represent is refused: f16 has whole numbers
    up to 2048, bf16 up to 256, f32 up to 2^24.
    """

    name = "kernel.iota"

    dim = prop_def(i64_parameter("dim"))
    result = result_def(TensorConstr)

    assembly_format = "attr-dict `:` type(results)"

    def __init__(self, dim: int, result_type: Attribute):
        super().__init__(properties={"dim": i64_attr(dim)}, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.result)
        shapes.check_dim(self.dim.value.data, len(shape))
        return shape

    def verify_(self) -> None:
        super().verify_()
        element = tensor_type(self.result).element_type
        most = FORMATS[element.name].counts_to
        if (size := shape_of(self.result)[self.dim.value.data]) - 1 > most:
            raise invalid(self, f"has indices up to {size - 1}, and {element} counts to {most}")


BINARY_OPS = [AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp, CompareOp]
TERNARY_OPS = [SelectOp]
FUNCTION_OPS = [ExpOp, LogOp, SquareOp, SqrtOp, RsqrtOp, SigmoidOp, SiluOp, ReluOp, TanhOp]
PARAMETRIC_OPS = [GeluOp, ClampOp, PowOp, ScaleOp, CastOp]
ROW_OPS = classes_of_rows("kernel", UnaryOp, [*FUNCTION_OPS, *PARAMETRIC_OPS])
"""The elementwise operators whose classes are made from their rows, by mnemonic."""
REDUCTION_OPS = [ReduceSumOp, ReduceMaxOp, ReduceMeanOp, CumsumOp]
NORM_OPS = [RmsNormOp, LayerNormOp, SoftmaxOp]
REPETITION_OPS = [BroadcastOp, RepeatOp, RepeatInterleaveOp]
REARRANGING_OPS = [TransposeOp, ReshapeOp, SliceOp, ConcatOp]

Kernel = Dialect(
    "kernel",
    [
        *(*BINARY_OPS, *TERNARY_OPS, *FUNCTION_OPS, *PARAMETRIC_OPS, *ROW_OPS.values()),
        *(*REDUCTION_OPS, *NORM_OPS),
        *(*REPETITION_OPS, *REARRANGING_OPS),
        *(MatmulOp, ConstantOp, IotaOp, GraphDefinedOp),
    ],
    [
        *(TargetAttr, CandidateAttr, AlternativeAttr, UnverifiedAttr),
        *(LaunchAttr, WorkspaceAttr, InterfaceAttr, TensorMapAttr, PackingAttr),
    ],
)
