"""CTA rasterization: an order of a grid's blocks in which concurrent blocks share tiles in L2."""

from dataclasses import replace
from math import prod

from mirage_mlir.decisions.rasterization import MAX_BLOCKS_BEHIND, choose_raster_width
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.loop_bounds import LoopBounds
from mirage_mlir.passes.analysis.buffers import buffer_bytes, bytes_along, staged_loads
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, cut_axes, lengths_of

SHARE_OF_L2 = 0.5
"""Of L2, for tiles that several blocks read; the rest is for what passes through once."""


def rasterize(graph: kernel.GraphDefinedOp, sm_count: int, l2_bytes: int) -> None:
    """
    Let blocks start in bands of the grid, where concurrent blocks read fewer different tiles so.

    Where blocks run loops of different lengths, the longest start first: short ones then fill what
    these leave (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).

    The blocks of a cluster stay together. Each of `sm_count` SMs is taken to run one block.
    """
    if graph.bounds is not None:
        start_longest_first(graph, graph.bounds, l2_bytes)
        return
    first, *others = graph.grid_sizes
    if not others:
        return
    step = cluster_sizes(graph)[0]
    width = choose_raster_width((first, others[0]), bytes_along(graph), sm_count, step)
    if width < first and first // width * prod(others[1:]) <= MAX_BLOCKS_BEHIND:
        graph.schedule = replace(graph.schedule, raster_width=width)


def start_longest_first(graph: kernel.GraphDefinedOp, bounds: LoopBounds, l2_bytes: int) -> None:
    """
    Let the blocks with the longest loops start first, if these differ.

    Blocks at one place along another axis of the grid, a head of attention, read the same tiles.
    Of such places as many are taken together as L2 has room for beside what else passes through.
    """
    lengths = lengths_of(graph, bounds)
    if min(lengths) == max(lengths):
        return
    graph.schedule = replace(graph.schedule, longest_first=True)
    others = [axis for axis in range(len(graph.grid_sizes)) if axis != bounds.axis]
    if not others:
        return
    count = graph.grid_sizes[others[0]]
    read = [op for op in staged_loads(graph) if bounds.axis not in cut_axes(op)]
    each = sum(map(buffer_bytes, read)) * prod(graph.loop_sizes)
    widths = [width for width in range(1, count + 1) if count % width == 0]
    width = max((w for w in widths if w * each <= SHARE_OF_L2 * l2_bytes), default=1)
    if width < count:
        graph.schedule = replace(graph.schedule, raster_width=width)
