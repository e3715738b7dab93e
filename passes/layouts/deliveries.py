"""Which parts of sums the blocks of a cluster deliver to each other, instead of lending them."""

from math import prod

from mirage_mlir.decisions.exchange import (
    ROOM_STEP,
    delivered_bytes,
    delivered_room,
    delivers,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.passes.analysis.buffers import (
    buffer_bytes,
    is_delivered,
    shared_layout,
    staged_loads,
)
from mirage_mlir.passes.analysis.row_sums import finds_rows_together
from mirage_mlir.passes.analysis.tile_attributes import blocks_across, is_folded, stores_apart

MOST_OF_ROWS = 1024
"""Elements of a part of a sum of rows that each block of a cluster without a loop delivers."""


def is_to_deliver(graph: kernel.GraphDefinedOp, part: ConvertLayoutOp) -> bool:
    """
    Whether each block writes its `part` of a sum into the memory of all blocks of the cluster.

    Where warps have parts of their own, whose tiles are larger than the sum, or each block stores
    tiles of its own behind a loop, blocks read what they need in each other's memory.
    """
    layout, elements = shared_layout(part.result), prod(threadblock.shape_of(part.result))
    if finds_rows_together(graph):
        return elements <= MOST_OF_ROWS
    if prod(graph.loop_sizes) < 2 or stores_apart(graph) or layout.copies > 1:
        return False
    if not is_wide(part):
        return buffer_bytes(part) * layout.blocks <= ROOM_STEP // 2
    if buffer_bytes(part) * layout.blocks > bytes_of_parts(part):
        return False
    iteration = sum(map(buffer_bytes, staged_loads(graph)))
    return bool(delivers(bytes_of_all(graph), iteration))


def bytes_of_all(graph: kernel.GraphDefinedOp) -> float:
    """The bytes that are kept where the parts of all wide sums are delivered."""
    total = 0.0
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.AccumulateOp) and not is_folded(op.result):
            *rows, columns = threadblock.shape_of(op.result) or (1,)
            blocks = blocks_across(op)
            if blocks > 1 and columns > 1:
                total += float(delivered_bytes(prod(rows), columns, blocks))
    return total


def is_wide(part: ConvertLayoutOp) -> bool:
    """Whether `part` is of a sum with several columns: the room for these holds others, too."""
    return threadblock.shape_of(part.result)[-1:] not in ((), (1,))


def bytes_of_parts(part: ConvertLayoutOp) -> float:
    """The bytes that are kept for the parts of a sum of all blocks."""
    *rows, columns = threadblock.shape_of(part.result)
    return float(delivered_bytes(prod(rows), columns, shared_layout(part.result).blocks))


def room_for_parts(graph: kernel.GraphDefinedOp) -> int:
    """The shared memory that a block keeps, while the loop runs, for parts that others deliver."""
    if prod(graph.loop_sizes) < 2:
        return 0
    parts = [op for op in graph.body.block.ops if is_delivered(op)]
    room = int(delivered_room(sum(map(bytes_of_parts, filter(is_wide, parts)))))
    return max(room, ROOM_STEP if parts else 0)
