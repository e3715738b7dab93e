"""A warp copies while others compute: right kernels run, each of many wrong ones is found."""

from dataclasses import replace

import numpy as np
import pytest
from hand_kernels import below, faults, kernel, load, number, real, shared, store, thread, when
from hopper_kernels import CopyKernel, exclusive_or, over, plus, times
from lowered_edits import LEARNT, NOT_FOUND, outcomes
from lowered_kernels import draw, function_of, lower
from lowering_cases import Linear, rmsnorm_linear
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, i64

from mirage_mlir.dialects import nvvm
from mirage_mlir.interpreters.gpu_simulator import (
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)

RIGHT = CopyKernel()

RACE, DEADLOCK, INCOMPLETE = FaultKind.RACE, FaultKind.DEADLOCK, FaultKind.INCOMPLETE


def first_fault(module: gpu.ModuleOp) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run_kernels(module, random_inputs(module))
    return caught.value


@pytest.mark.parametrize("iterations", [1, 2, 3, 8])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_copies_through_few_buffers(iterations: int, stages: int) -> None:
    module = replace(RIGHT, iterations=iterations, stages=stages).module()
    (x,) = inputs = random_inputs(module)
    (result,) = run_kernels(module, inputs)
    assert np.array_equal(result, x.astype(np.float16))


@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (-3, 0), (4, 8), (0, -16), (-9, 24), (2, 64)])
def test_boxes_outside_of_the_tensor(swizzle: int, row: int, column: int) -> None:
    """They are zero there."""
    module = replace(RIGHT, swizzle=swizzle, row=row, column=column).module()
    (x,) = inputs = random_inputs(module)
    (result,) = run_kernels(module, inputs)
    wide = np.zeros((40 + 80, 64 + 160), np.float16)
    wide[40:80, 80:144] = x
    assert np.array_equal(result, wide[40 + row : 80 + row, 80 + column : 144 + column])


MUTANTS = {
    "reads without waiting": (replace(RIGHT, waits_full=False), INCOMPLETE),
    "overwrites without waiting": (replace(RIGHT, waits_empty=False), INCOMPLETE),
    "waits for the phase before": (replace(RIGHT, full_parity=1), DEADLOCK),
    "producer waits for the phase after": (replace(RIGHT, empty_parity=0), DEADLOCK),
    "reads the other buffer": (replace(RIGHT, slot_shift=1), INCOMPLETE),
    "arrives before it reads": (replace(RIGHT, arrives_early=True), RACE),
    "arrives before other lanes read": (replace(RIGHT, syncs_warp=False), RACE),
    "copies may overtake what it reads": (replace(RIGHT, fences=False), RACE),
    "too few arrivals": (replace(RIGHT, arrivals=1), DEADLOCK),
    "too many arrivals": (replace(RIGHT, arrivals=3), DEADLOCK),
    "expects too few bytes": (replace(RIGHT, bytes_expected=512), FaultKind.BARRIER),
    "expects too many bytes": (replace(RIGHT, bytes_expected=2048), DEADLOCK),
    "expects no bytes": (replace(RIGHT, expects=False), INCOMPLETE),
    "barriers without a fence": (replace(RIGHT, init_fence=False), RACE),
    "barriers that nobody knows yet": (replace(RIGHT, synchronizes=False), RACE),
    "never arrives": (replace(RIGHT, releases=False), DEADLOCK),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str) -> None:
    mutant, kind = MUTANTS[name]
    assert first_fault(mutant.module()).kind == kind


def test_a_deadlock_names_the_barriers() -> None:
    text = str(first_fault(replace(RIGHT, bytes_expected=2048).module()))
    assert "thread 0 to 63 for phase 0 of the barrier at byte 2048" in text
    assert "1024 of 2048 bytes" in text


def test_shared_memory_starts_where_swizzles_do() -> None:
    kernels = lower(rmsnorm_linear(Linear(16, 128, 64, 16, 64, 64)))
    assert faults(kernels) == []
    (memory,) = [op for op in kernels.body.block.ops if isinstance(op, llvm.GlobalOp)]
    memory.alignment = IntegerAttr(512, i64)
    assert faults(kernels) == [FaultKind.MISALIGNED]


def halves_meet(shift: int = 64, *, count: int = 64, reads: int = 32) -> gpu.ModuleOp:
    """
    Two warps synchronize at barrier 1, two others at `1 + 64 / shift`, and read what one wrote.
    """

    def body() -> None:
        store(real(1.0), shared(times(thread(), 4)))
        nvvm.BarrierOp(plus(over(thread(), shift), 1), number(count))
        load(shared(times(exclusive_or(thread(), reads), 4)))

    return kernel(body, threads=128, smem=512)


def test_named_barriers() -> None:
    assert faults(halves_meet()) == []
    assert faults(halves_meet(reads=64)) == [RACE]
    assert faults(halves_meet(shift=128, count=128, reads=64)) == []
    assert faults(halves_meet(count=96)) == [DEADLOCK]
    assert faults(halves_meet(shift=128, count=64)) == [FaultKind.DIVERGENCE, DEADLOCK]
    assert faults(halves_meet(count=16)) == [FaultKind.DIVERGENCE, DEADLOCK]


def test_barriers_of_a_warp() -> None:
    def body(*, synchronize: bool) -> None:
        store(real(1.0), shared(times(thread(), 4)))
        if synchronize:
            nvvm.BarWarpSyncOp(number(-1))
        load(shared(times(exclusive_or(thread(), 1), 4)))

    assert faults(kernel(lambda: body(synchronize=True))) == []
    assert faults(kernel(lambda: body(synchronize=False))) == [RACE]


def test_threads_that_never_meet() -> None:
    """One warp waits for the block's barrier, the others have ended."""

    def body() -> None:
        nvvm.BarWarpSyncOp(number(-1))
        when(below(thread(), 32), nvvm.BarrierOp)

    assert faults(kernel(body, threads=64)) == [DEADLOCK]


def test_mutants_of_a_lowered_kernel() -> None:
    """Each is found: by a fault, or by what it computes."""
    module = rmsnorm_linear(Linear(16, 384, 64, 16, 64, 64))
    kernels = lower(module, stages=3)
    found = list(outcomes(kernels, draw(function_of(module))))
    assert len(found) > 30
    assert [edit for edit, outcome in found if outcome == NOT_FOUND] == LEARNT
