"""Rules of transaction barriers and of the fences before asynchronous accesses."""

import numpy as np
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.clocks import ORDINARY, WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules, Wait
from mirage_mlir.interpreters.gpu_simulator.shared_memory import NAME, SharedMemory
from mirage_mlir.interpreters.gpu_simulator.transactions import TransactionBarrier

BARRIER_BYTES = 8

MAX_COUNT = (1 << 20) - 1
"""Arrivals, and bytes, of a phase (PTX ISA, mbarrier)."""


def place_of(state: Flow, value: SSAValue, thread: int) -> tuple[int, int]:
    """The block, and the byte of its shared memory, that a thread's pointer points to."""
    pointer = state.pointer(value)
    assert isinstance(pointer.memory, SharedMemory)
    assert pointer.blocks is not None
    return int(pointer.blocks[thread]), int(pointer.offset[thread])


def run_init(state: Flow, op: Operation) -> None:
    """Each active thread makes a barrier."""
    assert isinstance(op, nvvm_hopper.MBarrierInitOp)
    for thread in state.here.tolist():
        block, byte = place_of(state, op.addr, thread)
        count = int(state.array(op.count)[thread])
        if not 0 < count <= MAX_COUNT:
            message = f"makes a barrier for {count} arrivals, not 1 to {MAX_COUNT}"
            state.checker.report(FaultKind.BARRIER, op, message)
            continue
        agent = state.shared.clocks.new_agent(block)
        if agent is None:
            raise unsupported(op, "makes more barriers than a lowered kernel has")
        threads, start = np.array([thread]), np.array([byte])
        access = Access(op, threads, start, BARRIER_BYTES, BARRIER_BYTES, np.array([block]))
        state.shared.reserve(access, agent)
        name = f"the barrier at byte {byte} of {NAME}"
        now = state.shared.clocks.now
        made = TransactionBarrier(op, name, count, thread, now, agent)
        state.transactions[block, byte] = made


def run_init_fence(state: Flow, op: Operation) -> None:
    """Show to copies the barriers that each active thread has made."""
    for barrier in state.transactions.values():
        barrier.shown |= bool(state.active[barrier.thread])


def barrier_of(
    state: Flow, op: Operation, address: SSAValue, thread: int
) -> TransactionBarrier | None:
    """The barrier to which a thread's pointer points; None after a fault was reported."""
    block, byte = place_of(state, address, thread)
    return barrier_at(state, op, block, byte, thread)


def barrier_at(
    state: Flow, op: Operation, block: int, byte: int, thread: int
) -> TransactionBarrier | None:
    """The barrier at a byte of a block that a thread uses; None after a fault was reported."""
    barrier = state.transactions.get((block, byte))
    if barrier is None:
        name = state.shared.name_of(thread)
        message = f"has {name} take byte {byte} of {NAME} for a barrier, which nothing made it"
        state.checker.report(FaultKind.UNINITIALISED, op, message)
        return None
    clocks = state.shared.clocks
    maker = barrier.thread % clocks.threads
    if thread // clocks.threads == block:
        made = clocks.is_over(thread, maker, barrier.made)
    else:
        made = bool(clocks.of_block(thread, block)[ORDINARY, maker] >= barrier.made)
    if not made:
        name = state.shared.name_of(thread)
        message = f"has {name} use {barrier.name} when it may not be made yet"
        state.checker.report(FaultKind.RACE, op, message, barrier.op)
    return barrier


def run_arrive(state: Flow, op: Operation) -> None:
    """Each active thread arrives, one after the other."""
    assert isinstance(op, nvvm_hopper.MBarrierArrival)
    if op.relaxed.value.data:
        raise unsupported(op, "releases nothing, which no lowered kernel's arrival does")
    expected = np.zeros(state.size, np.int32)
    if isinstance(op, nvvm_hopper.MBarrierArriveExpectTxOp):
        expected = state.array(op.txcount)
    address = op.operands[0]
    for thread in state.here.tolist():
        barrier = barrier_of(state, op, address, thread)
        if barrier is not None:
            arrive(state, op, barrier, thread, int(expected[thread]))
    if op.res is not None:
        state.values[op.res] = np.zeros(state.size, np.int64)


def arrive(
    state: Flow, op: Operation, barrier: TransactionBarrier, thread: int, expected: int
) -> None:
    """A thread arrives and expects some bytes."""
    if not barrier.missing:
        message = f"has {state.shared.name_of(thread)} arrive at {barrier.lacks}"
        state.checker.report(FaultKind.BARRIER, op, message)
        return
    if barrier.expected + expected > MAX_COUNT:
        message = (
            f"expects {barrier.expected + expected} bytes, of which {MAX_COUNT} can be counted"
        )
        state.checker.report(FaultKind.BARRIER, op, message)
    clocks = state.shared.clocks
    if thread // clocks.threads != barrier.thread // clocks.threads:
        barrier.visits[thread] = clocks.now
    barrier.arrive(clocks, thread, expected)
    require_bytes(state, op, barrier)


def require_bytes(state: Flow, op: Operation, barrier: TransactionBarrier) -> None:
    """A phase whose arrivals are complete gets no more bytes than they expect."""
    if not barrier.missing and barrier.copied > barrier.expected:
        message = f"makes it {barrier.copied} bytes of {barrier.lacks}"
        state.checker.report(FaultKind.BARRIER, op, message)


def run_wait(state: Flow, op: Operation) -> Wait | None:
    """Threads go on when each sees its barrier's phase to be over."""
    assert isinstance(op, nvvm_hopper.MBarrierWaitParityOp)
    parities = state.array(op.phase)
    waiting: dict[TransactionBarrier, list[int]] = {}
    for thread in state.here.tolist():
        barrier = barrier_of(state, op, op.addr, thread)
        if barrier is not None:
            waiting.setdefault(barrier, []).append(thread)
    ready, lacks = state.active.copy(), ""
    for barrier, threads in waiting.items():
        for thread in threads:
            if not barrier.lets_pass(int(parities[thread])):
                ready[thread], lacks = False, barrier.lacks
    if lacks:
        return Wait(op, ready, lacks)
    for barrier, threads in waiting.items():
        barrier.acquire(state.shared.clocks, np.array(threads))
    return None


def run_fence(state: Flow, op: Operation) -> None:
    """What active threads wrote is there for copies and matmuls that come after them."""
    state.shared.clocks.fence(state.here)


def run_elect(state: Flow, op: Operation) -> None:
    """The first lane of each warp."""
    assert isinstance(op, nvvm_hopper.ElectSyncOp)
    state.require_warps(op)
    if op.membermask is not None:
        raise unsupported(op, "is for some lanes of a warp, which no lowered kernel has")
    state.values[op.pred] = np.arange(state.size) % WARP_THREADS == 0


def require_over(state: Flow, op: Operation) -> None:
    """At the kernel's end no barrier waits for bytes, and every copy was waited for."""
    clocks = state.shared.clocks
    for (block, _), barrier in state.transactions.items():
        if barrier.copied != barrier.expected:
            message = f"ends at {barrier.lacks}"
            state.checker.report(FaultKind.BARRIER, op, message, barrier.op)
        own = slice(block * clocks.threads, (block + 1) * clocks.threads)
        if barrier.last_copy > clocks.known[0, own, barrier.agent].max():
            message = f"ends before a copy that {barrier.name} counts was waited for"
            state.checker.report(FaultKind.INCOMPLETE, op, message, barrier.op)
        for visitor, time in barrier.visits.items():
            column = visitor % clocks.threads
            assert clocks.abroad is not None
            if clocks.abroad[ORDINARY, own, visitor // clocks.threads, column].max() < time:
                name = state.shared.name_of(visitor)
                message = f"ends block {block} of the cluster while {name} may arrive there"
                state.checker.report(FaultKind.RACE, op, message, barrier.op)


RULES: Rules = {
    nvvm_hopper.ElectSyncOp: run_elect,
    nvvm_hopper.FenceMBarrierInitOp: run_init_fence,
    nvvm_hopper.FenceProxyOp: run_fence,
    nvvm_hopper.MBarrierArriveExpectTxOp: run_arrive,
    nvvm_hopper.MBarrierArriveOp: run_arrive,
    nvvm_hopper.MBarrierInitOp: run_init,
    nvvm_hopper.MBarrierWaitParityOp: run_wait,
}
