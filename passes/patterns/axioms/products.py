"""
Axioms on products of matrices, which are sums of products.

`M`, `K` and `N` are the rows, the contracted dimension and the columns. Where an operator moves
across a product, operands and result must have one element type: else it would round differently.
"""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.kernel import shape_of
from mirage_mlir.passes.patterns.axioms.elementwise import SumOp
from mirage_mlir.passes.patterns.axioms.trees import (
    Replacement,
    lacks,
    made_by,
    made_for_one,
    same_element_type,
)


def _keeps_matrix(value: SSAValue, other: SSAValue, dim: int) -> bool:
    """Whether `value` has K, its dimension `dim` from the end, which `other` lacks."""
    shape, rank = shape_of(value), max(len(shape_of(value)), len(shape_of(other)))
    return len(shape) >= 2 and lacks(other, [rank + dim], rank)


class MulOutOfMatmul(RewritePattern):
    """`(x * s) @ w = (x @ w) * s` where s lacks K; `x @ (w * s)` likewise."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        if not same_element_type(op.lhs, op.result):
            return
        new = Replacement(op, rewriter)
        for operand, dim in ((op.lhs, -1), (op.rhs, -2)):
            if (product := made_for_one(operand, kernel.MulOp)) is None:
                continue
            for x, s in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
                if _keeps_matrix(x, s, dim):
                    sides = (x, op.rhs) if dim == -1 else (op.lhs, x)
                    moved = new.add(kernel.MatmulOp(*sides))
                    new.finish(new.add(kernel.MulOp(moved, s)), product)
                    return


class DivOutOfMatmul(RewritePattern):
    """`(x / s) @ w = (x @ w) / s` where s lacks K; `x @ (w / s)` likewise."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        if not same_element_type(op.lhs, op.result):
            return
        new = Replacement(op, rewriter)
        for operand, dim in ((op.lhs, -1), (op.rhs, -2)):
            quotient = made_for_one(operand, kernel.DivOp)
            if quotient is not None and _keeps_matrix(quotient.lhs, quotient.rhs, dim):
                sides = (quotient.lhs, op.rhs) if dim == -1 else (op.lhs, quotient.lhs)
                moved = new.add(kernel.MatmulOp(*sides))
                new.finish(new.add(kernel.DivOp(moved, quotient.rhs)), quotient)
                return


class ScaleOutOfMatmul(RewritePattern):
    """`(c * x) @ w = c * (x @ w)` for a number c; `x @ (c * w)` likewise."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        if not same_element_type(op.lhs, op.result):
            return
        for operand in (op.lhs, op.rhs):
            if (scaled := made_for_one(operand, kernel.ScaleOp)) is None:
                continue
            new = Replacement(op, rewriter)
            sides = (scaled.input, op.rhs) if operand is op.lhs else (op.lhs, scaled.input)
            moved = new.add(kernel.MatmulOp(*sides))
            new.finish(new.add(kernel.ScaleOp(moved, scaled.factor.value.data)), scaled)
            return


class MulIntoMatmul(RewritePattern):
    """`(x @ w) * s = (x * s) @ w` where s lacks N, `x @ (w * s)` where it lacks M."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        rank = len(shape_of(op.result))
        for value, s in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (product := made_by(value, kernel.MatmulOp)) is None:
                continue
            if not same_element_type(product.lhs, product.result):
                continue
            new = Replacement(op, rewriter)
            if lacks(s, [rank - 1], rank):
                sides = new.add(kernel.MulOp(product.lhs, s)), product.rhs
            elif lacks(s, [rank - 2], rank):
                sides = product.lhs, new.add(kernel.MulOp(product.rhs, s))
            else:
                continue
            new.finish(new.add(kernel.MatmulOp(*sides)), product)
            return


def _two_matmuls(op: SumOp) -> tuple[kernel.MatmulOp, kernel.MatmulOp] | None:
    """The products that `op` adds, if nothing else uses them and all has one element type."""
    left, right = made_for_one(op.lhs, kernel.MatmulOp), made_for_one(op.rhs, kernel.MatmulOp)
    if left is None or right is None or not same_element_type(left.lhs, right.lhs, op.result):
        return None
    return left, right


class JoinMatmulsLeft(RewritePattern):
    """`x @ w + y @ w = (x + y) @ w` for x and y of one shape; nothing else uses the products."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        if (found := _two_matmuls(op)) is None:
            return
        left, right = found
        if left.rhs is not right.rhs or left.lhs.type != right.lhs.type:
            return
        new = Replacement(op, rewriter)
        total = new.add(type(op)(left.lhs, right.lhs))
        new.finish(new.add(kernel.MatmulOp(total, left.rhs)), left, right)


class JoinMatmulsRight(RewritePattern):
    """`x @ v + x @ w = x @ (v + w)` for v and w of one shape; nothing else uses the products."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        if (found := _two_matmuls(op)) is None:
            return
        left, right = found
        if left.lhs is not right.lhs or left.rhs.type != right.rhs.type:
            return
        new = Replacement(op, rewriter)
        total = new.add(type(op)(left.rhs, right.rhs))
        new.finish(new.add(kernel.MatmulOp(left.lhs, total)), left, right)


def _has_matrices(total: SumOp, dim: int) -> bool:
    """Whether both terms of a sum have its dimension `dim` from the end in full."""
    size = shape_of(total.result)[dim]
    shapes = [shape_of(term) for term in total.operands]
    return all(len(shape) >= 2 and shape[dim] == size for shape in shapes)


class DistributeMatmulLeft(RewritePattern):
    """`(x + y) @ w = x @ w + y @ w` where both terms have K."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        total = op.lhs.owner
        if not isinstance(total, SumOp) or not same_element_type(op.lhs, op.result):
            return
        if not _has_matrices(total, -1):
            return
        new = Replacement(op, rewriter)
        products = [new.add(kernel.MatmulOp(term, op.rhs)) for term in total.operands]
        new.finish(new.add(type(total)(products[0], products[1])), total)


class DistributeMatmulRight(RewritePattern):
    """`x @ (v + w) = x @ v + x @ w` where both terms have K."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        total = op.rhs.owner
        if not isinstance(total, SumOp) or not same_element_type(op.lhs, op.result):
            return
        if not _has_matrices(total, -2):
            return
        new = Replacement(op, rewriter)
        products = [new.add(kernel.MatmulOp(op.lhs, term)) for term in total.operands]
        new.finish(new.add(type(total)(products[0], products[1])), total)


class AssociateMatmulRight(RewritePattern):
    """`(x @ y) @ z = x @ (y @ z)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        inner = made_by(op.lhs, kernel.MatmulOp)
        if inner is None or not same_element_type(inner.lhs, op.rhs):
            return
        new = Replacement(op, rewriter)
        product = new.add(kernel.MatmulOp(inner.rhs, op.rhs))
        new.finish(new.add(kernel.MatmulOp(inner.lhs, product, op.result.type)), inner)


class AssociateMatmulLeft(RewritePattern):
    """`x @ (y @ z) = (x @ y) @ z`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MatmulOp, rewriter: PatternRewriter) -> None:
        inner = made_by(op.rhs, kernel.MatmulOp)
        if inner is None or not same_element_type(inner.lhs, op.lhs):
            return
        new = Replacement(op, rewriter)
        product = new.add(kernel.MatmulOp(op.lhs, inner.lhs))
        new.finish(new.add(kernel.MatmulOp(product, inner.rhs, op.result.type)), inner)


class SumIntoMatmul(RewritePattern):
    """`sum_M(x @ w) = sum_M(x) @ w` and `sum_N(x @ w) = x @ sum_N(w)`; of no other use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        product = made_for_one(op.input, kernel.MatmulOp)
        if product is None or not same_element_type(product.lhs, op.result):
            return
        rank = len(shape_of(op.result))
        new = Replacement(op, rewriter)
        match [dim - rank for dim in op.dims.get_values()]:
            case [-2]:
                rows = len(shape_of(product.lhs)) - 2
                sides = new.add(kernel.ReduceSumOp(product.lhs, [rows])), product.rhs
            case [-1]:
                columns = len(shape_of(product.rhs)) - 1
                sides = product.lhs, new.add(kernel.ReduceSumOp(product.rhs, [columns]))
            case _:
                return
        new.finish(new.add(kernel.MatmulOp(*sides)), product)
