"""What the campaigns share: programs, small and large, and where reports go."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.effort import Effort
from mirage_mlir.passes.superoptimize import candidates

ROOT = Path(__file__).parents[2]

# What tests, campaigns and benchmarks share; those import it after this module.
sys.path[:0] = [str(ROOT / "test" / "support"), str(ROOT / "benchmarks")]

RESULTS = ROOT / "benchmarks" / "results" / "verification"

SHRUNK = 32
"""What large sizes are divided by, so that every element can be computed literally."""

LARGE = 128
"""Sizes from which they are divided."""


def ugraphs() -> Iterator[tuple[str, FuncOp, FuncOp]]:
    """Each hand-written graph: name, program, graph."""
    for path in sorted((ROOT / "test" / "ugraphs").glob("*.mlir")):
        reference, graph, *_ = functions(parse_program(path.read_text(), path.name))
        yield path.stem, reference, graph


def workloads() -> Iterator[tuple[str, str]]:
    """Name and text of each workload."""
    for path in sorted((ROOT / "test" / "workloads").glob("*.mlir")):
        yield path.stem, path.read_text()


def function_of(text: str, name: str) -> FuncOp | None:
    """The function of a program, None where the text is no valid program."""
    try:
        return functions(parse_program(text, name))[0]
    except DiagnosticException:
        return None


def shrunk(text: str) -> str:
    """A program with large sizes of tensors divided by `SHRUNK`."""

    def smaller(size: str) -> str:
        return str(int(size) // SHRUNK) if int(size) >= LARGE else size

    def tensor(match: re.Match[str]) -> str:
        *sizes, element_type = match.group(1).split("x")
        return f"tensor<{'x'.join([*map(smaller, sizes), element_type])}>"

    return re.sub(r"tensor<([0-9a-z]+)>", tensor, text)


def found_graphs(function: FuncOp, most: int, seconds: float) -> list[FuncOp]:
    """The best graphs that the search finds for a function, as far as it comes."""
    found: list[FuncOp] = []
    try:
        with collect_remarks():
            for candidate in islice(candidates(function, effort=Effort(seconds)), most):
                found.append(candidate.function)
    except Exception as error:  # A search that fails is no matter of this campaign.
        say(["no more graphs:", type(error).__name__, error])
    return found


def write(name: str, report: dict[str, object]) -> None:
    """Write a campaign's report as JSON."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n")


def say(words: Sequence[object]) -> None:
    """Progress, on stderr."""
    sys.stderr.write(" ".join(map(str, words)) + "\n")
    sys.stderr.flush()
