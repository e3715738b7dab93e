"""
Kernels of the same programs from several folders, such as those of two commits, timed in turn.

    python benchmarks/kernels/compare.py OLD NEW              artifacts of the same names
    python benchmarks/kernels/compare.py OLD NEW FURTHER --only layernorm,lora --results DIR

Each folder holds artifacts (`kernel.save`, `mirage-opt --artifacts`); those of the first folder are
compared with those of the same file name in the others. An artifact carries its program, from which
inputs, float64 and eager PyTorch follow.

First each kernel runs on fresh random inputs of three kinds, its outputs filled with NaN before:
normal ones; one channel of the first activations at 2e4 where the gain (a constant vector) is 4;
and activations of 1e-5. Its error to float64 is written beside that of eager PyTorch, and whether
it is allowed: finite wherever eager is, and at most 4 times eager's plus 2 u sqrt(K), u the unit
roundoff of the result's type and K the longest sum.

Then all are replayed in turn in CUDA graphs that rotate over input sets larger than L2, three
rounds of 50 replays; a number is the median of a round. A kernel is said to be slower than that of
the first folder where it takes more than 1.02 of its time in every round.

Results go to `results/<machine>/<date>-compare.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The folder of all benchmarks: a script has only its own on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

if TYPE_CHECKING:
    from kernels.case import Case

    import mirage_mlir as mi

SLOWER = 1.02
"""Times that are further apart than this differ, where they do so in all rounds."""

LARGE, LARGE_GAIN, SMALL = 2e4, 4.0, 1e-5
"""A channel of a trained language model's activations, its gain, and activations near zero."""

TIMES, SLACK = 4.0, 2.0
"""How much larger than eager's an error may be, and how many roundings of a sum come on top."""

ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}

Inputs = list[Any]
Change = Callable[[Any, "Case", Inputs], None]


def as_they_are(torch: Any, case: Case, inputs: Inputs) -> None:
    """Leave inputs normal."""


def one_large_channel(torch: Any, case: Case, inputs: Inputs) -> None:
    """Make one channel of the first activations large, and its gain in each vector."""
    first = next(place for place, given in enumerate(case.inputs) if not given.constant)
    width = case.inputs[first].shape[-1]
    channel = int(torch.randint(width, ()))
    inputs[first][..., channel] = LARGE
    for given, tensor in zip(case.inputs, inputs, strict=True):
        if given.constant and given.shape == (width,):
            tensor[channel] = LARGE_GAIN


def small_activations(torch: Any, case: Case, inputs: Inputs) -> None:
    """Bring all activations near zero."""
    for given, tensor in zip(case.inputs, inputs, strict=True):
        if not given.constant:
            tensor.mul_(SMALL)


KINDS: Mapping[str, Change] = {
    "normal": as_they_are,
    "one channel 2e4": one_large_channel,
    "1e-5": small_activations,
}


def longest_sum(case: Case) -> int:
    """Terms of the longest sum of any operator: all that a tensor's last two dimensions may be."""
    return max(max(given.shape[-2:], default=1) for given in case.inputs)


def allowed(eager: float, dtype: str, terms: int) -> float:
    """The largest error that is as accurate as eager; any where eager has no number."""
    if not isfinite(eager):
        return inf
    return TIMES * eager + SLACK * ROUNDOFF[dtype] * terms**0.5


@dataclass(frozen=True)
class Subject:
    """One program, and its kernels by folder."""

    case: Case
    kernels: Mapping[str, mi.CompiledKernel]


def subjects(folders: Sequence[Path], only: str) -> list[Subject]:
    """The programs that the first folder and another one have."""
    from kernels.workload_files import case_of

    import mirage_mlir as mi
    from mirage_mlir.driver.source import functions, parse_program

    found: list[Subject] = []
    for name in sorted(path.name for path in folders[0].glob("*.mirage")):
        having = [one for one in folders if (one / name).exists()]
        if len(having) > 1 and any(word in name for word in only.split(",")):
            kernels = {one.name: mi.load(one / name) for one in having}
            program = next(iter(kernels.values())).artifact.program
            (function,) = functions(parse_program(program, name))
            found.append(Subject(case_of(function, Path(name).stem), kernels))
    return found


@dataclass(frozen=True)
class Comparison:
    """Checks and times programs on one GPU."""

    torch: Any
    rounds: int
    replays: int

    def run(self, subject: Subject) -> dict[str, Any]:
        """A row of the result."""
        import gpu
        from kernels.suite import set_count
        from peers.table import random_inputs

        case = subject.case
        checks = {kind: self.errors(subject, change) for kind, change in KINDS.items()}
        sets = [random_inputs(self.torch, case) for _ in range(set_count(case))]
        # Held until the last replay: torch may give memory back when the next graph is captured.
        outputs = {name: self.outputs(kernel) for name, kernel in subject.kernels.items()}
        graphs = {
            name: gpu.capture(self.torch, partial(self.call, kernel, outputs[name]), sets)
            for name, kernel in subject.kernels.items()
        }
        rounds = [gpu.replayed(self.torch, graphs, self.replays) for _ in range(self.rounds)]
        for kernel in subject.kernels.values():
            kernel.release()
        first, *others = subject.kernels
        slower = [name for name in others if all(one[name] > SLOWER * one[first] for one in rounds)]
        return {"program": case.name, "errors": checks, "microseconds": rounds, "slower": slower}

    def call(self, kernel: mi.CompiledKernel, outputs: Inputs, *inputs: Any) -> None:
        """One call, into the same outputs every time."""
        kernel(*inputs, out=outputs)

    def outputs(self, kernel: mi.CompiledKernel) -> Inputs:
        """Outputs without any number, each with the strides that the kernel writes."""
        from peers.table import dtype_of

        return [
            self.torch.empty_strided(
                spec.shape,
                spec.strides,
                dtype=dtype_of(self.torch, spec.element_type.value),
                device="cuda",
            ).fill_(float("nan"))
            for spec in kernel.artifact.outputs
        ]

    def errors(self, subject: Subject, change: Change) -> dict[str, Any]:
        """The errors of all kernels and of eager on inputs of one kind, and which are too large."""
        from peers.table import function_of, random_inputs
        from peers.torch_programs import tuple_of

        case = subject.case
        inputs = [*random_inputs(self.torch, case)]
        change(self.torch, case, inputs)
        wide = [tensor.double() for tensor in inputs]
        wanted = tuple_of(function_of(case, wide=True)(*wide))
        results: dict[str, Sequence[Any]] = {"eager": tuple_of(function_of(case)(*inputs))}
        for name, kernel in subject.kernels.items():
            outputs = self.outputs(kernel)
            kernel(*inputs, out=outputs)
            results[name] = outputs
        found = {name: self.worst(outputs, wanted) for name, outputs in results.items()}
        most = max(
            allowed(found["eager"], dtype, longest_sum(case)) for dtype in set(case.output_types)
        )
        wrong = [name for name, error in found.items() if not error <= most]
        return {**found, "allowed": most, "wrong": wrong}

    def worst(self, outputs: Sequence[Any], wanted: Sequence[Any]) -> float:
        """The largest error of any output; infinite where one has no number and should."""
        import gpu

        errors = [gpu.relative_error(*pair) for pair in zip(outputs, wanted, strict=True)]
        return max(error if isfinite(error) else inf for error in errors)


def line(row: Mapping[str, Any]) -> str:
    """A row for people: the fastest round of each folder, ratios to the first, errors."""
    rounds: list[Mapping[str, float]] = row["microseconds"]
    first = next(iter(rounds[0]))
    cells = [f"{row['program']:34}"]
    for name in rounds[0]:
        ratios = " ".join(f"{one[name] / one[first]:.3f}" for one in rounds)
        cells.append(f"\n  {name:40}{min(one[name] for one in rounds):8.2f} us  {ratios}")
        for kind, errors in row["errors"].items():
            mark = "!" if name in errors["wrong"] else ""
            cells.append(f"  {kind} {errors[name]:.1e}{mark} ({errors['eager']:.1e})")
    slower = ", ".join(row["slower"])
    return "".join(cells) + (f"\n  SLOWER: {slower}" if slower else "")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", help="of artifacts, the old ones first")
    parser.add_argument("--only", default="", help="words, one of which a file's name contains")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replays", type=int, default=50, help="of each graph in a round")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parents[1] / "results", help="folder"
    )
    return parser.parse_args()


def main() -> int:
    """Compare; 1 where a kernel of another folder than the first is wrong or slower."""
    import gpu

    from mirage_mlir.runtime.files import write_whole

    arguments = parse()
    torch = gpu.torch_module()
    comparison = Comparison(torch, arguments.rounds, arguments.replays)
    rows: list[dict[str, Any]] = []
    environment = gpu.environment(torch)
    path = gpu.result_path(arguments.results, torch, environment, "compare")
    for subject in subjects(arguments.folders, arguments.only):
        rows.append(comparison.run(subject))
        print(line(rows[-1]), flush=True)
        torch.cuda.empty_cache()
        content = {"environment": environment, "command": sys.argv[1:], "programs": rows}
        write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
    first = arguments.folders[0].name
    wrong = [name for row in rows for one in row["errors"].values() for name in one["wrong"]]
    return int(any(row["slower"] for row in rows) or any(name != first for name in wrong))


if __name__ == "__main__":
    sys.exit(main())
