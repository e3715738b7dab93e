"""
Reads tiles whose columns are apart in memory into registers once, in a layout that is chosen.

A reduction reads a tile of device memory with neighbouring threads along its columns. Where these
are apart in memory, each thread would read a sector of its own: LayerNorm over the channels of
images took 2.1 times as long as torch.compile's on an H200, and softmax 2.2 times.
"""

from math import prod

from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import Reduction


def read_permuted_in_registers(graph: kernel.GraphDefinedOp) -> None:
    """Let reductions of such tiles, and all that reads them beside, take them from registers."""
    if prod(graph.loop_sizes) > 1:
        return
    for op in list(graph.body.block.ops):
        if isinstance(op, threadblock.LoadOp) and _is_permuted(op) and _is_reduced(op.result):
            _read_once(graph, op.result)


def _is_permuted(op: threadblock.LoadOp) -> bool:
    """Whether a tile is read in place, and neighbours along its columns are apart in memory."""
    stride = view_of(op.source).strides[-1]
    return op.copy is None and threadblock.shape_of(op.result)[-1] > 1 and stride > 1


def _is_reduced(value: SSAValue) -> bool:
    return any(isinstance(use.operation, Reduction) for use in value.uses)


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
    first = next(op for op in graph.body.block.ops if op in operations)
    block = Block(arg_types=[threadblock.tile_type(value).element_type])
    block.add_op(thread.StoreOp(block.args[0]))
    read = thread.GraphOp([value], [value.type], Region(block))
    read.location = first.location
    graph.body.block.insert_op_before(read, first)
    for use in readers:
        use.operation.operands[use.index] = read.results[0]
