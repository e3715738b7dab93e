"""PTX text to a cubin, by NVIDIA's `ptxas`."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.bridge.fixed_addresses import fixed_addresses

PATH_VARIABLE = "MIRAGE_PTXAS"

SERIALIZED = "wgmma.mma_async instructions are serialized"
"""What ptxas says of matmuls that it lets wait for each other (warnings C7510 to C7514)."""

MORE_REGISTERS = "--register-usage-level=10"
"""The most of 0 to 10. At 5, the default, ptxas 13 sometimes spills a few bytes of a kernel that
uses half of the registers that it may have."""


class PtxasError(DiagnosticException):
    """`ptxas` is missing, or rejected its input; the text says which, in its own words."""


@dataclass(frozen=True)
class KernelResources:
    """What one kernel costs to run."""

    name: str
    registers: int
    """32-bit registers per thread."""
    spill_bytes: int
    """Stores plus loads of spilled registers, bytes of code per thread; 0 is what we want."""
    stack_bytes: int
    """Local memory per thread."""
    shared_bytes: int
    """Static shared memory per block; dynamic shared memory is the launch's business."""


@dataclass(frozen=True)
class Cubin:
    """
    Machine code for one chip, and what it costs to run.

    With several kernels the numbers are the greatest of any kernel.
    """

    data: bytes
    registers: int
    """32-bit registers per thread."""
    spill_bytes: int
    """Stores plus loads of spilled registers, bytes of code per thread; 0 is what we want."""
    stack_bytes: int
    """Local memory per thread."""
    shared_bytes: int
    """Static shared memory per block; dynamic shared memory is the launch's business."""
    log: str
    """What `ptxas -v` said."""

    @property
    def kernels(self) -> tuple[KernelResources, ...]:
        """The resources of each kernel, in the order of the log."""
        return tuple(
            KernelResources(part.partition("'")[0], **_resources(part))
            for part in self.log.split("Compiling entry function '")[1:]
        )

    @property
    def serializes_wgmma(self) -> bool:
        """Whether ptxas made asynchronous matmuls wait for each other, which costs most of them."""
        return SERIALIZED in self.log

    @property
    def is_slowed(self) -> bool:
        """Whether the code is slower than what it was asked for would be."""
        return self.serializes_wgmma or self.spill_bytes > 0

    @property
    def slowed(self) -> frozenset[str]:
        """The names of the kernels of which that is so."""
        serialized = re.findall(rf"{SERIALIZED}.* in the function '([^']+)'", self.log)
        return frozenset(
            [*serialized, *(kernel.name for kernel in self.kernels if kernel.spill_bytes)]
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The lines that say what ptxas could not do as it was asked, or not fast."""
        wanted = re.compile("warning|Potential Performance Loss")
        return tuple(line for line in self.log.splitlines() if wanted.search(line))


def _packaged() -> Iterator[Path]:
    """Where the package nvidia-cuda-nvcc puts its programs."""
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        # nvidia/cu13, before the nvidia/cuda_nvcc of older wheels
        yield from sorted(Path(folder).glob("*/bin/ptxas"))


def find_ptxas() -> Path:
    """The `ptxas` to use: MIRAGE_PTXAS, that of nvidia-cuda-nvcc, or the first on PATH."""
    if chosen := os.environ.get(PATH_VARIABLE):
        if not os.access(chosen, os.X_OK):
            raise PtxasError(f"{PATH_VARIABLE} names '{chosen}', which is no program")
        return Path(chosen)
    for path in _packaged():
        return path
    if found := shutil.which("ptxas"):
        return Path(found)
    raise PtxasError(
        f"no ptxas: install nvidia-cuda-nvcc, put one on PATH, or name one in {PATH_VARIABLE}"
    )


def _greatest(pattern: str, log: str) -> int:
    return max((int(number) for number in re.findall(pattern, log)), default=0)


def _sum_of_spills(log: str) -> int:
    pairs = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)
    return max((int(stores) + int(loads) for stores, loads in pairs), default=0)


def _resources(log: str) -> dict[str, int]:
    return {
        "registers": _greatest(r"Used (\d+) registers", log),
        "spill_bytes": _sum_of_spills(log),
        "stack_bytes": _greatest(r"(\d+) bytes stack frame", log),
        "shared_bytes": _greatest(r"(\d+) bytes smem", log),
    }


def assemble(ptx: str, chip: str) -> Cubin:
    """
    Assemble `ptx` for `chip` (`sm_80`, `sm_90a`); raises `PtxasError`.

    Where ptxas spills, it is asked once more to use all the registers there are.
    """
    cubin = _assemble(ptx, chip)
    if not cubin.spill_bytes:
        return cubin
    return min(cubin, _assemble(ptx, chip, MORE_REGISTERS), key=lambda each: each.spill_bytes)


def _assemble(ptx: str, chip: str, *options: str) -> Cubin:
    program = find_ptxas()
    with TemporaryDirectory(prefix="mirage-ptxas-") as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        # The source is named relative to the folder, so that no temporary name is in the log.
        fixed = [f"-arch={chip}", "-v", "-O3", source.name, "-o", target.name]
        command = [str(program), *fixed, *options]
        try:
            with fixed_addresses():
                result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        except OSError as error:
            raise PtxasError(f"cannot run '{program}': {error}") from error
        if result.returncode != 0:
            log = (result.stderr + result.stdout).strip()
            raise PtxasError(f"ptxas rejected the kernel for {chip}: {log}")
        log = result.stderr + result.stdout
        return Cubin(data=target.read_bytes(), log=log, **_resources(log))
