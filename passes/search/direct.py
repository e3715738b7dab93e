"""Kernels that need no search: constants, and tensors put side by side."""

from collections.abc import Sequence
from math import gcd, prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.graph.target import Target
from mirage_mlir.passes.search.plan import PlannedKernel
from mirage_mlir.passes.search.to_ir import Kernel, reshaped

TILE_ELEMENTS = 4096
"""Elements that a block handles: 16 for each of 256 threads."""


def seconds(target: Target, values: Sequence[SSAValue]) -> float:
    """The modelled time of a kernel that moves `values` once."""
    total = 0
    for value in values:
        tensor = kernel.tensor_type(value)
        total += prod(tensor.get_shape()) * tensor.element_type.bitwidth // 8
    return target.launch + target.dram_latency + total / target.dram_rate


def constant(op: kernel.ConstantOp, target: Target) -> PlannedKernel:
    """A kernel that fills a tensor."""
    tensor = kernel.tensor_type(op.result)
    count = prod(tensor.get_shape())
    tile = min(count, TILE_ELEMENTS)

    def write(arguments: Sequence[SSAValue]) -> Kernel:
        assert not arguments
        value = threadblock.ConstantOp(op.value.value.data, TileType([tile], tensor.element_type))
        block = Block([value, threadblock.StoreOp(value.result, (0,))])
        flat = TensorType(tensor.element_type, [count])
        graph = kernel.GraphDefinedOp((), (-(-count // tile),), (), (flat,), Region(block))
        operations: list[Operation] = [graph]
        shaped = reshaped(graph.outputs[0], tensor, operations)
        return Kernel(tuple(operations), (shaped,))

    return PlannedKernel((), (op.result,), write, seconds(target, [op.result]))


def concat(op: kernel.ConcatOp, target: Target) -> PlannedKernel:
    """A kernel that puts tensors side by side along one dimension."""
    tensor = kernel.tensor_type(op.result)
    shape, dim, item = tensor.get_shape(), op.dim.value.data, tensor.element_type.bitwidth // 8
    sizes = [kernel.shape_of(value)[dim] for value in op.inputs]
    rows, columns = prod(shape[:dim]), prod(shape[dim + 1 :])
    # A tile holds all of the dimension: what the sizes have in common moves behind it.
    common = gcd(*sizes) if sum(sizes) * item * 2 > target.shared_per_block // 2 else 1
    sizes, columns = [size // common for size in sizes], columns * common
    length = sum(sizes)
    if length * item * 2 > target.shared_per_block // 2:
        fail(op, f"puts together {length} parts of dim {dim}, more than a block can hold")
    share = max(1, TILE_ELEMENTS // length)
    # One row at a time where there are columns: a tile is cut along one side only.
    height, width = (min(rows, share), 1) if columns == 1 else (1, min(columns, share))
    last = () if columns == 1 else (columns,)
    cut = () if columns == 1 else (width,)

    def write(arguments: Sequence[SSAValue]) -> Kernel:
        operations: list[Operation] = []
        inputs = [
            reshaped(value, TensorType(tensor.element_type, [rows, size, *last]), operations)
            for value, size in zip(arguments, sizes, strict=True)
        ]
        block = Block(arg_types=[value.type for value in inputs])
        grid_map = (0, 2) if last else (0,)
        loads = [
            threadblock.LoadOp(
                argument, grid_map, (), TileType([height, size, *cut], tensor.element_type)
            )
            for argument, size in zip(block.args, sizes, strict=True)
        ]
        joined = threadblock.ConcatOp([load.result for load in loads], 1)
        block.add_ops([*loads, joined, threadblock.StoreOp(joined.result, grid_map)])
        graph = kernel.GraphDefinedOp(
            inputs,
            (-(-rows // height), -(-columns // width))[: len(grid_map)],
            (),
            (TensorType(tensor.element_type, [rows, length, *last]),),
            Region(block),
        )
        operations.append(graph)
        shaped = reshaped(graph.outputs[0], tensor, operations)
        return Kernel(tuple(operations), (shaped,))

    moved = [*op.inputs, op.result]
    return PlannedKernel(tuple(op.inputs), (op.result,), write, seconds(target, moved))
