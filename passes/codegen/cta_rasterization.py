"""CTA rasterization: the launch order of blocks, so that concurrent blocks share tiles in L2."""

from math import prod

from mirage_mlir.decisions.rasterization import MAX_BLOCKS, MAX_BLOCKS_BEHIND, choose_raster_width
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.buffers import bytes_along
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes
from mirage_mlir.passes.codegen.emitter import Emitter, Index


def raster_width(graph: kernel.GraphDefinedOp, sm_count: int) -> int:
    """
    The width of a band: how many blocks along the first axis start before the second axis advances.

    It is the whole first axis where the order of the grid is as good. Clusters stay together.

    Args:
        graph: whose grid it is.
        sm_count: SMs, each of which runs one block at a time.
    """
    first, *others = graph.grid_sizes
    if not others:
        return first
    step = cluster_sizes(graph)[0]
    width = choose_raster_width((first, others[0]), bytes_along(graph), sm_count, step)
    return width if first // width * prod(others[1:]) <= MAX_BLOCKS_BEHIND else first


def launched_grid(graph: kernel.GraphDefinedOp, sm_count: int) -> list[int]:
    """The grid as it is launched: bands are numbered along its last axis."""
    first, *others = graph.grid_sizes
    width = raster_width(graph, sm_count)
    if width == first:
        return [*graph.grid_sizes, 1, 1][:3]
    return [width, others[0], first // width * prod(others[1:])]


def require_launchable(graph: kernel.GraphDefinedOp, sm_count: int) -> None:
    """Fail where an axis of the grid has more blocks than a launch takes."""
    limits = (MAX_BLOCKS, MAX_BLOCKS_BEHIND, MAX_BLOCKS_BEHIND)
    for axis, (blocks, most) in enumerate(zip(launched_grid(graph, sm_count), limits, strict=True)):
        if blocks > most:
            message = f"has {blocks} blocks along grid axis {axis}, of which a launch takes {most}"
            fail(graph, message, note=f"the first axis may have {MAX_BLOCKS}")


def place_in_grid(
    emit: Emitter, graph: kernel.GraphDefinedOp, ids: list[Index], sm_count: int
) -> list[Index]:
    """The block's index along each axis of `graph`'s grid, from its three indices in the launch."""
    first, *others = graph.grid_sizes
    width = raster_width(graph, sm_count)
    if width == first:
        return ids[: len(graph.grid_sizes)]
    size = prod(others[1:])
    start = emit.mul(emit.div(ids[2], size), width)
    return [emit.add(start, ids[0]), ids[1], emit.rem(ids[2], size)][: len(graph.grid_sizes)]
