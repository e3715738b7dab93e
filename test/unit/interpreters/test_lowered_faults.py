"""What is wrong with lowered kernels that were broken is found."""

from collections.abc import Callable
from dataclasses import replace

import lowering_cases as cases
import lowering_tiles as tiles
import numpy as np
import pytest
from hand_kernels import (
    faults,
    set_in_interface,
)
from lowered_kernels import draw, emit, function_of, graphs_of, lower, schedule
from lowering_cases import Linear
from small_graphs import ALL, tensor
from xdsl.dialects import gpu
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i32,
)
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.dialects.layout import set_shared_buffer, shared_buffer
from mirage_mlir.dialects.nvvm_attributes import GridDependency
from mirage_mlir.interpreters import run_function
from mirage_mlir.interpreters.gpu_simulator import (
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)

BOUNDS, RACE = FaultKind.OUT_OF_BOUNDS, FaultKind.RACE
INCOMPLETE, UNINITIALISED = FaultKind.INCOMPLETE, FaultKind.UNINITIALISED

PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    "attention": lambda: cases.attention(16, 16, 16),
    "softmax": lambda: tiles.softmax(2, 1000, 1),
    "invariant": lambda: cases.invariant_tiles(Linear(5, 20, 7, 0, 8, 0)),
    "reduced": lambda: cases.reduced_linear(Linear(16, 128, 16, 0, 64, 0), [1], "max", "sum"),
    "transposes": lambda: tiles.transposes(16, 16, (16, 16), "f16"),
    "cluster": lambda: cases.split_linear(Linear(16, 128, 32, 16, 16, 16), 4, more=True),
}
"""Programs whose kernels have several barriers."""


def split() -> ModuleOp:
    """Blocks of a cluster share what follows their sum."""
    return cases.split_linear(Linear(16, 128, 32, 16, 16, 16), 4, more=False)


RAGGED = Linear(3, 100, 50, 16, 32, 32)


def first_fault(module: gpu.ModuleOp) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run_kernels(module, random_inputs(module))
    return caught.value


@pytest.mark.parametrize("name", PROGRAMS)
def test_missing_barriers(name: str) -> None:
    """
    Each barrier is needed, but perhaps one.

    What follows a loop waits for the loop's end, though the last iteration may have read other
    buffers than the ones that are used again.
    """
    kernels = lower(PROGRAMS[name]())
    assert faults(kernels) == []
    barriers = [op for op in kernels.walk() if isinstance(op, nvvm.BarrierOp)]
    noticed = 0
    for barrier in barriers:
        block, follower = barrier.parent, barrier.next_op
        assert block is not None
        assert follower is not None
        barrier.detach()
        noticed += RACE in faults(kernels)
        block.insert_op_before(barrier, follower)
    assert noticed >= max(1, len(barriers) - 1)


@pytest.mark.parametrize("name", ["attention", "invariant", "reduced", "cluster"])
def test_every_wait_is_needed(name: str) -> None:
    kernels = lower(PROGRAMS[name]())
    for wait in [op for op in kernels.walk() if isinstance(op, nvvm.CpAsyncWaitGroupOp)]:
        pending = wait.n
        wait.n = IntegerAttr(pending.value.data + 1, i32)
        assert INCOMPLETE in faults(kernels)
        wait.n = pending


def test_every_meeting_of_a_cluster_is_needed() -> None:
    kernels = lower(PROGRAMS["cluster"]())
    arrivals = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.ClusterArriveOp)]
    assert len(arrivals) == 2
    for arrive in arrivals:
        wait = arrive.next_op
        assert isinstance(wait, nvvm_hopper.ClusterWaitOp)
        follower, block = wait.next_op, wait.parent
        assert follower is not None
        assert block is not None
        arrive.detach()
        wait.detach()
        assert RACE in faults(kernels)
        block.insert_ops_before([arrive, wait], follower)
    assert faults(kernels) == []


def test_blocks_that_have_arrived_leave_shared_memory_alone() -> None:
    """They may store what they have; others may have gone on to the kernel's end."""
    kernels = lower(split())
    *_, arrive = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.ClusterArriveOp)]
    mapped = next(op for op in kernels.walk() if isinstance(op, nvvm_hopper.MapClusterAddressOp))
    assert not isinstance(arrive.next_op, nvvm_hopper.ClusterWaitOp)
    assert faults(kernels) == []
    block = arrive.parent
    assert block is not None
    arrive.detach()
    block.insert_op_before(arrive, mapped)
    assert "uses shared memory" in str(first_fault(kernels))


def test_every_wait_for_a_cluster_has_its_arrival() -> None:
    """On a GPU a second wait after one arrival would never end."""
    kernels = lower(split())
    *_, wait = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.ClusterWaitOp)]
    block = wait.parent
    assert block is not None
    block.insert_op_after(nvvm_hopper.ClusterWaitOp(), wait)
    assert "waits for threads that have not arrived" in str(first_fault(kernels))


@pytest.mark.parametrize("name", ["softmax", "invariant", "cluster"])
def test_buffers_in_one_place(name: str) -> None:
    module = schedule(PROGRAMS[name]())
    for op in buffers_of(module):
        move(op, 0)
    assert RACE in faults(emit(module))


def test_buffers_that_are_too_close() -> None:
    module = schedule(cases.rmsnorm_linear(RAGGED))
    loads = [op for op in buffers_of(module) if isinstance(op, threadblock.LoadOp)]
    last = max(loads, key=offset_of)
    move(last, offset_of(last) - 512)
    # What one tile reads, the copy of a later iteration of the other one overwrites.
    assert INCOMPLETE in faults(emit(module))


def buffers_of(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if offset_of(op) >= 0]


def offset_of(op: Operation) -> int:
    return shared_buffer(op).offset


def move(op: Operation, offset: int) -> None:
    set_shared_buffer(op, replace(shared_buffer(op), offset=offset))


def test_less_shared_memory_than_planned() -> None:
    module = schedule(cases.rmsnorm_linear(RAGGED))
    graph = graphs_of(module)[0]
    graph.memory = replace(graph.memory, shared_bytes=graph.memory.shared_bytes // 2)
    assert BOUNDS in faults(emit(module))


@pytest.mark.parametrize("which", [0, 1])
def test_tiles_from_the_wrong_place(which: int) -> None:
    """No fault: each map reads what is there. But the result is wrong."""
    module = cases.rmsnorm_linear(Linear(32, 64, 32, 16, 32, 16))
    scheduled = schedule(module.clone())
    loads = [op for op in scheduled.walk() if isinstance(op, threadblock.LoadOp)]
    wrong = {ALL: which, which: ALL}
    loads[which].grid_map = i64_array([wrong[dim] for dim in loads[which].grid_map.get_values()])
    inputs = draw(function_of(module))
    (result,) = run_kernels(emit(scheduled), inputs)
    (expected,) = run_function(function_of(module), inputs)
    assert np.abs(result[:16, :16] - expected[:16, :16]).max() < 0.05
    assert np.abs(result - expected).max() > 0.5


def test_a_smaller_input() -> None:
    kernels = lower(cases.rmsnorm_linear(RAGGED))
    set_in_interface(kernels, inputs=ArrayAttr([tensor("3x100xf16"), tensor("99x50xf16")]))
    assert set(faults(kernels)) == {BOUNDS}


def test_a_larger_result() -> None:
    kernels = lower(tiles.softmax(5, 33, 2))
    set_in_interface(kernels, outputs=ArrayAttr([tensor("6x33xf16")]))
    fault = first_fault(kernels)
    assert fault.kind == UNINITIALISED
    assert "leaves 66 of the 396 bytes of output:0 unwritten" in str(fault)


def test_padding_that_is_not_cleared_shows_in_the_result() -> None:
    """No fault: matrix loads may reach past a tile. But the matmuls with NaN are NaN."""
    module = schedule(cases.rmsnorm_linear(RAGGED._replace(k=96, depth=24)))
    for op in module.walk():
        set_shared_buffer(op, replace(shared_buffer(op), zero_padding=False))
    kernels = emit(module)
    (result,) = run_kernels(kernels, random_inputs(kernels))
    assert np.isnan(result).any()


def test_the_place_of_a_fault() -> None:
    kernels = lower(tiles.softmax(2, 1000, 1))
    barrier = next(op for op in kernels.walk() if isinstance(op, nvvm.BarrierOp))
    barrier.detach()
    text = str(first_fault(kernels))
    # The fourth operation takes the exponential, the second wrote the maximum.
    assert text.startswith("graph.mlir:4:1: error: 'llvm.load' op has thread 1 read what another")
    assert text.endswith("of shared memory in block (0, 0, 0) of f_kernel_0 (race)")
    notes = first_fault(kernels).__notes__
    assert notes == ["graph.mlir:2:1: note: the other access is this 'llvm.store'"]


@pytest.mark.parametrize("number", range(5))
def test_what_the_previous_grid_may_still_use(number: int) -> None:
    """A kernel that starts early reads results of the previous grid, and writes, after a wait."""
    kernels = lower(tiles.chain(5, 9, 20, "f16"))
    waits = [
        op
        for op in kernels.walk()
        if isinstance(op, nvvm_hopper.GridDependencyOp) and op.kind.data == GridDependency.WAIT
    ]
    assert len(waits) == 5
    waits[number].detach()
    text = str(first_fault(kernels))
    assert "has thread 0 access what the previous grid may still use in block" in text


def test_constant_inputs_are_there_before_the_previous_grid_has_ended() -> None:
    module = cases.rmsnorm_linear(RAGGED)
    constant = DictionaryAttr({"kernel.constant": UnitAttr()})
    function_of(module).properties["arg_attrs"] = ArrayAttr([DictionaryAttr({}), constant])
    kernels = lower(module)
    assert faults(kernels) == []
    set_in_interface(kernels, constants=i64_array([]))
    assert "access what the previous grid may still use" in str(first_fault(kernels))
