"""Loops, branches, barriers, and the registers that say which thread this is."""

from collections.abc import Callable

import numpy as np
from xdsl.dialects import llvm, scf
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.interpreters.lowered.faults import unsupported
from mirage_mlir.interpreters.lowered.thread_block import Rules, ThreadBlock


def run_for(state: ThreadBlock, op: Operation) -> None:
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


def run_if(state: ThreadBlock, op: Operation) -> None:
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


def run_barrier(state: ThreadBlock, op: Operation) -> None:
    """All threads of the block meet."""
    if op.operands:
        raise unsupported(op, "is a named barrier, which no lowered kernel has")
    state.require_all(op)
    state.shared.barrier()


def read_block_index(axis: int) -> Callable[[ThreadBlock, Operation], None]:
    """The block's index along one axis of the grid."""

    def rule(state: ThreadBlock, op: Operation) -> None:
        state.values[op.results[0]] = state.filled(state.index[axis])

    return rule


def read_thread_index(state: ThreadBlock, op: Operation) -> None:
    """A block is a row of threads along x."""
    state.values[op.results[0]] = np.arange(state.threads, dtype=np.int32)


def skip(state: ThreadBlock, op: Operation) -> None:
    """The end of a block of operations: whoever runs the block reads its operands."""


RULES: Rules = {
    llvm.ReturnOp: skip,
    nvvm.BarrierOp: run_barrier,
    nvvm.BlockIdXOp: read_block_index(0),
    nvvm.BlockIdYOp: read_block_index(1),
    nvvm.BlockIdZOp: read_block_index(2),
    nvvm.ThreadIdXOp: read_thread_index,
    scf.ForOp: run_for,
    scf.IfOp: run_if,
    scf.YieldOp: skip,
}
