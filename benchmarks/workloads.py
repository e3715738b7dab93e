"""The programs that the scripts here compile, and compiling many of them in parallel."""

# Annotations stay text: a process that only launches kernels never imports the compiler.
from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import mirage_mlir as mi

if TYPE_CHECKING:
    from kernels.case import Case

EPS = 1e-5

UGRAPHS = Path(__file__).parent.parent / "test" / "ugraphs"

NEWEST = "sm_90a"
"""The chip whose machine code the GPUs run that results are taken on."""

# Searches are measured, not what is known of them.
os.environ.setdefault("MIRAGE_CACHE_DIR", "off")

sys.path.append(str(Path(__file__).parent.parent / "test" / "support"))


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


@dataclass(frozen=True)
class Small:
    """
    A small uGraph for one kind of kernel.

    For a GPU of another generation, `sm_80`, its kernels are kept as PTX, which the driver of any
    later one compiles: so that they run here at all.
    """

    kind: str
    """In `test/support/kernel_kinds.py`."""
    chip: str

    @property
    def name(self) -> str:
        """Such as `gated_mlp.sm_90a`."""
        return f"{self.kind}.{self.chip}"

    def compile(self) -> mi.CompiledKernel:
        """Compile."""
        from kernel_kinds import compiled

        return mi.CompiledKernel(compiled(self.kind, self.chip, NEWEST))


@dataclass(frozen=True)
class Searched:
    """A program in MLIR; the search's first choice."""

    name: str
    text: str

    def compile(self) -> mi.CompiledKernel:
        """Search, verify, compile."""
        from mirage_mlir.driver.options import Options
        from mirage_mlir.driver.source import functions, parse_program
        from mirage_mlir.driver.superoptimize import superoptimize_function

        module = parse_program(self.text, self.name)
        (function,) = functions(module)
        options = Options(chips=(NEWEST,))
        made = superoptimize_function(module, function.sym_name.data, options)
        return mi.CompiledKernel(made.artifact)


def sanitized_workloads() -> list[Workload]:
    """
    What must be clean under the sanitizer.

    Each kind of kernel that is built, for both generations of GPUs; uGraphs by hand; what the
    search makes of usual shapes, of odd ones, and of programs that are timed.
    """
    from kernel_kinds import CHIPS, KINDS
    from kernels.programs import case_named

    found: list[Workload] = [
        Small(name, chip)
        for name, kind in KINDS.items()
        for chip in CHIPS
        if kind.marks_on(chip) is not None
    ]
    found += [UGraph(path) for path in sorted(UGRAPHS.glob("*.mlir"))]
    shapes = [(1, 4096, 4096), (16, 4096, 6144), (3, 2560, 1003), (1, 896, 4864), (16, 4100, 6100)]
    found += [RmsNormLinear(*shape, "f16") for shape in shapes]
    found.append(RmsNormLinear(8, 4096, 4096, "bf16"))
    cases = [*searched_cases(), *(case_named(f"{name} f16") for name in LARGE)]
    return [*found, *map(searched, cases)]


LARGE = (
    "rmsnorm_linear b16_n4096",
    "layernorm_linear b8",
    "gated_mlp b16_n14336",
    "lora b16_k4096_r16",
    "gqa_paper b1",
    "gqa_paper b8",
    "mha_paper b1",
    "qknorm_gqa b1",
    "qknorm_gqa b8",
    "gqa_llama70b b8_s4096",
    "ntrans b8",
)
"""Cases of the table of kernels whose shared memory is looked at, and that must be clean."""


ALIKE = (
    "rmsnorm_linear_bf16",
    "linear_tiny",
    "linear_two_loops",
    "gated_mlp_ragged",
    "gated_mlp_primes",
    "lora_primes",
    "linear_tf32",
    "packed_ragged",
    "split_k_f32",
    "sixteen_blocks",
    "attention_ragged",
    "attention_one_query",
    "attention_tiny",
    "attention_f32",
    "attention_across_ragged",
    "attention_across_empty_blocks",
    "attention_across_many",
    "attention_maxima_asked_for",
    "softmax_primes",
    "layer_norm_f32_primes",
    "softmax_sums",
    "looped_maximum",
    "chain_of_kernels",
    "views_between",
)
"""Kinds of kernels whose accesses are like those of others."""


def bank_workloads() -> list[Workload]:
    """Kinds of kernels, small, and some of the programs that are timed."""
    from kernel_kinds import KINDS
    from kernels.programs import case_named

    found: list[Workload] = [Small(name, NEWEST) for name in KINDS if name not in ALIKE]
    return [*found, *(searched(case_named(f"{name} f16")) for name in LARGE)]


def searched(case: Case) -> Searched:
    """The program of a case."""
    return Searched(case.name.replace(" ", "_"), case.text())


def searched_cases() -> list[Case]:
    """Programs whose blocks the search cuts, some of sizes that no tile divides."""
    from kernels import programs
    from kernels.case import Bar

    bar = Bar(1.0, 1.0)
    return [
        programs.add_rmsnorm_linear(5, 520, 264, "f16", bar),
        programs.layernorm_linear(7, 520, 136, "f16", bar),
        programs.layernorm_linear(16, 1024, 512, "bf16", bar),
        programs.linear_bias_gelu(3, 251, 127, "f16", bar),
        programs.gated_mlp(16, 512, 1000, "f16", bar),
        programs.lora(13, 256, 509, 16, "f16", bar),
        programs.matmul(9, 384, 257, "f32", bar),
        programs.ntrans(1, 509, "f16", bar),
        programs.rmsnorm(127, 1000, "f32", bar),
        programs.rmsnorm(61, 1023, "bf16", bar),
        programs.grouped_decode(1, 1024, "f16", bar),
    ]


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
