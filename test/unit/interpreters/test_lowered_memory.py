"""What kernels written by hand do right and wrong with memory, barriers and copies."""

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
from matmul_kernel import SHARED_BYTES, kernel_body
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, gpu, llvm, scf
from xdsl.dialects.builtin import FloatAttr, f32, f64, i32
from xdsl.ir import Block, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.interpreters.gpu_simulator import (
    Checker,
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)

BOUNDS, RACE = FaultKind.OUT_OF_BOUNDS, FaultKind.RACE
INCOMPLETE, UNINITIALISED = FaultKind.INCOMPLETE, FaultKind.UNINITIALISED
DIVERGENCE, MISALIGNED = FaultKind.DIVERGENCE, FaultKind.MISALIGNED


def first_fault(module: gpu.ModuleOp) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run_kernels(module, random_inputs(module))
    return caught.value


def test_matmul_by_hand() -> None:
    """A kernel that the lowering did not make."""
    kernels = kernel(
        partial(kernel_body, columns=64),
        ["16x64xf16", "8x64xf16"],
        ["16x8xf32"],
        smem=SHARED_BYTES,
    )
    a, b = (x.astype(np.float16) for x in random_inputs(kernels))
    (result,) = run_kernels(kernels, [a, b])
    assert np.allclose(result, a.astype(np.float64) @ b.astype(np.float64).T, atol=1e-4)


def fill(offset: int = 0, step: int = 4) -> None:
    """Every thread writes an f32 to shared memory."""
    store(real(1.0), shared(offset, shared(times(thread(), step))))


def test_threads_that_write_one_byte() -> None:
    """Though they write one value."""
    assert faults(kernel(lambda: fill(step=0))) == [RACE]
    assert faults(kernel(lambda: fill(step=4))) == []


def test_write_after_read() -> None:
    def body(*, synchronize: bool) -> None:
        fill()
        nvvm.BarrierOp()
        load(shared(0))
        if synchronize:
            nvvm.BarrierOp()
        fill()

    assert faults(kernel(partial(body, synchronize=False))) == [RACE]
    assert faults(kernel(partial(body, synchronize=True))) == []


def test_own_bytes_need_no_barrier() -> None:
    def body() -> None:
        own = shared(times(thread(), 4))
        store(real(1.0), own)
        store(load(own), own)

    assert faults(kernel(body)) == []


def test_read_of_unwritten_memory() -> None:
    assert faults(kernel(lambda: load(shared(0)))) == [UNINITIALISED]


@pytest.mark.parametrize(("byte", "kind"), [(256, BOUNDS), (-4, BOUNDS), (2, MISALIGNED)])
def test_wrong_shared_addresses(byte: int, kind: FaultKind) -> None:
    def body() -> None:
        fill()
        nvvm.BarrierOp()
        load(shared(byte))

    assert faults(kernel(body)) == [kind]


@pytest.mark.parametrize(
    ("byte", "kinds"), [(240, []), (244, [BOUNDS, MISALIGNED]), (-16, [BOUNDS]), (8, [MISALIGNED])]
)
def test_wrong_device_addresses(byte: int, kinds: list[FaultKind]) -> None:
    def body(x: SSAValue) -> None:
        load(device(x, byte), 4)

    assert faults(kernel(body, ["64xf32"])) == kinds


def test_write_to_an_input() -> None:
    def body(x: SSAValue) -> None:
        store(real(1.0), x)

    assert faults(kernel(body, ["64xf32"])) == [FaultKind.READ_ONLY]


def test_results_of_a_launch_are_not_ordered() -> None:
    def body(y: SSAValue, *, read: bool) -> None:
        own = device(y, times(thread(), 4))
        store(real(1.0), own)
        store(real(1.0), own)
        if read:
            load(own)

    assert faults(kernel(partial(body, read=False), outputs=["32xf32"])) == []
    assert faults(kernel(partial(body, read=True), outputs=["32xf32"])) == [RACE]


def test_results_that_are_written_otherwise() -> None:
    def body(y: SSAValue, limit: int) -> None:
        store(arith.SelectOp(below(thread(), limit), real(1.0), real(2.0)).result, y)

    assert faults(kernel(partial(body, limit=32), outputs=["1xf32"])) == []
    assert faults(kernel(partial(body, limit=31), outputs=["1xf32"])) == [RACE]


def test_results_that_blocks_write_otherwise() -> None:
    def body(y: SSAValue) -> None:
        store(arith.SelectOp(below(nvvm.BlockIdXOp().res, 1), real(1.0), real(2.0)).result, y)

    assert faults(kernel(body, outputs=["1xf32"])) == []
    assert faults(kernel(body, outputs=["1xf32"], grid=(2, 1, 1))) == [RACE]


def test_barrier_that_some_do_not_reach() -> None:
    def body(limit: int) -> None:
        when(below(thread(), limit), nvvm.BarrierOp)

    assert faults(kernel(lambda: body(31))) == [DIVERGENCE]
    assert faults(kernel(lambda: body(32))) == []


def test_shuffle_in_a_part_of_a_warp() -> None:
    def shuffle() -> None:
        nvvm.ShflSyncOp(number(-1), real(1.0), number(1), number(31))

    def body(limit: int) -> None:
        when(below(thread(), limit), shuffle)

    assert faults(kernel(lambda: body(48), threads=64)) == [DIVERGENCE]
    assert faults(kernel(lambda: body(32), threads=64)) == []


def test_loop_with_different_ends() -> None:
    def body() -> None:
        block = Block(arg_types=[i32])
        with ImplicitBuilder(block):
            scf.YieldOp()
        scf.ForOp(number(0), thread(), number(1), [], block)

    assert faults(kernel(body)) == [DIVERGENCE]


def copy(x: SSAValue, wait: int | None, *, commit: bool = True) -> None:
    """Each thread copies four bytes to its place in shared memory."""
    at = times(thread(), 4)
    nvvm.CpAsyncSharedGlobalOp(shared(at), device(x, at), 4)
    if commit:
        nvvm.CpAsyncCommitGroupOp()
    if wait is not None:
        nvvm.CpAsyncWaitGroupOp(wait)


def test_copies_must_be_waited_for() -> None:
    def body(x: SSAValue, wait: int | None, *, commit: bool) -> None:
        copy(x, wait, commit=commit)
        nvvm.BarrierOp()
        load(shared(0))

    def found(wait: int | None, *, commit: bool = True) -> list[FaultKind]:
        return faults(kernel(partial(body, wait=wait, commit=commit), ["32xf32"]))

    assert found(0) == []
    assert INCOMPLETE in found(1)
    assert INCOMPLETE in found(None)
    assert INCOMPLETE in found(0, commit=False)


def test_copies_must_be_shown_to_other_threads() -> None:
    def body(x: SSAValue) -> None:
        copy(x, 0)
        load(shared(0))

    assert faults(kernel(body, ["32xf32"])) == [RACE]


def write_first(_: SSAValue) -> None:
    fill()


def read_first(_: SSAValue) -> None:
    fill()
    nvvm.BarrierOp()
    load(shared(0))


def copy_first(x: SSAValue) -> None:
    copy(x, None)


@pytest.mark.parametrize("first", [write_first, read_first, copy_first])
def test_copies_over_what_is_in_use(first: Callable[[SSAValue], object]) -> None:
    def body(x: SSAValue) -> None:
        first(x)
        copy(x, 0)

    assert faults(kernel(body, ["32xf32"])) == [RACE]


def test_a_copy_reads_no_more_than_it_is_told() -> None:
    def body(x: SSAValue, y: SSAValue, limit: int) -> None:
        last = device(x, 16)
        nvvm.CpAsyncSharedGlobalOp(shared(0), last, 16, "cg", number(limit))
        nvvm.CpAsyncCommitGroupOp()
        nvvm.CpAsyncWaitGroupOp(0)
        for byte in (0, 4):
            store(load(shared(byte)), device(y, byte))

    def module(limit: int) -> gpu.ModuleOp:
        def first_thread(x: SSAValue, y: SSAValue) -> None:
            when(below(thread(), 1), lambda: body(x, y, limit))

        return kernel(first_thread, ["5xf32"], ["2xf32"])

    (x,) = inputs = random_inputs(module(4))
    (copied,) = run_kernels(module(4), inputs)
    assert copied.tolist() == [x[4], 0.0]
    (nothing,) = run_kernels(module(0), inputs)
    assert nothing.tolist() == [0.0, 0.0]
    assert faults(module(8)) == [BOUNDS]


def test_cluster_memory() -> None:
    """A block reads the other's memory after both have synchronized, and no block ends before."""

    def barrier() -> None:
        nvvm_hopper.ClusterArriveOp()
        nvvm_hopper.ClusterWaitOp()

    def body(y: SSAValue, *, synchronize: bool, synchronize_again: bool) -> None:
        rank = nvvm_hopper.ClusterBlockRankOp().res
        value = arith.SelectOp(below(rank, 1), real(10.0), real(20.0)).result
        own = shared(times(thread(), 4))
        store(value, own)
        if synchronize:
            barrier()
        other = arith.SubiOp(number(1), rank).result
        seen = llvm.LoadOp(nvvm_hopper.MapClusterAddressOp(own, other), f32).dereferenced_value
        row = arith.AddiOp(times(nvvm.BlockIdXOp().res, 128), times(thread(), 4)).result
        store(seen, device(y, row))
        if synchronize_again:
            barrier()

    def module(*, synchronize: bool, synchronize_again: bool) -> gpu.ModuleOp:
        return kernel(
            partial(body, synchronize=synchronize, synchronize_again=synchronize_again),
            outputs=["4x32xf32"],
            grid=(4, 1, 1),
            cluster=(2, 1, 1),
        )

    assert RACE in faults(module(synchronize=False, synchronize_again=True))
    assert "ends block 0" in str(first_fault(module(synchronize=True, synchronize_again=False)))
    (result,) = run_kernels(module(synchronize=True, synchronize_again=True), [])
    assert result[:, 0].tolist() == [20.0, 10.0, 20.0, 10.0]


def test_one_fault_of_a_kind_for_an_operation() -> None:
    checker = Checker(keep_going=True)
    kernels = kernel(lambda: fill(step=0), grid=(3, 1, 1))
    run_kernels(kernels, [], checker=checker)
    assert len(checker.faults) == 1
    with pytest.raises(KernelFault, match=r"in block \(0, 0, 0\) of k"):
        run_kernels(kernels, [])


def test_unknown_operations() -> None:
    module = kernel(lambda: arith.SIToFPOp(thread(), f32))
    with pytest.raises(KernelFault, match=r"'arith\.sitofp' op is no operation"):
        run_kernels(module, [])


def test_unknown_types() -> None:
    module = kernel(lambda: arith.ConstantOp(FloatAttr(1.0, f64)))
    with pytest.raises(KernelFault, match="has a value of type f64"):
        run_kernels(module, [])


@pytest.mark.parametrize("name", ["kernel.interface", "kernel.workspace"])
def test_modules_without_a_plan(name: str) -> None:
    module = kernel(fill)
    del module.attributes[name]
    with pytest.raises(KernelFault, match=name):
        run_kernels(module, [])
