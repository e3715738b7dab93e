"""The `split-cross-block-sums` pass."""

from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.analysis.tile_attributes import (
    stores_along,
    summed_axes,
    sums_across,
    waits_for_split,
)
from mirage_mlir.passes.graph_pass import GraphPass
from mirage_mlir.targets.target import Target


def split(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Split the sums of `graph` if they are across more blocks than a cluster has."""
    if not waits_for_split(graph, target):
        return
    axes = summed_axes(graph)
    for store in graph.body.block.ops:
        if isinstance(store, threadblock.StoreOp) and stores_along(store, axes):
            fail(
                store,
                "stores, in each of the blocks that share a sum, a tile of its own",
                note="only the last block has a sum across blocks that are no cluster",
            )
    sum_within_blocks(graph)
    for number, op in enumerate(sums_across(graph)):
        require_first(op)
        op.partial_sum = i64_attr(number)
        store = StorePartialSumOp(number, op.value, op.rescale)
        store.location = op.location
        graph.body.block.insert_op_before(store, op)
    graph.schedule = replace(graph.schedule, sums_in_workspace=True)


def sum_within_blocks(graph: kernel.GraphDefinedOp) -> None:
    """Let each block sum, and if possible reduce, its own iterations before sums across blocks."""
    stages = threadblock.stages(graph)
    largest: dict[SSAValue, SSAValue] = {}
    for op in sums_across(graph):
        if stages[op.value] == Stage.LOOP:
            _sum_iterations(graph.body.block, op, largest)
        if op.rescale is None:
            _reduce_first(graph.body.block, op)


def _sum_iterations(
    block: Block, op: threadblock.AccumulateOp, largest: dict[SSAValue, SSAValue]
) -> None:
    """Put the sum over the block's iterations in front of the sum `op` across blocks."""
    rescale = op.rescale
    own = threadblock.AccumulateOp(op.value, op.kind.data, (), rescale)
    own.location = op.location
    block.insert_op_before(own, op)
    if rescale is not None and rescale not in largest:
        # It stands behind the sum, which keeps this maximum anyway.
        maximum = threadblock.AccumulateOp(rescale, "max")
        maximum.location = op.location
        block.insert_op_before(maximum, op)
        largest[rescale] = maximum.result
    op.operands[0] = own.result
    if rescale is not None:
        op.operands[1] = largest[rescale]


def _reduce_first(block: Block, op: threadblock.AccumulateOp) -> None:
    """Reduce each block's partial sum before the sum `op`, if the reduction is its only user."""
    users = [use.operation for use in op.result.uses]
    if len(users) != 1:
        return
    reduction = users[0]
    if not isinstance(reduction, threadblock.ReduceSumOp | threadblock.ReduceMaxOp):
        return
    if (op.kind.data == "sum") != isinstance(reduction, threadblock.ReduceSumOp):
        return
    early = reduction.clone({op.result: op.value})
    block.insert_op_before(early, op)
    total = threadblock.AccumulateOp(early.result, op.kind.data, op.across.get_values())
    total.location = op.location
    block.insert_op_before(total, op)
    reduction.result.replace_all_uses_with(total.result)
    for old in (reduction, op):
        old.detach()
        old.erase()


def require_first(op: threadblock.AccumulateOp) -> None:
    """Fail where `op` sums what depends on another such sum: each block arrives only once."""
    pending, seen = [*op.operands], set[SSAValue]()
    while pending:
        value = pending.pop()
        owner = value.owner
        if value in seen or not isinstance(owner, Operation):
            continue
        seen.add(value)
        if isinstance(owner, threadblock.AccumulateOp) and owner.across.get_values():
            fail(
                op,
                "sums across blocks what is made of another such sum",
                note="blocks that are no cluster have one sum, or several at once",
            )
        pending += owner.operands


@dataclass(frozen=True)
class SplitCrossBlockSumsPass(GraphPass):
    """
    Split sums across more blocks than a cluster has into partial sums in device memory (split-K).

    Input (with 32 blocks along axis 1 of the grid):
        %a = threadblock.accumulate %p across [1] : (...) -> !threadblock.tile<16x64xf32>

    Output (types left out; the graph's schedule gets `sums_in_workspace`):
        %b = threadblock.accumulate %p : (...) -> !threadblock.tile<16x64xf32>
        threadblock.store_partial_sum 0 %b
        %a = threadblock.accumulate %b across [1] {partial_sum = 0 : i64}

    Each block sums over its own iterations, stores its partial sum in a workspace, and increments a
    counter. The last block to do so computes the total and goes on alone. Where a total is only
    reduced, blocks reduce their partial sums first. A rescaled sum (`rescale`) is stored with the
    row maximum of its block. Sums across no more blocks than a cluster has are left alone: these
    blocks read each other's shared memory.

    Fails where blocks that share a sum store tiles of their own, where such a sum is made of
    another one, and on a module for another target.
    """

    name = "split-cross-block-sums"

    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        split(graph, target)
