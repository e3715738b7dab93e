"""
Reads tiles whose columns are apart in memory into registers once, in a layout that is chosen.

A reduction reads a tile of device memory with neighbouring threads along its columns. Where these
are apart in memory, each thread would read a sector of its own: on an H200 a softmax took 2.2 times
as long as torch.compile's, and 0.91 so.

What is elementwise reads runs of both orders where threads have blocks of neighbours. Where rows
start at odd places there are no runs: tiles are read apart then, along the neighbours in memory,
and brought to other threads through shared memory.
"""

from math import prod

from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import Reduction, item_bytes, reduced_sides

MOST_BYTES = 48 << 10
"""Of a tile that goes through shared memory: four blocks have room on a multiprocessor."""


def read_reduced_in_registers(graph: kernel.GraphDefinedOp) -> None:
    """
    Let reductions take tiles from registers, with all that reads them beside.

    Those of permuted tiles, and those over rows: threads along the columns may not be the best.
    """
    for load in loads_in_place(graph):
        users = [use.operation for use in load.result.uses]
        sides = [reduced_sides(user) for user in users if isinstance(user, Reduction)]
        down = any(side and side[0] for side in sides) and len(users) > 1
        if down or (sides and is_permuted(load)):
            _read_once(graph, load.result)


def read_permuted_apart(graph: kernel.GraphDefinedOp) -> None:
    """Let a thread graph of its own read each other such tile that is not too large."""
    for load in filter(is_permuted, loads_in_place(graph)):
        if item_bytes(load.result) * prod(threadblock.shape_of(load.result)) <= MOST_BYTES:
            _read_once(graph, load.result)


def is_read_apart(value: SSAValue) -> bool:
    """Whether a thread graph reads a tile that others compute with, and does nothing else."""
    op = value.owner
    if not isinstance(op, thread.GraphOp) or len(op.body.block.ops) > 1:
        return False
    load = op.inputs[0].owner
    users = [use.operation for use in value.uses]
    in_place = isinstance(load, threadblock.LoadOp) and load.copy is None
    return in_place and all(isinstance(user, thread.GraphOp) for user in users)


def loads_in_place(graph: kernel.GraphDefinedOp) -> list[threadblock.LoadOp]:
    """The loads of tiles that a graph without a loop reads in place."""
    ops = [] if prod(graph.loop_sizes) > 1 else list(graph.body.block.ops)
    return [op for op in ops if isinstance(op, threadblock.LoadOp) and op.copy is None]


def is_permuted(load: threadblock.LoadOp) -> bool:
    """Whether the columns of a tile are apart in memory."""
    return threadblock.shape_of(load.result)[-1] > 1 and view_of(load.source).strides[-1] > 1


def _read_once(graph: kernel.GraphDefinedOp, value: SSAValue) -> None:
    """Insert a thread graph that reads the tile `value`, for all that can read its result."""
    shape = threadblock.shape_of(value)
    readers = [
        use
        for use in value.uses
        if isinstance(use.operation, Reduction)
        or (
            isinstance(use.operation, thread.GraphOp)
            and threadblock.shape_of(use.operation.results[0]) == shape
        )
    ]
    operations = {use.operation for use in readers}
    if not operations:
        return
    first = next(op for op in graph.body.block.ops if op in operations)
    block = Block(arg_types=[threadblock.tile_type(value).element_type])
    block.add_op(thread.StoreOp(block.args[0]))
    read = thread.GraphOp([value], [value.type], Region(block))
    read.location = first.location
    graph.body.block.insert_op_before(read, first)
    for use in readers:
        use.operation.operands[use.index] = read.results[0]
