"""Loops, branches, the kernel's end, and the registers that say which thread this is."""

import numpy as np
from xdsl.dialects import llvm, scf
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import GridDependency
from mirage_mlir.interpreters.gpu_simulator import mbarriers, warpgroups
from mirage_mlir.interpreters.gpu_simulator.barriers import cluster_barrier, may_wait
from mirage_mlir.interpreters.gpu_simulator.clocks import WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Iterations, Rule, Rules


def run_for(state: Flow, op: Operation) -> None:
    """All active threads take the same iterations."""
    assert isinstance(op, scf.ForOp)
    numbers = range(*(state.uniform(op, value) for value in (op.lb, op.ub, op.step)))
    values = [state.values[value] for value in op.iter_args]
    if not numbers:
        state.values.update(zip(op.results, values, strict=True))
        return
    iterations = Iterations(op, numbers)
    state.start_iteration(iterations, values)
    state.enter(op.body.block, state.active, iterations)


def run_if(state: Flow, op: Operation) -> None:
    """
    Each thread takes its branch; a branch that none takes is not run.

    Where branches have results all threads take the same one.

    Threads of one warp stay together. Warps that take different branches part if there is
    something to wait for in one.
    """
    assert isinstance(op, scf.IfOp)
    if op.results:
        region = op.true_region if state.uniform(op, op.cond) else op.false_region
        state.enter(region.block, state.active)
        return
    condition = state.array(op.cond)
    taken = state.whole_warps(state.active & condition)
    if (state.active & ~taken).any() and taken.any() and may_wait(state, op):
        state.part(taken)
    before = state.active
    for region, chosen in ((op.false_region, ~condition), (op.true_region, condition)):
        active = before & chosen
        if region.blocks and active.any():
            state.enter(region.block, active)


def run_yield(state: Flow, op: Operation) -> None:
    """The results of a branch; those of an iteration are taken at its end."""
    parent = op.parent_op()
    if isinstance(parent, scf.IfOp):
        values = [state.values[value] for value in op.operands]
        state.values.update(zip(parent.results, values, strict=True))


def read_block_index(axis: int) -> Rule:
    """The block's index along one axis of the grid."""

    def rule(state: Flow, op: Operation) -> None:
        indices = np.array([block[axis] for block in state.blocks], np.int32)
        state.values[op.results[0]] = np.repeat(indices, state.shared.threads)

    return rule


def read_lane(state: Flow, op: Operation) -> None:
    """The thread's number in its warp."""
    state.values[op.results[0]] = np.arange(state.size, dtype=np.int32) % np.int32(WARP_THREADS)


def read_block_rank(state: Flow, op: Operation) -> None:
    """The block's number in its cluster."""
    state.values[op.results[0]] = state.ranks


def read_thread_index(state: Flow, op: Operation) -> None:
    """A block is a row of threads along x."""
    numbers = np.arange(state.shared.threads, dtype=np.int32)
    state.values[op.results[0]] = np.tile(numbers, len(state.blocks))


def run_return(state: Flow, op: Operation) -> None:
    """The threads end; the blocks with the last of them."""
    if state.shared.clocks.detailed:
        warpgroups.require_over(state, op)
    state.ended |= state.active
    cluster_barrier(state)
    if state.ended.all():
        warpgroups.require_registers(state, op)
        mbarriers.require_over(state, op)
        state.shared.end(op)


def run_grid_dependency(state: Flow, op: Operation) -> None:
    """Grids run one after the other here; what the previous one wrote counts from the wait on."""
    assert isinstance(op, nvvm_hopper.GridDependencyOp)
    if op.kind.data == GridDependency.WAIT:
        state.previous.wait(state.here)
    else:
        state.previous.launch_dependents(state.here)


def skip(state: Flow, op: Operation) -> None:
    """The end of a block of operations: whoever runs the block reads its operands."""


RULES: Rules = {
    llvm.ReturnOp: run_return,
    nvvm.BlockIdXOp: read_block_index(0),
    nvvm.BlockIdYOp: read_block_index(1),
    nvvm.BlockIdZOp: read_block_index(2),
    nvvm.LaneIdOp: read_lane,
    nvvm.ThreadIdXOp: read_thread_index,
    nvvm_hopper.ClusterBlockRankOp: read_block_rank,
    nvvm_hopper.GridDependencyOp: run_grid_dependency,
    scf.ForOp: run_for,
    scf.IfOp: run_if,
    scf.YieldOp: run_yield,
}
