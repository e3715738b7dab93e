"""
Emits thread graphs with masks of indices: of tiles that no mask hides anything of, without them.

Source: FlashAttention-2 (Dao, 2023), section 3.1, masks no tiles but those on the diagonal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.passes.codegen.emitter import Condition
from mirage_mlir.passes.codegen.loop_bounds import value_of_terms

if TYPE_CHECKING:
    from mirage_mlir.passes.codegen.context import KernelContext


def masks_of(graph: thread.GraphOp) -> dict[Operation, SSAValue]:
    """The selections of a value or a number by a condition on indices, with the values."""
    free: set[SSAValue] = {
        argument
        for argument, value in zip(graph.body.block.args, graph.operands, strict=True)
        if isinstance(value.owner, threadblock.IotaOp)
    }
    found: dict[Operation, SSAValue] = {}
    if not free:
        return found
    for op in graph.body.block.ops:
        if op.results and free.issuperset(op.operands):
            free.update(op.results)
        elif isinstance(op, arith.SelectOp) and op.cond in free:
            values = [each for each in (op.lhs, op.rhs) if not _is_number(each)]
            if len(values) == 1 and values[0] not in free:
                found[op] = values[0]
    return found


def _is_number(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


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
