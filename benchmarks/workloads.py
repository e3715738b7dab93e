"""The programs that the scripts here compile, and compiling many of them in parallel."""

# Annotations stay text: a process that only launches kernels never imports the compiler.
from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol

import mirage_mlir as mi

EPS = 1e-5

UGRAPHS = Path(__file__).parent.parent / "test" / "ugraphs"

NOT_LOWERED = ("attention_across", "rmsnorm_linear_split_k")
"""uGraphs with sums across blocks, which sm_80 has no clusters for."""


class Workload(Protocol):
    """A program with a name; workloads travel between processes, so they are plain data."""

    @property
    def name(self) -> str:
        """What files and tables call it."""
        ...

    def compile(self) -> mi.CompiledKernel:
        """Search, verify, compile."""
        ...


@dataclass(frozen=True)
class RmsNormLinear:
    """X[batch, depth] times W[depth, width], X normalized before."""

    batch: int
    depth: int
    width: int
    dtype: str

    @property
    def name(self) -> str:
        """Such as `rmsnorm_linear_16x4096x6144_f16`."""
        return f"rmsnorm_linear_{self.batch}x{self.depth}x{self.width}_{self.dtype}"

    @property
    def bytes(self) -> int:
        """What one call must move: both inputs and the output, once."""
        elements = self.batch * self.depth + self.depth * self.width + self.batch * self.width
        return 2 * elements

    def graph(self) -> mi.KernelGraph:
        """The program."""
        graph = mi.new_kernel_graph("rmsnorm_linear")
        x = graph.new_input(dims=(self.batch, self.depth), dtype=self.dtype, name="x")
        w = graph.new_input(
            dims=(self.depth, self.width), dtype=self.dtype, constant=True, name="w"
        )
        graph.mark_output(graph.matmul(graph.rms_norm(x, eps=EPS), w))
        return graph

    def compile(self) -> mi.CompiledKernel:
        """Search, verify, compile."""
        return self.graph().superoptimize()


@dataclass(frozen=True)
class UGraph:
    """A uGraph written by hand, compiled as it stands."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.stem

    def compile(self) -> mi.CompiledKernel:
        """Compile."""
        return mi.compile_file(self.path, "ugraph")


def sanitized_workloads() -> list[Workload]:
    """What must be clean under the sanitizer: usual shapes, odd ones, uGraphs by hand."""
    shapes = [
        (1, 4096, 4096),
        (2, 4096, 6144),
        (8, 4096, 4096),
        (16, 4096, 6144),
        (3, 2560, 1003),
        (1, 896, 4864),
        (16, 4100, 6100),
    ]
    found: list[Workload] = [
        RmsNormLinear(*shape, dtype) for shape in shapes for dtype in ("f16", "bf16")
    ]
    found += [
        UGraph(path) for path in sorted(UGRAPHS.glob("*.mlir")) if path.stem not in NOT_LOWERED
    ]
    return found


@dataclass(frozen=True)
class Built:
    """A compiled workload, as it comes from a worker process."""

    name: str
    artifact: bytes
    seconds: float
    """Search, verification and compilation for all targets, in one process on one core."""


def build(workload: Workload) -> Built:
    """Compile one workload."""
    start = perf_counter()
    kernel = workload.compile()
    return Built(workload.name, kernel.artifact.to_bytes(), perf_counter() - start)


def build_all(workloads: Sequence[Workload], jobs: int) -> Iterator[Built]:
    """Compile all workloads in `jobs` processes; the results come in their order."""
    # One core each: BLAS threads of several workers would only disturb one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Spawned, not forked: CUDA and torch's threads do not survive a fork.
    with multiprocessing.get_context("spawn").Pool(max(1, min(jobs, len(workloads)))) as pool:
        yield from pool.imap(build, workloads)
