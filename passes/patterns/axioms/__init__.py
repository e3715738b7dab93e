"""
The axioms A_eq of abstract expressions, and what follows from them, on the kernel dialect.

One pattern for each direction of an equation. Source: Wu et al., "Mirage" (OSDI 2025), section 4;
their sums have no indices, here what leaves a sum must lack the dimensions that are summed. The
equations hold over the reals: results are rounded elsewhere than before.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.pattern_rewriter import RewritePattern

from mirage_mlir.passes.patterns.axioms import elementwise, functions, products, sums


@dataclass(frozen=True)
class Rule:
    """
    A pattern under the name of its class.

    A `directed` one can be applied until it matches nowhere, alone or with other directed ones:
    operators become fewer, or as many with fewer divisions, or products and divisions come later.
    """

    pattern: type[RewritePattern]
    directed: bool

    @property
    def name(self) -> str:
        """The class's name in words: `join-sums` for `JoinSums`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", self.pattern.__name__).lower()


DIRECTED: tuple[type[RewritePattern], ...] = (
    sums.SumOfOne,
    sums.SumOfSum,
    sums.MulOutOfSum,
    sums.DivOutOfSum,
    sums.ScaleOutOfSum,
    sums.JoinSums,
    elementwise.MulOutOfAdd,
    elementwise.DivOutOfAdd,
    elementwise.DivOutOfMul,
    elementwise.JoinDivs,
    products.MulOutOfMatmul,
    products.DivOutOfMatmul,
    products.ScaleOutOfMatmul,
    products.JoinMatmulsLeft,
    products.JoinMatmulsRight,
    products.SumIntoMatmul,
    functions.JoinExps,
    functions.JoinSqrts,
    functions.SquareOfSqrt,
    functions.SqrtOfSquare,
)

UNDIRECTED: tuple[type[RewritePattern], ...] = (
    elementwise.CommuteAdd,
    elementwise.CommuteMul,
    elementwise.AssociateAddLeft,
    elementwise.AssociateAddRight,
    elementwise.AssociateMulLeft,
    elementwise.AssociateMulRight,
    elementwise.DistributeMul,
    elementwise.DistributeDiv,
    elementwise.MulOutOfDiv,
    elementwise.SplitDiv,
    sums.SplitSumOfDims,
    sums.SplitSum,
    sums.MulIntoSum,
    sums.DivIntoSum,
    products.DistributeMatmulLeft,
    products.DistributeMatmulRight,
    products.AssociateMatmulLeft,
    products.AssociateMatmulRight,
    products.MulIntoMatmul,
    functions.SplitExp,
    functions.SplitSqrt,
)

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for patterns, directed in ((DIRECTED, True), (UNDIRECTED, False))
    for rule in (Rule(pattern, directed) for pattern in patterns)
}
"""Every rule by its name, directed ones first."""
