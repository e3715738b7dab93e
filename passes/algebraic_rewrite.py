"""The `algebraic-rewrite` pass."""

from dataclasses import dataclass
from itertools import groupby

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from mirage_mlir.passes.patterns.axioms import RULES

DIRECTED = tuple(name for name, rule in RULES.items() if rule.directed)


@dataclass(frozen=True)
class AlgebraicRewritePass(ModulePass):
    """
    Rewrite kernel operators by named equations of the algebra that the search knows.

    Input:
        %y = kernel.div %x, %s : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
        %o = kernel.matmul %y, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>

    Output:
        %p = kernel.matmul %x, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
        %o = kernel.div %p, %s : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>

    The equations hold over the reals: a rewritten program rounds other intermediate values. The
    bodies of `graph_defined` stay as they are. Never fails on a program.
    """

    name = "algebraic-rewrite"

    rules: tuple[str, ...] = DIRECTED
    """
    The equations, in the order of their use; by default all directed ones.

    Directed ones that follow each other are applied together until none matches; one that is not
    directed is tried once on every operator.
    """

    def __post_init__(self) -> None:
        for name in self.rules:
            if name not in RULES:
                raise ValueError(f"there is no rule '{name}'; the rules are {', '.join(RULES)}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen = [RULES[name] for name in self.rules]
        for directed, group in groupby(chosen, key=lambda rule: rule.directed):
            if directed:
                patterns = [rule.pattern() for rule in group]
                applier = GreedyRewritePatternApplier(patterns, dce_enabled=False)
                PatternRewriteWalker(applier).rewrite_module(op)
            else:
                for rule in group:
                    walker = PatternRewriteWalker(rule.pattern(), apply_recursively=False)
                    walker.rewrite_module(op)
