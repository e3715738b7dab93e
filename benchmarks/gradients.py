"""
Gradients of functions written in torch: `mi.compile` against eager, torch.compile and flash.

    python benchmarks/gradients.py                     all functions, some minutes on an H200
    python benchmarks/gradients.py --only attention --replays 10

Each function is called once with inputs that want gradients; what is timed is autograd's way back,
in a CUDA graph of calls that rotate over input sets larger than L2, all replayed in turn. Gradients
are compared with float64 on fresh inputs first. The numbers are medians, and go to
`results/<machine>/<date>-gradients.json`.
"""

# Annotations stay text: torch is untyped, and loaded late.
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import gpu

import mirage_mlir as mi
from mirage_mlir.runtime.files import write_whole

EPS = 1e-5

TOLERANCE = 2e-2
"""Relative in the 2-norm: torch's own gradients of attention in f16 are within 5e-3."""


@dataclass(frozen=True)
class Case:
    """A function, the shapes of what it takes, and whether an input is scaled as a weight is."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    function: Callable[..., Any]


def attention(torch: Any) -> Callable[..., Any]:
    """Softmax of the scaled scores, written out."""

    def run(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-1) @ v

    return run


def layer_norm(torch: Any) -> Callable[..., Any]:
    """Rows, a weight and a bias."""

    def run(x: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, EPS)

    return run


def rms_norm_silu(torch: Any) -> Callable[..., Any]:
    """Rows and a weight, with an activation behind the norm."""

    def run(x: Any, weight: Any) -> Any:
        normed = torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, EPS)
        return torch.nn.functional.silu(normed)

    return run


def cases(torch: Any) -> list[Case]:
    """What is timed."""
    made: list[Case] = []
    for shape in ((8, 512, 64), (32, 2048, 128)):
        made.append(Case("attention_" + "x".join(map(str, shape)), (shape,) * 3, attention(torch)))
    for rows, columns in ((8192, 1024), (32768, 4096)):
        size = f"{rows}x{columns}"
        vector = (columns,)
        made += [
            Case(f"layer_norm_{size}", ((rows, columns), vector, vector), layer_norm(torch)),
            Case(f"rms_norm_silu_{size}", ((rows, columns), vector), rms_norm_silu(torch)),
        ]
    return made


class Bench:
    """Measures cases one after the other."""

    def __init__(self, torch: Any, replays: int) -> None:
        self._torch, self._replays = torch, replays
        self._stream = torch.cuda.Stream()
        """Autograd goes back in the stream of the forward pass."""

    def run(self, case: Case) -> dict[str, Any]:
        """Everything about one case."""
        torch = self._torch
        start = perf_counter()
        calls = {"mirage": mi.compile(case.function), **self._peers(case)}
        errors: dict[str, float] = {}
        for name, function in list(calls.items()):
            try:
                errors[name] = self._error(case, function)
            except Exception as problem:
                print(f"{case.name} {name}: {type(problem).__name__}: {problem}"[:300], flush=True)
                del calls[name]
        seconds = perf_counter() - start
        item = sum(2 * torch.Size(shape).numel() for shape in case.shapes)
        sets = [self._inputs(case) for _ in range(gpu.set_count(2 * item))]
        backward = {name: self._backward(function, sets) for name, function in calls.items()}
        times = gpu.graph_times(torch, backward, sets, self._replays, self._stream)
        return {
            "name": case.name,
            "errors": errors,
            "right": errors.get("mirage", 1.0) <= TOLERANCE,
            "microseconds": times,
            "seconds_before": seconds,
        }

    def _peers(self, case: Case) -> dict[str, Callable[..., Any]]:
        torch = self._torch
        torch._dynamo.reset()
        mode = "max-autotune-no-cudagraphs"
        made = {
            "eager": case.function,
            "compile": torch.compile(case.function, mode=mode, dynamic=False),
        }
        if case.name.startswith("attention"):
            flash = torch.nn.functional.scaled_dot_product_attention

            def attend(q: Any, k: Any, v: Any) -> Any:
                return flash(q[None], k[None], v[None])[0]

            made["flash"] = attend
        return made

    def _inputs(self, case: Case) -> list[Any]:
        """Random tensors that want gradients, and a gradient of the result."""
        torch = self._torch
        kind = {"device": "cuda", "dtype": torch.float16}
        made = [torch.randn(shape, **kind).requires_grad_() for shape in case.shapes]
        return [*made, torch.randn(case.shapes[0], **kind)]

    def _error(self, case: Case, function: Callable[..., Any]) -> float:
        torch = self._torch
        *inputs, gradient = self._inputs(case)
        exact = [each.detach().double().requires_grad_() for each in inputs]
        with torch.enable_grad():
            wanted = torch.autograd.grad(case.function(*exact), exact, gradient.double())
            got = torch.autograd.grad(function(*inputs), inputs, gradient)
        pairs = zip(got, wanted, strict=True)
        # max() would pass over a NaN.
        return float(torch.tensor([gpu.relative_error(*pair) for pair in pairs]).max())

    def _backward(self, function: Callable[..., Any], sets: Sequence[Sequence[Any]]) -> gpu.Call:
        torch = self._torch
        kept: dict[int, Any] = {}
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.enable_grad(), torch.cuda.stream(self._stream):
            for *inputs, _ in sets:
                kept[inputs[0].data_ptr()] = function(*inputs)

        def backward(*given: Any) -> Any:
            *inputs, gradient = given
            made = kept[inputs[0].data_ptr()]
            return torch.autograd.grad(made, inputs, gradient, retain_graph=True)

        return backward


def line(row: dict[str, Any]) -> str:
    """One case as a line of the table."""
    times: dict[str, float] = row["microseconds"]
    best = min((time for name, time in times.items() if name != "mirage"), default=0.0)
    ratio = times["mirage"] / best if "mirage" in times and best else float("nan")
    shown = ", ".join(f"{n} {t:.1f} ({row['errors'][n]:.0e})" for n, t in times.items())
    wrong = "" if row["right"] else "  WRONG"
    return f"{row['name']:28} {ratio:.3f} of the best peer: {shown}{wrong}"


def main() -> int:
    """Run the benchmark; 1 when a result is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--replays", type=int, default=20, help="of each graph (default 20)")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    torch = gpu.torch_module()
    torch.manual_seed(0)
    # One graph of autograd is gone back through again and again.
    functorch: Any = import_module("torch._functorch.config")
    functorch.donated_buffer = False
    rows: list[dict[str, Any]] = []
    bench = Bench(torch, arguments.replays)
    for case in cases(torch):
        if arguments.only in case.name:
            rows.append(bench.run(case))
            print(line(rows[-1]), flush=True)
            # After each, so that a run that is cut short leaves what it measured.
            write(torch, arguments.results, rows)
    return 0 if all(row["right"] for row in rows) else 1


def write(torch: Any, results: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the numbers, with what they depend on."""
    environment = gpu.environment(torch)
    content = {"environment": environment, "command": sys.argv[1:], "cases": rows}
    folder = results / gpu.machine_name(torch)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{environment['date']!s:.10}-gradients.json"
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
