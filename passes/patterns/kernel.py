"""Patterns rooted at operators of the kernel dialect."""

from xdsl.pattern_rewriter import RewritePattern

from mirage_mlir.dialects import kernel


def canonicalization_patterns(op: type[kernel.TensorOp]) -> tuple[RewritePattern, ...]:
    """The patterns that bring an operator of class `op` into its simplest form."""
    return ()
