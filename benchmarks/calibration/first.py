"""
The kernels that searches put first, with their times: `run.py --first FILE` keeps them.

FILE is a result of `kernels/run.py` for programs in `kernels/models`. Its candidates are those that
the model takes for the fastest, all within a few per cent: of these `first.json` asks only how much
slower the first is than the fastest. It has the form of `timed.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from calibration.compact import FEWEST, lines
from calibration.sample import Spread, graphs
from calibration.timed import Kernel, Timed, modelled, outline, ranks_of
from kernels.case import Case
from kernels.ours import search
from kernels.workload_files import cases_in

from mirage_mlir.search.cost_model.instantiate import Array, Mesh
from mirage_mlir.targets.target import target_named

FIRST = Path(__file__).parent / "first.json"

MODELS = Path(__file__).parents[1] / "kernels" / "models"

TILINGS = 40
"""Of each graph, the fastest in the model: candidates are among them."""


class _Fastest(Spread):
    """A search that keeps the fastest tilings of each graph."""

    def _best(self, seconds: Array, mesh: Mesh) -> list[int]:
        finite = np.flatnonzero(np.isfinite(seconds))
        order = np.argsort(seconds[finite], kind="stable")
        return [int(index) for index in finite[order[:TILINGS]]]


def models() -> Iterator[Case]:
    """The programs in `kernels/models`."""
    yield from cases_in([MODELS])[0]


def taken(case: Case, timed: Sequence[Mapping[str, Any]], target: str) -> Timed | None:
    """
    The candidates of one kernel that were timed; None where there are few.

    Args:
        case: the program.
        timed: its candidates in a result, which a search of now makes again in that order.
        target: the GPU.

    Raises:
        ValueError: it makes others.
    """
    found = search(case.text(), target, len(timed), None).candidates
    if any(
        abs(one.modelled * 1e6 - row["modelled"]) > 1e-6
        for one, row in zip(found, timed, strict=True)
    ):
        raise ValueError(f"{case.name}: the model has changed since the result was written")
    pairs = zip(found, timed, strict=True)
    times = {one.function: row["microseconds"] for one, row in pairs if row["microseconds"]}
    outlines: list[str] = []
    kernels: list[Kernel] = []
    for sample, graph in graphs(case.text(), target, _Fastest):
        microseconds = times.pop(sample.function, None)
        if microseconds is None:
            continue
        if (text := outline(graph)) not in outlines:
            outlines.append(text)
        kernels.append(
            {
                "configuration": str(graph.configuration),
                "splits": graph.model.resources.splits,
                "tiles": {axis: graph.tiles[axis] for axis in sorted(graph.tiles)},
                "graph": outlines.index(text),
                "microseconds": round(microseconds, 3),
            }
        )
    if len(kernels) < FEWEST:
        return None
    kernels.sort(key=lambda kernel: kernel["microseconds"])
    return {"rank": 0.0, "regret": 0.0, "outlines": outlines, "kernels": kernels}


def scored(case: Case, timed: Timed, target: str) -> Timed:
    """With how the model of now ranks them."""
    rank, regret = ranks_of(modelled(case, timed, target_named(target)))
    return {**timed, "rank": round(rank, 3), "regret": round(regret, 3)}


def keep_first(result: Path, target: str) -> int:
    """Write `first.json` from a result."""
    rows = {(row["program"], row["label"]): row for row in json.loads(result.read_text())["cases"]}
    found: dict[str, Timed] = {}
    for case in models():
        row = rows.get((case.program, case.label))
        if row is not None and (timed := taken(case, row["candidates"], target)) is not None:
            found[case.name] = scored(case, timed, target)
            print(f"{case.name:40} {len(timed['kernels'])} kernels, {found[case.name]['regret']}")
    FIRST.write_text("\n".join(lines(found)) + "\n")
    return 0
