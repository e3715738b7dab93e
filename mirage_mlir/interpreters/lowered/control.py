"""Loops, branches, barriers, and the registers that say which thread this is."""

import numpy as np
from xdsl.dialects import llvm, scf
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import GridDependency
from mirage_mlir.interpreters.lowered.cluster import WARP_THREADS, Cluster, Rule, Rules
from mirage_mlir.interpreters.lowered.faults import unsupported


def run_for(state: Cluster, op: Operation) -> None:
    """All active threads take the same turns."""
    assert isinstance(op, scf.ForOp)
    bounds = [state.uniform(op, value) for value in (op.lb, op.ub, op.step)]
    turn, *carried = op.body.block.args
    last = op.body.block.last_op
    assert last is not None
    values = [state.values[value] for value in op.iter_args]
    for number in range(*bounds):
        state.values[turn] = state.filled(number)
        state.values.update(zip(carried, values, strict=True))
        state.run(op.body.block)
        values = [state.values[value] for value in last.operands]
    state.values.update(zip(op.results, values, strict=True))


def run_if(state: Cluster, op: Operation) -> None:
    """Each thread takes its branch; a branch that none takes is not run."""
    assert isinstance(op, scf.IfOp)
    if op.results:
        raise unsupported(op, "has results, which no branch of a lowered kernel has")
    condition, before = state.array(op.cond), state.active
    for region, chosen in ((op.true_region, condition), (op.false_region, ~condition)):
        state.active = before & chosen
        if region.blocks and state.active.any():
            state.run(region.block)
    state.active = before


def run_barrier(state: Cluster, op: Operation) -> None:
    """All threads of the block meet."""
    if op.operands:
        raise unsupported(op, "is a named barrier, which no lowered kernel has")
    state.shared.barrier(state.require_groups(op, state.shared.threads))


def run_cluster_arrive(state: Cluster, op: Operation) -> None:
    """All threads of the cluster arrive together; what they do before they wait is not known."""
    state.require_groups(op, state.size)
    waits = op.next_op
    if not isinstance(waits, nvvm_hopper.ClusterWaitOp):
        raise unsupported(op, "is not followed by its wait, as in each lowered kernel")


def run_cluster_wait(state: Cluster, op: Operation) -> None:
    """All threads of the cluster have met."""
    state.require_groups(op, state.size)
    if not isinstance(op.prev_op, nvvm_hopper.ClusterArriveOp):
        raise unsupported(op, "waits for threads that have not arrived")
    state.shared.cluster_barrier()


def read_block_index(axis: int) -> Rule:
    """The block's index along one axis of the grid."""

    def rule(state: Cluster, op: Operation) -> None:
        indices = np.array([block[axis] for block in state.blocks], np.int32)
        state.values[op.results[0]] = np.repeat(indices, state.shared.threads)

    return rule


def read_lane(state: Cluster, op: Operation) -> None:
    """The thread's number in its warp."""
    state.values[op.results[0]] = np.arange(state.size, dtype=np.int32) % np.int32(WARP_THREADS)


def read_block_rank(state: Cluster, op: Operation) -> None:
    """The block's number in its cluster."""
    state.values[op.results[0]] = state.ranks


def read_thread_index(state: Cluster, op: Operation) -> None:
    """A block is a row of threads along x."""
    numbers = np.arange(state.shared.threads, dtype=np.int32)
    state.values[op.results[0]] = np.tile(numbers, len(state.blocks))


def run_return(state: Cluster, op: Operation) -> None:
    """The kernel ends."""
    state.shared.end(op)


def run_grid_dependency(state: Cluster, op: Operation) -> None:
    """Kernels run one after the other here; what the one in front wrote counts from the wait on."""
    assert isinstance(op, nvvm_hopper.GridDependencyOp)
    if op.kind.data == GridDependency.WAIT:
        state.waited[state.active] = True


def skip(state: Cluster, op: Operation) -> None:
    """The end of a block of operations: whoever runs the block reads its operands."""


RULES: Rules = {
    llvm.ReturnOp: run_return,
    nvvm.BarrierOp: run_barrier,
    nvvm.BlockIdXOp: read_block_index(0),
    nvvm.BlockIdYOp: read_block_index(1),
    nvvm.BlockIdZOp: read_block_index(2),
    nvvm.LaneIdOp: read_lane,
    nvvm.ThreadIdXOp: read_thread_index,
    nvvm_hopper.ClusterArriveOp: run_cluster_arrive,
    nvvm_hopper.ClusterBlockRankOp: read_block_rank,
    nvvm_hopper.ClusterWaitOp: run_cluster_wait,
    nvvm_hopper.GridDependencyOp: run_grid_dependency,
    scf.ForOp: run_for,
    scf.IfOp: run_if,
    scf.YieldOp: skip,
}
