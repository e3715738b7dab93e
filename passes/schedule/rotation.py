"""Blocks that start the loop at different iterations."""

from dataclasses import replace

from mirage_mlir.dialects import kernel
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.buffers import bytes_along, is_staged

BLOCKS_IN_STEP = 8
"""Neighbouring blocks that start the loop at the same iteration: together they read long runs of
each row. On an H200 groups of 4 to 16 were equally fast, 5 % faster than without groups."""


def rotate(graph: kernel.GraphDefinedOp) -> None:
    """
    Let groups of blocks start the loop at different iterations where all read the same tiles.

    Sums and maxima may be computed in any order, and blocks that read the same line at the same
    time queue for it in L2. Where different axes of the grid share different tiles, rotation does
    not pay: on an H200 a matmul of 256 rows took 18.6 us with it and 17.7 without.
    """
    if all(bytes_along(graph)):
        return
    groups = ceil_div(graph.grid_sizes[0], BLOCKS_IN_STEP)
    ops = graph.body.block.ops
    common = [op for op in ops if is_staged(op) and op.grid_map.get_values()[0] < 0]
    if len(graph.loop_sizes) == 1 and groups > 1 and common:
        step = max(1, graph.loop_sizes[0] // groups)
        graph.schedule = replace(graph.schedule, rotation=(BLOCKS_IN_STEP, step))
