"""Barriers of a block, of some of its warps, of one warp and of a cluster."""

import numpy as np
from xdsl.dialects import llvm
from xdsl.ir import Operation
from xdsl.traits import Pure

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.interpreters.gpu_simulator.clocks import WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules, Wait

WAITS = (
    nvvm.BarrierOp,
    nvvm_hopper.ClusterArriveOp,
    nvvm_hopper.ClusterWaitOp,
    nvvm_hopper.MBarrierWaitParityOp,
)
"""Operations at which threads wait for others."""

CLUSTER_OPS = (
    nvvm_hopper.ClusterArriveOp,
    nvvm_hopper.ClusterArriveRelaxedOp,
    nvvm_hopper.ClusterWaitOp,
)
"""The halves of the barrier of a cluster."""

NAMED_BARRIERS = 16
"""Barriers of a block (PTX ISA, bar)."""

CLUSTER, STARTED = NAMED_BARRIERS, NAMED_BARRIERS + 1
"""Stand for the barrier of the cluster, and for it where all only say that they have started."""

SHARED_POINTERS = (nvvm.SHARED, nvvm_hopper.CLUSTER_SHARED)

EVERYONE = -1
"""The mask of all lanes."""


def may_wait(state: Flow, op: Operation) -> bool:
    """Whether threads may wait for others inside `op`, in a kernel whose warps may part."""
    return state.shared.clocks.detailed and any(isinstance(inner, WAITS) for inner in op.walk())


def run_barrier(state: Flow, op: Operation) -> Wait | None:
    """All threads of the block synchronize, or as many as the operation says."""
    assert isinstance(op, nvvm.BarrierOp)
    if op.reduction_predicate is not None:
        raise unsupported(op, "reduces a predicate, which no lowered kernel does")
    threads = state.shared.threads
    if not state.shared.clocks.detailed:
        state.shared.barrier(state.require_groups(op, threads))
        return None
    if not state.arrived:
        state.require_warps(op)
        number = op.barrier_id and state.array(op.barrier_id)
        count = op.number_of_threads and state.array(op.number_of_threads)
        state.arrived = True
        state.barrier[state.active] = 0 if number is None else number[state.active]
        release_complete_barriers(state, op, count)
    return wait_at_barrier(state, op)


def run_barrier_arrive(state: Flow, op: Operation) -> None:
    """
    Threads are counted at a barrier, and go on.

    Those that wait there are not taken to see what these have written, as the hardware would have
    it: no lowered kernel needs that.
    """
    assert isinstance(op, nvvm.BarrierArriveOp)
    if not state.shared.clocks.detailed:
        raise unsupported(op, "is reached where all threads are together")
    state.require_warps(op)
    numbers, counts = state.array(op.barrier_id), state.array(op.number_of_threads)
    blocks = state.ranks
    for block, number in {(int(blocks[each]), int(numbers[each])) for each in state.here}:
        here = state.active & (blocks == block) & (numbers == number)
        place = (block, number)
        state.arrivals[place] = state.arrivals.get(place, 0) + int(here.sum())
        release_if_complete(state, op, place, counts[here])


def release_complete_barriers(state: Flow, op: Operation, counts: Array | None) -> None:
    """Let threads go on from each barrier at which as many are as its last arrivals expect."""
    threads = state.shared.threads
    for block in np.unique(state.here // threads):
        own = slice(block * threads, (block + 1) * threads)
        barrier, active = state.barrier[own], state.active[own]
        for number in np.unique(barrier[active & (barrier >= 0)]):
            here = active & (barrier == number)
            found = np.full(1, threads) if counts is None else counts[own][here]
            release_if_complete(state, op, (int(block), int(number)), found)


def release_if_complete(state: Flow, op: Operation, place: tuple[int, int], counts: Array) -> None:
    """Let threads go on from a barrier of a block which, as `counts` say, has them all."""
    block, number = place
    threads, expected = state.shared.threads, int(counts[0])
    barrier = state.barrier[block * threads : (block + 1) * threads]
    at = np.flatnonzero(barrier == number)
    found = len(at) + state.arrivals.get(place, 0)
    require_count(state, op, number, expected, found)
    others = state.expected.setdefault(place, expected)
    if (counts != others).any():
        odd = int(counts[np.argmax(counts != others)])
        message = f"is for {odd} threads, where others take it for {others}"
        state.checker.report(FaultKind.DIVERGENCE, op, message)
    if found == expected:
        state.shared.synchronize(block, at)
        barrier[at] = -1
        del state.expected[place]
        state.arrivals.pop(place, None)


def require_count(state: Flow, op: Operation, number: int, expected: int, found: int) -> None:
    """A barrier has a number that there is, and no more threads than it is for."""
    if not 0 <= number < NAMED_BARRIERS:
        raise unsupported(op, f"is barrier {number} of {NAMED_BARRIERS}")
    if expected % WARP_THREADS or not 0 < expected <= state.shared.threads:
        message = f"is for {expected} of {state.shared.threads} threads, not for whole warps"
        state.checker.report(FaultKind.DIVERGENCE, op, message)
    if found > expected:
        message = f"is for {expected} threads, but reached by {found}"
        state.checker.report(FaultKind.DIVERGENCE, op, message)


def wait_at_barrier(state: Flow, op: Operation) -> Wait | None:
    """Go on when the others have come."""
    here = state.active & (state.barrier >= 0)
    if not here.any():
        state.arrived = False
        return None
    number = int(state.barrier[np.argmax(here)])
    count = int((state.barrier == number).sum())
    name = "the cluster's barrier" if number >= CLUSTER else f"barrier {number}"
    return Wait(op, state.active & ~here, f"{name}, where {count} threads are")


def run_warp_barrier(state: Flow, op: Operation) -> None:
    """All lanes of a warp synchronize."""
    assert isinstance(op, nvvm.BarWarpSyncOp)
    warps = state.require_warps(op)
    if state.uniform(op, op.mask) != EVERYONE:
        raise unsupported(op, "is for some lanes of a warp, which no lowered kernel has")
    lanes = np.flatnonzero(warps)[:, None] * WARP_THREADS + np.arange(WARP_THREADS)
    state.shared.clocks.synchronize(lanes)


def run_cluster_arrive(state: Flow, op: Operation) -> None:
    """Threads of the cluster arrive; until they wait they leave shared memory alone."""
    require_cluster(state, op)
    between = op.next_op
    while between is not None and not isinstance(between, nvvm_hopper.ClusterWaitOp):
        if any(touches_shared(inner) for inner in between.walk()):
            raise unsupported(between, "uses shared memory where the cluster may be past a barrier")
        between = between.next_op
    if between is None:
        raise unsupported(op, "is not followed by its wait, as in each lowered kernel")


def touches_shared(op: Operation) -> bool:
    """Whether `op` reads or writes shared memory, or waits for who does."""
    pointers = [value.type for value in op.operands if isinstance(value.type, llvm.LLVMPointerType)]
    known = isinstance(op, llvm.GEPOp) or op.has_trait(Pure)
    return isinstance(op, WAITS) or (not known and any(p in SHARED_POINTERS for p in pointers))


def run_cluster_start(state: Flow, op: Operation) -> None:
    """Threads of the cluster say that they have started, which orders nothing that they do."""
    require_cluster(state, op)
    behind = op.next_op
    while behind is not None and not isinstance(behind, CLUSTER_OPS):
        behind = behind.next_op
    if not isinstance(behind, nvvm_hopper.ClusterWaitOp):
        raise unsupported(op, "is not followed by its wait, as in each lowered kernel")


def run_cluster_wait(state: Flow, op: Operation) -> Wait | None:
    """All threads of the cluster that have not ended have synchronized, or started."""
    require_cluster(state, op)
    before = op.prev_op
    while before is not None and not isinstance(before, CLUSTER_OPS):
        before = before.prev_op
    if before is None or isinstance(before, nvvm_hopper.ClusterWaitOp):
        raise unsupported(op, "waits for threads that have not arrived")
    number = CLUSTER if isinstance(before, nvvm_hopper.ClusterArriveOp) else STARTED
    if not state.shared.clocks.detailed:
        state.shared.deliveries.meet() if number == STARTED else state.shared.cluster_barrier()
        return None
    if not state.arrived:
        state.arrived = True
        state.barrier[state.active] = number
        cluster_barrier(state)
    return wait_at_barrier(state, op)


def require_cluster(state: Flow, op: Operation) -> None:
    """All threads are here; those of whole warps, where warps may part."""
    detailed = state.shared.clocks.detailed
    state.require_groups(op, WARP_THREADS if detailed else state.size)


def cluster_barrier(state: Flow) -> None:
    """Let all threads go on from the cluster's barrier once none is missing."""
    present = state.barrier >= CLUSTER
    if not present.any() or not (present | state.ended).all():
        return
    if (state.barrier == STARTED).any():
        state.shared.deliveries.meet()
        state.barrier[present] = -1
        return
    threads = state.shared.threads
    for block in range(len(state.blocks)):
        own = slice(block * threads, (block + 1) * threads)
        state.shared.synchronize(block, np.flatnonzero(present[own]))
    state.shared.clocks.synchronize_cluster(np.flatnonzero(present))
    state.shared.show()
    state.barrier[present] = -1


RULES: Rules = {
    nvvm.BarWarpSyncOp: run_warp_barrier,
    nvvm.BarrierOp: run_barrier,
    nvvm.BarrierArriveOp: run_barrier_arrive,
    nvvm_hopper.ClusterArriveOp: run_cluster_arrive,
    nvvm_hopper.ClusterArriveRelaxedOp: run_cluster_start,
    nvvm_hopper.ClusterWaitOp: run_cluster_wait,
}
