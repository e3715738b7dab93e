"""Artifacts compiled as C, and called in this process with a CUDA driver that writes down calls."""

import ctypes
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import pytest

from mirage_mlir.c_source.source import c_files
from mirage_mlir.names import file_stem, identifier
from mirage_mlir.runtime.artifact import Artifact

FAKE = Path(__file__).parent / "fake_cuda" / "fake_cuda.c"

STRICT = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-pedantic")

C99, CPLUSPLUS = ("cc", "-std=c99"), ("c++", "-x", "c++", "-std=c++11")


def compile_c(*command: str | Path) -> None:
    """Run a compiler; it may say nothing."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"there is no {command[0]}")
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr


def cuda_headers() -> Path:
    """The folder of `cuda.h`, which comes with nvidia-cuda-nvcc."""
    found = sorted(Path(sysconfig.get_path("purelib"), "nvidia").glob("*/include/cuda.h"))
    if not found:
        pytest.skip("there is no cuda.h")
    return found[0].parent


def compile_fake_driver(folder: Path) -> Path:
    """The driver in host memory, under the name of the real one."""
    made = folder / "libcuda.so.1"
    options = ("-shared", "-fPIC", "-pthread", "-Wl,-soname,libcuda.so.1", "-Wall", "-Werror")
    compile_c("cc", *options, "-isystem", cuda_headers(), FAKE, "-o", made)
    return made


ON_LAUNCH = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_ulonglong)
)


class FakeCuda:
    """The driver in host memory; what is loaded later finds it in the place of the real one."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p
        self._kernels: dict[str, Callable[..., None]] = {}
        self._on_launch = ON_LAUNCH(self._launched)
        # By its name, as the code finds it: a real one may have been loaded before.
        if ctypes.CDLL("libcuda.so.1")._handle != self.library._handle:
            pytest.skip("a real driver is loaded")

    def reset(self, major: int = 9, minor: int = 0, limit: int = 227 * 1024) -> None:
        """A device, and an empty log."""
        self.library.fake_reset(major, minor, limit)

    def fail(self, name: str, status: int, after: int = 0) -> None:
        """Let a call of the driver fail, after so many that do not."""
        self.library.fake_fail(name.encode(), status, after)

    def kernel(self, name: str, count: int, does: Callable[..., None]) -> None:
        """A kernel with so many arguments, and what it does with these as addresses."""
        self.library.fake_signature(name.encode(), count)
        self._kernels[name] = does
        self.library.fake_on_launch(self._on_launch)

    def _launched(self, name: bytes, count: int, arguments: Any) -> None:
        if (does := self._kernels.get(name.decode())) is not None:
            does(*arguments[:count])

    def log(self) -> list[str]:
        """What was asked for."""
        return self.library.fake_log().decode().splitlines()

    def launched(self) -> list[int]:
        """All arguments of all launches."""
        return [int(word) for line in self.logged("launch") for word in line.split(":")[1].split()]

    def is_allocated(self, address: int) -> bool:
        """Whether a device reaches what is there: it is in memory that was allocated for one."""
        found = (line.split() for line in self.logged("allocate"))
        return any(int(at) <= address < int(at) + int(size) for size, _, at in found)

    def logged(self, kind: str) -> list[str]:
        """The lines of one kind, without it."""
        return [line.removeprefix(f"{kind} ") for line in self.log() if line.startswith(kind)]


@cache
def fake_cuda() -> FakeCuda:
    """The driver; one process has one, since a second would not be found by its name."""
    with TemporaryDirectory() as folder:
        return FakeCuda(compile_fake_driver(Path(folder)))


@dataclass
class CProgram:
    """The functions that an artifact is in C."""

    artifact: Artifact
    library: ctypes.CDLL

    def __post_init__(self) -> None:
        name = identifier(self.artifact.name)
        self._run = self.library[f"mirage_run_{name}"]
        self._load = self.library[f"mirage_load_{name}"]
        self._release = self.library[f"mirage_release_{name}"]
        self._scratch = self.library[f"mirage_scratch_bytes_{name}"]
        self._scratch.restype = ctypes.c_size_t
        self._error = self.library[f"mirage_error_{name}"]
        self._error.restype = ctypes.c_char_p

    def run(self, tensors: Sequence[int], scratch: int = 0, stream: int = 0) -> int:
        """Queue the program; addresses of inputs, then outputs."""
        return self._run(*map(ctypes.c_void_p, (*tensors, scratch, stream)))

    def load(self) -> int:
        """Load the code."""
        return self._load()

    def release(self) -> int:
        """Give it back."""
        return self._release()

    def scratch_bytes(self) -> int:
        """What a call needs."""
        return self._scratch()

    def error(self, status: int) -> str:
        """The text for a status."""
        return self._error(status).decode()

    def announce(self, fake: FakeCuda) -> None:
        """Tell the driver what the kernels take, which a real one knows from the cubin."""
        for kernel, count in {
            launch.kernel: len(launch.arguments)
            for code in self.artifact.targets
            for launch in code.launches
        }.items():
            fake.library.fake_signature(kernel.encode(), count)


def write_c(artifact: Artifact, folder: Path) -> Path:
    """The header and the source; the path of the source."""
    for name, text in c_files(artifact).items():
        (folder / name).write_text(text)
    return folder / f"{file_stem(artifact.name)}.c"


def c_program(artifact: Artifact, folder: Path, compiler: Sequence[str] = C99) -> CProgram:
    """The artifact compiled and loaded, from a folder of its own: a library is loaded once."""
    source = write_c(artifact, Path(mkdtemp(dir=folder)))
    made = source.with_suffix(".so")
    compile_c(*compiler, *STRICT, "-shared", "-fPIC", source, "-o", made, "-pthread")
    return CProgram(artifact, ctypes.CDLL(str(made)))


def compiled(program: Artifact, folder: Path, fake: FakeCuda) -> CProgram:
    """The same in C99, with its kernels known to the driver."""
    made = c_program(program, folder)
    made.announce(fake)
    return made


_LAUNCH = re.compile(r"(\S+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d) :(.*)")


@dataclass(frozen=True)
class CLaunch:
    """One launch that the driver was asked for."""

    kernel: str
    grid: tuple[int, ...]
    threads: int
    shared_bytes: int
    stream: int
    early: bool
    arguments: tuple[int, ...]

    @staticmethod
    def of(line: str) -> "CLaunch":
        """From a line of the log."""
        match = _LAUNCH.fullmatch(line)
        assert match is not None
        x, y, z, threads, shared, stream, early = map(int, match.groups()[1:8])
        arguments = tuple(map(int, match[9].split()))
        return CLaunch(match[1], (x, y, z), threads, shared, stream, bool(early), arguments)
