"""
Kernels that were timed, in a form that the model can be asked about again in a second.

`timed.json` has of each program the kernels of a calibration run: how the grid and the loop cut it,
tile sizes, the operations of the graph, and the time that was measured. Nothing of it depends on
the syntax of the IR, or on what the model said. A search of those cuts and tile sizes alone finds
the graphs again, whatever the constants are.
"""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from calibration.ranks import regret, spearman
from kernels.case import Case

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.passes.frontend.from_ir import read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.plan import returned, to_compute
from mirage_mlir.passes.frontend.whole import inner
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.instantiate import Array, Mesh, instantiate
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.single_kernel.engine import Search
from mirage_mlir.search.single_kernel.found import Found
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target


class Kernel(TypedDict):
    """A kernel that was timed."""

    configuration: str
    splits: int
    """Blocks that share the loop."""
    tiles: dict[str, int]
    graph: int
    """Its operations: the number of their outline among those of the program."""
    microseconds: float


class Timed(TypedDict):
    """The kernels of one program."""

    rank: float
    """Rank correlation of modelled and measured times when this was written."""
    regret: float
    """Time of the kernel that the model put first then, over that of the fastest."""
    outlines: list[str]
    kernels: list[Kernel]


def outline(graph: BlockGraph) -> str:
    """The operations of a graph, as text that tells graphs of one cut apart."""
    parts: list[str] = []
    for operation in graph.operations:
        operands = ",".join(map(str, operation.operands))
        name = operation.function or operation.kind
        where = f"{operation.source}" if not operation.operands else f"({operands})"
        axis = f":{operation.axis}" if operation.axis else ""
        parts.append(f"{name}{axis}{where}")
    return " ".join([*parts, "->", *map(str, graph.outputs)])


class Again(Search):
    """Finds all graphs of some cuts at some tile sizes, however slow they are."""

    wanted: Sequence[Kernel] = ()

    @property
    def _cutoff(self) -> float:
        return float("inf")

    def _keep(self, found: Found) -> None:
        self._found.append(found)

    def _refine_one(self, one: Found) -> list[BlockGraph]:
        shares = self._shares(one.configuration, one.graph, one.derivation.goals)
        return self._graphs(one, self._mesh(one.configuration, shares, fine=True))[0]

    def _mesh(self, configuration: Configuration, shares: Sequence[int], *, fine: bool) -> Mesh:
        mesh = instantiate(self.program, configuration, self.target, shares, fine=True)
        kept = np.zeros(mesh.shares.shape, np.bool_)
        for kernel in self.wanted:
            if kernel["configuration"] == str(configuration):
                same = mesh.shares == kernel["splits"]
                for axis, size in kernel["tiles"].items():
                    same &= mesh.tiles[axis] == size
                kept |= same
        return mesh.where(kept)

    def _best(self, seconds: Array, mesh: Mesh) -> list[int]:
        return [int(index) for index in np.flatnonzero(np.isfinite(seconds))]


def key_of(graph: BlockGraph, outlines: Sequence[str]) -> tuple[object, ...] | None:
    """What tells a graph with its tile sizes apart; None where its outline is not among these."""
    text = outline(graph)
    if text not in outlines:
        return None
    splits = graph.model.resources.splits
    tiles = tuple(sorted(graph.tiles.items()))
    return str(graph.configuration), splits, tiles, outlines.index(text)


def modelled(case: Case, timed: Timed, target: Target) -> list[tuple[float, float]]:
    """Modelled and measured microseconds of the kernels of a program that can still be found."""

    class Wanted(Again):
        wanted = timed["kernels"]

    limits = Limits(candidates=len(timed["kernels"]) ** 3)
    found = Wanted(program_of(case), target, limits, SearchReport()).run()
    now = {key_of(graph, timed["outlines"]): graph.seconds * 1e6 for graph in found}
    pairs: list[tuple[float, float]] = []
    for kernel in timed["kernels"]:
        tiles = tuple(sorted(kernel["tiles"].items()))
        key = (kernel["configuration"], kernel["splits"], tiles, kernel["graph"])
        if key in now:
            pairs.append((now[key], kernel["microseconds"]))
    return pairs


def program_of(case: Case) -> Program:
    """A case as the search reads it."""
    (function,) = functions(parse_program(case.text(), "program"))
    normalise(function)
    wanted = to_compute(returned(function))
    operators = [op for op in function.body.block.ops if op.results]
    return read_piece(inner(operators, wanted), wanted).program


def ranks_of(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Rank correlation of modelled and measured times, and the regret of the model's first."""
    model, measured = zip(*pairs, strict=True)
    return spearman(model, measured), regret(model, measured)
