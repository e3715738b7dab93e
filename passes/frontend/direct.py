"""Kernels that need no search: constants, and tensors put side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.graph_rules import MAX_GRID_AXES
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.analysis.index_formulas import is_formula
from mirage_mlir.passes.analysis.tensor_views import TensorView
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.strided_views import bytes_of, view_of
from mirage_mlir.passes.frontend.to_ir import Kernel, reshaped
from mirage_mlir.shapes.shapes import Shape
from mirage_mlir.targets.target import Target

TILE_ELEMENTS = 4096
"""Elements that a block handles: 16 for each of 256 threads."""


ALIGNED = 8
"""Elements of 16 bytes, which threads copy at a time, of the smallest type that has many."""

LONGEST_STRIDED = 8192
"""Indices along a dimension of which a tile holds all, for every element type and target."""


def seconds(target: Target, values: Sequence[SSAValue]) -> float:
    """The modelled time of a kernel that moves `values` once."""
    total = sum(map(bytes_of, values))
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
        ahead: sizes of the dimensions before that one, in groups that are one dimension in each
            part's memory.
        behind: the same of those after it.
        target: the GPU.
    """

    tensor: TensorType[FloatType]
    sizes: tuple[int, ...]
    ahead: Shape
    behind: Shape
    target: Target

    @staticmethod
    def dense(
        tensor: TensorType[FloatType], sizes: tuple[int, ...], inner: int, target: Target
    ) -> "Joining":
        """Of parts that are dense, with `inner` elements behind each index."""
        ahead = prod(tensor.get_shape()) // (sum(sizes) * inner)
        return Joining(tensor, sizes, (ahead,), (inner,) if inner > 1 else (), target)

    @property
    def most(self) -> int:
        """Elements that a block may hold along the dimension: parts and result, half the memory."""
        return self.target.shared_memory_per_block // (4 * self._item)

    @property
    def _item(self) -> int:
        return self.tensor.element_type.bitwidth // 8

    @property
    def _common(self) -> int:
        """A tile holds all of the dimension: what the sizes have in common moves behind it."""
        return gcd(*self.sizes) if sum(self.sizes) > self.most else 1

    @property
    def length(self) -> int:
        """Indices along the dimension that a tile holds."""
        return sum(self.sizes) // self._common

    @property
    def fits(self) -> bool:
        """Whether a block can hold what it must."""
        return self.length <= self.most

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
        """The kernel on `arguments`, of any shapes that are views of the groups."""
        sizes, length = [size // self._common for size in self.sizes], self.length
        ahead, behind = self.ahead, self.behind
        if self._common > 1:
            behind = (prod(behind) * self._common,)
        cut_ahead, cut_behind = _cut(ahead, behind, max(1, TILE_ELEMENTS // length))
        place = len(ahead)
        element = self.tensor.element_type
        operations: list[Operation] = []
        inputs = [
            reshaped(value, TensorType(element, [*ahead, size, *behind]), operations)
            for value, size in zip(arguments, sizes, strict=True)
        ]
        block = Block(arg_types=[value.type for value in inputs])
        grid_map = (*range(place), *range(place + 1, place + 1 + len(behind)))
        loads = [
            threadblock.LoadOp(
                argument, grid_map, (), TileType([*cut_ahead, size, *cut_behind], element)
            )
            for argument, size in zip(block.args, sizes, strict=True)
        ]
        joined = threadblock.ConcatOp([load.result for load in loads], place)
        block.add_ops([*loads, joined, threadblock.StoreOp(joined.result, grid_map)])
        pairs = zip((*ahead, *behind), (*cut_ahead, *cut_behind), strict=True)
        graph = kernel.GraphDefinedOp(
            inputs,
            tuple(-(-size // tile) for size, tile in pairs),
            (),
            (TensorType(element, [*ahead, length, *behind]),),
            Region(block),
        )
        operations.append(graph)
        shaped = reshaped(graph.outputs[0], self.tensor, operations)
        return Kernel(tuple(operations), (shaped,))


def _cut(ahead: Shape, behind: Shape, most: int) -> tuple[Shape, Shape]:
    """
    Sizes of a tile of up to `most` indices: one along each dimension but one, which is cut.

    That is the last one, or, where a tile has room for all that is behind, the last one ahead.
    Tiles beside each other start at multiples of `ALIGNED` elements.
    """
    whole = prod(behind)
    if whole <= most:
        return (*(1,) * (len(ahead) - 1), min(ahead[-1], most // whole)), behind
    if most > ALIGNED:
        most -= most % ALIGNED
    return (1,) * len(ahead), (*(1,) * (len(behind) - 1), min(behind[-1], most))


def groups_of(op: kernel.ConcatOp) -> tuple[Shape, Shape] | None:
    """
    The dimensions before and after that of a concat, for `Joining`.

    None where the parts have to be dense: one is no view of memory, there are more groups than a
    grid has dimensions, or the dimension is so long that a part of it has to be seen behind it.
    """
    views = [None if is_formula(value) else view_of(value) for value in op.inputs]
    known = [view for view in views if view is not None]
    shape, dim = kernel.shape_of(op.result), op.dim.value.data
    if len(known) < len(views) or shape[dim] > LONGEST_STRIDED:
        return None
    ahead = _groups(shape, range(dim), known) or (1,)
    behind = _groups(shape, range(dim + 1, len(shape)), known)
    return (ahead, behind) if len(ahead) + len(behind) <= MAX_GRID_AXES else None


def _groups(shape: Shape, dims: Sequence[int], views: Sequence[TensorView]) -> Shape:
    """Sizes of `dims`, those that are one dimension in the memory of every view as one."""
    groups: list[int] = []
    last = 0
    for dim in dims:
        size = shape[dim]
        if size == 1:
            continue
        if groups and all(view.strides[last] == size * view.strides[dim] for view in views):
            groups[-1] *= size
        else:
            groups.append(size)
        last = dim
    return tuple(groups)


def concat(op: kernel.ConcatOp, target: Target) -> PlannedKernel:
    """A kernel that puts tensors side by side along one dimension."""
    tensor, dim = kernel.tensor_type(op.result), op.dim.value.data
    sizes = tuple(kernel.shape_of(value)[dim] for value in op.inputs)
    groups = groups_of(op)
    if groups is None:
        joining = Joining.dense(tensor, sizes, prod(tensor.get_shape()[dim + 1 :]), target)
    else:
        joining = Joining(tensor, sizes, *groups, target)
    if not joining.fits:
        fail(
            op,
            f"puts together tensors of sizes {', '.join(map(str, sizes))} along dim {dim}: a block "
            f"holds at most {joining.most} elements along it, times what divides all these sizes",
        )
    moved = seconds(target, [*op.inputs, op.result])
    return PlannedKernel(tuple(op.inputs), (op.result,), joining.write, moved)
