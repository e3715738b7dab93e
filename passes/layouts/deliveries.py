"""Which parts of sums the blocks of a cluster deliver to each other, instead of lending them."""

from math import prod

from mirage_mlir.decisions.exchange import delivers
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.passes.analysis.buffers import buffer_bytes, shared_layout, staged_loads
from mirage_mlir.passes.analysis.row_sums import finds_rows_together
from mirage_mlir.passes.analysis.tile_attributes import stores_apart

MOST_OF_ROWS = 1024
"""Elements of a part of a sum of rows that each block of a cluster without a loop delivers."""


def is_to_deliver(graph: kernel.GraphDefinedOp, part: ConvertLayoutOp) -> bool:
    """
    Whether each block writes its `part` of a sum into the memory of all blocks of the cluster.

    Where warps have parts of their own, or each block stores tiles of its own behind a loop, blocks
    read what they need in each other's memory.
    """
    layout, elements = shared_layout(part.result), prod(threadblock.shape_of(part.result))
    if finds_rows_together(graph):
        return elements <= MOST_OF_ROWS
    if not graph.loop_sizes or stores_apart(graph) or layout.copies > 1:
        return False
    iteration = sum(map(buffer_bytes, staged_loads(graph)))
    return bool(delivers(buffer_bytes(part) * layout.blocks, iteration))
