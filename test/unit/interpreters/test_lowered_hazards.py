"""Hazards of lowered kernels that only a GPU would show, or not even that every time."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hand_kernels import (
    below,
    device,
    faults,
    kernel,
    load,
    number,
    real,
    shared,
    store,
    thread,
    times,
    when,
)
from hopper_kernels import TICKS, equal, over, plus, tensor_map
from lowered_kernels import lower
from lowering_cases import Linear, split_linear
from wgmma_kernels import MatmulKernel
from xdsl.dialects import arith, gpu, llvm, scf
from xdsl.dialects.builtin import UnitAttr, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import MemoryScope, MemoryScopeAttr
from mirage_mlir.dialects.nvvm_wgmma import WgmmaFenceOp, WgmmaWaitOp
from mirage_mlir.interpreters.gpu_simulator import (
    Checker,
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)
from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.clocks import Clocks
from mirage_mlir.interpreters.gpu_simulator.encoding import POISON
from mirage_mlir.interpreters.gpu_simulator.hand_off import HandedBuffer, HandOff

RACE, DEADLOCK, INCOMPLETE = FaultKind.RACE, FaultKind.DEADLOCK, FaultKind.INCOMPLETE


def cluster_barrier() -> None:
    nvvm_hopper.ClusterArriveOp()
    nvvm_hopper.ClusterWaitOp()


# Shared memory of other blocks


def lent_copy(_: SSAValue, y: SSAValue, tensor: SSAValue, *, waits: bool) -> None:
    """Each of two blocks has a row copied to its memory, which the other reads."""
    barrier, me = shared(128), thread()
    rank = nvvm_hopper.ClusterBlockRankOp().res

    def start() -> None:
        nvvm_hopper.MBarrierInitOp(barrier, number(1))
        nvvm_hopper.FenceMBarrierInitOp()
        nvvm_hopper.MBarrierArriveExpectTxOp(barrier, number(128))
        nvvm_hopper.CpAsyncBulkTensorLoadOp(shared(0), tensor, [number(0), rank], barrier)

    def wait() -> None:
        nvvm_hopper.MBarrierWaitParityOp(barrier, number(0), number(TICKS))

    when(equal(me, 0), start)
    nvvm.BarrierOp()
    if waits:
        wait()
    cluster_barrier()
    there = nvvm_hopper.MapClusterAddressOp(
        shared(times(me, 4)), arith.SubiOp(number(1), rank).result
    )
    value = llvm.LoadOp(there, f32).dereferenced_value
    store(value, device(y, plus(times(rank, 128), times(me, 4))))
    if not waits:
        wait()
    cluster_barrier()


def test_copies_that_another_block_reads() -> None:
    """The cluster's barrier does not wait for copies that nobody has waited for."""

    def module(*, waits: bool) -> gpu.ModuleOp:
        return kernel(
            partial(lent_copy, waits=waits),
            ["2x32xf32"],
            ["2x32xf32"],
            smem=136,
            grid=(2, 1, 1),
            cluster=(2, 1, 1),
            maps=[tensor_map("input:0", [32, 2], [128], [32, 1], element="f32")],
        )

    (x,) = inputs = random_inputs(module(waits=True))
    (y,) = run_kernels(module(waits=True), inputs)
    assert np.array_equal(y, x[::-1])
    assert faults(module(waits=False)) == [INCOMPLETE]


# Barriers and registers


def test_threads_that_disagree_about_a_named_barrier() -> None:
    """Two warps of three synchronize: both must say that they are two."""

    def body(more: int) -> None:
        warp = over(thread(), 32)
        count = plus(number(64), times(warp, more))
        when(below(thread(), 64), lambda: nvvm.BarrierOp(number(1), count))

    assert faults(kernel(lambda: body(0), threads=96)) == []
    assert FaultKind.DIVERGENCE in faults(kernel(lambda: body(32), threads=96))


def test_registers_that_nobody_gave_back() -> None:
    """Of 384 threads with 168 registers each, 256 can have 240 once 128 keep 24."""

    def body(few: int | None, many: int) -> None:
        def give() -> None:
            if few is not None:
                nvvm_hopper.SetMaxRegisterOp(few, "decrease")

        when(below(thread(), 256), lambda: nvvm_hopper.SetMaxRegisterOp(many, "increase"))
        when(equal(over(thread(), 128), 2), give)

    assert faults(kernel(lambda: body(24, 240), threads=384)) == []
    assert faults(kernel(lambda: body(None, 240), threads=384)) == [DEADLOCK]
    assert faults(kernel(lambda: body(32, 240), threads=384)) == [DEADLOCK]


def fence_once(kernels: gpu.ModuleOp, *, fence: bool) -> None:
    """Wait for all matmuls behind the loop, and let one fence stand in front of it or in it."""
    found = list(kernels.walk())
    (first,) = [op for op in found if isinstance(op, WgmmaFenceOp)]
    (wait,) = [op for op in found if isinstance(op, WgmmaWaitOp)]
    loop = first.parent_op()
    assert isinstance(loop, scf.ForOp)
    block = loop.parent
    assert block is not None
    wait.detach()
    block.insert_op_after(wait, loop)
    if fence:
        first.detach()
        block.insert_op_before(first, loop)


def test_registers_that_change_under_a_matmul() -> None:
    """Those of the next iteration's left side need a fence of that iteration."""
    kernels = MatmulKernel(iterations=2, left="registers").module()
    fence_once(kernels, fence=False)
    assert faults(kernels) == []
    fence_once_more = MatmulKernel(iterations=2, left="registers").module()
    fence_once(fence_once_more, fence=True)
    assert set(faults(fence_once_more)) == {RACE}


# Device memory


def handed_over(*, unordered: bool) -> list[str]:
    """What is wrong with a read of what a thread wrote, fenced and counted."""
    checker = Checker(keep_going=True)
    hand_off = HandOff()
    buffer = HandedBuffer.scratch(64, hand_off, checker)
    hand_off.start_block(Clocks(32, 1, detailed=False))
    op, first = llvm.UndefOp(f32), np.zeros(1, np.int64)
    buffer.write(Access(op, first, first, 4, 4), np.full((1, 4), POISON, np.uint8))
    hand_off.fence(first)
    hand_off.count(0)
    buffer.read(Access(op, first, first, 4, 4, unordered=unordered))
    return [str(fault) for fault in checker.faults]


def test_what_blocks_hand_over_is_not_read_at_any_time() -> None:
    """By loads of what never changes, or by tensor copies."""
    assert handed_over(unordered=False) == []
    (fault,) = handed_over(unordered=True)
    assert "read what others write" in fault


def test_fences_for_fewer_threads_than_those_of_the_device() -> None:
    kernels = lower(split_linear(Linear(16, 256, 64, 16, 32, 64), 2, more=False), target="A100")
    (fence,) = [op for op in kernels.walk() if isinstance(op, nvvm.MemoryBarrierOp)]
    assert faults(kernels) == []
    fence.scope = MemoryScopeAttr(MemoryScope.CTA)
    assert RACE in faults(kernels)


@pytest.mark.parametrize("limit", [-1, 17])
def test_copies_of_more_than_there_is_room_for(limit: int) -> None:
    def body(x: SSAValue) -> None:
        nvvm.CpAsyncSharedGlobalOp(shared(times(thread(), 16)), x, 16, "cg", number(limit))
        nvvm.CpAsyncCommitGroupOp()
        nvvm.CpAsyncWaitGroupOp(0)

    assert faults(kernel(body, ["64xf32"], smem=512)) == [FaultKind.OUT_OF_BOUNDS]


def ordered(x: SSAValue) -> Operation:
    """A load that orders others."""
    return llvm.LoadOp(x, f32, 4, ordering=4)


def constant_shared(_: SSAValue) -> Operation:
    """A load from shared memory that may be done at any time."""
    store(real(1.0), shared(times(thread(), 4)))
    found = load(shared(0)).owner
    assert isinstance(found, llvm.LoadOp)
    found.attributes["invariant"] = UnitAttr()
    return found


@pytest.mark.parametrize(
    ("make", "message"), [(ordered, "orders other accesses"), (constant_shared, "not to change")]
)
def test_loads_that_no_kernel_has(make: Callable[[SSAValue], Operation], message: str) -> None:
    module = kernel(make, ["64xf32"])
    with pytest.raises(KernelFault, match=message):
        run_kernels(module, random_inputs(module))
