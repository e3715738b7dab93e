"""
The elementwise operators of the `threadblock` dialect.

A class is written out where other code matches it or builds it; `threadblock` makes those of all
other rows of the operators' table from the rows.
"""

from __future__ import annotations

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
from mirage_mlir.dialects.threadblock_bases import BinaryOp, TileConstr, TileOp, UnaryOp


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`, elementwise."""

    name = "threadblock.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`, elementwise."""

    name = "threadblock.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`, elementwise."""

    name = "threadblock.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`, elementwise."""

    name = "threadblock.div"


@irdl_op_definition
class MaxOp(BinaryOp):
    """The larger of `lhs` and `rhs`, elementwise."""

    name = "threadblock.max"


@irdl_op_definition
class MinOp(BinaryOp):
    """The smaller of `lhs` and `rhs`, elementwise."""

    name = "threadblock.min"


@irdl_op_definition
class CompareOp(CompareBase, BinaryOp):
    """
    1 where `lhs` and `rhs` are as `predicate` says, 0 elsewhere, elementwise.

    The predicate is "eq", "ne", "lt", "le", "gt" or "ge". Comparisons with NaN are false, but for
    "ne".
    """

    name = "threadblock.compare"


@irdl_op_definition
class SelectOp(SelectBase, TileOp):
    """`lhs` where `condition` is not 0, `rhs` where it is 0, elementwise."""

    name = "threadblock.select"

    condition = operand_def(TileConstr)
    lhs = operand_def(TileConstr)
    rhs = operand_def(TileConstr)
    result = result_def(TileConstr)


@irdl_op_definition
class ExpOp(UnaryOp):
    """`e^x`, elementwise."""

    name = "threadblock.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """The natural logarithm, elementwise."""

    name = "threadblock.log"


@irdl_op_definition
class SquareOp(UnaryOp):
    """`x * x`, elementwise."""

    name = "threadblock.square"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """The square root, elementwise."""

    name = "threadblock.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / sqrt(x)`, elementwise."""

    name = "threadblock.rsqrt"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """`1 / (1 + e^-x)`, elementwise."""

    name = "threadblock.sigmoid"


@irdl_op_definition
class SiluOp(UnaryOp):
    """`x * sigmoid(x)`, elementwise."""

    name = "threadblock.silu"


@irdl_op_definition
class GeluOp(GeluBase, UnaryOp):
    """The Gaussian error linear unit, elementwise; `approximate` is "none" or "tanh"."""

    name = "threadblock.gelu"


@irdl_op_definition
class ReluOp(UnaryOp):
    """`max(x, 0)`, elementwise."""

    name = "threadblock.relu"


@irdl_op_definition
class TanhOp(UnaryOp):
    """The hyperbolic tangent, elementwise."""

    name = "threadblock.tanh"


@irdl_op_definition
class ClampOp(ClampBase, UnaryOp):
    """`x`, but at least `min` and at most `max`, elementwise."""

    name = "threadblock.clamp"


@irdl_op_definition
class PowOp(PowBase, UnaryOp):
    """`x^exponent`, elementwise."""

    name = "threadblock.pow"


@irdl_op_definition
class ScaleOp(ScaleBase, UnaryOp):
    """`factor * x`, elementwise."""

    name = "threadblock.scale"


@irdl_op_definition
class CastOp(CastBase, UnaryOp):
    """The same numbers in another element type, rounded to nearest."""

    name = "threadblock.cast"
