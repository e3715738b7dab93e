"""
Sinks reductions out of the loop: threads accumulate partial sums and exchange them once behind it.

`accumulate(reduce_sum(x))` is `reduce_sum(accumulate(x))`, and of the latter each thread keeps the
sum of its own elements only. So an iteration needs no exchange, nor a barrier where warps share a
row.
"""

from xdsl.ir import Operation

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.analysis.tile_attributes import broadcast_sides, reduced_sides


def sink_reductions(graph: kernel.GraphDefinedOp) -> None:
    """Accumulate what sums are made of, where nothing else uses these."""
    stages = threadblock.stages(graph)
    block = graph.body.block
    for op in list(block.ops):
        if not isinstance(op, threadblock.AccumulateOp) or stages[op.value] != Stage.LOOP:
            continue
        reduction = op.value.owner
        if not isinstance(reduction, threadblock.ReduceSumOp) or not may_wait(op, reduction):
            continue
        total = threadblock.AccumulateOp(reduction.input, "sum", op.across.get_values(), op.rescale)
        later = reduction.clone({reduction.input: total.result})
        total.location = op.location
        block.insert_ops_before([total, later], op)
        op.result.replace_all_uses_with(later.results[0])
        for old in (op, reduction):
            old.detach()
            old.erase()


def may_wait(op: threadblock.AccumulateOp, reduction: threadblock.ReduceSumOp) -> bool:
    """Whether the sum `op` of reductions may be the reduction of a sum."""
    alone = [use.operation for use in reduction.result.uses] == [op]
    if not alone or op.kind.data != "sum" or reduced_sides(reduction) is None:
        return False
    made = reduction.input.owner
    if not isinstance(made, Operation) or isinstance(made, threadblock.MatmulOp):
        return False  # Warps may have parts of a matmul.
    if op.rescale is None:
        return True
    shape = threadblock.shape_of(reduction.input)
    return broadcast_sides(threadblock.shape_of(op.rescale), shape) is not None
