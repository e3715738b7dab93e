"""Changes of the maps of uGraphs, and where their results are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.changes import Change, Values, after, chosen, integers, of_kind, set_integers
from program_pairs.draws import Draw
from program_pairs.writer import Piece, shape_of


class Stored(NamedTuple):
    """A dimension of a result of a uGraph that blocks cut into tiles."""

    graph: kernel.GraphDefinedOp
    value: SSAValue
    dim: int
    size: int
    tile: int

    def cut(self, pieces: Sequence[Piece]) -> None:
        """Let all that use the result use pieces of it."""
        uses = list(self.value.uses)
        changed = after(self.graph).pieces(self.value, self.dim, pieces)
        for use in uses:
            use.operation.operands[use.index] = changed


def stored_dimensions(function: FuncOp) -> list[Stored]:
    """All of them, as far as they have several tiles."""
    found: list[Stored] = []
    for graph in of_kind(function, kernel.GraphDefinedOp):
        stores = [op for op in graph.body.block.ops if isinstance(op, tb.StoreOp)]
        for store, value in zip(stores, graph.outputs, strict=True):
            for dim in integers(store, "grid_map"):
                if dim >= 0:
                    size, tile = shape_of(value)[dim], tb.shape_of(store.tile)[dim]
                    found.append(Stored(graph, value, dim, size, tile))
    return [each for each in found if each.tile < each.size]


def load_map(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A grid axis or loop cuts another dimension of what is loaded."""
    if (op := chosen(draw, of_kind(function, tb.LoadOp))) is None:
        return None
    names = ["grid_map", *(["loop_map"] if integers(op, "loop_map") else [])]
    old = {name: integers(op, name) for name in names}
    if draw.chance(0.6):
        entries = [entry for name in names for entry in old[name]]
        draw.random.shuffle(entries)
        drawn = iter(entries)
        new = {name: [next(drawn) for _ in old[name]] for name in names}
    else:
        name = draw.random.choice(names)
        new = {key: list(value) for key, value in old.items()}
        position = draw.random.randrange(len(new[name]))
        new[name][position] = draw.random.randrange(-1, len(shape_of(op.source)))
    if all(tuple(new[name]) == old[name] for name in names):
        return None
    for name in names:
        set_integers(op, name, new[name])
    return Change(f"load with {new} instead of {old}", max(shape_of(op.source)))


def store_map(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Two grid axes place their blocks along each other's dimension."""
    choices = [
        (op, a, b)
        for op in of_kind(function, tb.StoreOp)
        for b in range(len(integers(op, "grid_map")))
        for a in range(b)
        if integers(op, "grid_map")[a] != integers(op, "grid_map")[b]
    ]
    if (found := chosen(draw, choices)) is None:
        return None
    op, a, b = found
    entries = list(integers(op, "grid_map"))
    entries[a], entries[b] = entries[b], entries[a]
    set_integers(op, "grid_map", entries)
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    return Change(f"stored with {entries}", max(shape_of(graph.outputs[0])))
