"""
Simplifications that hold in the kernel and in the threadblock dialect.

A rewrite may round less often than what it replaces, never more often: what is written on an
intermediate value is a wish for its storage.
"""

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.bases import (
    BinaryBase,
    CastBase,
    PowBase,
    ScaleBase,
    constant_value,
    shape_of,
)
from mirage_mlir.dialects.rearrangement_bases import BroadcastBase, ConcatBase, TransposeBase

Table = tuple[tuple[type[Operation], tuple[RewritePattern, ...]], ...]
"""The patterns for each class of operators."""

SMALLEST_F32, LARGEST_F32 = 2.0**-126, (2 - 2.0**-23) * 2.0**127
"""Between them a number loses at most the last bit when it becomes an f32."""


def replace_by_value(op: Operation, value: SSAValue, rewriter: PatternRewriter) -> None:
    """Use `value` instead of the result of `op`, if it has the same type."""
    if value.type == op.results[0].type:
        rewriter.replace(op, (), [value])


def element_type_of(value: SSAValue) -> Attribute:
    """The element type of a tensor or tile."""
    if isinstance(value.type, threadblock.TileType):
        return value.type.element_type
    return kernel.tensor_type(value).element_type


class DropNeutralConstant(RewritePattern):
    """`x + 0`, `0 + x`, `x - 0` and `x / 1` are `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryBase, rewriter: PatternRewriter) -> None:
        neutral = 1 if isinstance(op, kernel.DivOp | threadblock.DivOp) else 0
        lhs, rhs = op.operands
        if constant_value(rhs) == neutral:
            replace_by_value(op, lhs, rewriter)
        elif isinstance(op, kernel.AddOp | threadblock.AddOp) and constant_value(lhs) == neutral:
            replace_by_value(op, rhs, rewriter)


class ScaleByConstant(RewritePattern):
    """`x * c` and `c * x` are `scale(x, c)` for a constant c, where x has the result's shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: kernel.MulOp | threadblock.MulOp, rewriter: PatternRewriter
    ) -> None:
        scale = kernel.ScaleOp if isinstance(op, kernel.MulOp) else threadblock.ScaleOp
        for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            factor = constant_value(other)
            if factor is not None and shape_of(value) == shape_of(op.result):
                rewriter.replace(op, scale(value, factor, op.result.type))
                return


class DropScaleByOne(RewritePattern):
    """`scale(x, 1)` is `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScaleBase, rewriter: PatternRewriter) -> None:
        if op.factor.value.data == 1:
            replace_by_value(op, op.operands[0], rewriter)


class FoldScaleOfScale(RewritePattern):
    """`scale(scale(x, a), b)` is `scale(x, a * b)`, where a * b is an f32."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScaleBase, rewriter: PatternRewriter) -> None:
        if not isinstance(inner := op.operands[0].owner, ScaleBase):
            return
        factor = inner.factor.value.data * op.factor.value.data
        if SMALLEST_F32 <= abs(factor) <= LARGEST_F32:
            rewriter.replace(op, type(op)(inner.operands[0], factor, op.results[0].type))


class DropPowerOfOne(RewritePattern):
    """`pow(x, 1)` is `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowBase, rewriter: PatternRewriter) -> None:
        if op.exponent.value.data == 1:
            replace_by_value(op, op.operands[0], rewriter)


class DropCastToSameType(RewritePattern):
    """`cast(x)` is `x` in the same element type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastBase, rewriter: PatternRewriter) -> None:
        replace_by_value(op, op.operands[0], rewriter)


class FoldCastOfWidening(RewritePattern):
    """`cast(cast(x))` is `cast(x)` where the inner one is exact, to f32."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastBase, rewriter: PatternRewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, CastBase) and element_type_of(inner.results[0]) == f32:
            rewriter.replace(op, type(op)(inner.operands[0], op.results[0].type))


class DropIdentityTranspose(RewritePattern):
    """`transpose(x, 0, 1, ...)` is `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeBase, rewriter: PatternRewriter) -> None:
        permutation = op.permutation.get_values()
        if list(permutation) == sorted(permutation):
            replace_by_value(op, op.operands[0], rewriter)


class FoldTransposeOfTranspose(RewritePattern):
    """`transpose(transpose(x, p), q)` is `transpose(x, i -> p[q[i]])`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeBase, rewriter: PatternRewriter) -> None:
        if not isinstance(inner := op.operands[0].owner, TransposeBase):
            return
        first = inner.permutation.get_values()
        permutation = [first[dim] for dim in op.permutation.get_values()]
        rewriter.replace(op, type(op)(inner.operands[0], permutation, op.results[0].type))


class DropBroadcastToSameShape(RewritePattern):
    """`broadcast(x)` is `x` in the same shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastBase, rewriter: PatternRewriter) -> None:
        replace_by_value(op, op.operands[0], rewriter)


class FoldBroadcastOfBroadcast(RewritePattern):
    """`broadcast(broadcast(x))` is `broadcast(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastBase, rewriter: PatternRewriter) -> None:
        if isinstance(inner := op.operands[0].owner, BroadcastBase):
            rewriter.replace(op, type(op)(inner.operands[0], op.results[0].type))


class DropConcatOfOne(RewritePattern):
    """`concat(x)` is `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatBase, rewriter: PatternRewriter) -> None:
        if len(op.operands) == 1:
            replace_by_value(op, op.operands[0], rewriter)


class DropReluOfRelu(RewritePattern):
    """`relu(relu(x))` is `relu(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: kernel.ReluOp | threadblock.ReluOp, rewriter: PatternRewriter
    ) -> None:
        if isinstance(op.operands[0].owner, type(op)):
            replace_by_value(op, op.operands[0], rewriter)


SHARED: Table = (
    (kernel.AddOp, (DropNeutralConstant(),)),
    (kernel.SubOp, (DropNeutralConstant(),)),
    (kernel.DivOp, (DropNeutralConstant(),)),
    (kernel.MulOp, (ScaleByConstant(),)),
    (kernel.ReluOp, (DropReluOfRelu(),)),
    (threadblock.AddOp, (DropNeutralConstant(),)),
    (threadblock.SubOp, (DropNeutralConstant(),)),
    (threadblock.DivOp, (DropNeutralConstant(),)),
    (threadblock.MulOp, (ScaleByConstant(),)),
    (threadblock.ReluOp, (DropReluOfRelu(),)),
    (ScaleBase, (DropScaleByOne(), FoldScaleOfScale())),
    (PowBase, (DropPowerOfOne(),)),
    (CastBase, (DropCastToSameType(), FoldCastOfWidening())),
    (TransposeBase, (DropIdentityTranspose(), FoldTransposeOfTranspose())),
    (BroadcastBase, (DropBroadcastToSameShape(), FoldBroadcastOfBroadcast())),
    (ConcatBase, (DropConcatOfOne(),)),
)
"""Those that both dialects have."""


def patterns_for(op: type[Operation], *tables: Table) -> tuple[RewritePattern, ...]:
    """The patterns that `tables` have for `op` or a class from which it derives."""
    return tuple(
        pattern
        for table in tables
        for root, patterns in table
        if issubclass(op, root)
        for pattern in patterns
    )
