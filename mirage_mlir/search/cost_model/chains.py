"""
Models chains of matmuls: one takes the result of another as its left operand, from registers.

The registers in which a thread has the result of one matmul are those that it needs for the left
operand of the next. So the scores of attention need not go through shared memory before they are
multiplied with V. The lowering finds chains in `passes/mma/chains.py`; this module does the same
for all combinations of tile sizes at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.decisions.exchange import LINE_PADDING
from mirage_mlir.decisions.sharing import split_warp_chain
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.cost_model.warps import (
    COLUMNS,
    DEPTH,
    INSTRUCTION,
    LEFT_BYTES,
    RIGHT_BYTES,
    ROWS,
    Warps,
)
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.hypergraph import Edge

ELEMENTWISE = (Kind.ADD, Kind.SUB, Kind.MUL, Kind.DIV, Kind.MAX, Kind.FUNCTION, Kind.INVERSE)


@dataclass(frozen=True)
class Chain:
    """A matmul whose result, after elementwise operations, is the left operand of other matmuls."""

    first: int
    others: tuple[int, ...]
    operands: tuple[int, ...]
    """The left sides of the others, which stay in registers."""


def find_chains(tiling: Tiling, edges: Mapping[int, Edge]) -> list[Chain]:
    """Finds the chains of a graph; each matmul is in one of them at most."""
    if tiling.program.operand_type == "f32":
        return []  # Fragments of these are made element by element, from shared memory.
    following: dict[int, dict[int, int]] = {}
    for value, edge in edges.items():
        if edge.kind is not Kind.MATMUL:
            continue
        left = edge.operands[0]
        first = source_of(tiling, edges, left)
        if first is not None:
            following.setdefault(first, {})[value] = left
    chains: list[Chain] = []
    used: set[int] = set()
    for first, others in following.items():
        if first in used or any(value in used or value in following for value in others):
            continue
        chains.append(Chain(first, tuple(others), tuple(dict.fromkeys(others.values()))))
        used |= {first, *others}
    return chains


def source_of(tiling: Tiling, edges: Mapping[int, Edge], value: int) -> int | None:
    """
    The matmul of the same stage from which elementwise operations compute `value`; None without
    one.
    """
    edge = edges[value]
    if edge.kind is Kind.MATMUL:
        return value
    if edge.kind not in ELEMENTWISE:
        return None
    for operand in edge.operands:
        alike = set(tiling.axes(operand)) == set(tiling.axes(value))
        if alike and tiling.in_loop(operand) == tiling.in_loop(value):
            source = source_of(tiling, edges, operand)
            if source is not None:
                return source
    return None


@dataclass(frozen=True)
class Shared:
    """How warps share the matmuls of a chain."""

    fits: NDArray[np.bool_]
    """Where the registers are enough; elsewhere there is no chain."""
    warps: Mapping[int, Warps]
    """Of each matmul."""


def shared(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain, warps: Array) -> Shared:
    """Calls `_shared` once for all graphs that have the same chain."""
    summed = tuple(edges[value].axis for value in (chain.first, *chain.others))
    key = ("chain", chain, summed, warps.tobytes())
    return tiling.once(key, lambda: _shared(tiling, edges, chain, warps))


def _shared(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain, warps: Array) -> Shared:
    """
    How warps share the matmuls of a chain; `split_warp_chain` decides it.

    The keys are the columns of the first matmul and the depth of the others: warps that share keys
    hold partial sums of the others, which are added up in the end.
    """
    first = edges[chain.first]
    summed = edges[chain.others[0]].axis
    assert summed is not None
    assert first.axis is not None
    own, tiles = tiling.axes(chain.first), tiling.mesh.tiles
    rows = tiling.extent([axis for axis in own if axis != summed])
    keys, depth = tiles[summed], tiles[first.axis]
    widths = [
        tiling.extent([a for a in tiling.axes(other) if a not in own]) for other in chain.others
    ]
    split = split_warp_chain((rows, keys, depth), widths, warps)
    row_tiles = np.ceil(np.ceil(rows / ROWS) / split.down)
    key_tiles = np.ceil(np.ceil(keys / COLUMNS) / split.across)
    steps = np.ceil(depth / DEPTH)
    found = {
        chain.first: Warps(
            warps * row_tiles * key_tiles * steps * INSTRUCTION,
            warps * steps * (row_tiles * LEFT_BYTES + key_tiles * RIGHT_BYTES),
            tiling.zero,
            row_tiles=row_tiles,
        )
    }
    lines = np.where(split.across > 1, warps * row_tiles * ROWS, 0.0)
    for other, width in zip(chain.others, widths, strict=True):
        deep, columns = np.ceil(key_tiles / 2), np.ceil(width / COLUMNS)
        found[other] = Warps(
            warps * row_tiles * columns * deep * INSTRUCTION,
            warps * deep * columns * RIGHT_BYTES,
            lines * columns * COLUMNS * 4,
            padding=lines * LINE_PADDING,
        )
    return Shared(split.fits, found)
