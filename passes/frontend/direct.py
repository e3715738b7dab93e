"""Kernels that need no search: constants, and tensors put side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.to_ir import Kernel, reshaped
from mirage_mlir.targets.target import Target

TILE_ELEMENTS = 4096
"""Elements that a block handles: 16 for each of 256 threads."""


def seconds(target: Target, values: Sequence[SSAValue]) -> float:
    """The modelled time of a kernel that moves `values` once."""
    total = 0
    for value in values:
        tensor = kernel.tensor_type(value)
        total += prod(tensor.get_shape()) * tensor.element_type.bitwidth // 8
    return target.launch_latency + target.dram_latency + total / target.dram_bandwidth


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


@dataclass(frozen=True)
class Joining:
    """
    A kernel that puts tensors side by side.

    Args:
        tensor: the type of the result.
        sizes: for each part the indices that it has along the dimension of the result.
        inner: elements behind each index.
        target: the GPU.
    """

    tensor: TensorType[FloatType]
    sizes: tuple[int, ...]
    inner: int
    target: Target

    @property
    def _room(self) -> int:
        """Elements that a block may hold along the dimension: parts and result, half the memory."""
        return self.target.shared_memory_per_block // (4 * self._item)

    @property
    def _item(self) -> int:
        return self.tensor.element_type.bitwidth // 8

    @property
    def _common(self) -> int:
        """A tile holds all of the dimension: what the sizes have in common moves behind it."""
        return gcd(*self.sizes) if sum(self.sizes) > self._room else 1

    @property
    def length(self) -> int:
        """Indices along the dimension that a tile holds."""
        return sum(self.sizes) // self._common

    @property
    def fits(self) -> bool:
        """Whether a block can hold what it must."""
        return self.length <= self._room

    @property
    def seconds(self) -> float:
        """The modelled time."""
        moved = 2 * prod(self.tensor.get_shape()) * self._item
        return (
            self.target.launch_latency
            + self.target.dram_latency
            + moved / self.target.dram_bandwidth
        )

    def write(self, arguments: Sequence[SSAValue]) -> Kernel:
        """The kernel on dense `arguments`, of any shapes."""
        sizes, columns = [size // self._common for size in self.sizes], self.inner * self._common
        length = self.length
        rows = prod(self.tensor.get_shape()) // (length * columns)
        share = max(1, TILE_ELEMENTS // length)
        # One row at a time where there are columns: a tile is cut along one side only.
        height, width = (min(rows, share), 1) if columns == 1 else (1, min(columns, share))
        last = () if columns == 1 else (columns,)
        cut = () if columns == 1 else (width,)
        element = self.tensor.element_type
        operations: list[Operation] = []
        inputs = [
            reshaped(value, TensorType(element, [rows, size, *last]), operations)
            for value, size in zip(arguments, sizes, strict=True)
        ]
        block = Block(arg_types=[value.type for value in inputs])
        grid_map = (0, 2) if last else (0,)
        loads = [
            threadblock.LoadOp(argument, grid_map, (), TileType([height, size, *cut], element))
            for argument, size in zip(block.args, sizes, strict=True)
        ]
        joined = threadblock.ConcatOp([load.result for load in loads], 1)
        block.add_ops([*loads, joined, threadblock.StoreOp(joined.result, grid_map)])
        graph = kernel.GraphDefinedOp(
            inputs,
            (-(-rows // height), -(-columns // width))[: len(grid_map)],
            (),
            (TensorType(element, [rows, length, *last]),),
            Region(block),
        )
        operations.append(graph)
        shaped = reshaped(graph.outputs[0], self.tensor, operations)
        return Kernel(tuple(operations), (shaped,))


def concat(op: kernel.ConcatOp, target: Target) -> PlannedKernel:
    """A kernel that puts tensors side by side along one dimension."""
    tensor, dim = kernel.tensor_type(op.result), op.dim.value.data
    sizes = tuple(kernel.shape_of(value)[dim] for value in op.inputs)
    joining = Joining(tensor, sizes, prod(tensor.get_shape()[dim + 1 :]), target)
    if not joining.fits:
        fail(op, f"puts together {joining.length} parts of dim {dim}, more than a block can hold")
    moved = seconds(target, [*op.inputs, op.result])
    return PlannedKernel(tuple(op.inputs), (op.result,), joining.write, moved)
