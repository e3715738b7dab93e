"""Samples kernels, times them, and compares with the model."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, cast

import gpu
from calibration.first import keep_first
from calibration.ranks import mean_error, regret, spearman
from calibration.sample import Sample, samples
from calibration.timed import Timed
from kernels.case import Bar, Case
from kernels.programs import (
    add_rmsnorm_linear,
    attention,
    chosen,
    gated_mlp,
    grouped_decode,
    layernorm_linear,
    linear_bias_gelu,
    lora,
    matmul,
    ntrans,
    outer,
    rmsnorm,
    rmsnorm_linear,
)
from kernels.workload_files import cases_in
from measured import Found, Program, shared, time_all

from mirage_mlir.driver.machine import this_machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.timings import Timings
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.targets.target import target_named
from mirage_mlir.worker import WorkerError, workers

NO_BAR = Bar(1.0, 1.0)

COUNT = 10
"""Kernels of each program."""


def cases() -> Iterator[Case]:
    """Products of few rows, chains of products, rows alone; long and short, whole and ragged."""
    for batch, width in ((1, 4096), (8, 4096), (16, 6144)):
        yield rmsnorm_linear(batch, 4096, width, "f16", NO_BAR)
    yield rmsnorm_linear(3, 2560, 1003, "f16", NO_BAR)
    yield rmsnorm_linear(1, 896, 4864, "bf16", NO_BAR)
    for batch, width in ((1, 4096), (16, 6144), (8, 14336)):
        yield matmul(batch, 4096, width, "f16", NO_BAR)
    yield matmul(512, 1024, 4096, "f16", NO_BAR)
    yield gated_mlp(8, 4096, 4096, "f16", NO_BAR)
    yield gated_mlp(1, 4096, 14336, "f16", NO_BAR)
    yield lora(16, 256, 4096, 16, "f16", NO_BAR)
    yield lora(16, 4096, 4096, 16, "f16", NO_BAR)
    yield add_rmsnorm_linear(8, 4096, 4096, "f16", NO_BAR)
    yield layernorm_linear(8, 4096, 4096, "f16", NO_BAR)
    yield linear_bias_gelu(8, 4096, 4096, "f16", NO_BAR)
    yield ntrans(1, 4096, "f16", NO_BAR)
    yield ntrans(8, 4096, "f16", NO_BAR)
    for count, width, dtype in (
        (250, 500, "f32"),
        (4097, 1023, "f32"),
        (4096, 1024, "f32"),
        (32768, 1024, "f16"),
        (8192, 8192, "f16"),
    ):
        yield rmsnorm(count, width, dtype, NO_BAR)
    yield outer(4096, 4096, "f16", NO_BAR)
    for name, heads, queries in (("gqa_paper", 2, 256), ("mha_paper", 32, 16)):
        yield attention(name, 1, heads, queries, "f16", NO_BAR)
    yield grouped_decode(8, 4096, "f16", NO_BAR)
    here = Path(__file__).parent
    yield from cases_in([here / "attention.mlir", here / "pairs.mlir"])[0]


@dataclass(frozen=True)
class Row:
    """One kernel."""

    case: str
    structure: str
    tiles: Mapping[str, int]
    modelled: float
    """Microseconds, as the measured time."""
    measured: float | None
    problem: str
    digest: str
    """Of the uGraph's text."""
    spill_bytes: int = 0
    """Registers spilled; such kernels are not taken, and not counted here."""


def parse(about: str) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="words, one of which a program's name contains")
    parser.add_argument("--count", type=int, default=COUNT, help="kernels of each program")
    parser.add_argument("--target", default="H200", help="whose row of constants is asked")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="to compile with")
    parser.add_argument("--again", type=Path, help="a result: ask the model of now")
    parser.add_argument("--compact", type=Path, help="a result: write timed.json for the tests")
    parser.add_argument("--first", type=Path, help="one of kernels/run.py: write first.json")
    parser.add_argument("--sample", action="store_true", help="show what would be timed")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parents[1] / "results", help="folder"
    )
    return parser.parse_args()


def calibrate(about: str) -> int:
    """Run the benchmark; 1 where no kernel could be timed."""
    arguments = parse(about)
    wanted = chosen(list(cases()), arguments.only)
    if arguments.again is not None:
        return again(arguments.again, wanted, arguments.target)
    if arguments.compact is not None:
        return compact(arguments.compact, wanted, arguments.target)
    if arguments.first is not None:
        return keep_first(arguments.first, arguments.target)
    with workers(arguments.jobs) as pool:
        sample = partial(samples, target=arguments.target, count=arguments.count)
        texts = [case.text() for case in wanted]
        found = list(zip(wanted, pool.map(sample, texts), strict=True))
        usable = [(case, some) for case, some in found if isinstance(some, list) and some]
        for case, some in found:
            if isinstance(some, WorkerError) or not some:
                print(f"{case.name}: no samples: {some}")
        if arguments.sample:
            show_samples(usable)
            return 0
        options = Options(target=arguments.target, chips=(target_named(arguments.target).chip,))
        programs = [Program(case.text(), _candidates(some)) for case, some in usable]
        rows: list[Row] = []
        with shared(this_machine(arguments.target), pool) as machine:
            timed = time_all(programs, machine, options)
            for (case, some), timings in zip(usable, timed, strict=True):
                rows += _rows(case, some, timings)
                print(line(case.name, rows[-len(some) :]), flush=True)
    print(summary(rows))
    write(arguments.results, machine.name, arguments.target, rows)
    return 0 if any(row.measured is not None for row in rows) else 1


def _candidates(some: Sequence[Sample]) -> tuple[Found, ...]:
    return tuple(Found(one.function, one.structure, one.modelled) for one in some)


def _rows(case: Case, some: Sequence[Sample], timings: Timings) -> Iterator[Row]:
    for one, timed in zip(some, timings.candidates, strict=True):
        measured = None if timed.problem else timed.microseconds
        yield Row(
            case.name,
            one.structure,
            one.tiles,
            one.modelled * 1e6,
            measured,
            timed.problem,
            one.digest,
            0 if timed.compiled is None else timed.compiled.assembled.spill_bytes,
        )


def show_samples(found: Sequence[tuple[Case, list[Sample]]]) -> None:
    """What would be timed."""
    for case, some in found:
        print(case.name)
        for one in some:
            print(f"  {one.modelled * 1e6:8.2f} us  {one.structure}  {one.tiles}")


def right(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Modelled and measured times of the kernels that were timed and spill nothing."""
    return [
        (row.modelled, row.measured)
        for row in rows
        if row.measured is not None and not row.spill_bytes
    ]


def line(name: str, rows: Sequence[Row]) -> str:
    """One program."""
    pairs = right(rows)
    if len(pairs) < 2:
        problem = rows[0].problem[:120] if rows else "none is found again"
        return f"{name:32} {len(pairs)} of {len(rows)} timed: {problem}"
    modelled, measured = zip(*pairs, strict=True)
    return (
        f"{name:32} {len(pairs):3} of {len(rows):3}"
        f"  {min(measured):8.2f} .. {max(measured):8.2f} us"
        f"  rho {spearman(modelled, measured):5.2f}  off by {mean_error(modelled, measured):4.0%}"
        f"  regret {regret(modelled, measured):5.2f}"
    )


def by_program(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The kernels of each program."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.case, []).append(row)
    return grouped


def numbers(rows: Sequence[Row]) -> dict[str, object]:
    """Correlations: of each program, their mean, and of all kernels."""
    programs = {name: right(some) for name, some in by_program(rows).items()}
    each = {
        name: spearman(*zip(*pairs, strict=True))
        for name, pairs in programs.items()
        if len(pairs) > 2
    }
    pairs = right(rows)
    modelled, measured = zip(*pairs, strict=True) if pairs else ((), ())
    return {
        "kernels": len(pairs),
        "programs": each,
        "mean_of_programs": sum(each.values()) / len(each) if each else None,
        "overall": spearman(modelled, measured) if pairs else None,
        "mean_error": mean_error(modelled, measured) if pairs else None,
    }


def summary(rows: Sequence[Row]) -> str:
    """All programs."""
    found = numbers(rows)
    return (
        f"{found['kernels']} kernels: rank correlation overall {found['overall']:.3f}, mean of the "
        f"programs {found['mean_of_programs']:.3f}; off by {found['mean_error']:.0%}"
        if found["overall"] is not None
        else "no kernel was timed"
    )


def read_rows(path: Path) -> dict[str, list[Row]]:
    """The kernels of each program of a result."""
    stored = cast(dict[str, Any], json.loads(path.read_text()))
    return by_program([Row(**row) for row in stored["rows"]])


def compact(path: Path, wanted: Sequence[Case], target: str) -> int:
    """
    Write what a result says of the programs `wanted` as the tests read it.

    Programs that it does not have stay as they are.
    """
    from calibration.compact import compacted, file_of, write

    grouped = read_rows(path)
    for file in sorted({file_of(case) for case in wanted}):
        known: dict[str, Timed] = json.loads(file.read_text())
        found = {
            case.name: compacted(case, grouped[case.name], target)
            for case in wanted
            if case.name in grouped and file_of(case) == file
        }
        write(known | {name: timed for name, timed in found.items() if timed is not None}, file)
    return 0


def again(path: Path, wanted: Sequence[Case], target: str) -> int:
    """The rows of a result with the times that the model of now gives."""
    from calibration.remodel import remodelled

    grouped = read_rows(path)
    rows = [row for some in grouped.values() for row in some]
    new: list[Row] = []
    for case in wanted:
        if case.name in grouped:
            some = remodelled(case, grouped[case.name], target)
            print(line(case.name, some), flush=True)
            new += some
    print("before:", summary([row for row in rows if row.case in {case.name for case in wanted}]))
    print("now:   ", summary(new))
    return 0


def write(folder: Path, device: str, target: str, rows: Sequence[Row]) -> None:
    """Write the numbers, with what they depend on."""
    torch = gpu.torch_module()
    environment = gpu.environment(torch)
    path = gpu.result_path(folder, torch, environment, "calibration")
    write_whole(path, result(environment, device, target, rows))
    print(f"written to {path}")


def result(
    environment: Mapping[str, object], device: str, target: str, rows: Sequence[Row]
) -> bytes:
    """What is written: JSON, in which the set of a target's features is a sorted list."""
    content = {
        "environment": environment,
        "command": sys.argv[1:],
        "device": device,
        "target": asdict(target_named(target)),
        "correlation": numbers(rows),
        "rows": [asdict(row) for row in rows],
    }
    written = json.dumps(content, indent=1, default=_features)
    return f"{written}\n".encode()


def _features(features: Iterable[Enum]) -> list[str]:
    return sorted(str(feature.value) for feature in features)
