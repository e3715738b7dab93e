"""Finding `ptxas`, and what it says."""

import sys
import tempfile
from pathlib import Path

import pytest

from mirage_mlir.bridge.ptxas import Cubin, PtxasError, assemble, find_ptxas

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"

STATIC_SHARED = (
    HEADER
    + """
.visible .entry small() { ret; }
.visible .entry large()
{
  .shared .align 4 .b8 tile[512];
  .reg .b32 %r<2>;
  mov.b32 %r1, tile;
  st.volatile.shared.b32 [%r1], %r1;
  ret;
}
"""
)


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_resources_are_those_of_the_greediest_kernel(temporary_folder: Path):
    cubin = assemble(STATIC_SHARED, "sm_80")
    assert cubin.shared_bytes == 512
    assert cubin.registers > 0
    kernels = {kernel.name: kernel for kernel in cubin.kernels}
    assert kernels.keys() == {"small", "large"}
    assert (kernels["small"].shared_bytes, kernels["large"].shared_bytes) == (0, 512)
    assert max(kernel.registers for kernel in cubin.kernels) == cubin.registers
    assert cubin.warnings == ()
    assert "'small'" in cubin.log
    assert "'large'" in cubin.log
    assert str(temporary_folder) not in cubin.log
    assert list(temporary_folder.iterdir()) == []


def test_spills_are_counted():
    values = range(300)
    lines = [
        ".visible .entry f(.param .u64 p) .maxntid 1024, 1, 1 {",
        ".reg .b32 %r<300>; .reg .b64 %q<1>; ld.param.b64 %q0, [p];",
        *(f"ld.volatile.global.b32 %r{i}, [%q0 + {4 * i}];" for i in values),
        *(f"st.volatile.global.b32 [%q0 + {4 * i}], %r{i};" for i in reversed(values)),
        "ret; }",
    ]
    cubin = assemble(HEADER + "\n".join(lines), "sm_80")
    assert cubin.registers == 64
    assert cubin.spill_bytes > 0
    assert cubin.stack_bytes > 0
    (kernel,) = cubin.kernels
    assert (kernel.spill_bytes, kernel.stack_bytes) == (cubin.spill_bytes, cubin.stack_bytes)


def test_what_ptxas_could_not_do():
    """A kernel that asks for more blocks on a multiprocessor than there can be."""
    text = ".visible .entry f() .maxntid 32, 1, 1 .minnctapersm 100 { ret; }"
    (warning,) = assemble(HEADER + text, "sm_80").warnings
    assert "minnctapersm" in warning


@pytest.mark.parametrize(("spilled", "used"), [(0, 40), (4, 64)])
def test_where_it_spills_more_registers_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spilled: int, used: int
):
    """A program in the place of ptxas, which spills 8 bytes by default and `spilled` if told to."""
    program = tmp_path / "ptxas"
    program.write_text(
        f"""#!{sys.executable}
import sys
more = "--register-usage-level=10" in sys.argv
spilled, registers = ({spilled}, {used}) if more else (8, 32)
print(f"{{spilled}} bytes stack frame, {{spilled}} bytes spill stores, 0 bytes spill loads")
print(f"Used {{registers}} registers")
open(sys.argv[sys.argv.index("-o") + 1], "w").close()
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("MIRAGE_PTXAS", str(program))
    cubin = assemble(HEADER, "sm_80")
    assert (cubin.spill_bytes, cubin.registers) == (spilled, used)


def test_rejected_ptx(temporary_folder: Path):
    with pytest.raises(PtxasError, match=r"rejected the kernel for sm_80: .*line 4") as raised:
        assemble(HEADER + "nonsense", "sm_80")
    assert str(temporary_folder) not in str(raised.value)
    assert list(temporary_folder.iterdir()) == []


def test_chosen_ptxas_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "my-ptxas"
    program.write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("MIRAGE_PTXAS", str(program))
    with pytest.raises(PtxasError, match=r"MIRAGE_PTXAS names '.*my-ptxas', which is no program"):
        find_ptxas()
    program.chmod(0o755)
    assert find_ptxas() == program
    with pytest.raises(PtxasError, match="rejected"):
        assemble(HEADER, "sm_80")


def test_a_ptxas_that_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "ptxas"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    monkeypatch.setenv("MIRAGE_PTXAS", str(program))
    with pytest.raises(PtxasError, match="cannot run"):
        assemble(HEADER, "sm_80")


def test_no_ptxas_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MIRAGE_PTXAS", raising=False)

    def find_nothing(name: str) -> None:
        assert name == "nvidia"

    monkeypatch.setattr("mirage_mlir.bridge.ptxas.find_spec", find_nothing)
    program = tmp_path / "ptxas"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_ptxas() == program
    program.unlink()
    with pytest.raises(PtxasError, match="install nvidia-cuda-nvcc"):
        find_ptxas()


def test_kernels_that_are_slowed():
    """By name: of many kernels of a program those are fine that are not named."""
    log = """
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized \
due to insufficient register resources for the wgmma pipeline in the function 'f_kernel_2' in line 9
ptxas info    : Compiling entry function 'f_kernel_0' for 'sm_90a'
    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'f_kernel_1' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'f_kernel_2' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
""".replace("\\\n", "")
    cubin = Cubin(b"", registers=0, spill_bytes=12, stack_bytes=0, shared_bytes=0, log=log)
    assert cubin.slowed == {"f_kernel_0", "f_kernel_2"}
