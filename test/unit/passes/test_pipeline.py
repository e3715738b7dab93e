"""A warp that copies tiles: buffers, phases and parities, executed without a fault."""

import lowering_cases as cases
import pytest
from attention_cases import Heads, attention
from lowered_kernels import check, lower
from lowering_cases import Linear
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr

from mirage_mlir.decisions import registers, schedule
from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.dialects.launch import launch_of

LINEAR = Linear(13, 512, 48, 16, 32, 48)
"""Sixteen iterations; three rows of each left tile do not exist."""


def threads_of(function: llvm.FuncOp) -> int:
    launch = launch_of(function)
    assert launch is not None
    return launch.threads


@pytest.mark.parametrize("stages", [2, 3, 4, 7, 16])
def test_buffers_go_round(stages: int) -> None:
    kernels = check(cases.rmsnorm_linear(LINEAR), stages=stages)
    made = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.MBarrierInitOp)]
    assert len(made) == 2 * stages


@pytest.mark.parametrize("stages", [3, 4, 7])
def test_no_more_on_its_way_than_needed(stages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer also waits for copies that it started two iterations before."""
    plain = check(cases.gated_mlp(LINEAR), stages=stages)
    monkeypatch.setattr(schedule, "FLIGHT_BYTES", 1)
    kernels = check(cases.gated_mlp(LINEAR), stages=stages)
    waits = [
        sum(isinstance(op, nvvm_hopper.MBarrierWaitParityOp) for op in each.walk())
        for each in (plain, kernels)
    ]
    assert waits == [2, 3]


@pytest.mark.parametrize(
    ("threads", "beside", "launched"), [(128, 100, 160), (256, 100, 288), (256, 168, 384)]
)
def test_where_registers_are_few_producers_give_theirs(
    threads: int, beside: int, launched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registers, "BESIDE_SUMS", beside)
    linear = LINEAR._replace(rows=16, n=64, columns=64)
    kernels = check(cases.rmsnorm_linear(linear), threads=threads)
    (function,) = [op for op in kernels.walk() if isinstance(op, llvm.FuncOp)]
    assert threads_of(function) == launched
    given = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.SetMaxRegisterOp)]
    assert len(given) == (2 if launched > threads + 32 else 0)


@pytest.mark.parametrize("threads", [256, 384, 512])
def test_registers_are_those_of_a_multiprocessor(threads: int) -> None:
    count = registers.registers_of_consumers(threads)
    assert count % 8 == 0
    assert count * threads + registers.FEW_REGISTERS * 128 <= 65536
    assert count > registers.most_registers(threads + 128)


@pytest.mark.parametrize(("heads", "limit"), [(16, 96), (8, None)])
def test_blocks_side_by_side_share_the_registers(heads: int, limit: int | None) -> None:
    """
    Two blocks of nine warps have five on a quarter of a multiprocessor, which has a fourth of all.

    Sixteen clusters of eight do not have a multiprocessor for each block, eight do.
    """
    kernels = lower(attention(Heads(heads, 64, 4096, 64, 64, 128, 8)))
    (function,) = [op for op in kernels.walk() if isinstance(op, llvm.FuncOp)]
    found = function.attributes.get("nvvm.maxnreg")
    assert found == (None if limit is None else IntegerAttr(limit, 32))
    assert ("nvvm.minctasm" in function.attributes) == (limit is None)


def test_no_registers_are_taken_that_sums_need() -> None:
    """A thread has 96 sums of tiles of 64 x 256, and an operand is worked on too."""
    kernels = lower(attention(Heads(16, 64, 4096, 64, 64, 256, 8)))
    (function,) = [op for op in kernels.walk() if isinstance(op, llvm.FuncOp)]
    assert "nvvm.maxnreg" not in function.attributes


def test_few_threads_have_all_registers_beside_one_producer() -> None:
    """Single warps that multiply are given 255 each, and blocks can share a multiprocessor."""
    kernels = lower(attention(Heads(1, 16, 512, 64, 16, 64, 2)))
    (function,) = [op for op in kernels.walk() if isinstance(op, llvm.FuncOp)]
    assert threads_of(function) == 128 + 32
    assert not any(isinstance(op, nvvm_hopper.SetMaxRegisterOp) for op in kernels.walk())
