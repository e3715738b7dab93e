"""`run.py --compact FILE`: the kernels of a calibration run, as `timed.json` keeps them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.remodel import keeping
from calibration.sample import graphs
from calibration.timed import Kernel, Timed, modelled, outline, ranks_of
from kernels.case import Case

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.targets.target import target_named

if TYPE_CHECKING:
    from calibration.calibrate import Row

FEWEST = 4
"""Kernels of which ranks say something."""

TIMED = Path(__file__).parent / "timed.json"

PAIRS = Path(__file__).parent / "pairs.json"
"""The same of programs over pairs, and of short rows, which are ranked less well."""


def file_of(case: Case) -> Path:
    """The file that has the timed kernels of a program."""
    return PAIRS if case.program == "pairs" else TIMED


def compacted(case: Case, rows: Sequence["Row"], target: str) -> Timed | None:
    """The kernels of a program that were timed and that a search of now still makes."""
    timed = {row.digest: row.measured for row in rows if row.measured and not row.spill_bytes}
    found = graphs(case.text(), target, keeping(rows))
    return kept(case, ((graph, timed.pop(one.digest, None)) for one, graph in found), target)


def kept(case: Case, timed: Iterable[tuple[BlockGraph, float | None]], target: str) -> Timed | None:
    """The graphs that have a time, in microseconds; None where these are few."""
    outlines: list[str] = []
    kernels: list[Kernel] = []
    for graph, measured in timed:
        if measured is None:
            continue
        if (text := outline(graph)) not in outlines:
            outlines.append(text)
        kernels.append(
            {
                "configuration": str(graph.configuration),
                "splits": graph.model.resources.splits,
                "tiles": {axis: graph.tiles[axis] for axis in sorted(graph.tiles)},
                "graph": outlines.index(text),
                "microseconds": round(measured, 3),
            }
        )
    if len(kernels) < FEWEST:
        return None
    kernels.sort(key=lambda kernel: kernel["microseconds"])
    found: Timed = {"rank": 0.0, "regret": 0.0, "outlines": outlines, "kernels": kernels}
    return scored(case, found, target)


def scored(case: Case, timed: Timed, target: str) -> Timed:
    """With how the model of now ranks them."""
    rank, regret = ranks_of(modelled(case, timed, target_named(target)))
    return {**timed, "rank": round(rank, 3), "regret": round(regret, 3)}


def write(programs: Mapping[str, Timed], path: Path = TIMED) -> None:
    """Write `timed.json`, or a file like it, a line for each kernel."""
    path.write_text("\n".join(_lines(programs)) + "\n")


def _lines(programs: Mapping[str, Timed]) -> Iterator[str]:
    yield "{"
    for number, (name, timed) in enumerate(programs.items(), start=1):
        yield f" {json.dumps(name)}: {{"
        yield f'  "rank": {timed["rank"]}, "regret": {timed["regret"]},'
        yield from _list("outlines", timed["outlines"], ",")
        yield from _list("kernels", timed["kernels"], "")
        yield " }" + "," * (number < len(programs))
    yield "}"


def _list(name: str, items: Sequence[object], end: str) -> Iterator[str]:
    yield f'  "{name}": ['
    for number, item in enumerate(items, start=1):
        yield f"   {json.dumps(item)}" + "," * (number < len(items))
    yield f"  ]{end}"
