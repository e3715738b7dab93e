"""CTA rasterization: an order of a grid's blocks in which concurrent blocks share tiles in L2."""

from dataclasses import replace
from math import prod

from mirage_mlir.decisions.rasterization import MAX_BLOCKS_BEHIND, choose_raster_width
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.loop_bounds import LoopBounds
from mirage_mlir.passes.analysis.buffers import bytes_along
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, lengths_of


def rasterize(graph: kernel.GraphDefinedOp, sm_count: int) -> None:
    """
    Let blocks start in bands of the grid, where concurrent blocks read fewer different tiles so.

    Where blocks run loops of different lengths, the longest start first: short ones then fill what
    these leave (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).

    The blocks of a cluster stay together. Each of `sm_count` SMs is taken to run one block.
    """
    if graph.bounds is not None:
        graph.schedule = replace(graph.schedule, longest_first=_varies(graph, graph.bounds))
        return
    first, *others = graph.grid_sizes
    if not others:
        return
    step = cluster_sizes(graph)[0]
    width = choose_raster_width((first, others[0]), bytes_along(graph), sm_count, step)
    if width < first and first // width * prod(others[1:]) <= MAX_BLOCKS_BEHIND:
        graph.schedule = replace(graph.schedule, raster_width=width)


def _varies(graph: kernel.GraphDefinedOp, bounds: LoopBounds) -> bool:
    """Whether some blocks run more iterations than others."""
    lengths = lengths_of(graph, bounds)
    return min(lengths) < max(lengths)
