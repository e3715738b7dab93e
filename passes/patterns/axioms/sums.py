"""Axioms on sums over dimensions; what lacks them leaves the sum."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.kernel import shape_of
from mirage_mlir.passes.patterns.axioms.elementwise import SumOp
from mirage_mlir.passes.patterns.axioms.trees import Replacement, lacks, made_for_one, own_dims


class SumOfOne(RewritePattern):
    """`sum(x) = x` over dimensions of size 1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        if shape_of(op.input) == shape_of(op.result):
            rewriter.replace(op, (), [op.input])


class SumOfSum(RewritePattern):
    """`sum_i(sum_j(x)) = sum_ij(x)`; nothing else uses the inner sum."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        if (inner := made_for_one(op.input, kernel.ReduceSumOp)) is None:
            return
        dims = sorted({*inner.dims.get_values(), *op.dims.get_values()})
        new = Replacement(op, rewriter)
        new.finish(new.add(kernel.ReduceSumOp(inner.input, dims)), inner)


class SplitSumOfDims(RewritePattern):
    """`sum_ij(x) = sum_j(sum_i(x))`, i the first of the dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        first, *others = op.dims.get_values()
        if not others:
            return
        new = Replacement(op, rewriter)
        inner = new.add(kernel.ReduceSumOp(op.input, [first]))
        new.finish(new.add(kernel.ReduceSumOp(inner, others)))


class JoinSums(RewritePattern):
    """`sum(x) + sum(y) = sum(x + y)` for x and y of one shape; nothing else uses the sums."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        left = made_for_one(op.lhs, kernel.ReduceSumOp)
        right = made_for_one(op.rhs, kernel.ReduceSumOp)
        if left is None or right is None or left.dims != right.dims:
            return
        if shape_of(left.input) != shape_of(right.input):
            return
        new = Replacement(op, rewriter)
        total = new.add(type(op)(left.input, right.input))
        new.finish(new.add(kernel.ReduceSumOp(total, left.dims.get_values())), left, right)


class SplitSum(RewritePattern):
    """`sum(x + y) = sum(x) + sum(y)` where both have the dimensions that are summed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        if not isinstance(total := op.input.owner, SumOp):
            return
        dims, shape = op.dims.get_values(), shape_of(op.input)
        left, right = (own_dims(term, dims, shape) for term in total.operands)
        if left is None or right is None:
            return
        new = Replacement(op, rewriter)
        pairs = zip(total.operands, (left, right), strict=True)
        sums = [new.add(kernel.ReduceSumOp(term, own)) for term, own in pairs]
        new.finish(new.add(type(total)(sums[0], sums[1])), total)


def _summed(new: Replacement, value: SSAValue, op: kernel.ReduceSumOp) -> SSAValue | None:
    """The sum of one operand of what `op` sums; None if it lacks one of the dimensions."""
    dims = own_dims(value, op.dims.get_values(), shape_of(op.input))
    return None if dims is None else new.add(kernel.ReduceSumOp(value, dims))


class MulOutOfSum(RewritePattern):
    """`sum(x * y) = sum(x) * y` where y lacks what is summed; nothing else uses the product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        if (product := made_for_one(op.input, kernel.MulOp)) is None:
            return
        dims, rank = op.dims.get_values(), len(shape_of(op.input))
        new = Replacement(op, rewriter)
        for x, y in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
            if lacks(y, dims, rank) and (total := _summed(new, x, op)) is not None:
                factors = (total, y) if x is product.lhs else (y, total)
                new.finish(new.add(kernel.MulOp(*factors)), product)
                return


class DivOutOfSum(RewritePattern):
    """`sum(x / y) = sum(x) / y` where y lacks what is summed; nothing else uses the quotient."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        quotient = made_for_one(op.input, kernel.DivOp)
        if quotient is None:
            return
        if not lacks(quotient.rhs, op.dims.get_values(), len(shape_of(op.input))):
            return
        new = Replacement(op, rewriter)
        if (total := _summed(new, quotient.lhs, op)) is not None:
            new.finish(new.add(kernel.DivOp(total, quotient.rhs)), quotient)


class ScaleOutOfSum(RewritePattern):
    """`sum(c * x) = c * sum(x)` for a number c; nothing else uses the product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceSumOp, rewriter: PatternRewriter) -> None:
        if (scaled := made_for_one(op.input, kernel.ScaleOp)) is None:
            return
        new = Replacement(op, rewriter)
        total = new.add(kernel.ReduceSumOp(scaled.input, op.dims.get_values()))
        new.finish(new.add(kernel.ScaleOp(total, scaled.factor.value.data)), scaled)


def _dims_in_result(total: kernel.ReduceSumOp, result: SSAValue) -> Sequence[int]:
    """The dimensions that are summed as those of a result to which the sum broadcasts."""
    missing = len(shape_of(result)) - len(shape_of(total.result))
    return [dim + missing for dim in total.dims.get_values()]


class MulIntoSum(RewritePattern):
    """`sum(x) * y = sum(x * y)` where y lacks what is summed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.MulOp, rewriter: PatternRewriter) -> None:
        for value, y in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if not isinstance(total := value.owner, kernel.ReduceSumOp):
                continue
            dims = _dims_in_result(total, op.result)
            if lacks(y, dims, len(shape_of(op.result))):
                new = Replacement(op, rewriter)
                factors = (total.input, y) if value is op.lhs else (y, total.input)
                product = new.add(kernel.MulOp(*factors))
                new.finish(new.add(kernel.ReduceSumOp(product, dims)), total)
                return


class DivIntoSum(RewritePattern):
    """`sum(x) / y = sum(x / y)` where y lacks what is summed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.DivOp, rewriter: PatternRewriter) -> None:
        if not isinstance(total := op.lhs.owner, kernel.ReduceSumOp):
            return
        dims = _dims_in_result(total, op.result)
        if not lacks(op.rhs, dims, len(shape_of(op.result))):
            return
        new = Replacement(op, rewriter)
        quotient = new.add(kernel.DivOp(total.input, op.rhs))
        new.finish(new.add(kernel.ReduceSumOp(quotient, dims)), total)
