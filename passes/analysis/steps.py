"""
Which quotients and roots lead to a step: a floor, or a comparison.

`div.approx` and `sqrt.approx` err in the last place (PTX ISA: two units, one unit), of which a step
makes 1: where 82 / 41 comes out below 2 its floor is 1.
"""

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock

STEPS = (math.FloorOp, math.CeilOp, math.RoundEvenOp, arith.CmpfOp)

SMOOTH = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, arith.SelectOp),
    *(arith.MaximumfOp, arith.MinimumfOp, arith.ExtFOp, arith.TruncFOp, math.AbsFOp, math.SqrtOp),
)
"""Scalar operations whose result is as exact as their operands; behind others no digit counts."""

SUMS = (threadblock.MatmulOp, threadblock.ReduceSumOp, kernel.MatmulOp, kernel.ReduceSumOp)
"""Operations whose result depends on the order of its terms, in the last place and beyond."""


def before_steps(graph: kernel.GraphDefinedOp) -> frozenset[Operation]:
    """The quotients and roots of a kernel that lead to a step in it, or in a kernel behind it."""
    leading_nowhere = set[SSAValue]()
    inexact = (op for op in graph.walk() if isinstance(op, arith.DivfOp | math.SqrtOp))
    return frozenset(op for op in inexact if _leads(op.result, leading_nowhere))


def _leads(value: SSAValue, leading_nowhere: set[SSAValue]) -> bool:
    """Whether a scalar leads to a step; if not, all that it leads to joins `leading_nowhere`."""
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        found = waiting.pop()
        if found in seen or found in leading_nowhere:
            continue
        seen.add(found)
        for use in found.uses:
            if isinstance(use.operation, STEPS):
                return True
            if _is_smooth(use.operation):
                waiting += _made_of(use.operation, use.index)
    leading_nowhere |= seen
    return False


def _is_smooth(user: Operation) -> bool:
    """Whether the last place of what an operation takes counts in what it makes."""
    if isinstance(user, SUMS) or _is_sum(user):
        return False
    return user.dialect_name() not in thread.SCALAR_DIALECTS or isinstance(user, SMOOTH)


def _is_sum(user: Operation) -> bool:
    return isinstance(user, threadblock.AccumulateOp) and user.kind.data == "sum"


def _made_of(user: Operation, index: int) -> list[SSAValue]:
    """The values that an operation makes of operand `index`."""
    parent = user.parent_op()
    match user:
        case thread.StoreOp() if isinstance(parent, thread.GraphOp):
            return [parent.results[parent.stores.index(user)]]
        case threadblock.StoreOp() if isinstance(parent, kernel.GraphDefinedOp):
            stores = [op for op in parent.body.block.ops if isinstance(op, threadblock.StoreOp)]
            return [parent.outputs[stores.index(user)]]
        case thread.GraphOp() | kernel.GraphDefinedOp() if index < len(user.body.block.args):
            return [user.body.block.args[index]]
        case _:
            return list(user.results)
