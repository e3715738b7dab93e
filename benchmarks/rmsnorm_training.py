"""
RMSNorm for training, forward and backward: our kernels against torch.compile, Liger and QuACK.

    python benchmarks/rmsnorm_training.py                       all cases, some minutes on an H200
    python benchmarks/rmsnorm_training.py --shapes 32768x4096 --dtypes f16
    python benchmarks/rmsnorm_training.py --build DIR           compile only: artifacts to DIR
    python benchmarks/rmsnorm_training.py --use DIR             time these artifacts

The backward pass gives the gradients of the rows and of the weight, from what the forward pass was
given. Results are compared with float64 on fresh inputs; all are timed in turn, each in a CUDA
graph of calls that rotate over input sets larger than L2. Peers that are not installed are left
out. The numbers are medians, and go to `results/<machine>/<date>-rmsnorm_training.json`.
"""

# Annotations stay text: a process that only launches kernels never imports the compiler.
from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gpu
from workloads import EPS, build_all

import mirage_mlir as mi
from mirage_mlir.runtime.files import write_whole

SHAPES = ("32768x1024", "32768x2048", "32768x4096", "32768x8192", "32763x4099", "1003x1000")

TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}

TOLERANCE = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-5}
"""The largest relative error in the 2-norm that counts as right: of results rounded once."""

CHECKS = 2
"""Fresh inputs on which a kernel is compared with float64."""

FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True)
class Case:
    """RMSNorm of rows, one way."""

    rows: int
    columns: int
    dtype: str
    way: str

    @property
    def name(self) -> str:
        """Such as `rmsnorm_backward_32768x4096_f16`."""
        return f"rmsnorm_{self.way}_{self.rows}x{self.columns}_{self.dtype}"

    @property
    def bytes(self) -> int:
        """What one call must move: rows in and out, and the weight and its gradient."""
        tensors = 2 if self.way == FORWARD else 3
        item = 4 if self.dtype == "f32" else 2
        return item * (tensors * self.rows + tensors - 1) * self.columns

    def compile(self) -> mi.CompiledKernel:
        """Search, verify, compile."""
        graph = mi.new_kernel_graph("rms_norm")
        x = graph.new_input(dims=(self.rows, self.columns), dtype=self.dtype, name="x")
        weight = graph.new_input(dims=(self.columns,), dtype=self.dtype, name="weight")
        graph.mark_output(graph.rms_norm(x, weight, eps=EPS))
        return (graph if self.way == FORWARD else graph.backward()).superoptimize()


Peer = Callable[[Any, Any], Any]
"""Of torch: a function of rows and a weight, through which gradients flow."""


def peers(case: Case, torch: Any) -> dict[str, Peer]:
    """Other implementations, those that are installed."""
    shape = (case.columns,)

    def eager(x: Any, weight: Any) -> Any:
        return torch.nn.functional.rms_norm(x, shape, weight, EPS)

    def written_out(x: Any, weight: Any) -> Any:
        wide = x.float()
        root = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return (wide * root * weight.float()).to(x.dtype)

    torch._dynamo.reset()
    found: dict[str, Any] = {
        "compile": torch.compile(eager, mode="max-autotune-no-cudagraphs", dynamic=False),
        "compile, written out": torch.compile(
            written_out, mode="max-autotune-no-cudagraphs", dynamic=False
        ),
    }
    if find_spec("liger_kernel") is not None:
        module: Any = import_module("liger_kernel.ops.rms_norm")
        apply = module.LigerRMSNormFunction.apply

        def liger(x: Any, weight: Any) -> Any:
            return apply(x, weight, EPS, 0.0, "llama", False)

        found["liger"] = liger
    if find_spec("quack") is not None:
        quack: Any = import_module("quack.rmsnorm")

        def quack_norm(x: Any, weight: Any) -> Any:
            return quack.rmsnorm(x, weight, eps=EPS)

        found["quack"] = quack_norm
    return found


class Bench:
    """Measures cases one after the other."""

    def __init__(self, torch: Any, replays: int) -> None:
        self.torch = torch
        self.replays = replays
        self.stream = torch.cuda.Stream()
        """Of all that is timed: autograd goes back in the stream of the forward pass."""

    def inputs(self, case: Case) -> list[Any]:
        """Fresh random rows, a weight, and for the way back a gradient."""
        torch = self.torch
        kind = {"device": "cuda", "dtype": getattr(torch, TORCH_NAMES[case.dtype])}
        x, weight = torch.randn(case.rows, case.columns, **kind), torch.randn(case.columns, **kind)
        return [x, weight] if case.way == FORWARD else [x, weight, torch.randn_like(x)]

    def reference(self, inputs: Sequence[Any]) -> list[Any]:
        """In float64, by torch's autograd of the formula."""
        torch = self.torch
        x, weight, *gradient = (each.double() for each in inputs)
        with torch.enable_grad():
            x.requires_grad_()
            weight.requires_grad_()
            y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weight
            return list(torch.autograd.grad(y, (x, weight), *gradient)) if gradient else [y]

    def error(self, case: Case, kernel: mi.CompiledKernel) -> float:
        """The largest error over fresh inputs, each with the outputs poisoned first."""
        errors: list[float] = []
        for _ in range(CHECKS):
            inputs = self.inputs(case)
            shaped = inputs[:1] if case.way == FORWARD else inputs[:2]
            outs = [self.torch.full_like(each, float("nan")) for each in shaped]
            kernel(*inputs, out=outs if len(outs) > 1 else outs[0])
            wanted = self.reference(inputs)
            errors += [gpu.relative_error(*pair) for pair in zip(outs, wanted, strict=True)]
        # max() would pass over a NaN.
        return float(self.torch.tensor(errors).max())

    def call_of(self, case: Case, peer: Peer, sets: Sequence[Sequence[Any]]) -> gpu.Call:
        """A peer's kernels alone: for the way back, what autograd calls."""
        torch = self.torch
        if case.way == FORWARD:
            return peer
        kept: dict[int, tuple[Any, ...]] = {}
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.enable_grad(), torch.cuda.stream(self.stream):
            for x, weight, _ in sets:
                leaves = x.detach().requires_grad_(), weight.detach().requires_grad_()
                kept[x.data_ptr()] = peer(*leaves), leaves

        def backward(x: Any, _: Any, gradient: Any) -> Any:
            y, leaves = kept[x.data_ptr()]
            return torch.autograd.grad(y, leaves, gradient, retain_graph=True)

        return backward

    def run(self, case: Case, kernel: mi.CompiledKernel) -> dict[str, Any]:
        """Everything about one case."""
        error = self.error(case, kernel)
        sets = [self.inputs(case) for _ in range(gpu.set_count(case.bytes))]
        calls: dict[str, gpu.Call] = {"mirage": kernel}
        failed: dict[str, str] = {}
        for name, peer in peers(case, self.torch).items():
            try:
                call = self.call_of(case, peer, sets)
                with self.torch.cuda.stream(self.stream):
                    call(*sets[0])
                calls[name] = call
            except Exception as problem:
                failed[name] = f"{type(problem).__name__}: {problem}"[:200]
        times = gpu.graph_times(self.torch, calls, sets, self.replays, self.stream)
        return {
            **asdict(case),
            "error": error,
            "right": error <= TOLERANCE[case.dtype],
            "microseconds": times,
            "failed": failed,
            "bytes": case.bytes,
            "ugraph": kernel.artifact.targets[0].ugraph,
        }


def line(row: Mapping[str, Any], rate: float) -> str:
    """One case as a line of the table; `rate` is bytes per second for the floor."""
    times: dict[str, float] = row["microseconds"]
    best = min(time for name, time in times.items() if name != "mirage")
    cells = "  ".join(f"{name} {time:.1f}" for name, time in times.items())
    title = f"{row['way']} {row['rows']}x{row['columns']} {row['dtype']}"
    verdict = "" if row["right"] else "  WRONG"
    floor = row["bytes"] / rate * 1e6
    ratio = f"{times['mirage'] / best:.3f} of the best peer"
    return f"{title:28} {ratio}; floor {floor:.1f}, {cells}; error {row['error']:.1e}{verdict}"


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", default=",".join(SHAPES), help="ROWSxCOLUMNS,...")
    parser.add_argument("--dtypes", default="f16,bf16,f32", help="of f16, bf16, f32")
    parser.add_argument("--ways", default=f"{FORWARD},{BACKWARD}")
    parser.add_argument("--replays", type=int, default=20, help="of each graph (default 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="to compile with")
    parser.add_argument("--build", type=Path, help="write artifacts to this folder, time nothing")
    parser.add_argument("--use", type=Path, help="artifacts of --build")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parent / "results", help="folder"
    )
    return parser.parse_args()


def build(cases: Sequence[Case], folder: Path, jobs: int) -> None:
    """Write the artifact of each case."""
    folder.mkdir(parents=True, exist_ok=True)
    for case, built in zip(cases, build_all(cases, jobs), strict=True):
        (folder / f"{case.name}.mirage").write_bytes(built.artifact)
        print(f"{case.name}: {built.seconds:.1f} s", flush=True)


def main() -> int:
    """Run the benchmark; 1 when a result is wrong."""
    arguments = parse()
    cases = [
        Case(*map(int, shape.split("x")), dtype=dtype, way=way)
        for way in arguments.ways.split(",")
        for dtype in arguments.dtypes.split(",")
        for shape in arguments.shapes.split(",")
    ]
    folder = arguments.use or arguments.build or Path("build") / "rmsnorm_training"
    if arguments.use is None:
        build(cases, folder, arguments.jobs)
    if arguments.build is not None:
        return 0
    torch = gpu.torch_module()
    torch.manual_seed(0)
    rate = gpu.copy_rate(torch)
    print(f"{torch.cuda.get_device_name()}, copies {rate / 1e12:.2f} TB/s; times in us")
    bench = Bench(torch, arguments.replays)
    rows: list[dict[str, Any]] = []
    path = arguments.results
    for case in cases:
        artifact = mi.Artifact.from_bytes((folder / f"{case.name}.mirage").read_bytes())
        rows.append(bench.run(case, mi.CompiledKernel(artifact)))
        print(line(rows[-1], rate), flush=True)
        # After each, so that a run that is cut short leaves what it measured.
        path = write(torch, arguments.results, rows, rate)
    print(f"written to {path}")
    return 0 if all(row["right"] for row in rows) else 1


def write(torch: Any, folder: Path, rows: list[dict[str, Any]], rate: float) -> Path:
    """Write the numbers, with what they depend on, and say where."""
    environment = gpu.environment(torch)
    target = folder / gpu.machine_name(torch)
    target.mkdir(parents=True, exist_ok=True)
    packages = {name: gpu.package_version(name) for name in ("liger-kernel", "quack-kernels")}
    content = {
        "environment": {**environment, **packages},
        "command": sys.argv[1:],
        "copy_bytes_per_second": rate,
        "cases": rows,
    }
    path = target / f"{str(environment['date'])[:10]}-rmsnorm_training.json"
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
    return path


if __name__ == "__main__":
    sys.exit(main())
