"""Rules of atomics and fences in device memory, and of conversions to tf32."""

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.nvvm_attributes import MemoryScope
from mirage_mlir.interpreters.float_domain import round_to_tf32
from mirage_mlir.interpreters.gpu_simulator.faults import unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.hand_off import COUNTER_BYTES, Counters


def run_conversion(state: Flow, op: Operation) -> None:
    """The nearest tf32, as the bits that a tensor core takes."""
    assert isinstance(op, nvvm.ConvertFloatToTf32Op)
    nearest = round_to_tf32(state.array(op.src)).astype(np.float32)
    state.values[op.res] = nearest.view(np.int32)


def run_fence(state: Flow, op: Operation) -> None:
    """What the active threads wrote is there for `scope` when they do what comes next."""
    assert isinstance(op, nvvm.MemoryBarrierOp)
    # Other blocks need not see what one block, or a cluster, is shown.
    if op.scope.data == MemoryScope.GPU:
        state.hand_off.fence(state.here)


def run_count(state: Flow, op: Operation) -> None:
    """Each active thread counts its block."""
    assert isinstance(op, nvvm.AtomicCountOp)
    pointer, here = state.pointer(op.ptr), state.here
    if not isinstance(pointer.memory, Counters):
        raise unsupported(op, "counts in memory that has no counters")
    access = state.access(op, pointer, here, COUNTER_BYTES, COUNTER_BYTES)
    before = np.zeros(state.size, np.int32)
    before[here] = pointer.memory.count(access, state.array(op.val)[here])
    state.values[op.res] = before


RULES: Rules = {
    nvvm.AtomicCountOp: run_count,
    nvvm.ConvertFloatToTf32Op: run_conversion,
    nvvm.MemoryBarrierOp: run_fence,
}
