"""
Shape inference: the shape that an operator gives its result, or why it cannot.

Shapes are tuples of sizes, outermost dimension first. Every function raises `ShapeError` with a
sentence that names dimensions and sizes; builders let it pass, verifiers put a place in front.
"""

from collections.abc import Sequence
from math import prod

Shape = tuple[int, ...]


class ShapeError(ValueError):
    """Shapes or parameters that an operator does not take."""


MAX_RANK = 16
"""Of a tensor: arrays of numpy have 64 dimensions, and interpreters split each into several."""

MAX_ELEMENTS = 2**40
"""
Of a tensor: more than any GPU's memory holds. Sizes of products, three of such numbers and bytes of
an element, stay below 2^63.
"""


def format_shape(shape: Sequence[int]) -> str:
    """`(16, 4096)` as `16x4096`; a shape of rank 0 as `scalar`."""
    return "x".join(str(size) for size in shape) or "scalar"


def check_static(shape: Sequence[int], what: str) -> None:
    """Every size of `shape` must be known, positive and possible; `what` is named in the error."""
    if len(shape) > MAX_RANK:
        raise ShapeError(f"{what} has rank {len(shape)}, more than {MAX_RANK}")
    for dim, size in enumerate(shape):
        if size < 0:
            raise ShapeError(f"{what} has dim {dim} of unknown size; shapes are static here")
        if size == 0:
            raise ShapeError(f"{what} has dim {dim} of size 0")
    if (elements := prod(shape)) > MAX_ELEMENTS:
        raise ShapeError(
            f"{what} has {elements} elements, more than {MAX_ELEMENTS}: no GPU holds it"
        )


def check_dim(dim: int, rank: int) -> None:
    """`dim` must be a dimension of a tensor of rank `rank`."""
    if not 0 <= dim < rank:
        raise ShapeError(f"has no dim {dim}: the rank is {rank}")


def check_dims(dims: Sequence[int], rank: int) -> None:
    """`dims` must be different dimensions of a tensor of rank `rank`."""
    for position, dim in enumerate(dims):
        check_dim(dim, rank)
        if dim in dims[:position]:
            raise ShapeError(f"names dim {dim} twice")


def broadcast(lhs: Sequence[int], rhs: Sequence[int]) -> Shape:
    """Of an elementwise operator: size 1 stretches, missing leading dims are 1 (numpy)."""
    rank = max(len(lhs), len(rhs))
    left = (1,) * (rank - len(lhs)) + tuple(lhs)
    right = (1,) * (rank - len(rhs)) + tuple(rhs)
    for dim, (a, b) in enumerate(zip(left, right, strict=True)):
        if 1 not in (a, b) and a != b:
            raise ShapeError(
                f"cannot broadcast {format_shape(lhs)} with {format_shape(rhs)}: "
                f"dim {dim} of the result would have sizes {a} and {b}"
            )
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def broadcast_to(shape: Sequence[int], target: Sequence[int]) -> Shape:
    """`target`, if a tensor of `shape` broadcasts to it."""
    if len(shape) > len(target):
        raise ShapeError(f"cannot broadcast rank {len(shape)} to rank {len(target)}")
    added = len(target) - len(shape)
    for dim, size in enumerate(shape):
        if size not in (1, target[added + dim]):
            raise ShapeError(
                f"cannot broadcast dim {dim} (size {size}) to dim {added + dim} "
                f"(size {target[added + dim]}) of {format_shape(target)}"
            )
    return tuple(target)


def matmul(lhs: Sequence[int], rhs: Sequence[int]) -> Shape:
    """`... x M x K` times `... x K x N` is `... x M x N`; the leading dimensions broadcast."""
    if len(lhs) < 2 or len(rhs) < 2:
        raise ShapeError(f"multiplies matrices, not tensors of ranks {len(lhs)} and {len(rhs)}")
    if lhs[-1] != rhs[-2]:
        raise ShapeError(
            f"contracts lhs dim {len(lhs) - 1} (size {lhs[-1]}) "
            f"with rhs dim {len(rhs) - 2} (size {rhs[-2]}){_if_transposed(lhs, rhs)}"
        )
    return (*broadcast(lhs[:-2], rhs[:-2]), lhs[-2], rhs[-1])


def _if_transposed(lhs: Sequence[int], rhs: Sequence[int]) -> str:
    """What would help where the sides of a product do not fit."""
    for name, fits in (("rhs", lhs[-1] == rhs[-1]), ("lhs", lhs[-2] == rhs[-2])):
        if fits:
            return f"; transposed, {name} would fit"
    return ""


def reduce(shape: Sequence[int], dims: Sequence[int]) -> Shape:
    """Reduced dimensions stay, with size 1."""
    if not dims:
        raise ShapeError("reduces no dim")
    check_dims(dims, len(shape))
    return tuple(1 if dim in dims else size for dim, size in enumerate(shape))


def normalize(shape: Sequence[int], parameters: Sequence[Sequence[int]]) -> Shape:
    """A norm over the last dimension; each of `parameters` (weight, bias) is a row of that size."""
    if not shape:
        raise ShapeError("normalizes the last dim, but the rank is 0")
    for parameter in parameters:
        if tuple(parameter) != (shape[-1],):
            raise ShapeError(
                f"weight and bias must have shape {shape[-1]} like dim {len(shape) - 1} "
                f"of the input, not {format_shape(parameter)}"
            )
    return tuple(shape)


def transpose(shape: Sequence[int], permutation: Sequence[int]) -> Shape:
    """Dimension i of the result is dimension `permutation[i]` of the input."""
    if sorted(permutation) != list(range(len(shape))):
        raise ShapeError(f"permutes dims {list(permutation)} of a tensor of rank {len(shape)}")
    return tuple(shape[dim] for dim in permutation)


def reshape(shape: Sequence[int], target: Sequence[int]) -> Shape:
    """`target`, if it has as many elements as `shape`."""
    if prod(shape) != prod(target):
        raise ShapeError(
            f"cannot reshape {format_shape(shape)} ({prod(shape)} elements) "
            f"to {format_shape(target)} ({prod(target)} elements)"
        )
    return tuple(target)


def repeat(shape: Sequence[int], dim: int, times: int) -> Shape:
    """Dimension `dim` becomes `times` as long."""
    check_dim(dim, len(shape))
    if times < 1:
        raise ShapeError(f"repeats dim {dim} {times} times")
    return tuple(size * times if d == dim else size for d, size in enumerate(shape))


def slice_(
    shape: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> Shape:
    """Element i of dim d of the result is element `offsets[d] + i * strides[d]` of the input."""
    for name, values in (("offsets", offsets), ("sizes", sizes), ("strides", strides)):
        if len(values) != len(shape):
            raise ShapeError(f"has {len(values)} {name} for a tensor of rank {len(shape)}")
    parts = zip(shape, offsets, sizes, strides, strict=True)
    for dim, (extent, offset, size, stride) in enumerate(parts):
        if size < 1 or stride < 1:
            raise ShapeError(f"takes {size} elements with stride {stride} of dim {dim}")
        last = offset + (size - 1) * stride
        if offset < 0 or last >= extent:
            raise ShapeError(f"takes elements {offset} to {last} of dim {dim} (size {extent})")
    return tuple(sizes)


def concat(shapes: Sequence[Sequence[int]], dim: int) -> Shape:
    """The tensors one after the other along `dim`; all other sizes agree."""
    if not shapes:
        raise ShapeError("concatenates no tensors")
    first = tuple(shapes[0])
    check_dim(dim, len(first))
    for shape in shapes[1:]:
        if len(shape) != len(first):
            raise ShapeError(f"concatenates tensors of ranks {len(first)} and {len(shape)}")
        for other, (a, b) in enumerate(zip(first, shape, strict=True)):
            if other != dim and a != b:
                raise ShapeError(
                    f"concatenates along dim {dim} tensors that differ in dim {other}: "
                    f"sizes {a} and {b}"
                )
    total = sum(shape[dim] for shape in shapes)
    return (*first[:dim], total, *first[dim + 1 :])


def groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions that a reshape turns into each other: their numbers, and sizes."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        left, right = [i] if i < len(source) else [], [target[j]] if j < len(target) else []
        product, goal = (source[i] if left else 1), (right[0] if right else 1)
        i, j = i + len(left), j + len(right)
        while product != goal:
            if product < goal:
                left.append(i)
                product *= source[i]
                i += 1
            else:
                right.append(target[j])
                goal *= target[j]
                j += 1
        found.append((left, right))
    return found
