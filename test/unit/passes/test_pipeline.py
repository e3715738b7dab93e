"""A warp that copies tiles: buffers, phases and parities, executed without a fault."""

import lowering_cases as cases
import pytest
from lowered_kernels import check
from lowering_cases import Linear
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr

from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.graph import schedule
from mirage_mlir.passes import schedule_threadblock

LINEAR = Linear(13, 512, 48, 16, 32, 48)
"""Sixteen turns; three rows of each left tile do not exist."""


@pytest.mark.parametrize("stages", [2, 3, 4, 7, 16])
def test_buffers_go_round(stages: int) -> None:
    kernels = check(cases.rmsnorm_linear(LINEAR), stages=stages)
    made = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.MBarrierInitOp)]
    assert len(made) == 2 * stages


@pytest.mark.parametrize("stages", [3, 4, 7])
def test_no_more_on_its_way_than_needed(stages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer also waits for copies that it started two turns before."""
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
    monkeypatch.setattr(schedule_threadblock, "BESIDE_SUMS", beside)
    linear = LINEAR._replace(rows=16, n=64, columns=64)
    kernels = check(cases.rmsnorm_linear(linear), threads=threads)
    (function,) = [op for op in kernels.walk() if isinstance(op, llvm.FuncOp)]
    assert function.attributes["mirage.threads"] == IntegerAttr(launched, 64)
    given = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.SetMaxRegisterOp)]
    assert len(given) == (2 if launched > threads + 32 else 0)


@pytest.mark.parametrize("threads", [256, 384, 512])
def test_registers_are_those_of_a_multiprocessor(threads: int) -> None:
    count = schedule.registers_of_consumers(threads)
    assert count % 8 == 0
    assert count * threads + schedule.FEW_REGISTERS * 128 <= 65536
    assert count > schedule.most_registers(threads + 128)
