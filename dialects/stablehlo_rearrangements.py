"""The operations of StableHLO that move elements."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from mirage_mlir.dialects.bases import shape_of
from mirage_mlir.dialects.stablehlo_attributes import GatherAttr
from mirage_mlir.dialects.stablehlo_bases import DIMS, INTEGER, TENSOR, ShapedOp
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape, ShapeError


@irdl_op_definition
class BroadcastInDimOp(ShapedOp):
    """Dimension i of the operand is dimension `broadcast_dimensions[i]` of the result."""

    name = "stablehlo.broadcast_in_dim"

    broadcast_dimensions = prop_def(DIMS)
    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        shape, target = shape_of(self.operand), shape_of(self.result)
        dims = self.broadcast_dimensions.get_values()
        if len(dims) != len(shape):
            raise ShapeError(f"has {len(dims)} broadcast_dimensions for rank {len(shape)}")
        shapes.check_dims(dims, len(target))
        for dim, size in zip(dims, shape, strict=True):
            if size not in (1, target[dim]):
                raise ShapeError(f"cannot broadcast size {size} to {target[dim]}, dim {dim}")
        return target


@irdl_op_definition
class ReshapeOp(ShapedOp):
    """The same elements, last dimension running fastest, in another shape."""

    name = "stablehlo.reshape"

    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        return shapes.reshape(shape_of(self.operand), shape_of(self.result))


@irdl_op_definition
class TransposeOp(ShapedOp):
    """Dimension i of the result is dimension `permutation[i]` of the operand."""

    name = "stablehlo.transpose"

    permutation = prop_def(DIMS)
    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.operand), self.permutation.get_values())


@irdl_op_definition
class ReverseOp(ShapedOp):
    """The elements in the opposite order along `dimensions`."""

    name = "stablehlo.reverse"

    dimensions = prop_def(DIMS)
    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.operand)
        shapes.check_dims(self.dimensions.get_values(), len(shape))
        return shape


@irdl_op_definition
class SliceOp(ShapedOp):
    """The elements from `start_indices` on, before `limit_indices`, in steps of `strides`."""

    name = "stablehlo.slice"

    start_indices = prop_def(DIMS)
    limit_indices = prop_def(DIMS)
    strides = prop_def(DIMS)
    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    def sizes(self) -> Shape:
        """The number of indices along each dimension."""
        fields = (self.start_indices, self.limit_indices, self.strides)
        rows = [field.get_values() for field in fields]
        rank = len(shape_of(self.operand))
        if any(len(row) != rank for row in rows) or any(step < 1 for step in rows[2]):
            raise ShapeError(f"has start, limit and stride (1 or more) for rank {rank}, not {rows}")
        return tuple(-(-(limit - start) // step) for start, limit, step in zip(*rows, strict=True))

    def inferred_shape(self) -> Shape:
        offsets, strides = self.start_indices.get_values(), self.strides.get_values()
        return shapes.slice_(shape_of(self.operand), offsets, self.sizes(), strides)


@irdl_op_definition
class DynamicSliceOp(ShapedOp):
    """`slice_sizes` elements from the indices on that scalars say, which are clamped to fit."""

    name = "stablehlo.dynamic_slice"

    slice_sizes = prop_def(DIMS)
    operand = operand_def(TENSOR)
    start_indices = var_operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        sizes, shape = self.slice_sizes.get_values(), shape_of(self.operand)
        if not len(sizes) == len(shape) == len(self.start_indices):
            raise ShapeError(f"has {len(sizes)} slice_sizes for rank {len(shape)}")
        return shapes.slice_(shape, (0,) * len(shape), sizes, (1,) * len(shape))


@irdl_op_definition
class GatherOp(ShapedOp):
    """
    Slices of the operand, each from the indices on that a vector of `start_indices` says.

    Starts are clamped so that slices fit. `dimension_numbers` says which of their dimensions are
    left out and where the others are in the result.
    """

    name = "stablehlo.gather"

    dimension_numbers = prop_def(GatherAttr)
    slice_sizes = prop_def(DIMS)
    indices_are_sorted = opt_prop_def(BoolAttr)
    operand = operand_def(TENSOR)
    start_indices = operand_def(TENSOR)
    result = result_def(TENSOR)

    def batch(self) -> Shape:
        """The shape of `start_indices` without the dimension of its vectors."""
        vector = self.dimension_numbers.index_vector_dim.value.data
        shape = shape_of(self.start_indices)
        return tuple(size for dim, size in enumerate(shape) if dim != vector)

    def kept(self) -> tuple[int, ...]:
        """The dimensions of a slice that the result has."""
        numbers = self.dimension_numbers
        gone = (*numbers.of("collapsed_slice_dims"), *numbers.of("operand_batching_dims"))
        rank = len(shape_of(self.operand))
        shapes.check_dims(gone, rank)
        return tuple(dim for dim in range(rank) if dim not in gone)

    def inferred_shape(self) -> Shape:
        numbers, shape = self.dimension_numbers, shape_of(self.operand)
        sizes, offsets = self.slice_sizes.get_values(), numbers.of("offset_dims")
        if len(sizes) != len(shape):
            raise ShapeError(f"has {len(sizes)} slice_sizes for rank {len(shape)}")
        shapes.slice_(shape, (0,) * len(shape), sizes, (1,) * len(shape))
        shapes.check_dims(numbers.of("start_index_map"), len(shape))
        kept, batch = self.kept(), self.batch()
        if len(kept) != len(offsets):
            raise ShapeError(f"has {len(offsets)} offset_dims for {len(kept)} dims of a slice")
        shapes.check_dims(offsets, len(kept) + len(batch))
        whole, outer = dict(zip(offsets, (sizes[dim] for dim in kept), strict=True)), iter(batch)
        return tuple(
            whole[dim] if dim in whole else next(outer) for dim in range(len(kept) + len(batch))
        )


@irdl_op_definition
class ConcatenateOp(ShapedOp):
    """The inputs one after the other along `dimension`."""

    name = "stablehlo.concatenate"

    dimension = prop_def(INTEGER)
    inputs = var_operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        inputs = [shape_of(value) for value in self.inputs]
        return shapes.concat(inputs, self.dimension.value.data)


@irdl_op_definition
class PadOp(ShapedOp):
    """`padding_value` before, between and behind elements; less than none takes some off."""

    name = "stablehlo.pad"

    edge_padding_low = prop_def(DIMS)
    edge_padding_high = prop_def(DIMS)
    interior_padding = prop_def(DIMS)
    operand = operand_def(TENSOR)
    padding_value = operand_def(TENSOR)
    result = result_def(TENSOR)

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.operand)
        fields = (self.edge_padding_low, self.edge_padding_high, self.interior_padding)
        rows = [field.get_values() for field in fields]
        if any(len(row) != len(shape) for row in rows):
            raise ShapeError(f"has paddings of {[*map(len, rows)]} dims for rank {len(shape)}")
        return tuple(
            low + size + (size - 1) * inside + high
            for size, low, high, inside in zip(shape, *rows, strict=True)
        )
