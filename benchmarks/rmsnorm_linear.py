"""
RMSNorm followed by a linear layer: our kernel against PyTorch and against cuBLAS's matmul alone.

    python benchmarks/rmsnorm_linear.py                      16 cases, about 5 minutes on an H200
    python benchmarks/rmsnorm_linear.py --quick              without torch.compile, fewer replays
    python benchmarks/rmsnorm_linear.py --shapes 16x4096x6144 --dtypes bf16

One case is X[b, k] times W[k, n] with X normalized before. Kernels are searched and compiled first,
in parallel; then, per case, our result is compared with float64 on fresh inputs with the output
poisoned by NaN, and all implementations are timed in turn, each in a CUDA graph of at least 20
calls that rotate over input sets larger than L2. The numbers are medians, and go to
`results/<machine>/<date>-rmsnorm_linear.json`.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import gpu
from workloads import EPS, Built, RmsNormLinear, build_all

import mirage_mlir as mi
from mirage_mlir.runtime.files import write_whole

DEFAULT_SHAPES = [f"{batch}x4096x{width}" for width in (4096, 6144) for batch in (1, 2, 8, 16)]

TOLERANCE = {"f16": 5e-4, "bf16": 4e-3}
"""The largest relative error in the 2-norm that counts as right."""

CHECKS = 3
"""Fresh inputs on which a kernel is compared with float64."""


class Bench:
    """Measures cases one after the other."""

    def __init__(self, torch: Any, replays: int, compiled: bool) -> None:
        self.torch = torch
        self.replays = replays
        self.compiled = compiled

    def inputs(self, case: RmsNormLinear) -> tuple[Any, Any]:
        """Fresh random inputs; the weights are scaled so that results are near 1."""
        torch = self.torch
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[case.dtype]
        x = torch.randn(case.batch, case.depth, device="cuda", dtype=dtype)
        w = torch.randn(case.depth, case.width, device="cuda") / case.depth**0.5
        return x, w.to(dtype)

    def eager(self, case: RmsNormLinear) -> gpu.Call:
        """The program in PyTorch."""
        matmul, rms_norm = self.torch.matmul, self.torch.nn.functional.rms_norm
        shape = (case.depth,)

        def eager(x: Any, w: Any) -> Any:
            return matmul(rms_norm(x, shape, eps=EPS), w)

        return eager

    def reference(self, x: Any, w: Any) -> Any:
        """The program in float64, without PyTorch's own norm."""
        x, w = x.double(), w.double()
        return x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt() @ w

    def error(self, case: RmsNormLinear, kernel: mi.CompiledKernel) -> float:
        """The largest error over fresh inputs, each with the output poisoned first."""
        errors: list[float] = []
        for _ in range(CHECKS):
            x, w = self.inputs(case)
            out = self.torch.full(
                (case.batch, case.width), float("nan"), dtype=x.dtype, device="cuda"
            )
            kernel(x, w, out=out)
            errors.append(gpu.relative_error(out, self.reference(x, w)))
        # max() would pass over a NaN.
        return float(self.torch.tensor(errors).max())

    def compile(self, case: RmsNormLinear, sets: Sequence[gpu.Tensors]) -> gpu.Call:
        """The program by torch.compile, tuned."""
        self.torch._dynamo.reset()
        # Otherwise it prints a table for each product that it tunes.
        inductor: Any = import_module("torch._inductor.config")
        inductor.autotune_num_choices_displayed = 0
        call = self.torch.compile(
            self.eager(case), mode="max-autotune-no-cudagraphs", dynamic=False, fullgraph=True
        )
        call(*sets[0])
        return call

    def run(self, case: RmsNormLinear, built: Built) -> dict[str, Any]:
        """Everything about one case."""
        artifact = mi.Artifact.from_bytes(built.artifact)
        kernel = mi.CompiledKernel(artifact)
        error = self.error(case, kernel)
        sets = [self.inputs(case) for _ in range(gpu.set_count(case.bytes))]
        calls: dict[str, gpu.Call] = {
            "mirage": kernel,
            "eager": self.eager(case),
            "cublas": self.torch.matmul,
        }
        if self.compiled:
            calls["compile"] = self.compile(case, sets)
        times = gpu.graph_times(self.torch, calls, sets, self.replays)
        code = artifact.targets[0]
        return {
            **asdict(case),
            "error": error,
            "right": error <= TOLERANCE[case.dtype],
            "microseconds": times,
            "host_microseconds": gpu.host_times(self.torch, calls, sets[0]),
            "input_sets": len(sets),
            "bytes": case.bytes,
            "build_seconds": round(built.seconds, 3),
            "resources": dict(code.resources),
            "launches": [
                {"grid": launch.grid, "threads": launch.threads, "shared": launch.shared_bytes}
                for launch in code.launches
            ],
            "ugraph": code.ugraph,
        }


COLUMNS = ("mirage", "eager", "compile", "cublas")


def header() -> str:
    """The titles of the table."""
    times = "".join(f"{name:>9}" for name in COLUMNS)
    return f"{'case':20}{times}   eager/ours  compile/ours  floor     error"


def line(row: dict[str, Any], rate: float) -> str:
    """One case as a line of the table; `rate` is bytes per second for the floor."""
    times: dict[str, float] = row["microseconds"]
    ours = times["mirage"]
    cells = "".join(f"{times[name]:9.2f}" if name in times else f"{'-':>9}" for name in COLUMNS)
    ratios = f"{times['eager'] / ours:13.2f}"
    ratios += f"{times['compile'] / ours:14.2f}" if "compile" in times else f"{'-':>14}"
    title = f"{row['batch']}x{row['depth']}x{row['width']} {row['dtype']}"
    verdict = "" if row["right"] else "  WRONG"
    if ours >= times["eager"]:
        verdict += "  SLOWER THAN EAGER"
    return f"{title:20}{cells}{ratios}{row['bytes'] / rate * 1e6:7.2f} {row['error']:9.1e}{verdict}"


def cases_of(arguments: argparse.Namespace) -> list[RmsNormLinear]:
    """The cases that the command line names."""
    return [
        RmsNormLinear(*map(int, shape.split("x")), dtype=dtype)
        for dtype in arguments.dtypes.split(",")
        for shape in arguments.shapes.split(",")
    ]


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", default=",".join(DEFAULT_SHAPES), help="BxKxN,...")
    parser.add_argument("--dtypes", default="f16,bf16", help="of f16, bf16")
    parser.add_argument("--quick", action="store_true", help="fewer replays, no torch.compile")
    parser.add_argument("--replays", type=int, default=50, help="of each graph (default 50)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="to compile with")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parent / "results", help="folder"
    )
    return parser.parse_args()


def main() -> int:
    """Run the benchmark; 1 when a result is wrong or slower than eager PyTorch."""
    arguments = parse()
    cases = cases_of(arguments)
    start = perf_counter()
    built = list(build_all(cases, arguments.jobs))
    seconds = perf_counter() - start
    print(f"{len(built)} kernels searched and compiled in {seconds:.1f} s", flush=True)
    torch = gpu.torch_module()
    torch.manual_seed(0)
    rate = gpu.copy_rate(torch)
    print(f"{torch.cuda.get_device_name()}, copies {rate / 1e12:.2f} TB/s; times in us\n{header()}")
    bench = Bench(torch, 20 if arguments.quick else arguments.replays, not arguments.quick)
    rows: list[dict[str, Any]] = []
    for case, one in zip(cases, built, strict=True):
        rows.append(bench.run(case, one))
        print(line(rows[-1], rate), flush=True)
    host = {
        name: min(row["host_microseconds"][name] for row in rows)
        for name in rows[0]["host_microseconds"]
    }
    queue = ", ".join(f"{name} {microseconds:.1f}" for name, microseconds in host.items())
    print(f"host time to queue a call, us: {queue}")
    write(torch, arguments.results, rows, rate)
    bad = [
        row
        for row in rows
        if not row["right"] or row["microseconds"]["mirage"] >= row["microseconds"]["eager"]
    ]
    return 1 if bad else 0


def write(torch: Any, folder: Path, rows: list[dict[str, Any]], rate: float) -> None:
    """Write the numbers, with what they depend on."""
    environment = gpu.environment(torch)
    target = folder / gpu.machine_name(torch)
    target.mkdir(parents=True, exist_ok=True)
    content = {
        "environment": environment,
        "command": sys.argv[1:],
        "copy_bytes_per_second": rate,
        "cases": rows,
    }
    path = target / f"{str(environment['date'])[:10]}-rmsnorm_linear.json"
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())
