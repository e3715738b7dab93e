"""
Run compiled kernels under compute-sanitizer's four tools.

    python benchmarks/sanitize.py                    our workloads: each kind of kernel, small
    python benchmarks/sanitize.py f.mirage g.mirage  these artifacts
    python benchmarks/sanitize.py --tools racecheck --only ragged

Each tool runs one process that launches every artifact once, on random inputs, with CUDA's driver
bindings and numpy alone: the sanitizer slows down everything that a process does on the GPU. The
tools run side by side. Artifacts that end in `.sm_80` hold PTX for GPUs of that generation, which
the driver compiles for the one here.
Every tensor is an allocation of its own and of its exact size, so that memcheck sees the first
byte beyond it; outputs are not initialised and are read back, so that initcheck sees an element
that no kernel wrote.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from workloads import Built, build_all, sanitized_workloads

from mirage_mlir.runtime.artifact import Artifact, TensorSpec
from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.launch import LoadedCode, choose_target

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")

SPREAD = 0.25
"""Standard deviation of the inputs: small enough that no f16 overflows in our workloads."""

FOUND = 9
"""The exit code that the sanitizer is told to give when it finds something."""

LAUNCHING = "launching "
"""What the process says in front of an artifact's name."""

SHOWN = 24
"""Lines of what a tool says of one artifact: its first finding, and a part of the second."""

WHERE = ("/usr/local/cuda/bin", "/opt/cuda/bin")
"""Folders to look for compute-sanitizer in, after PATH."""


def random_bytes(spec: TensorSpec, generator: np.random.Generator) -> bytes:
    """A tensor of normal numbers, as it lies in memory; inputs are dense."""
    values = SPREAD * generator.standard_normal(spec.shape, np.float32)
    if spec.element_type is ElementType.F32:
        return values.tobytes()
    if spec.element_type is ElementType.F16:
        return values.astype(np.float16).tobytes()
    return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()


class Device:
    """Device memory by CUDA's driver bindings, which are untyped."""

    def __init__(self) -> None:
        self.driver = CudaDriver()
        # Compiled without types.
        self.cuda: Any = self.driver.bindings

    def call(self, function: Any, *arguments: object) -> Any:
        """The result of a driver call; raises `CudaError` when it fails."""
        status, *results = function(*arguments)
        if int(status) != 0:
            raise CudaError(f"{function.__name__} failed: {status}")
        return results[0] if results else None

    def allocate(self, size: int) -> int:
        """The address of new memory."""
        return int(self.call(self.cuda.cuMemAlloc, size))

    def upload(self, data: bytes) -> int:
        """The address of new memory that holds `data`."""
        address = self.allocate(len(data))
        source = np.frombuffer(data, np.uint8)
        self.call(self.cuda.cuMemcpyHtoD, address, source.ctypes.data, len(data))
        return address

    def download(self, address: int, size: int) -> bytes:
        """What lies at `address`, after everything that was launched."""
        data = np.empty(size, np.uint8)
        self.call(self.cuda.cuMemcpyDtoH, data.ctypes.data, address, size)
        return data.tobytes()


def has_nan(data: bytes, element_type: ElementType) -> bool:
    """Whether a tensor in memory has a NaN."""
    if element_type is ElementType.BF16:
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bool(np.isnan(bits.view(np.float32)).any())
    return bool(np.isnan(np.frombuffer(data, element_type.array_name)).any())


def launch_once(path: Path, device: Device) -> None:
    """Launch an artifact and read all of its outputs."""
    artifact = Artifact.load(path)
    generator = np.random.default_rng(0)
    code = choose_target(artifact, device.driver.capability(0))
    loaded = LoadedCode(code, device.driver, 0)
    inputs = [device.upload(random_bytes(spec, generator)) for spec in artifact.inputs]
    outputs = [device.allocate(spec.storage_bytes) for spec in artifact.outputs]
    scratch = device.allocate(code.scratch_bytes) if code.scratch_bytes else 0
    loaded.launch(inputs, outputs, scratch, 0)
    for spec, address in zip(artifact.outputs, outputs, strict=True):
        if has_nan(device.download(address, spec.storage_bytes), spec.element_type):
            raise ValueError(f"{path.name}: {spec.name} has a NaN")
    for address in (*inputs, *outputs, *([scratch] if scratch else [])):
        device.call(device.cuda.cuMemFree, address)


def launch_all(paths: Sequence[Path]) -> int:
    """What runs under the sanitizer."""
    device = Device()
    with device.driver.use_device(0):
        for path in paths:
            print(f"{LAUNCHING}{path.name} ...", flush=True)
            launch_once(path, device)
    print("all launched", flush=True)
    return 0


def sanitizer() -> str:
    """The path of compute-sanitizer."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *WHERE])
    if (found := shutil.which("compute-sanitizer", path=path)) is None:
        raise SystemExit(f"there is no compute-sanitizer on PATH nor in {', '.join(WHERE)}")
    return found


def run_tool(tool: str, paths: Sequence[Path]) -> tuple[bool, str]:
    """Run one tool over all artifacts; whether it found nothing, and what to say."""
    command = [sanitizer(), "--tool", tool, "--error-exitcode", str(FOUND), "--print-limit", "1000"]
    command += [sys.executable, __file__, "--run", *map(str, paths)]
    start = perf_counter()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = perf_counter() - start
    clean = result.returncode == 0 and "all launched" in result.stdout
    verdict = "clean" if clean else f"FAILED (exit code {result.returncode})"
    lines = [f"{tool:10} {verdict}, {seconds:.0f} s"]
    return clean, "\n".join(lines if clean else [*lines, *failures(result.stdout)])


def failures(output: str) -> Iterator[str]:
    """What a tool said of each artifact that it found something in, the start of it."""
    for part in output.split(LAUNCHING)[1:]:
        name, *lines = part.splitlines()
        said = [line for line in lines if line not in ("", "all launched")]
        if said:
            yield f"  {name.removesuffix(' ...')}"
            yield from (f"    {line}" for line in said[:SHOWN])


def save(built: Built, folder: Path) -> Path:
    """Write a compiled workload to a file."""
    path = folder / f"{built.name}.mirage"
    path.write_bytes(built.artifact)
    return path


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("artifacts", nargs="*", type=Path, help="files that 'save' wrote")
    parser.add_argument("--tools", default=",".join(TOOLS), help="comma-separated")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="to compile with")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Run the tools; 1 when one found something."""
    arguments = parse()
    if arguments.run:
        return launch_all(arguments.artifacts)
    with TemporaryDirectory() as folder:
        paths: list[Path] = arguments.artifacts
        if not paths:
            chosen = [work for work in sanitized_workloads() if arguments.only in work.name]
            paths = [save(built, Path(folder)) for built in build_all(chosen, arguments.jobs)]
        print(f"{len(paths)} artifacts: {', '.join(path.stem for path in paths)}", flush=True)
        tools: list[str] = arguments.tools.split(",")
        with ThreadPoolExecutor(len(tools)) as pool:
            found = list(pool.map(partial(run_tool, paths=paths), tools))
    print("\n".join(text for _, text in found))
    return 0 if all(clean for clean, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
