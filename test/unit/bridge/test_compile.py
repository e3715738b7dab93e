"""`bridge.nvptx` and `bridge.ptxas` on a kernel built by hand."""

import subprocess
import sys
from pathlib import Path

import pytest
from matmul_kernel import matmul_kernel
from xdsl.dialects import gpu

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.bridge.ptxas import assemble
from mirage_mlir.diagnostics import PassFailure
from mirage_mlir.targets.target import DEFAULT_CHIPS


@pytest.fixture
def kernels() -> gpu.ModuleOp:
    module = matmul_kernel()
    module.verify()
    return module


@pytest.mark.parametrize("chip", DEFAULT_CHIPS)
def test_instructions_reach_the_ptx(kernels: gpu.ModuleOp, chip: str):
    ptx = to_ptx(kernels, chip)
    assert f".target {chip}" in ptx
    for instruction in (
        "cp.async.cg.shared.global",
        "cp.async.wait_group",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "bar.sync",
    ):
        assert instruction in ptx


@pytest.mark.parametrize("chip", DEFAULT_CHIPS)
def test_kernel_assembles_without_spills(kernels: gpu.ModuleOp, chip: str):
    cubin = assemble(to_ptx(kernels, chip), chip)
    assert cubin.data.startswith(b"\x7fELF")
    assert 16 <= cubin.registers <= 64
    assert (cubin.spill_bytes, cubin.stack_bytes, cubin.shared_bytes) == (0, 0, 0)
    assert f"'matmul' for '{chip}'" in cubin.log


def test_ptx_is_the_same_in_every_process(kernels: gpu.ModuleOp):
    program = (
        "import sys; from matmul_kernel import matmul_kernel;"
        "from mirage_mlir.bridge.nvptx import to_ptx;"
        "sys.stdout.write(to_ptx(matmul_kernel(), 'sm_90a'))"
    )
    support = Path(__file__).parents[2] / "support"
    root = Path(__file__).parents[3]
    made = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{support}:{root}", "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    # The seed of this process is another one.
    assert made == to_ptx(kernels, "sm_90a")


def test_compiling_leaves_the_module_alone(kernels: gpu.ModuleOp):
    before = str(kernels)
    to_ptx(kernels, "sm_80")
    assert str(kernels) == before


def test_unknown_chip(kernels: gpu.ModuleOp):
    with pytest.raises(PassFailure, match="cannot be compiled for 'sm_75'; there are sm_90a, sm_8"):
        to_ptx(kernels, "sm_75")


def test_missing_bindings_are_explained(kernels: gpu.ModuleOp, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIRAGE_MLIR_BINDINGS", "no_such_package")
    with pytest.raises(PassFailure, match=r"from 'no_such_package'.*MIRAGE_MLIR_BINDINGS"):
        to_ptx(kernels, "sm_80")
