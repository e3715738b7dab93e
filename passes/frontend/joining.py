"""Results that a kernel puts together of several tiles before it stores them."""

from dataclasses import dataclass

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.axes import JoinedResult, ResultPart
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

    Where every block holds all indices of each part, tiles beside each other are one tile. Where
    blocks have some indices each, and all parts have one axis, tiles are stacked instead: n parts
    of m indices are n x m indices.
    """
    found = [_part(program, result, *pair) for pair in zip(result.parts, outputs, strict=True)]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    whole = all(part.is_whole(graph) for part in parts)
    if not whole and len({part.own for part in parts}) > 1:
        return None
    ahead = {part.ahead for part in parts}
    behind = {part.behind if whole else (part.own, *part.behind) for part in parts}
    if len(ahead) > 1 or len(behind) > 1:
        return None
    owns = tuple(part.own if whole else None for part in parts)
    return JoinedTiles(outputs, owns, ahead.pop(), behind.pop())


@dataclass(frozen=True)
class _Part:
    """The axes of an output: those before the axis that is joined, that or none, those behind."""

    ahead: Axes
    own: str | None
    behind: Axes
    size: int

    def is_whole(self, graph: BlockGraph) -> bool:
        """Whether a block holds all indices."""
        own = self.own
        return own is None or (own not in graph.grid and graph.tiles[own] >= self.size)


def _part(program: Program, result: JoinedResult, part: ResultPart, number: int) -> _Part | None:
    """The axes of a part of `result`; None where they do not end where the part does."""
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
    return _Part(axes[: place - (own is not None)], own, axes[place:], part.size)
