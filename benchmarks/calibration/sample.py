"""Kernels from all over the range of the cost model, not only its best."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.passes.frontend.from_ir import Piece, read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.pieces import planned
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, returned, to_compute
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.passes.frontend.whole import inner
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.instantiate import Array, Mesh
from mirage_mlir.search.multi_kernel.kernels import in_one_kernel
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import Search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target, target_named

SLOWEST = 4.0
"""Kernels up to so many times slower than the best are sampled: those beyond are never chosen."""

BINS = 6
"""Parts of that range, in each of which one tiling of a graph is taken."""

SEED = 7


@dataclass(frozen=True)
class Sample:
    """One kernel for a program."""

    function: str
    """MLIR text."""
    structure: str
    tiles: dict[str, int]
    modelled: float
    """Seconds."""

    @property
    def digest(self) -> str:
        """Tells kernels apart."""
        return hashlib.sha256(self.function.encode()).hexdigest()[:16]


class Spread(Search):
    """A search that keeps tilings of all ranks."""

    def _best(self, seconds: Array, mesh: Mesh) -> list[int]:
        """One combination at random from each part of the range, the best among them."""
        finite = np.flatnonzero(np.isfinite(seconds))
        if not finite.size:
            return []
        random = np.random.default_rng(SEED)
        best = int(finite[np.argmin(seconds[finite])])
        ratio = np.log(seconds[finite] / seconds[best]) / np.log(SLOWEST)
        kept = [best]
        for number in range(BINS):
            part = finite[(ratio > number / BINS) & (ratio <= (number + 1) / BINS)]
            if part.size:
                kept.append(int(random.choice(part)))
        return kept


def samples(program: str, target: str, count: int) -> list[Sample]:
    """
    `count` kernels of different graphs and tilings, spread evenly over what the model expects.

    Empty where one kernel cannot hold the program.
    """
    found = all_samples(program, target, Spread)
    within = [one for one in found if one.modelled <= SLOWEST * found[0].modelled]
    return [within[place] for place in _evenly(len(within), count)]


def all_samples(program: str, target: str, search: type[Spread]) -> list[Sample]:
    """The kernels that `search` keeps, the fastest in the model first."""
    return [sample for sample, _ in graphs(program, target, search)]


def graphs(program: str, target: str, search: type[Spread]) -> Iterator[tuple[Sample, BlockGraph]]:
    """The same, each with its graph."""
    (function,) = functions(parse_program(program, "program"))
    normalise(function)
    wanted = to_compute(returned(function))
    piece = read_piece(inner([op for op in function.body.block.ops if op.results], wanted), wanted)
    limits = Limits(candidates=1000)
    for graph in search(piece.program, target_named(target), limits, SearchReport()).run():
        try:
            text = _written(function, piece, graph, target_named(target))
        except ArrangementError:
            continue
        yield Sample(text, str(graph), dict(graph.tiles), graph.seconds), graph


def _evenly(size: int, count: int) -> Iterator[int]:
    """`count` of `size` places, the first and the last among them, in order."""
    if size <= count:
        yield from range(size)
    else:
        yield from (round(number * (size - 1) / (count - 1)) for number in range(count))


def _written(function: FuncOp, piece: Piece, graph: BlockGraph, target: Target) -> str:
    plan = Plan(function, (planned(piece, in_one_kernel(piece.program, graph), target),))
    return text_of(alone(FunctionWriter(plan).write()))
