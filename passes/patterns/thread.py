"""Patterns rooted at operations of the thread dialect."""

from xdsl.ir import BlockArgument
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import thread


class DropIdentityGraph(RewritePattern):
    """A thread graph whose every result is an operand of the same type is those operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: thread.GraphOp, rewriter: PatternRewriter) -> None:
        stored = [store.value for store in op.stores]
        args = [value for value in stored if isinstance(value, BlockArgument)]
        inputs = [op.inputs[arg.index] for arg in args]
        types = [value.type for value in inputs]
        if len(args) == len(stored) and types == [result.type for result in op.outputs]:
            rewriter.replace(op, (), inputs)
