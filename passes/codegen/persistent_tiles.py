"""The tiles of the grid that one block of a persistent kernel computes, one after another."""

from math import prod

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.codegen.cta_rasterization import (
    launched_cluster,
    launched_ids,
    place_in_grid,
    tile_grid,
)
from mirage_mlir.passes.codegen.emitter import Emitter, Index


class PersistentTiles:
    """
    Emits which tiles a block computes: every n-th one, n being the number of clusters.

    The tiles of a cluster's blocks are neighbours, so that they can share copies.
    """

    def __init__(self, emit: Emitter, graph: kernel.GraphDefinedOp) -> None:
        self.emit = emit
        self.graph = graph
        self.cluster = launched_cluster(graph)
        self.clusters = graph.schedule.persistent_blocks // prod(self.cluster)
        x, *others = launched_ids(emit, graph)
        self.first = emit.div(x, self.cluster[0])
        self.inside: list[Index] = [emit.rem(x, self.cluster[0]), *others]

    def count(self) -> Index:
        """How many tiles the block computes, at least one."""
        total = prod(self.graph.grid_sizes) // prod(self.cluster)
        rest = self.emit.sub(total + self.clusters - 1, self.first)
        return self.emit.div(rest, self.clusters)

    def place(self, number: Index) -> list[Index]:
        """The index along each axis of the grid of the block's tile `number`, from 0 on."""
        emit = self.emit
        tile = emit.add(self.first, emit.mul(number, self.clusters))
        ids: list[Index] = []
        for blocks, size, inside in zip(
            tile_grid(self.graph), self.cluster, self.inside, strict=True
        ):
            outside = emit.rem(tile, blocks // size)
            tile = emit.div(tile, blocks // size)
            ids.append(emit.add(emit.mul(outside, size), inside))
        return place_in_grid(emit, self.graph, ids)
