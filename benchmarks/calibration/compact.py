"""`run.py --compact FILE`: the kernels of a calibration run, as `timed.json` keeps them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.remodel import keeping
from calibration.sample import graphs
from calibration.timed import Kernel, Timed, modelled, outline, ranks_of
from kernels.case import Case

from mirage_mlir.targets.target import target_named

if TYPE_CHECKING:
    from calibration.calibrate import Row

FEWEST = 4
"""Kernels of which ranks say something."""

TIMED = Path(__file__).parent / "timed.json"


def compacted(case: Case, rows: Sequence["Row"], target: str) -> Timed | None:
    """The kernels of a program that were timed and that a search of now still makes."""
    timed = {row.digest: row.measured for row in rows if row.measured and not row.spill_bytes}
    outlines: list[str] = []
    kernels: list[Kernel] = []
    for sample, graph in graphs(case.text(), target, keeping(rows)):
        measured = timed.pop(sample.digest, None)
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
    rank, regret = ranks_of(modelled(case, found, target_named(target)))
    return {**found, "rank": round(rank, 3), "regret": round(regret, 3)}


def write(programs: Mapping[str, Timed]) -> None:
    """Write `timed.json`, a line for each kernel."""
    TIMED.write_text("\n".join(lines(programs)) + "\n")


def lines(programs: Mapping[str, Timed]) -> Iterator[str]:
    """A line for each kernel."""
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
