"""
What the search chooses assembles for both chips, and its kernels spill nothing.

These are the programs with the shortest searches; `benchmarks/assemble.py` has them all.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from assemble import MOST_SPILLED, WORKLOADS, Kernel, Outcome, assembled
from sampling import sampled

PROGRAMS = ("linear_bias_gelu", "lora", "mlp_relu", "ntrans", "rmsnorm", "softmax")


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_kernels_assemble(name: str) -> None:
    outcome = assembled(WORKLOADS / f"{name}.mlir")
    assert outcome.problem == ""
    assert {kernel.chip for kernel in outcome.kernels} == {"sm_90a", "sm_80"}
    assert [kernel for kernel in outcome.kernels if kernel.spilled > MOST_SPILLED] == []
    assert all(kernel.blocks >= 1 for kernel in outcome.kernels)
    assert outcome.warnings == ()
    assert outcome.good


def test_what_is_not_good() -> None:
    kernel = Kernel("f", "sm_80", "f_kernel_0", (8, 1, 1), 128, 64, MOST_SPILLED, 1024, 8)
    assert Outcome("f", (kernel,)).good
    assert not Outcome("f", (replace(kernel, spilled=MOST_SPILLED + 1),)).good
    assert not Outcome("f", problem="cannot be compiled").good


def test_a_program_that_cannot_be_compiled(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(")
    assert assembled(path).problem.startswith("PassFailure: f.mlir:1:")
