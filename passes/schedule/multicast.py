"""The axes of the grid along which the blocks of a cluster share loads by multicast."""

from mirage_mlir.decisions.multicast import sharing_axes
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.buffers import staged_loads
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, cut_axes


def axes_shared(graph: kernel.GraphDefinedOp) -> list[tuple[int, ...]]:
    """The distinct sets of grid axes along which the blocks of a cluster share loads."""
    sizes = cluster_sizes(graph)
    loads = [op for op in staged_loads(graph) if op.multicast]
    return list(dict.fromkeys(sharing_axes(sizes, cut_axes(op)) for op in loads))
