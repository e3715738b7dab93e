"""Axioms on sums, products and quotients of tensors, which broadcast as in numpy."""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.kernel import shape_of
from mirage_mlir.passes.patterns.axioms.trees import Replacement, made_by, made_for_one

SumOp = kernel.AddOp | kernel.SubOp
"""What is said of a sum holds of a difference."""


class CommuteAdd(RewritePattern):
    """`x + y = y + x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.AddOp, rewriter: PatternRewriter) -> None:
        new = Replacement(op, rewriter)
        new.finish(new.add(kernel.AddOp(op.rhs, op.lhs)))


class CommuteMul(RewritePattern):
    """`x * y = y * x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        new = Replacement(op, rewriter)
        new.finish(new.add(kernel.MulOp(op.rhs, op.lhs)))


def _associate_left(op: kernel.AddOp | kernel.MulOp, rewriter: PatternRewriter) -> None:
    kind = type(op)
    if (inner := made_by(op.rhs, kind)) is None:
        return
    new = Replacement(op, rewriter)
    new.finish(new.add(kind(new.add(kind(op.lhs, inner.lhs)), inner.rhs)), inner)


def _associate_right(op: kernel.AddOp | kernel.MulOp, rewriter: PatternRewriter) -> None:
    kind = type(op)
    if (inner := made_by(op.lhs, kind)) is None:
        return
    new = Replacement(op, rewriter)
    new.finish(new.add(kind(inner.lhs, new.add(kind(inner.rhs, op.rhs)))), inner)


class AssociateAddLeft(RewritePattern):
    """`x + (y + z) = (x + y) + z`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.AddOp, rewriter: PatternRewriter) -> None:
        _associate_left(op, rewriter)


class AssociateAddRight(RewritePattern):
    """`(x + y) + z = x + (y + z)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.AddOp, rewriter: PatternRewriter) -> None:
        _associate_right(op, rewriter)


class AssociateMulLeft(RewritePattern):
    """`x * (y * z) = (x * y) * z`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        _associate_left(op, rewriter)


class AssociateMulRight(RewritePattern):
    """`(x * y) * z = x * (y * z)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        _associate_right(op, rewriter)


def _common_factor(a: kernel.MulOp, b: kernel.MulOp) -> tuple[SSAValue, SSAValue, SSAValue] | None:
    """x, y and z where a is `x * z` and b is `y * z`, in any order."""
    for x, z in ((a.lhs, a.rhs), (a.rhs, a.lhs)):
        if z is b.rhs:
            return x, b.lhs, z
        if z is b.lhs:
            return x, b.rhs, z
    return None


class MulOutOfAdd(RewritePattern):
    """`x * z + y * z = (x + y) * z`; nothing else uses the products."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        left, right = made_for_one(op.lhs, kernel.MulOp), made_for_one(op.rhs, kernel.MulOp)
        if left is None or right is None or (found := _common_factor(left, right)) is None:
            return
        x, y, z = found
        new = Replacement(op, rewriter)
        new.finish(new.add(kernel.MulOp(new.add(type(op)(x, y)), z)), left, right)


class DivOutOfAdd(RewritePattern):
    """`x / z + y / z = (x + y) / z`; nothing else uses the quotients."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        left, right = made_for_one(op.lhs, kernel.DivOp), made_for_one(op.rhs, kernel.DivOp)
        if left is None or right is None or left.rhs is not right.rhs:
            return
        new = Replacement(op, rewriter)
        total = new.add(type(op)(left.lhs, right.lhs))
        new.finish(new.add(kernel.DivOp(total, left.rhs)), left, right)


class DistributeMul(RewritePattern):
    """`(x + y) * z = x * z + y * z`, and `z * (x + y) = z * x + z * y`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        new = Replacement(op, rewriter)
        if isinstance(total := op.lhs.owner, SumOp):
            products = [new.add(kernel.MulOp(term, op.rhs)) for term in total.operands]
        elif isinstance(total := op.rhs.owner, SumOp):
            products = [new.add(kernel.MulOp(op.lhs, term)) for term in total.operands]
        else:
            return
        new.finish(new.add(type(total)(products[0], products[1])), total)


class DistributeDiv(RewritePattern):
    """`(x + y) / z = x / z + y / z`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.DivOp, rewriter: PatternRewriter) -> None:
        if not isinstance(total := op.lhs.owner, SumOp):
            return
        new = Replacement(op, rewriter)
        quotients = [new.add(kernel.DivOp(term, op.rhs)) for term in total.operands]
        new.finish(new.add(type(total)(quotients[0], quotients[1])), total)


class DivOutOfMul(RewritePattern):
    """`x * (y / z) = (x * y) / z` where `y / z` has as many elements as the result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        for value in (op.lhs, op.rhs):
            quotient = made_for_one(value, kernel.DivOp)
            # The quotient of two small tensors is better taken before they are broadcast.
            if quotient is not None and shape_of(value) == shape_of(op.result):
                break
        else:
            return
        new = Replacement(op, rewriter)
        factors = [quotient.lhs if value is quotient.result else value for value in op.operands]
        product = new.add(kernel.MulOp(factors[0], factors[1]))
        new.finish(new.add(kernel.DivOp(product, quotient.rhs)), quotient)


class MulOutOfDiv(RewritePattern):
    """`(x * y) / z = x * (y / z)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.DivOp, rewriter: PatternRewriter) -> None:
        if (product := made_by(op.lhs, kernel.MulOp)) is None:
            return
        new = Replacement(op, rewriter)
        quotient = new.add(kernel.DivOp(product.rhs, op.rhs))
        new.finish(new.add(kernel.MulOp(product.lhs, quotient)), product)


class JoinDivs(RewritePattern):
    """`(x / y) / z = x / (y * z)`; nothing else uses `x / y`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.DivOp, rewriter: PatternRewriter) -> None:
        if (inner := made_for_one(op.lhs, kernel.DivOp)) is None:
            return
        new = Replacement(op, rewriter)
        product = new.add(kernel.MulOp(inner.rhs, op.rhs))
        new.finish(new.add(kernel.DivOp(inner.lhs, product)), inner)


class SplitDiv(RewritePattern):
    """`x / (y * z) = (x / y) / z`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.DivOp, rewriter: PatternRewriter) -> None:
        if (product := made_by(op.rhs, kernel.MulOp)) is None:
            return
        new = Replacement(op, rewriter)
        quotient = new.add(kernel.DivOp(op.lhs, product.lhs))
        new.finish(new.add(kernel.DivOp(quotient, product.rhs)), product)
