"""
What the searches of two commits choose, and how long those take that differ.

    python benchmarks/kernels/choices.py --search OLD.json      with each of the two commits
    python benchmarks/kernels/choices.py --time OLD.json NEW.json

The first searches all programs of `test/workloads` and of the folders here, and needs no GPU. The
second compiles both choices of a program with the code that runs it, and times them interleaved, so
that a change of the search or of its model is judged and not one of the lowering. Results go to
`results/<machine>/<date>-choices.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

# The folder of all benchmarks: a script has only its own on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

import gpu
from kernels.case import Case
from kernels.ours import first_choice, reference
from kernels.workload_files import cases_in
from measured import Found, Program, shared, time_all

from mirage_mlir.driver.machine import this_machine
from mirage_mlir.driver.options import Options
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.targets.target import target_named
from mirage_mlir.worker import WorkerError, workers

HERE = Path(__file__).parent
FOLDERS = (
    HERE.parents[1] / "test" / "workloads",
    *(HERE / name for name in ("regimes", "models", "patterns")),
)

Choices = Mapping[str, Found]


@dataclass(frozen=True)
class Pair:
    """A program whose choice differs: microseconds of both, modelled and taken."""

    program: str
    structures: tuple[str, str]
    modelled: tuple[float, float]
    microseconds: tuple[float, float]
    problems: tuple[str, str]


def cases() -> dict[str, Case]:
    """All programs, by the name of their file and theirs."""
    found, problems = cases_in(FOLDERS)
    assert not problems, problems
    return {case.key.rpartition("/")[2]: case for case in found}


def search_all(path: Path, target: str, jobs: int) -> None:
    """Write the first choices for all programs."""
    named = cases()
    with workers(jobs) as pool:
        texts = [case.text() for case in named.values()]
        found = zip(named, pool.map(partial(first_choice, target=target), texts), strict=True)
        kept = {name: asdict(one) for name, one in found if not isinstance(one, WorkerError)}
    write_whole(path, json.dumps(kept, indent=1).encode())
    print(f"{len(kept)} of {len(named)} programs searched")


def read(path: Path) -> Choices:
    """What `search_all` wrote."""
    return {name: Found(**one) for name, one in json.loads(path.read_text()).items()}


def timed(old: Choices, new: Choices, target: str, jobs: int) -> Iterator[Pair]:
    """The times of the choices that differ."""
    named = cases()
    changed = [name for name in named if name in old and name in new and old[name] != new[name]]
    programs = [
        Program(named[name].text(), (old[name], new[name]), partial(reference, named[name].key))
        for name in changed
    ]
    options = Options(target=target, chips=(target_named(target).chip,))
    with workers(jobs) as pool, shared(this_machine(target), pool) as machine:
        for name, timings in zip(changed, time_all(programs, machine, options), strict=True):
            pair = old[name], new[name]
            one, two = timings.candidates
            yield Pair(
                name,
                (pair[0].structure, pair[1].structure),
                (pair[0].modelled * 1e6, pair[1].modelled * 1e6),
                (one.microseconds, two.microseconds),
                (one.problem, two.problem),
            )


def time_both(arguments: argparse.Namespace) -> None:
    """Time what differs, and write the results."""
    old, new = map(read, arguments.time)
    torch = gpu.torch_module()
    environment = gpu.environment(torch)
    path = gpu.result_path(arguments.results, torch, environment, "choices")
    about = {"environment": environment, "command": sys.argv[1:], "programs": len(old)}
    pairs: list[dict[str, object]] = []
    for pair in timed(old, new, arguments.target, arguments.jobs):
        pairs.append(asdict(pair))
        before, after = pair.microseconds
        print(f"{pair.program:48} {before:9.2f} {after:9.2f}  {after / before:5.2f}", flush=True)
        # What there is: the time may be over before the last.
        write_whole(path, (json.dumps(about | {"differ": pairs}, indent=1) + "\n").encode())
    print(f"written to {path}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--search", type=Path, help="a file to write")
    wanted.add_argument("--time", type=Path, nargs=2, metavar=("OLD", "NEW"), help="two of these")
    parser.add_argument("--target", default="H200", help="what to search for")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parents[1] / "results", help="folder"
    )
    arguments = parser.parse_args()
    if arguments.search is not None:
        search_all(arguments.search, arguments.target, arguments.jobs)
    else:
        time_both(arguments)


if __name__ == "__main__":
    main()
