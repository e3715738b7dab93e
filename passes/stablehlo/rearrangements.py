"""Operations of StableHLO that move elements, and those that make them, in the kernel dialect."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32, i1
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, stablehlo
from mirage_mlir.dialects import stablehlo_rearrangements as moves
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.stablehlo.tensors import (
    MOST_EXACT,
    KernelBuilder,
    Rule,
    Tensor,
    constant,
    type_of,
)
from mirage_mlir.shapes.shapes import Shape

MOST_SLICES = 16
"""Of one operation: each is read by itself."""


def _constant(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.ConstantOp)
    if not isinstance(op.value, DenseIntOrFPElementsAttr):
        emit.fail("has its elements behind the program; kernels take such tables as inputs")
    # By their text: a NaN is not equal to itself, and 0.0 is to -0.0.
    if not op.value.is_splat() and len({*map(repr, op.value.get_values())}) > 1:
        emit.fail(
            f"has {len(op.value)} elements that differ",
            note="make a table an argument of the function, marked kernel.constant",
        )
    number, element = op.value.get_values()[0], type_of(op.results[0]).element_type
    if not isinstance(number, int | float):
        emit.fail(f"has elements of type {element}, which no kernel computes with")
    is_boolean = element == i1
    return emit.number(bool(number) if is_boolean else number)


def _iota(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.IotaOp)
    kind, dim = type_of(op.result), op.iota_dimension.value.data
    size = kind.get_shape()[dim]
    if size - 1 > MOST_EXACT:
        emit.fail(f"has indices up to {size - 1}; they are in f32, which counts to {MOST_EXACT}")
    element = kind.element_type if isinstance(kind.element_type, FloatType) else f32
    shape = [size if number == dim else 1 for number in range(len(kind.get_shape()))]
    return emit.result(emit.add(kernel.IotaOp(dim, TensorType(element, shape))), (0, size - 1))


def _broadcast_in_dim(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.BroadcastInDimOp)
    (x,), shape = inputs, type_of(op.result).get_shape()
    if x.value is None:
        return x.moved(shape, None)
    dims = op.broadcast_dimensions.get_values()
    value = x.value
    if list(dims) != sorted(dims):
        order = sorted(range(len(dims)), key=lambda number: dims[number])
        value = emit.add(kernel.TransposeOp(value, order))
    sizes = [1] * len(shape)
    for dim, size in zip(sorted(dims), kernel.shape_of(value), strict=True):
        sizes[dim] = size
    return x.moved(shape, emit.reshape(value, sizes))


def _reshape(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (x,), shape = inputs, type_of(op.results[0]).get_shape()
    if x.value is None:
        return x.moved(shape, None)
    held = kernel.shape_of(x.value)
    sizes = [size for size in x.shape if size != 1]
    if sizes == [size for size in shape if size != 1]:
        # Dimensions of size 1 come and go: what is repeated stays so.
        left = iter([kept for kept, size in zip(held, x.shape, strict=True) if size != 1])
        return x.moved(shape, emit.reshape(x.value, [1 if n == 1 else next(left) for n in shape]))
    if (value := _interleaved(emit, x.value, x.shape, shape)) is not None:
        return x.moved(shape, value)
    return x.moved(shape, emit.reshape(emit.whole(x), shape))


def _interleaved(
    emit: KernelBuilder, value: SSAValue, shape: Shape, target: Shape
) -> SSAValue | None:
    """
    A dimension that repeats all elements, merged with the one before it: heads of a group.

    None where the reshape is another one.
    """
    held = kernel.shape_of(value)
    repeated = [dim for dim, size in enumerate(shape) if held[dim] != size]
    if len(repeated) != 1 or (dim := repeated[0]) == 0:
        return None
    merged = (*shape[: dim - 1], shape[dim - 1] * shape[dim], *shape[dim + 1 :])
    if merged != tuple(target):
        return None
    narrow = emit.reshape(value, [*shape[:dim], *shape[dim + 1 :]])
    return emit.add(kernel.RepeatInterleaveOp(narrow, dim - 1, shape[dim]))


def _transpose(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.TransposeOp)
    (x,), order = inputs, op.permutation.get_values()
    value = x.value
    if value is not None and list(order) != sorted(order):
        value = emit.add(kernel.TransposeOp(value, order))
    return x.moved(type_of(op.result).get_shape(), value)


def _reverse(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.ReverseOp)
    (x,) = inputs
    if (value := x.value) is None:
        return x.moved(x.shape, None)
    for dim in op.dimensions.get_values():
        value = reversed_along(emit, value, dim)
    return x.moved(x.shape, value)


def reversed_along(emit: KernelBuilder, value: SSAValue, dim: int) -> SSAValue:
    """
    The elements in the opposite order: a slice for each, put together again.

    A dimension of a x b elements is two, of a and of b, so that few slices are enough.
    """
    shape = kernel.shape_of(value)
    factors = _small_factors(shape[dim])
    if max(factors, default=1) > MOST_SLICES:
        emit.fail(
            f"reverses {shape[dim]} elements; {max(factors)}, a prime factor of that, is above "
            f"the {MOST_SLICES} slices that are read one by one"
        )
    value = emit.reshape(value, [*shape[:dim], *factors, *shape[dim + 1 :]])
    for at, count in enumerate(factors, dim):
        sizes = [*kernel.shape_of(value)]
        sizes[at] = 1
        ends = [
            [number if each == at else 0 for each in range(len(sizes))] for number in range(count)
        ]
        ones = [1] * len(sizes)
        pieces = [emit.add(kernel.SliceOp(value, start, sizes, ones)) for start in reversed(ends)]
        value = emit.add(kernel.ConcatOp(pieces, at))
    return emit.reshape(value, shape)


def _small_factors(number: int) -> list[int]:
    """Factors above 1 of a number, each the largest that few slices are, or a prime."""
    found: list[int] = []
    while number > 1:
        few = [each for each in range(2, MOST_SLICES + 1) if number % each == 0]
        found.append(few[-1] if few else number)
        number //= found[-1]
    return found


def part(
    emit: KernelBuilder,
    x: Tensor,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> Tensor:
    """Some elements of a tensor; of dimensions that repeat one element, that one."""
    if x.value is None:
        return x.moved(tuple(sizes), None)
    held = kernel.shape_of(x.value)
    kept = [
        size if dim == whole else 1 for size, dim, whole in zip(sizes, held, x.shape, strict=True)
    ]
    if tuple(kept) == held:
        return x.moved(tuple(sizes), x.value)
    starts = [0 if dim == 1 else offset for offset, dim in zip(offsets, held, strict=True)]
    steps = [1 if dim == 1 else stride for stride, dim in zip(strides, held, strict=True)]
    return x.moved(tuple(sizes), emit.add(kernel.SliceOp(x.value, starts, kept, steps)))


def _slice(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.SliceOp)
    return part(emit, inputs[0], op.start_indices.get_values(), op.sizes(), op.strides.get_values())


def _dynamic_slice(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.DynamicSliceOp)
    x, *starts = inputs
    sizes = op.slice_sizes.get_values()
    offsets: list[int] = []
    for start, size, whole in zip(starts, sizes, x.shape, strict=True):
        if start.number is None:
            emit.fail("begins at an index that is no constant")
        offsets.append(min(max(int(start.number), 0), whole - size))
    return part(emit, x, offsets, sizes, [1] * len(sizes))


def _concatenate(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.ConcatenateOp)
    return joined(emit, inputs, op.dimension.value.data)


def joined(emit: KernelBuilder, parts: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors side by side."""
    numbers = {part.number for part in parts}
    shape = type_of(emit.op.results[0]).get_shape()
    if len(parts) == 1 or (len(numbers) == 1 and None not in numbers):
        return parts[0].moved(shape, parts[0].value)
    element = emit.storage(next((part for part in parts if part.value), parts[0]))
    bounds = min(part.bounds[0] for part in parts), max(part.bounds[1] for part in parts)
    values = [emit.whole(part, element) for part in parts]
    return emit.result(emit.add(kernel.ConcatOp(values, dim)), bounds)


def _pad(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.PadOp)
    x, padding = inputs
    if any(op.interior_padding.get_values()):
        emit.fail("has padding between elements")
    if padding.number is None:
        emit.fail("has a padding value that is no constant")
    low, high = op.edge_padding_low.get_values(), op.edge_padding_high.get_values()
    sizes = [
        size + min(before, 0) + min(after, 0)
        for size, before, after in zip(x.shape, low, high, strict=True)
    ]
    if any(size < 1 for size in sizes):
        # Nothing of the tensor is left between the padding.
        return constant(type_of(emit.op.results[0]).get_shape(), x.element, padding.number)
    x = part(emit, x, [max(-before, 0) for before in low], sizes, [1] * len(sizes))
    for dim, (before, after) in enumerate(zip(low, high, strict=True)):
        around = [_filled(x, padding.number, dim, count) for count in (before, after)]
        if x.number == padding.number or not any(each.shape[dim] for each in around):
            sizes[dim] += max(before, 0) + max(after, 0)
            x = x.moved(tuple(sizes), x.value)
            continue
        parts = [part for part in (around[0], x, around[1]) if part.shape[dim]]
        sizes[dim] = sum(part.shape[dim] for part in parts)
        element = emit.storage(x)
        joined = emit.add(kernel.ConcatOp([emit.whole(part, element) for part in parts], dim))
        bounds = min(part.bounds[0] for part in parts), max(part.bounds[1] for part in parts)
        x = Tensor(tuple(sizes), x.element, joined, bounds=bounds)
    return x


def _filled(like: Tensor, number: float, dim: int, count: int) -> Tensor:
    """A number `count` times along a dimension, not at all where that is negative."""
    shape = [*like.shape]
    shape[dim] = max(count, 0)
    return constant(tuple(shape), like.element, number)


RULES: Mapping[str, Rule] = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.iota": _iota,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
"""By the name of the operation."""
