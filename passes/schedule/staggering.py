"""Loops of blocks that read lines of their own begin with different iterations."""

from dataclasses import replace

from mirage_mlir.decisions.staggering import is_staggered, stagger_of
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.analysis.buffers import buffer_bytes, staged_loads
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import shares_tiles
from mirage_mlir.passes.schedule.block_resources import iteration_bytes


def stagger(graph: kernel.GraphDefinedOp) -> None:
    """
    Let blocks begin with different iterations, where each mostly reads along lines of its own.

    The sums of a loop do not depend on the order of its iterations but for rounding; maxima over
    iterations, to which sums are relative, start with the first iteration as before. So do blocks
    that copy tiles to each other (multicast): these are of the same iteration.
    """
    if begins_apart(graph):
        step = stagger_of(graph.loop_sizes[0])
        graph.schedule = replace(graph.schedule, stagger=step)


def begins_apart(graph: kernel.GraphDefinedOp) -> bool:
    """Whether blocks mostly read along lines of their own, and may begin with any iteration."""
    axes = [axis for axis, blocks in enumerate(graph.grid_sizes) if blocks > 1]
    if len(axes) != 1 or len(graph.loop_sizes) != 1 or graph.is_cyclic:
        return False
    if graph.bounds is not None or shares_tiles(graph) or not only_sums(graph):
        return False
    own = sum(buffer_bytes(op) for op in staged_loads(graph) if walks_own_lines(op, axes[0]))
    return bool(is_staggered(own, iteration_bytes(graph)))


def only_sums(graph: kernel.GraphDefinedOp) -> bool:
    """Whether all that the loop keeps are sums."""
    found = [op for op in graph.body.block.ops if isinstance(op, threadblock.AccumulateOp)]
    return all(op.kind.data == "sum" and op.rescale is None for op in found)


def walks_own_lines(load: threadblock.LoadOp, axis: int) -> bool:
    """Whether the loop walks along lines of a tensor that other blocks along `axis` do not read."""
    strides = view_of(load.source).strides
    across, (along,) = load.grid_map.get_values()[axis], load.loop_map.get_values()
    return across >= 0 and strides[across] > 1 and strides[along] == 1
