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
from calibration.compact import kept, scored, write
from calibration.sample import Spread, graphs
from calibration.timed import Timed
from kernels.case import Case
from kernels.ours import search
from kernels.workload_files import cases_in

from mirage_mlir.search.cost_model.instantiate import Array, Mesh

FIRST = Path(__file__).parent / "first.json"

MODELS = Path(__file__).parents[1] / "kernels" / "models"

TILINGS = 40
"""Of each graph, the fastest in the model: candidates are among them."""

SAME = 1e-6
"""Microseconds by which a time of the model may differ: it went through text."""


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
        ValueError: it makes others, as the model has changed since.
    """
    found = search(case.text(), target, len(timed), None).candidates
    pairs = list(zip(found, timed, strict=False))
    alike = all(abs(one.modelled * 1e6 - row["modelled"]) <= SAME for one, row in pairs)
    if len(found) != len(timed) or not alike:
        raise ValueError("the model puts others first than when the result was written")
    times = {one.function: row["microseconds"] for one, row in pairs if row["microseconds"]}
    again = graphs(case.text(), target, _Fastest)
    return kept(case, ((graph, times.pop(one.function, None)) for one, graph in again), target)


def keep_first(result: Path, target: str) -> int:
    """
    Write `first.json` from a result, and how the model of now ranks what the file has.

    Programs of which it has no such candidates keep what they have; 1 where the result gave none.
    """
    rows = {(row["program"], row["label"]): row for row in json.loads(result.read_text())["cases"]}
    known: dict[str, Timed] = json.loads(FIRST.read_text())
    found: dict[str, Timed] = {}
    new = 0
    for case in models():
        row = rows.get((case.program, case.label))
        try:
            timed = None if row is None else taken(case, row["candidates"], target)
        except ValueError as error:
            print(f"{case.name}: {error}")
            timed = None
        new += timed is not None
        if timed is None and case.name in known:
            timed = scored(case, known[case.name], target)
        if timed is not None:
            found[case.name] = timed
            print(f"{case.name:40} {len(timed['kernels'])} kernels, {timed['regret']}")
    write(found, FIRST)
    return 0 if new else 1
