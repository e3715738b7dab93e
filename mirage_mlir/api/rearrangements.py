"""Operators of a graph that move, repeat, join or make elements."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType

from mirage_mlir.api.arguments import (
    count,
    dims_of,
    fill,
    finite_or_lowest,
    integer,
    integers,
    sizes_of,
)
from mirage_mlir.api.construction import GraphBuilder
from mirage_mlir.api.tensor import Tensor, dim_of_tensor, dims_of_tensor
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.types import element_attribute
from mirage_mlir.runtime.element_types import ElementType, element_type_of


class Rearrangements(GraphBuilder):
    """Adds views, copies and constants."""

    def transpose(self, x: Tensor, *permutation: int) -> Tensor:
        """Dimension `permutation[i]` of `x` becomes dimension i; the last two swap by default."""
        rank = len(dims_of_tensor(x))
        order = list(permutation) or [*range(rank - 2), rank - 1, rank - 2]
        return self._add(kernel.TransposeOp, self._value(x), dims_of(dims_of_tensor(x), order))

    def reshape(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """The same elements, in the same order; one of `dims` may be -1, which is what is left."""
        sizes = fill(dims_of_tensor(x), dims)
        result = TensorType(kernel.tensor_type(self._value(x)).element_type, sizes)
        return self._add(kernel.ReshapeOp, self._value(x), result)

    def broadcast(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """`x` repeated along its dimensions of size 1, and along new leading ones."""
        result = TensorType(kernel.tensor_type(self._value(x)).element_type, sizes_of(dims, "dims"))
        return self._add(kernel.BroadcastOp, self._value(x), result)

    def repeat(self, x: Tensor, dim: int, times: int) -> Tensor:
        """The whole of `x`, `times` times, one after the other along `dim` (numpy.tile)."""
        return self._add(
            kernel.RepeatOp, self._value(x), dim_of_tensor(x, dim), count(times, "times")
        )

    def repeat_interleave(self, x: Tensor, dim: int, times: int) -> Tensor:
        """Each element along `dim` `times` times (numpy.repeat), as key-value heads are."""
        return self._add(
            kernel.RepeatInterleaveOp, self._value(x), dim_of_tensor(x, dim), count(times, "times")
        )

    def slice(
        self,
        x: Tensor,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Tensor:
        """Elements `offset + i * stride`, `size` of them, along each dimension."""
        starts, counts = integers(offsets, "offsets"), integers(sizes, "sizes")
        steps = [1] * len(starts) if strides is None else integers(strides, "strides")
        return self._add(kernel.SliceOp, self._value(x), starts, counts, steps)

    def chunk(self, x: Tensor, chunks: int, dim: int = -1) -> tuple[Tensor, ...]:
        """`chunks` equal parts of `x` along `dim`; raises `ValueError` where they are not equal."""
        axis, parts = dim_of_tensor(x, dim), count(chunks, "chunks")
        size, rest = divmod(dims_of_tensor(x)[axis], parts)
        if rest:
            raise ValueError(
                f"dimension {axis} of size {dims_of_tensor(x)[axis]} is no {parts} equal parts"
            )
        sizes = [*dims_of_tensor(x)]
        sizes[axis] = size
        starts = [[0] * len(sizes) for _ in range(parts)]
        for number, start in enumerate(starts):
            start[axis] = number * size
        return tuple(self.slice(x, start, sizes) for start in starts)

    def concat(self, tensors: Sequence[Tensor], dim: int) -> Tensor:
        """The tensors one after the other along `dim`."""
        if isinstance(tensors, Tensor):
            raise TypeError("concat takes a list of tensors, not one tensor")
        if not tensors:
            raise ValueError("concat takes at least one tensor")
        values = [self._value(tensor) for tensor in tensors]
        return self._add(kernel.ConcatOp, values, dim_of_tensor(tensors[0], dim))

    def constant(
        self, value: float, dims: Sequence[int], dtype: object = ElementType.F32
    ) -> Tensor:
        """A tensor all of whose elements are `value`, a number or -inf."""
        result = TensorType(element_attribute(element_type_of(dtype)), sizes_of(dims, "dims"))
        return self._add(kernel.ConstantOp, finite_or_lowest(value, "value"), result)

    def iota(self, dims: Sequence[int], dim: int, dtype: object = ElementType.F32) -> Tensor:
        """A tensor whose elements are their indices along `dim`, as numbers."""
        result = TensorType(element_attribute(element_type_of(dtype)), sizes_of(dims, "dims"))
        return self._add(kernel.IotaOp, integer(dim, "dim"), result)
