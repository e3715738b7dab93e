"""
Whole models by one line: a decode step and a prefill of Hugging Face's models, random weights.

    python benchmarks/models.py                                  LLaMA-3-8B, batch 1 and 8
    python benchmarks/models.py --model qwen3-8b --batches 1
    python benchmarks/models.py --tiny --modes eager,mirage      the script on a processor
    python benchmarks/models.py --batches 1 --kernels            where the time of a step goes

`--kernels` adds up by name how much later than what ran before them the kernels of a step end, and
shows one layer of it in order: with where each starts, what it takes, and what it adds.

Each step reads a static cache of 1,024 positions and writes one, in bf16, as `generate` does; it is
replayed in a CUDA graph. Beside `eager` and `compile` (torch.compile with max-autotune) stand
`mirage`, our backend, and `off`, the same with its kernels off, so that inductor compiles all.
Logits of 64 steps are compared with those of the model in float64. First calls are timed, too: a
second run of the script finds the kernels of the first where MIRAGE_CACHE_DIR is kept. The numbers
go to `results/<machine>/<date>-models-<model>.json`.
"""

# Annotations stay text: torch is untyped, and loaded late.
from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, cast
from unittest.mock import patch

import gpu
from step_kernels import StepKernel, by_name, kernels_of, one_period

from mirage_mlir.frameworks.backend.entry import mirage
from mirage_mlir.runtime.files import write_whole

LLAMA = {
    **{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32},
    **{"num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256},
}
QWEN = LLAMA | {"num_hidden_layers": 36, "intermediate_size": 12288, "vocab_size": 151936}
MODELS = {"llama3-8b": ("Llama", LLAMA), "qwen3-8b": ("Qwen3", QWEN | {"head_dim": 128})}
"""The class of `transformers`, and the sizes."""

TINY = {
    **{"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 16},
    **{"num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100},
}

MODES = ("eager", "compile", "off", "mirage")

CHECKED_STEPS = 64

REPLAYS = 30

Step = Callable[[Any, Any], Any]
"""From tokens and a position to logits."""


class Model:
    """A model with random weights, and caches for it."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self._torch, self._transformers = import_module("torch"), import_module("transformers")
        self.positions: int = 32 if options.tiny else options.positions
        self._prefill: int = options.prefill
        self._device = "cpu" if options.tiny else "cuda"
        prefix, sizes = MODELS[name]
        sizes = TINY if options.tiny else dict(sizes)
        sizes["num_hidden_layers"] = options.layers or sizes["num_hidden_layers"]
        config = getattr(self._transformers, f"{prefix}Config")
        self.config: Any = config(**sizes, rope_theta=5e5, max_position_embeddings=8192)
        torch = self._torch
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device(self._device):
            made = getattr(self._transformers, f"{prefix}ForCausalLM")(self.config)
        self.module: Any = made.eval()
        torch.set_default_dtype(torch.float32)

    def filled_cache(self, module: Any, batch: int) -> Any:
        """A cache that holds the keys and values of random tokens, with room for some more."""
        room = self.positions + max(CHECKED_STEPS, self._prefill)
        cache = self._transformers.StaticCache(config=self.config, max_cache_len=room)
        self.forward(module, cache)(self.tokens(batch, self.positions, 1), self.at(0))
        return cache

    def go_to(self, cache: Any, position: int) -> None:
        """Let the next tokens be written there; a cache counts what it is given."""
        for layer in cache.layers:
            layer.cumulative_length.fill_(position)

    def forward(self, module: Any, cache: Any) -> Step:
        """The logits of the last of some tokens, the first of which is at a position."""
        torch = self._torch

        def step(tokens: Any, at: Any) -> Any:
            places = at + torch.arange(tokens.shape[1], device=tokens.device)
            made = module(
                input_ids=tokens,
                past_key_values=cache,
                position_ids=places[None].expand(tokens.shape),
                use_cache=True,
                logits_to_keep=1,
            )
            return made.logits

        return step

    def tokens(self, batch: int, number: int, seed: int) -> Any:
        """Random tokens, the same for a seed."""
        torch = self._torch
        made = torch.Generator(self._device).manual_seed(seed)
        size, shape = self.config.vocab_size, (batch, number)
        return torch.randint(0, size, shape, generator=made, device=self._device)

    def at(self, position: int) -> Any:
        """A position, as a tensor: a step is compiled once for all."""
        return self._torch.tensor([position], device=self._device)

    def decoded(self, step: Step, cache: Any, batch: int, number: int) -> list[Any]:
        """Logits of `number` steps after the filled cache, of the same tokens for all."""
        self.go_to(cache, self.positions)
        steps = ((self.tokens(batch, 1, n), self.at(self.positions + n)) for n in range(number))
        return [step(*each).cpu() for each in steps]

    def captured(self, step: Step, cache: Any, tokens: Any, position: int) -> Any:
        """A step at a position as a CUDA graph; `go_to` comes before each replay."""
        torch, at = self._torch, self.at(position)
        # A first call may compile; one in another stream is what a capture asks for.
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            self.go_to(cache, position)
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                step(tokens, at)
            torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        self.go_to(cache, position)
        with torch.cuda.graph(graph):
            step(tokens, at)
        return graph

    def timed(self, graph: Any, cache: Any, position: int) -> float:
        """Microseconds of a captured step."""
        torch = self._torch
        times: list[float] = []
        for _ in range(REPLAYS):
            self.go_to(cache, position)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
        return statistics.median(times)

    def kernels(self, graph: Any, cache: Any, position: int) -> list[StepKernel]:
        """The kernels of a captured step."""
        torch = self._torch
        self.go_to(cache, position)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            graph.replay()
            torch.cuda.synchronize()
        return kernels_of(profile.events())


def compiled(torch: Any, step: Step, mode: str, pack: bool) -> Step:
    """A step as `mode` has it."""
    torch._dynamo.reset()
    if mode == "compile":
        return torch.compile(step, mode="max-autotune-no-cudagraphs", dynamic=False)
    if mode in ("mirage", "off"):
        options: dict[str, object] = {"effort": "full" if mode == "mirage" else "none"}
        options |= {"pack": True} if pack else {}
        options |= {} if torch.cuda.is_available() else {"target": "H200", "rest": "eager"}
        # The name is known where the package is installed, not where it only lies on the path.
        return torch.compile(step, backend=mirage, options=options, dynamic=False)
    return step


def measured(model: Model, batch: int, options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """One row for each mode."""
    torch: Any = import_module("torch")
    steps = 4 if options.tiny else CHECKED_STEPS
    exact = _exact(model, batch, steps) if options.check else None
    for mode in options.modes.split(","):
        cache = model.filled_cache(model.module, batch)
        step = compiled(torch, model.forward(model.module, cache), mode, options.pack)
        start = perf_counter()
        # Known kernels are taken where nothing is searched.
        with patch.dict(os.environ, {"MIRAGE_CACHE_DIR": "off"} if mode == "off" else {}):
            model.decoded(step, cache, batch, 1)
        row: dict[str, object] = {"batch": batch, "mode": mode}
        row["first_call_s"] = round(perf_counter() - start, 1)
        if exact is not None:
            got = model.decoded(step, cache, batch, steps)
            errors = [gpu.relative_error(*pair) for pair in zip(got, exact, strict=True)]
            # max() would pass over a NaN.
            row["error"] = float(torch.tensor(errors).max())
        if torch.cuda.is_available():
            graph = model.captured(step, cache, model.tokens(batch, 1, 3), model.positions)
            row["us"] = model.timed(graph, cache, model.positions)
            if options.kernels:
                kernels = model.kernels(graph, cache, model.positions)
                row |= {"kernels": by_name(kernels), "period": one_period(kernels)}
            if options.prefill:
                many = model.tokens(batch, options.prefill, 4)
                row["prefill_us"] = model.timed(model.captured(step, cache, many, 0), cache, 0)
        yield row


def _exact(model: Model, batch: int, steps: int) -> list[Any]:
    """Logits in float64."""
    module = copy.deepcopy(model.module).double()
    cache = model.filled_cache(module, batch)
    found = model.decoded(model.forward(module, cache), cache, batch, steps)
    del module, cache
    # Else torch keeps four times the model's memory while the modes are timed.
    import_module("torch").cuda.empty_cache()
    return found


def _shown(value: object) -> str:
    if isinstance(value, list):
        rows = cast(list[dict[str, object]], value)
        head = " ".join(rows[0]) if rows else "none"
        lines = [" ".join(f"{value:>11}" for value in row.values()) for row in rows]
        return "".join(f"\n  {line}" for line in [head, *lines])
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0].strip())
    parser.add_argument("--model", choices=sorted(MODELS), default="llama3-8b")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--modes", default=",".join(MODES), help=f"of {', '.join(MODES)}")
    parser.add_argument("--layers", type=int, help="fewer than the model has")
    parser.add_argument("--positions", type=int, default=1024, help="that the cache holds")
    parser.add_argument("--prefill", type=int, default=0, help="also time this many tokens")
    parser.add_argument("--pack", action="store_true", help="kernels may read packed weights")
    parser.add_argument("--kernels", action="store_true", help="list what runs in a decode step")
    parser.add_argument("--no-check", dest="check", action="store_false")
    parser.add_argument("--tiny", action="store_true", help="small sizes, on a processor")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args(arguments)
    gpu.torch_module()
    model = Model(options.model, options)
    rows: list[dict[str, object]] = []
    for batch in options.batches.split(","):
        for row in measured(model, int(batch), options):
            rows.append(row)
            print(" ".join(f"{name} {_shown(value)}" for name, value in row.items()), flush=True)
            # After each, so that a run that is cut short leaves what it measured.
            if not options.tiny:
                write(rows, options)


def write(rows: Sequence[dict[str, object]], options: argparse.Namespace) -> None:
    """Write the numbers, with what they depend on."""
    torch: Any = import_module("torch")
    about = {"model": options.model, "positions": options.positions, "layers": options.layers}
    about["transformers"] = gpu.package_version("transformers")
    table = {"environment": gpu.environment(torch), **about, "pack": options.pack, "rows": rows}
    folder: Path = options.results / gpu.machine_name(torch)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = "-packed" if options.pack else ""
    name = f"{datetime.now(UTC).date().isoformat()}-models-{options.model}{suffix}.json"
    write_whole(folder / name, (json.dumps(table, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
