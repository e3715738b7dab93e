"""Kernels launched by other programs than ours: by C that cc compiled, and by code of MLIR."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gpu_prepared
import numpy as np
import pytest
from c_programs import CProgram, c_program
from gpu_prepared import Prepared
from gpu_runs import chip_here, run_guarded
from host_program_cases import HOST_CASES
from host_programs import HostProgram, descriptor
from kernel_kinds import KINDS
from numpy_reference import TOLERANCE, error, rms_norm
from optional_packages import package

from mirage_mlir.c_source.source import STATUSES
from mirage_mlir.runtime.artifact import Artifact

ROOT = Path(__file__).parents[2]

STATUS = {name: -number for number, name in enumerate(STATUSES, 1)}

CAPTURED, OVERLAP = STATUS["CAPTURED"], STATUS["OVERLAP"]

HERE = [name for name, kind in KINDS.items() if kind.marks_on("sm_90a") is not None]


@dataclass
class InC:
    """The functions of a C program, called as a `CompiledKernel` is."""

    artifact: Artifact
    program: CProgram
    torch: Any

    def __call__(self, *inputs: Any, out: Sequence[Any]) -> None:
        size = self.program.scratch_bytes()
        scratch = self.torch.full((max(size, 1),), 255, dtype=self.torch.uint8, device="cuda")
        stream = self.torch.cuda.current_stream().cuda_stream
        tensors = [tensor.data_ptr() for tensor in (*inputs, *out)]
        status = self.program.run(tensors, scratch.data_ptr() if size else 0, stream)
        assert status == 0, self.program.error(status)
        self.torch.cuda.synchronize()


@dataclass
class InMlir:
    """A function on buffers that MLIR's passes lowered, called as a `CompiledKernel` is."""

    artifact: Artifact
    program: HostProgram
    torch: Any

    def __call__(self, *inputs: Any, out: Sequence[Any]) -> None:
        # It launches on a stream of its own.
        self.torch.cuda.synchronize()
        specs = (*self.artifact.inputs, *self.artifact.outputs)
        given = [
            descriptor(tensor.data_ptr(), spec.shape, spec.strides)
            for tensor, spec in zip((*inputs, *out), specs, strict=True)
        ]
        self.program.call(self.artifact.name, *given)


def compare(results: Sequence[Any], prepared: Prepared) -> None:
    """The results are those of float64."""
    for result, wanted, limit in zip(results, prepared.wanted, prepared.limits, strict=True):
        assert error(result, wanted) <= limit


@pytest.mark.prepared(gpu_prepared.kind_here, "name")
@pytest.mark.parametrize("name", HERE)
def test_kinds_in_c(torch: Any, name: str, prepared: Prepared, tmp_path: Path) -> None:
    """Every kind of kernel: several in a call, scratch memory, counters, clusters, tensor maps."""
    artifact = prepared.kernel().artifact
    program = c_program(artifact, tmp_path)
    compare(run_guarded(torch, InC(artifact, program, torch), prepared.inputs), prepared)
    assert program.release() == 0


@pytest.mark.prepared(gpu_prepared.host_kind, "name")
@pytest.mark.parametrize("name", HERE)
def test_kinds_in_mlir(
    torch: Any, name: str, prepared: tuple[bytes, Prepared], tmp_path: Path
) -> None:
    """The same behind upstream's gpu-to-llvm, LLVM, and a run-time library for its functions."""
    package("llvmlite")
    made, wanted = prepared
    program = InMlir(wanted.kernel().artifact, HostProgram(made, tmp_path), torch)
    compare(run_guarded(torch, program, wanted.inputs), wanted)


PACKED = [name for name, kind in KINDS.items() if kind.constants]


@pytest.mark.prepared(gpu_prepared.host_kind, "name")
@pytest.mark.parametrize("name", PACKED)
def test_packed_once_in_mlir(
    torch: Any, name: str, prepared: tuple[bytes, Prepared], tmp_path: Path
) -> None:
    """One function packs the constants, and another one takes what it made."""
    package("llvmlite")
    made, wanted = prepared
    artifact, program = wanted.kernel().artifact, HostProgram(made, tmp_path)
    size = sum(-(-each.storage_bytes // 256) * 256 for each in artifact.targets[0].packed)
    memory = torch.full((size,), 255, dtype=torch.uint8, device="cuda")
    packed = descriptor(memory.data_ptr(), (size,), (1,))
    specs = (*artifact.inputs, *artifact.outputs)
    tensors = [
        torch.full(spec.shape, float("nan"), dtype=getattr(torch, spec.element_type.array_name))
        for spec in specs
    ]
    for tensor, values in zip(tensors, wanted.inputs, strict=False):
        tensor.copy_(torch.from_numpy(values))
    tensors = [tensor.cuda() for tensor in tensors]
    given = [
        descriptor(tensor.data_ptr(), spec.shape, spec.strides)
        for tensor, spec in zip(tensors, specs, strict=True)
    ]
    torch.cuda.synchronize()
    constants = KINDS[name].constants
    program.call("f_pack", *(given[number] for number in constants), packed)
    for number in constants:
        tensors[number].fill_(float("nan"))
    torch.cuda.synchronize()
    program.call("f_packed", *given, packed)
    outputs = tensors[len(artifact.inputs) :]
    compare([tensor.double().cpu().numpy() for tensor in outputs], wanted)


@pytest.mark.prepared(gpu_prepared.host_program, "name")
@pytest.mark.parametrize("name", HOST_CASES)
def test_host_programs(name: str, prepared: bytes, tmp_path: Path) -> None:
    """Loops, branches, calls and buffers of a host around kernels."""
    HOST_CASES[name].check(HostProgram(prepared, tmp_path))


def test_the_example_in_c(tmp_path: Path) -> None:
    """A process without Python, which finds nothing wrong, and something where there is."""
    program = ROOT / "examples" / "gated_mlp.mlir"
    tool = [sys.executable, "-m", "mirage_mlir.opt_main"]
    words = ["--superoptimize", "-t", "c", f"--artifacts={tmp_path}", str(program)]
    subprocess.run([*tool, *words], check=True, cwd=ROOT)
    values, check = tmp_path / "values", tmp_path / "check"
    script = ROOT / "examples" / "c" / "values.py"
    subprocess.run([sys.executable, script, tmp_path / "gated_mlp.mirage", values], check=True)
    sources = [ROOT / "examples" / "c" / "gated_mlp.c", tmp_path / "gated_mlp.c"]
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    libraries = ["-pthread", "-ldl", "-lm"]
    subprocess.run(["cc", *options, *sources, "-o", check, *libraries], check=True)
    found = subprocess.run([check, values], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "0 of 8192 values are wrong\n")
    wrong = bytearray(values.read_bytes())
    wrong[-1] ^= 0x7F
    values.write_bytes(wrong)
    found = subprocess.run([check, values], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "1 of 8192 values are wrong\n")


class Packed:
    """RMSNorm and a linear layer whose weight is packed, in C, and its tensors."""

    def __init__(self, torch: Any, made: bytes, folder: Path) -> None:
        self.torch = torch
        self.program = c_program(Artifact.from_bytes(made), folder)
        assert self.program.artifact.targets[0].packed
        x, w = self.program.artifact.inputs
        dtype = getattr(torch, x.element_type.array_name)
        self.limit = 2 * TOLERANCE[x.element_type.value]
        random = np.random.default_rng(3)
        self.x = torch.from_numpy(random.standard_normal(x.shape, np.float32)).to(dtype).cuda()
        values = random.standard_normal(w.shape, np.float32) / w.shape[0] ** 0.5
        self.w = torch.from_numpy(values).to(dtype).cuda()
        self.out = self.x.new_full((x.shape[0], w.shape[1]), float("nan"))
        size = self.program.scratch_bytes()
        self.scratch = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()

    def run(self) -> int:
        tensors = [tensor.data_ptr() for tensor in (self.x, self.w, self.out)]
        scratch = self.scratch.data_ptr() if self.program.scratch_bytes() else 0
        return self.program.run(tensors, scratch, self.torch.cuda.current_stream().cuda_stream)

    def is_right(self) -> bool:
        self.torch.cuda.synchronize()
        x, w = (tensor.double().cpu().numpy() for tensor in (self.x, self.w))
        return error(self.out.double().cpu().numpy(), rms_norm(x) @ w) <= self.limit


@pytest.fixture
def packed(torch: Any, prepared: bytes, tmp_path: Path) -> Packed:
    return Packed(torch, prepared, tmp_path)


@pytest.mark.prepared(gpu_prepared.packed_linear, "dtype")
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_packed_constants_in_c(torch: Any, dtype: str, packed: Packed) -> None:
    """They are packed in the first call, not in a graph, and anew behind a release."""
    graph = torch.cuda.CUDAGraph()
    status = 0
    with torch.cuda.graph(graph):
        status = packed.run()
    assert status == CAPTURED, packed.program.error(status)
    assert packed.run() == 0
    assert packed.is_right()
    packed.x.mul_(-0.5).add_(1)
    assert packed.run() == 0
    assert packed.is_right()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        status = packed.run()
    assert status == 0, packed.program.error(status)
    packed.x.add_(1)
    packed.out.fill_(float("nan"))
    graph.replay()
    assert packed.is_right()
    packed.w.mul_(0.5)
    assert packed.run() == 0
    assert not packed.is_right()
    assert packed.program.release() == 0
    assert packed.run() == 0
    assert packed.is_right()


@pytest.mark.prepared(gpu_prepared.packed_linear, "dtype")
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_threads_in_c(torch: Any, dtype: str, packed: Packed) -> None:
    """A thread without a context is told so; with one, any may call."""
    with ThreadPoolExecutor(1) as pool:
        status = pool.submit(packed.program.load).result()
        assert status == STATUS["NO_CONTEXT"], packed.program.error(status)
        pool.submit(torch.cuda.set_device, 0).result()
        pool.submit(torch.zeros, 1, device="cuda").result()
        assert pool.submit(packed.run).result() == 0
    assert packed.is_right()


@pytest.mark.prepared(gpu_prepared.packed_linear, "dtype")
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_errors_in_c(torch: Any, dtype: str, packed: Packed, tmp_path: Path) -> None:
    """What is refused launches nothing; what the driver refuses has its text."""
    x, w, out = (tensor.data_ptr() for tensor in (packed.x, packed.w, packed.out))
    run = packed.program.run
    scratch = packed.scratch.data_ptr() if packed.program.scratch_bytes() else 0
    assert run((x, 0, out), scratch) == STATUS["NULL_TENSOR"]
    assert run((x, w + 2, out), scratch) == STATUS["MISALIGNED"]
    assert run((x, w, w + 16), scratch) == OVERLAP
    torch.cuda.synchronize()
    assert bool(packed.out.isnan().all())
    other_chip = "sm_80" if chip_here() == "sm_90a" else "sm_90a"
    code = packed.program.artifact.targets[0]
    # Nothing of it is launched; a block of the other chip may have less shared memory.
    launches = tuple(replace(launch, shared_bytes=0) for launch in code.launches)
    target = replace(code, target=other_chip, launches=launches)
    other = c_program(replace(packed.program.artifact, targets=(target,)), tmp_path)
    status = other.run((x, w, out), scratch)
    assert status == STATUS["NO_CODE"], other.error(status)
    target = replace(packed.program.artifact.targets[0], cubin=b"no machine code")
    other = c_program(replace(packed.program.artifact, targets=(target,)), tmp_path)
    status = other.run((x, w, out), scratch)
    assert status > 0
    assert other.error(status) not in ("", "the CUDA driver reports an error")
    assert packed.run() == 0
    assert packed.is_right()


ALONE = """
import sys
from pathlib import Path
from host_programs import HostProgram
from host_program_cases import HOST_CASES
HOST_CASES["loop"].check(HostProgram(Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])))
"""


@pytest.mark.prepared(gpu_prepared.host_program, "name")
@pytest.mark.parametrize("name", ["loop"])
def test_a_process_of_its_own(name: str, prepared: bytes, tmp_path: Path) -> None:
    """Where nobody made a context, the run-time library takes that of the first device."""
    library = tmp_path / f"{name}.so"
    library.write_bytes(prepared)
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", ALONE, str(library), str(tmp_path)]
    subprocess.run(command, check=True, env=environment, cwd=ROOT)
