"""
The elementwise operators of the `kernel` dialect.

A class is written out where other code matches it or builds it; `kernel` makes those of all other
rows of the operators' table from the rows.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from mirage_mlir.dialects.bases import (
    CastBase,
    ClampBase,
    CompareBase,
    GeluBase,
    PowBase,
    ScaleBase,
    SelectBase,
)
from mirage_mlir.dialects.common import ELEMENT_TYPE
from mirage_mlir.dialects.kernel_bases import BinaryOp, StoredTensorConstr, TensorOp, UnaryOp


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`, elementwise."""

    name = "kernel.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`, elementwise."""

    name = "kernel.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`, elementwise."""

    name = "kernel.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`, elementwise."""

    name = "kernel.div"


@irdl_op_definition
class MaxOp(BinaryOp):
    """The larger of `lhs` and `rhs`, elementwise."""

    name = "kernel.max"


@irdl_op_definition
class MinOp(BinaryOp):
    """The smaller of `lhs` and `rhs`, elementwise."""

    name = "kernel.min"


@irdl_op_definition
class CompareOp(CompareBase, BinaryOp):
    """
    1 where `lhs` and `rhs` are as `predicate` says, 0 elsewhere, elementwise.

    The predicate is "eq", "ne", "lt", "le", "gt" or "ge". The result is a mask: a tensor of zeros
    and ones of the operands' element type, so that masks are stored, moved and given as arguments
    as any tensor is. A product of masks is their conjunction, the maximum their disjunction.
    Comparisons with NaN are false, but for "ne".
    """

    name = "kernel.compare"


@irdl_op_definition
class SelectOp(SelectBase, TensorOp):
    """
    `lhs` where `condition` is not 0, `rhs` where it is 0, elementwise.

    All three have one element type. What is not selected may be infinite or NaN.
    """

    name = "kernel.select"

    condition = operand_def(TensorType.constr(ELEMENT_TYPE))
    lhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    rhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))


@irdl_op_definition
class ExpOp(UnaryOp):
    """`e^x`, elementwise."""

    name = "kernel.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """The natural logarithm, elementwise."""

    name = "kernel.log"


@irdl_op_definition
class SquareOp(UnaryOp):
    """`x * x`, elementwise."""

    name = "kernel.square"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """The square root, elementwise."""

    name = "kernel.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / sqrt(x)`, elementwise."""

    name = "kernel.rsqrt"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """`1 / (1 + e^-x)`, elementwise."""

    name = "kernel.sigmoid"


@irdl_op_definition
class SiluOp(UnaryOp):
    """`x * sigmoid(x)`, elementwise."""

    name = "kernel.silu"


@irdl_op_definition
class GeluOp(GeluBase, UnaryOp):
    """The Gaussian error linear unit, elementwise; `approximate` is "none" or "tanh"."""

    name = "kernel.gelu"


@irdl_op_definition
class ReluOp(UnaryOp):
    """`max(x, 0)`, elementwise."""

    name = "kernel.relu"


@irdl_op_definition
class TanhOp(UnaryOp):
    """The hyperbolic tangent, elementwise."""

    name = "kernel.tanh"


@irdl_op_definition
class ClampOp(ClampBase, UnaryOp):
    """`x`, but at least `min` and at most `max`, elementwise."""

    name = "kernel.clamp"


@irdl_op_definition
class PowOp(PowBase, UnaryOp):
    """`x^exponent`, elementwise."""

    name = "kernel.pow"


@irdl_op_definition
class ScaleOp(ScaleBase, UnaryOp):
    """`factor * x`, elementwise."""

    name = "kernel.scale"


@irdl_op_definition
class CastOp(CastBase, TensorOp):
    """
    The same numbers in another element type, rounded to nearest, ties to even.

    Tensors of f8E4M3FN and f8E5M2 have no other operator. A number beyond their range becomes
    infinite in f8E5M2 and NaN in f8E4M3FN, which has no infinity. Kernels have them between two
    casts only: there is no lowering for arguments and results of these types.
    """

    name = "kernel.cast"

    input = operand_def(StoredTensorConstr)
    result = result_def(StoredTensorConstr)
