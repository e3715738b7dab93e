"""
Emits thread graphs with masks of indices: of tiles that no mask hides anything of, without them.

Source: FlashAttention-2 (Dao, 2023), section 3.1, masks no tiles but those on the diagonal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread
from mirage_mlir.dialects.loop_bounds import where_unmasked
from mirage_mlir.passes.codegen.emitter import Condition
from mirage_mlir.passes.codegen.loop_bounds import value_of_terms

if TYPE_CHECKING:
    from mirage_mlir.passes.codegen.context import KernelContext


def masks_of(graph: thread.GraphOp) -> dict[Operation, SSAValue]:
    """Selections whose conditions are known in unmasked iterations, with what they are there."""
    found: dict[Operation, SSAValue] = {}
    for op in graph.body.block.ops:
        known = where_unmasked(op)
        if isinstance(op, arith.SelectOp) and known is not None:
            found[op] = op.lhs if known else op.rhs
    return found


def is_unmasked(ctx: KernelContext) -> Condition:
    """Whether no mask hides anything in this iteration of this block."""
    unmasked, emit = ctx.graph.unmasked, ctx.emit
    if unmasked is None or len(ctx.iterations) != 1:
        return False
    iteration, block = ctx.iterations[0], ctx.blocks[unmasked.axis]
    holds: list[Condition] = []
    if unmasked.first:
        holds.append(emit.negate(emit.less(iteration, value_of_terms(emit, unmasked.first, block))))
    if unmasked.end:
        holds.append(emit.less(iteration, value_of_terms(emit, unmasked.end, block)))
    return emit.all(holds)
