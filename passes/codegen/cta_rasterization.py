"""The grid of a launch: bands of a rasterized grid, or the blocks of a persistent kernel."""

from math import prod

from mirage_mlir.decisions.rasterization import MAX_BLOCKS, MAX_BLOCKS_BEHIND
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, nvvm
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, lengths_of
from mirage_mlir.passes.codegen.emitter import Emitter, Index

BLOCK_IDS = (nvvm.BlockIdXOp, nvvm.BlockIdYOp, nvvm.BlockIdZOp)


def launched_cluster(graph: kernel.GraphDefinedOp) -> list[int]:
    """The blocks of a cluster along the three axes of a launch."""
    return [*cluster_sizes(graph), 1, 1][:3]


def launched_ids(emit: Emitter, graph: kernel.GraphDefinedOp) -> list[Index]:
    """The three indices of the block in its launch."""
    return [
        emit.result(block()) if size > 1 else 0
        for block, size in zip(BLOCK_IDS, launched_grid(graph), strict=True)
    ]


def launched_grid(graph: kernel.GraphDefinedOp) -> list[int]:
    """The grid as it is launched; a persistent kernel's clusters stand along its first axis."""
    blocks = graph.schedule.persistent_blocks
    if not blocks:
        return tile_grid(graph)
    _, *others = launched_cluster(graph)
    return [blocks // prod(others), *others]


def tile_grid(graph: kernel.GraphDefinedOp) -> list[int]:
    """The tiles along the axes of a launch: bands of a rasterized grid follow along the last."""
    first, *others = (graph.grid_sizes[axis] for axis in graph.launched_axes)
    width = graph.schedule.raster_width
    if not width:
        return [first, *others, 1, 1][:3]
    return [width, others[0], first // width * prod(others[1:])]


def require_launchable(graph: kernel.GraphDefinedOp) -> None:
    """Fail where an axis has more blocks than a launch takes, or no kernel can be persistent so."""
    require_persistable(graph)
    limits = (MAX_BLOCKS, MAX_BLOCKS_BEHIND, MAX_BLOCKS_BEHIND)
    for axis, (blocks, most) in enumerate(zip(launched_grid(graph), limits, strict=True)):
        if blocks > most:
            message = f"has {blocks} blocks along grid axis {axis}, of which a launch takes {most}"
            fail(graph, message, note=f"the first axis may have {MAX_BLOCKS}")


def require_persistable(graph: kernel.GraphDefinedOp) -> None:
    """Fail where `persistent_blocks` is of a kernel without producers, or no number of clusters."""
    blocks, cluster = graph.schedule.persistent_blocks, prod(launched_cluster(graph))
    if not blocks:
        return
    if not graph.schedule.producer_warps:
        fail(graph, "has persistent_blocks, and no producer_warps that copy for the next tiles")
    if graph.bounds is not None:
        fail(graph, "has persistent_blocks, and bounds: tiles of different lengths follow no order")
    tiles = prod(graph.grid_sizes)
    if blocks % cluster or blocks > tiles:
        wanted = f"a multiple of {cluster}, the blocks of a cluster, up to the {tiles} of its grid"
        fail(graph, f"has {blocks} persistent_blocks, not {wanted}")


def place_in_grid(emit: Emitter, graph: kernel.GraphDefinedOp, ids: list[Index]) -> list[Index]:
    """The block's index along each axis of `graph`'s grid, from its three indices in the launch."""
    order, width = graph.launched_axes, graph.schedule.raster_width
    places = ids[: len(order)]
    if width:
        size = prod(graph.grid_sizes[axis] for axis in order[2:])
        start = emit.mul(emit.div(ids[2], size), width)
        places = [emit.add(start, ids[0]), ids[1], emit.rem(ids[2], size)][: len(order)]
    found = dict(zip(order, places, strict=True))
    if graph.bounds is not None and graph.schedule.longest_first:
        lengths = lengths_of(graph, graph.bounds)
        if lengths[-1] > lengths[0]:
            last = len(lengths) - 1
            found[graph.bounds.axis] = emit.sub(last, found[graph.bounds.axis])
    return [found[axis] for axis in range(len(order))]
