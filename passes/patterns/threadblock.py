"""Patterns rooted at operators of the threadblock dialect alone."""

from xdsl.pattern_rewriter import RewritePattern

from mirage_mlir.dialects import threadblock
from mirage_mlir.passes.patterns.canonical import SHARED, patterns_for


def canonicalization_patterns(op: type[threadblock.TileOp]) -> tuple[RewritePattern, ...]:
    """The patterns that bring an operator of class `op` into its simplest form."""
    return patterns_for(op, SHARED)
