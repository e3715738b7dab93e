"""Sums across blocks through device memory: right in any order of blocks, without a fault."""

from collections.abc import Callable

import attention_cases as attention
import lowering_cases as cases
import lowering_tiles as tiles
import numpy as np
import pytest
from attention_cases import Heads
from lowered_kernels import check, lower
from lowering_cases import Linear
from random_attention import AttentionMaker
from sampling import sampled
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.launch import workspace_of
from mirage_mlir.interpreters.gpu_simulator import (
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)
from mirage_mlir.interpreters.gpu_simulator.faults import Checker

HEADS = {
    "usual": Heads(1, 16, 256, 16, 16, 64, 2),
    "ragged": Heads(1, 6, 150, 16, 8, 32, 3),
    "empty-blocks": Heads(1, 8, 70, 16, 8, 32, 4),
    "empty-block-of-four-warps": Heads(1, 8, 70, 16, 8, 64, 3),
    "empty-iterations": Heads(1, 8, 70, 16, 8, 16, 2),
    "many-blocks": Heads(1, 8, 300, 8, 8, 16, 17),
    "f32": Heads(1, 3, 30, 8, 3, 8, 2, "f32"),
}

LINEAR = Linear(16, 256, 64, 16, 32, 64)

SUMS: dict[str, Callable[[], ModuleOp]] = {
    "split-k": lambda: cases.split_linear(LINEAR, 2, more=False),
    "maxima-and-sums": lambda: cases.split_linear(Linear(5, 100, 20, 5, 10, 20), 5, more=True),
    "f32": lambda: cases.split_linear(Linear(4, 40, 6, 4, 8, 6, "f32"), 2, more=True),
    "roots": lambda: cases.split_roots(Linear(16, 256, 48, 16, 32, 48), 4),
    "no-loop": lambda: tiles.sums_across(17, 64, 2, 8),
}


@pytest.mark.parametrize("name", sampled(list(HEADS), 2))
def test_attention(name: str) -> None:
    """Each block's sums are relative to its own maximum."""
    check(attention.attention(HEADS[name]), target="A100")


@pytest.mark.parametrize("name", ["usual", "f32"])
def test_attention_whose_maxima_are_asked_for(name: str) -> None:
    check(attention.observed_attention(HEADS[name]), target="A100", order=1)
    check(attention.jointly_shifted(HEADS[name]), target="A100", order=2)


@pytest.mark.parametrize(
    "s", [Heads(1, 8, 128, 16, 8, 64, 2), Heads(2, 5, 100, 9, 5, 40, 3), HEADS["many-blocks"]]
)
def test_attention_without_a_loop(s: Heads) -> None:
    check(attention.attention_without_loop(s._replace(keys=s.blocks * s.step - 1)), target="A100")


@pytest.mark.parametrize("seed", sampled([1, 8, 17, 33, 56], 2))
def test_random_attention(seed: int) -> None:
    made = AttentionMaker(seed).make()
    kernels = check(made, target="A100", order=seed)
    workspace = workspace_of(kernels)
    assert workspace is not None
    assert workspace.counter_bytes > 0


@pytest.mark.parametrize("name", SUMS)
def test_sums(name: str) -> None:
    kernels = check(SUMS[name](), target="A100")
    assert "nvvm.cluster_dim" not in str(kernels)


@pytest.mark.parametrize("target", ["A100", "H200"])
def test_more_blocks_than_a_cluster_has(target: str) -> None:
    check(cases.split_linear(Linear(16, 1024, 32, 16, 32, 32), 16, more=False), target=target)


@pytest.mark.parametrize("name", ["split-k", "roots"])
def test_the_order_of_blocks_changes_nothing(name: str) -> None:
    """To the last bit: parts are added in the order of the blocks, whichever is the last."""
    kernels = lower(SUMS[name](), target="A100")
    inputs = random_inputs(kernels)
    first = run_kernels(kernels, inputs)
    for order in range(3):
        for one, other in zip(first, run_kernels(kernels, inputs, order=order), strict=True):
            assert np.array_equal(one, other)


def operations(kernels: gpu.ModuleOp, kind: type[Operation]) -> list[Operation]:
    return [op for op in kernels.walk() if isinstance(op, kind)]


def fault_of(kernels: gpu.ModuleOp, order: int | None = None) -> FaultKind:
    with pytest.raises(KernelFault) as caught:
        run_kernels(kernels, random_inputs(kernels), order=order)
    return caught.value.kind


def test_parts_that_are_not_fenced() -> None:
    kernels = lower(SUMS["split-k"](), target="A100")
    (fence,) = operations(kernels, nvvm.MemoryBarrierOp)
    fence.detach()
    assert fault_of(kernels) == FaultKind.RACE


@pytest.mark.parametrize("which", [0, 1])
def test_threads_that_do_not_meet(which: int) -> None:
    """Before one of them counts the block, and before the others know what it found."""
    kernels = lower(SUMS["split-k"](), target="A100")
    (count,) = operations(kernels, nvvm.AtomicCountOp)
    inner = count.parent_op()
    assert inner is not None
    barrier = inner.prev_op if which == 0 else inner.next_op
    while not isinstance(barrier, nvvm.BarrierOp):
        assert barrier is not None
        barrier = barrier.prev_op if which == 0 else barrier.next_op
    barrier.detach()
    assert fault_of(kernels) in (FaultKind.RACE, FaultKind.UNINITIALISED)


def test_counters_that_are_not_0_again() -> None:
    kernels = lower(SUMS["split-k"](), target="A100")
    (count,) = operations(kernels, nvvm.AtomicCountOp)
    more = arith.ConstantOp(IntegerAttr(7, i32))
    block = count.parent_block()
    assert block is not None
    block.insert_op_before(more, count)
    (told,) = [use.operation for use in count.results[0].uses]
    told.operands[0] = count.operands[1]
    count.operands[1] = more.result
    inputs = random_inputs(kernels)
    checker = Checker(keep_going=True)
    run_kernels(kernels, inputs, checker=checker)
    assert any("not 0 for the next call" in str(fault) for fault in checker.faults)


def test_blocks_that_go_on_too_early() -> None:
    """The first block takes itself for the last: others' parts are not there, in any order."""
    kernels = lower(SUMS["split-k"](), target="A100")
    (count,) = operations(kernels, nvvm.AtomicCountOp)
    (told,) = [use.operation for use in count.results[0].uses]
    assert isinstance(told, llvm.StoreOp)
    told.operands[0] = count.operands[1]
    assert fault_of(kernels) in (FaultKind.RACE, FaultKind.UNINITIALISED)
    assert fault_of(kernels, order=1) in (FaultKind.RACE, FaultKind.UNINITIALISED)
