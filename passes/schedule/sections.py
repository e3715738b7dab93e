"""Prologue, loop and epilogue of a block: which of them an operation belongs to."""

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import AwaitTileOp, AwaitTilesOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock import Stage


def by_stage(graph: kernel.GraphDefinedOp) -> dict[Stage, list[Operation]]:
    """The operations of each stage of `graph`, in their order."""
    stages = threadblock.stages(graph)
    parts: dict[Stage, list[Operation]] = {stage: [] for stage in Stage}
    for op in graph.body.block.ops:
        parts[stage_of(op, stages, looped=has_later_part(graph))].append(op)
    return parts


def stage_of(op: Operation, stages: dict[SSAValue, Stage], *, looped: bool) -> Stage:
    """The stage in which `op` runs: that of its result; stores come last."""
    if isinstance(op, BarrierOp | AwaitTileOp):
        return Stage(op.stage.data)
    if isinstance(op, AwaitTilesOp | ReleaseTilesOp):
        return Stage.LOOP
    if isinstance(op, threadblock.AccumulateOp):
        return Stage.LOOP if stages[op.value] == Stage.LOOP else Stage.POST
    if isinstance(op, StorePartialSumOp):
        return Stage.POST
    if isinstance(op, threadblock.StoreOp):
        # Stores keep their order, for it says which result each makes.
        return Stage.POST if looped else Stage.INVARIANT
    return max((stages[value] for value in op.results), key=list(Stage).index)


def has_later_part(graph: kernel.GraphDefinedOp) -> bool:
    """Whether something runs after a loop, or after sums across blocks."""
    ops = graph.body.block.ops
    return bool(graph.loop_sizes) or any(isinstance(op, threadblock.AccumulateOp) for op in ops)
