"""Patterns rooted at operators of the kernel dialect alone."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.patterns.canonical import SHARED, Table, patterns_for, replace_by_value


class DropReshapeToSameShape(RewritePattern):
    """`reshape(x)` is `x` in the same shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReshapeOp, rewriter: PatternRewriter) -> None:
        replace_by_value(op, op.input, rewriter)


class FoldReshapeOfReshape(RewritePattern):
    """`reshape(reshape(x))` is `reshape(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReshapeOp, rewriter: PatternRewriter) -> None:
        if isinstance(inner := op.input.owner, kernel.ReshapeOp):
            rewriter.replace(op, kernel.ReshapeOp(inner.input, op.result.type))


class DropRepetitionOnce(RewritePattern):
    """`repeat(x, dim, 1)` and `repeat_interleave(x, dim, 1)` are `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.RepetitionOp, rewriter: PatternRewriter) -> None:
        if op.times.value.data == 1:
            replace_by_value(op, op.input, rewriter)


class FoldRepetitionOfRepetition(RewritePattern):
    """`repeat(repeat(x, d, a), d, b)` is `repeat(x, d, a * b)`; so is `repeat_interleave`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.RepetitionOp, rewriter: PatternRewriter) -> None:
        inner = op.input.owner
        if not isinstance(inner, type(op)) or inner.dim != op.dim:
            return
        times = inner.times.value.data * op.times.value.data
        rewriter.replace(op, type(op)(inner.input, op.dim.value.data, times, op.result.type))


class DropWholeSlice(RewritePattern):
    """A slice of all elements is its input."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SliceOp, rewriter: PatternRewriter) -> None:
        # Of a dimension that keeps its size every element is taken, in order.
        replace_by_value(op, op.input, rewriter)


class FoldSliceOfSlice(RewritePattern):
    """`slice(slice(x, o, s), p, t)` is `slice(x, o + p * s, s * t)`: offsets, then strides."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SliceOp, rewriter: PatternRewriter) -> None:
        if not isinstance(inner := op.input.owner, kernel.SliceOp):
            return
        offsets, strides = inner.offsets.get_values(), inner.strides.get_values()
        outer = zip(offsets, strides, op.offsets.get_values(), strict=True)
        rewriter.replace(
            op,
            kernel.SliceOp(
                inner.input,
                [offset + start * stride for offset, stride, start in outer],
                op.sizes.get_values(),
                [a * b for a, b in zip(strides, op.strides.get_values(), strict=True)],
                op.result.type,
            ),
        )


class DropReductionOfOne(RewritePattern):
    """A reduction of dimensions of size 1 is its input."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReductionOp, rewriter: PatternRewriter) -> None:
        replace_by_value(op, op.input, rewriter)


class DropUnusedInputs(RewritePattern):
    """A graph has only the inputs that it loads from."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.GraphDefinedOp, rewriter: PatternRewriter) -> None:
        args = op.body.block.args
        used = [value for value, arg in zip(op.inputs, args, strict=True) if arg.first_use]
        if len(used) == len(args):
            return
        for arg in reversed(args):
            if not arg.first_use:
                rewriter.erase_block_argument(arg)
        body = op.detach_region(op.body)
        types = [result.type for result in op.outputs]
        graph = kernel.GraphDefinedOp(
            used,
            op.grid_sizes,
            op.loop_sizes,
            types,
            body,
            op.cluster_sizes,
            cyclic=op.is_cyclic,
        )
        graph.attributes.update(op.attributes)
        rewriter.replace(op, graph)


class DropIdleCyclic(RewritePattern):
    """Blocks take turns only with the tiles of what a loop cuts, too."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.GraphDefinedOp, rewriter: PatternRewriter) -> None:
        accesses = (threadblock.LoadOp, threadblock.StoreOp)
        found = [each for each in op.body.block.ops if isinstance(each, accesses)]
        if op.is_cyclic and not any(map(threadblock.is_cut_twice, found)):
            op.cyclic = None
            rewriter.notify_op_modified(op)


KERNEL: Table = (
    (kernel.ReshapeOp, (DropReshapeToSameShape(), FoldReshapeOfReshape())),
    (kernel.RepetitionOp, (DropRepetitionOnce(), FoldRepetitionOfRepetition())),
    (kernel.SliceOp, (DropWholeSlice(), FoldSliceOfSlice())),
    (kernel.ReductionOp, (DropReductionOfOne(),)),
)


def canonicalization_patterns(op: type[kernel.TensorOp]) -> tuple[RewritePattern, ...]:
    """The patterns that bring an operator of class `op` into its simplest form."""
    return patterns_for(op, SHARED, KERNEL)
