"""What the campaigns share: programs, small and large, and float64 as a judge of its own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.axes import Axis, distinct, special
from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import shape_of
from mirage_mlir.interpreters.rounding import relative_errors
from mirage_mlir.interpreters.tensors import Tensor
from mirage_mlir.passes.search.effort import Effort
from mirage_mlir.passes.superoptimize import candidates

ROOT = Path(__file__).parents[2]

# What tests and campaigns share; those import it after this module.
sys.path[:0] = [str(ROOT / "test" / "support")]

RESULTS = ROOT / "benchmarks" / "results" / "verification"

DISTINCT = 1e-9
"""Relative distance from which float64 tells results apart; reordered sums stay below 1e-12."""

LITERAL = 1 << 15
"""Elements of all arguments up to which no index repeats when float64 judges."""

SPECIAL = 3
"""Indices of a dimension that differ from all others where it is too long for that."""

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


# Float64 as a judge


def differs(reference: FuncOp, candidate: FuncOp, seed: int) -> bool:
    """
    Whether float64 tells two functions apart on normal inputs.

    Inputs repeat where they are large: then `SPECIAL` random indices of each dimension differ.
    """
    axes = _axes(reference, candidate, seed)
    random = np.random.default_rng(seed)
    inputs = [
        Tensor[Floats](random.standard_normal((1, *(axis.classes for axis in each))), each)
        for each in axes
    ]
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    expected = interpreter.run(reference, inputs)
    try:
        results = interpreter.run(candidate, inputs)
    except NotInterpretable:
        return True
    pairs = zip(results, expected, strict=True)
    return any(max(relative_errors(result, exact)) > DISTINCT for result, exact in pairs)


def _axes(reference: FuncOp, candidate: FuncOp, seed: int) -> list[tuple[Axis, ...]]:
    shapes = [shape_of(argument) for argument in reference.body.block.args]
    if sum(int(np.prod(shape)) for shape in shapes) <= LITERAL:
        return [tuple(map(distinct, shape)) for shape in shapes]
    random = np.random.default_rng([seed, 1])
    classes = DimensionClasses((reference, candidate))
    known: dict[tuple[int, int], Axis] = {}
    axes: list[tuple[Axis, ...]] = []
    for argument, shape in zip(reference.body.block.args, shapes, strict=True):
        own: list[Axis] = []
        for dim, size in enumerate(shape):
            key = id(classes.of((argument, dim))), size
            if key not in known:
                places = [int(place) for place in random.integers(0, size, SPECIAL)]
                known[key] = special(size, places)
            own.append(known[key])
        axes.append(tuple(own))
    return axes


def write(name: str, report: dict[str, object]) -> None:
    """Write a campaign's report as JSON."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n")


def say(words: Sequence[object]) -> None:
    """Progress, on stderr."""
    sys.stderr.write(" ".join(map(str, words)) + "\n")
    sys.stderr.flush()
