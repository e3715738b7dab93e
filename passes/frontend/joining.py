"""Results that a kernel puts together of several tiles before it stores them."""

from dataclasses import dataclass

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.axes import JoinedResult
from mirage_mlir.search.program.program import Axes, Program


@dataclass(frozen=True)
class JoinedTiles:
    """Outputs that become one tensor, over `ahead`, the axis of each part or none, and `behind`."""

    outputs: tuple[int, ...]
    parts: Axes
    ahead: Axes
    behind: Axes


def joined_tiles(
    program: Program, graph: BlockGraph, result: JoinedResult, outputs: tuple[int, ...]
) -> JoinedTiles | None:
    """
    How a graph puts `result` together; None where it cannot.

    Every block must hold all indices of each part: tiles beside each other are one tile.
    """
    ahead: list[Axes] = []
    behind: list[Axes] = []
    parts: list[str | None] = []
    for part, number in zip(result.parts, outputs, strict=True):
        output = program.outputs[number]
        axes = tuple(axis for axis in output.axes if axis is not None)
        place, inner = len(axes), 1
        while inner < result.inner:
            place -= 1
            inner *= program.sizes[axes[place]]
        own = axes[place - 1] if part.size > 1 and place else None
        fits = inner == result.inner and not output.partial
        if not fits or part.size != (1 if own is None else program.sizes[own]):
            return None
        if own is not None and (own in graph.grid or graph.tiles[own] < part.size):
            return None
        ahead.append(axes[: place - (own is not None)])
        behind.append(axes[place:])
        parts.append(own)
    if len({*ahead}) > 1 or len({*behind}) > 1:
        return None
    return JoinedTiles(outputs, tuple(parts), ahead[0], behind[0])
