"""
Axioms on exp, which iterations sums into products, and on square roots of what is not negative.
"""

from math import inf

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.kernel import shape_of
from mirage_mlir.passes.patterns.axioms.trees import Replacement, made_by, made_for_one

ProductOp = kernel.MulOp | kernel.DivOp

NON_NEGATIVE = (
    kernel.ExpOp,
    kernel.SquareOp,
    kernel.SqrtOp,
    kernel.RsqrtOp,
    kernel.SigmoidOp,
    kernel.ReluOp,
)
"""Functions that are nowhere below zero."""

MONOTONE = (
    *(kernel.AddOp, kernel.MulOp, kernel.DivOp, kernel.MaxOp, kernel.MinOp, kernel.CastOp),
    *(kernel.ReduceSumOp, kernel.ReduceMaxOp, kernel.ReduceMeanOp),
    *(kernel.BroadcastOp, kernel.TransposeOp, kernel.ReshapeOp),
)
"""Operators of whose results none is below zero if no element of an operand is."""


def is_non_negative(value: SSAValue) -> bool:
    """Whether no element is below zero (it may be no number), as the program itself says."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        if (value := pending.pop()) in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, NON_NEGATIVE):
            continue
        if isinstance(owner, kernel.MulOp) and owner.lhs is owner.rhs:
            continue
        if isinstance(owner, kernel.ConstantOp) and 0 <= owner.value.value.data < inf:
            continue
        if isinstance(owner, MONOTONE):
            pending += owner.operands
        elif isinstance(owner, kernel.ScaleOp) and owner.factor.value.data >= 0:
            pending.append(owner.input)
        else:
            return False
    return True


def _join(
    op: ProductOp,
    function: type[kernel.ExpOp] | type[kernel.SqrtOp],
    inside: type[kernel.BinaryOp],
    rewriter: PatternRewriter,
) -> None:
    """`f(x) op f(y)` as `f(x inside y)`, unless f would then be computed of more elements."""
    left, right = made_for_one(op.lhs, function), made_for_one(op.rhs, function)
    if left is None or right is None:
        return
    if shape_of(op.result) not in (shape_of(op.lhs), shape_of(op.rhs)):
        return
    new = Replacement(op, rewriter)
    argument = new.add(inside(left.input, right.input))
    new.finish(new.add(function(argument)), left, right)


class JoinExps(RewritePattern):
    """`exp(x) * exp(y) = exp(x + y)` and `exp(x) / exp(y) = exp(x - y)`; of no other use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ProductOp, rewriter: PatternRewriter) -> None:
        inside = kernel.AddOp if isinstance(op, kernel.MulOp) else kernel.SubOp
        _join(op, kernel.ExpOp, inside, rewriter)


class SplitExp(RewritePattern):
    """`exp(x + y) = exp(x) * exp(y)` and `exp(x - y) = exp(x) / exp(y)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ExpOp, rewriter: PatternRewriter) -> None:
        argument = op.input.owner
        if not isinstance(argument, kernel.AddOp | kernel.SubOp):
            return
        new = Replacement(op, rewriter)
        powers = [new.add(kernel.ExpOp(value)) for value in argument.operands]
        outside = kernel.MulOp if isinstance(argument, kernel.AddOp) else kernel.DivOp
        new.finish(new.add(outside(powers[0], powers[1])), argument)


class JoinSqrts(RewritePattern):
    """`sqrt(x) * sqrt(y) = sqrt(x * y)`, also of quotients, wherever the left is a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ProductOp, rewriter: PatternRewriter) -> None:
        _join(op, kernel.SqrtOp, type(op), rewriter)


class SplitSqrt(RewritePattern):
    """`sqrt(x * y) = sqrt(x) * sqrt(y)`, also of quotients, where neither is negative."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SqrtOp, rewriter: PatternRewriter) -> None:
        argument = op.input.owner
        if not isinstance(argument, ProductOp) or not all(map(is_non_negative, argument.operands)):
            return
        new = Replacement(op, rewriter)
        roots = [new.add(kernel.SqrtOp(value)) for value in argument.operands]
        new.finish(new.add(type(argument)(roots[0], roots[1])), argument)


class SquareOfSqrt(RewritePattern):
    """`sqrt(x)^2 = x`, wherever the left is a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: kernel.SquareOp | kernel.MulOp, rewriter: PatternRewriter
    ) -> None:
        base = op.operands[0]
        if base is not op.operands[-1] or (root := made_by(base, kernel.SqrtOp)) is None:
            return
        Replacement(op, rewriter).finish(root.input, root)


class SqrtOfSquare(RewritePattern):
    """`sqrt(x^2) = x` where x is not negative."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SqrtOp, rewriter: PatternRewriter) -> None:
        square = made_by(op.input, kernel.SquareOp)
        if square is not None and is_non_negative(square.input):
            Replacement(op, rewriter).finish(square.input, square)
