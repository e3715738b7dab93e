"""Patterns rooted at operators of the threadblock dialect."""

from xdsl.pattern_rewriter import RewritePattern

from mirage_mlir.dialects import threadblock


def canonicalization_patterns(op: type[threadblock.TileOp]) -> tuple[RewritePattern, ...]:
    """The patterns that bring an operator of class `op` into its simplest form."""
    return ()
