"""
Shifted tiles: the last tiles along an axis of the grid start early enough to end with a tensor.

Else a tensor copy of a tile that reaches past its tensor fills the rest with zeros, which takes it
longer than to fetch lines: on an H200 a matmul of 192 rows in tiles of 128 took 26.7 us, one of 256
rows in the same tiles 17.3. A shifted tile has rows of the tile before it once more, which it
computes, too, and does not store.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.passes.analysis.buffers import cuts
from mirage_mlir.passes.analysis.tensor_views import stored_view, view_of
from mirage_mlir.passes.analysis.tile_attributes import shares_tiles, summed_axes

Side = tuple[int, int]
"""The size of a dim of a tensor, and of the tiles that cut it."""


class _MixedError(Exception):
    """Elements of a tile meet others than those of the same place along the axis."""


def shift_tiles(graph: kernel.GraphDefinedOp) -> None:
    """Let the last tiles along each axis of the grid end with their tensors, where they may."""
    if not graph.schedule.producer_warps or shares_tiles(graph):
        return
    axes = tuple(axis for axis in range(len(graph.grid_sizes)) if may_shift(graph, axis))
    if axes:
        graph.schedule = replace(graph.schedule, shifted_axes=axes)


def may_shift(graph: kernel.GraphDefinedOp, axis: int) -> bool:
    """
    Whether tiles along an axis may start anywhere.

    Each tile that it cuts has one size, the last reaches past its tensor, and what a block stores
    of an element depends on no other element along the axis.
    """
    if axis in summed_axes(graph):
        return False
    sides = {side_along(op, axis) for op in graph.body.block.ops if is_cut(op, axis)}
    if len(sides) != 1 or None in sides:
        return False
    ((size, tile),) = [side for side in sides if side is not None]
    ragged = tile < size < graph.grid_sizes[axis] * tile
    return ragged and keeps_places(graph, axis)


def is_cut(op: Operation, axis: int) -> bool:
    """Whether an operation loads or stores tiles that lie along an axis of the grid."""
    if not isinstance(op, threadblock.LoadOp | threadblock.StoreOp):
        return False
    return op.grid_map.get_values()[axis] >= 0


def side_along(op: Operation, axis: int) -> Side | None:
    """The sizes along an axis; None where a loop cuts the dim as well."""
    assert isinstance(op, threadblock.LoadOp | threadblock.StoreOp)
    dim = op.grid_map.get_values()[axis]
    _, loops = cuts(op, dim)
    if loops:
        return None
    if isinstance(op, threadblock.LoadOp):
        return view_of(op.source).shape[dim], threadblock.shape_of(op.result)[dim]
    return stored_view(op).shape[dim], threadblock.shape_of(op.tile)[dim]


def keeps_places(graph: kernel.GraphDefinedOp, axis: int) -> bool:
    """Whether every element that is stored depends on those of its place along the axis alone."""
    dims: dict[SSAValue, int | None] = {}
    try:
        for op in graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                if dims[op.tile] is None or dims[op.tile] != _from_last(op, op.tile, axis):
                    return False
            elif op.results:
                dims.update(dict.fromkeys(op.results, _dim_along(op, axis, dims)))
    except _MixedError:
        return False
    return True


def _from_last(
    op: threadblock.LoadOp | threadblock.StoreOp, value: SSAValue, axis: int
) -> int | None:
    """The dim of a tile that lies along the axis, counted from the last (-1); None if none does."""
    dim = op.grid_map.get_values()[axis]
    return None if dim < 0 else dim - len(threadblock.shape_of(value))


def _dim_along(op: Operation, axis: int, dims: dict[SSAValue, int | None]) -> int | None:
    """The dim of an operation's results that lies along the axis, as `_from_last` counts."""
    given = [dims[value] for value in op.operands if value in dims]
    match op:
        case threadblock.LoadOp():
            return _from_last(op, op.result, axis)
        case threadblock.ConstantOp():
            return None
        case threadblock.MatmulOp():
            return _of_matmul(op, *given)
        case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
            (dim,) = given
            rank = len(threadblock.shape_of(op.input))
            if dim is not None and dim + rank in op.dims.get_values():
                raise _MixedError
            return dim
        case threadblock.TransposeOp():
            (dim,) = given
            rank = len(threadblock.shape_of(op.input))
            return None if dim is None else [*op.permutation.get_values()].index(dim + rank) - rank
        case threadblock.AccumulateOp() | ConvertLayoutOp() | thread.GraphOp():
            return _elementwise([*op.operands], op.results[0], dims)
        case threadblock.TileOp() if not isinstance(op, threadblock.ViewOp):
            return _elementwise([*op.operands], op.results[0], dims)
        case _:
            raise _MixedError


def _of_matmul(op: threadblock.MatmulOp, left: int | None, right: int | None) -> int | None:
    """The dim of a matmul's result along the axis, of which one operand has a dim or none."""
    if left == -1 or right == -2 or (left is not None and right is not None):
        raise _MixedError
    for dim, other in ((left, op.rhs), (right, op.lhs)):
        # Each matrix of a batch meets one of the other operand's, or the only one.
        if dim is not None and dim < -2 and size_from_last(other, dim) > 1:
            raise _MixedError
    return left if right is None else right


def _elementwise(
    operands: Sequence[SSAValue], result: SSAValue, dims: dict[SSAValue, int | None]
) -> int | None:
    """The dim of an elementwise result along the axis; operands that broadcast may have none."""
    found = {dims[value] for value in operands} - {None}
    if len(found) > 1:
        raise _MixedError
    if not found:
        return None
    (dim,) = found
    assert dim is not None
    for value in operands:
        if dims[value] is None and size_from_last(value, dim) > 1:
            raise _MixedError
    if len(threadblock.shape_of(result)) < -dim:
        raise _MixedError
    return dim


def size_from_last(value: SSAValue, dim: int) -> int:
    """The size of a tile along a dim that is counted from the last; 1 where it has none."""
    shape = threadblock.shape_of(value)
    return shape[dim] if len(shape) >= -dim else 1
