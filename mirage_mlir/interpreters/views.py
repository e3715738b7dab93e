"""Operators that move elements and compute nothing."""

from collections.abc import Sequence

import numpy as np

from mirage_mlir.interpreters import dims as dimensions
from mirage_mlir.interpreters.dims import Dim, common
from mirage_mlir.interpreters.domain import A
from mirage_mlir.interpreters.tensors import DrawnTensor, Tensor, TensorDomain


def transpose(domain: TensorDomain[A], x: Tensor[A], permutation: Sequence[int]) -> Tensor[A]:
    """Dimension d of the result is dimension `permutation[d]` of x."""
    if isinstance(x, DrawnTensor):
        return x.transposed(permutation)
    order = (*range(domain.lead), *(domain.lead + dim for dim in permutation))
    array = domain.rearrange(x.array, lambda a: np.transpose(a, order))
    return Tensor(array, tuple(x.dims[dim] for dim in permutation))


def broadcast(domain: TensorDomain[A], x: Tensor[A], shape: Sequence[int]) -> Tensor[A]:
    """`x` repeated along its dimensions of size 1 and along new ones in front (numpy's rules)."""
    x = domain.with_rank(x, len(shape))
    dims = (dim if dim.size == size else Dim(size) for dim, size in zip(x.dims, shape, strict=True))
    return Tensor(x.array, tuple(dims))


def repeat(domain: TensorDomain[A], x: Tensor[A], dim: int, times: int) -> Tensor[A]:
    """A dimension repeated as a whole: index i is index i mod size."""
    old = x.dims[dim]
    places = np.tile(np.arange(old.count), times)
    return domain.take(x, dim, dimensions.repeat(old, times), places)


def repeat_interleave(domain: TensorDomain[A], x: Tensor[A], dim: int, times: int) -> Tensor[A]:
    """Each index of a dimension repeated in place: index i is index i div times."""
    old = x.dims[dim]
    places = np.repeat(np.arange(old.count), times)
    return domain.take(x, dim, dimensions.interleave(old, times), places)


def concatenate(domain: TensorDomain[A], parts: Sequence[Tensor[A]], dim: int) -> Tensor[A]:
    """The tensors one after the other along a dimension; of the others, what all parts have."""
    parts = list(parts)
    whole = list(parts[0].dims)
    for other in range(len(whole)):
        if other == dim:
            continue
        # What is alike along a dimension is there at all of its indices.
        fixed = [
            n for n, x in enumerate(parts) if x.dims[other].kept or domain.extent(x, other) > 1
        ]
        for number in fixed:
            whole[other] = common(parts[fixed[0]].dims[other], parts[number].dims[other])[0]
            fixed_dim = whole[other]
            parts[fixed[0]] = _narrowed(domain, parts[fixed[0]], other, fixed_dim)
        for number in fixed:
            parts[number] = _narrowed(domain, parts[number], other, whole[other])
    whole[dim] = dimensions.join(tuple(x.dims[dim] for x in parts))
    arrays = [domain.spread(x, [dim]) for x in parts]
    return Tensor(domain.numbers.concatenate(arrays, domain.lead + dim), tuple(whole))


def _narrowed(domain: TensorDomain[A], x: Tensor[A], dim: int, to: Dim) -> Tensor[A]:
    """`x` with the indices of another dimension, all of which it has."""
    places = common(x.dims[dim], to)[1]
    return x if places is None else domain.take(x, dim, to, places)


def reshape(domain: TensorDomain[A], x: Tensor[A], shape: Sequence[int]) -> Tensor[A]:
    """The same elements in row-major order in another shape."""
    start = 0
    for sources, targets in _groups(x.shape, shape):
        x = _regroup(domain, x, start, sources, targets)
        start += len(targets)
    return x


def _regroup(
    domain: TensorDomain[A], x: Tensor[A], start: int, sources: int, targets: Sequence[int]
) -> Tensor[A]:
    """`x` with `sources` dimensions from `start` on replaced by dimensions of the given sizes."""
    before, old, after = x.dims[:start], x.dims[start : start + sources], x.dims[start + sources :]
    if tuple(dim.size for dim in old) == tuple(targets):
        return x
    new = dimensions.regroup(old, tuple(targets))
    first = domain.lead + start
    extents = tuple(dim.count for dim in new)
    whole = domain.spread(x, range(start, start + sources))
    array = domain.rearrange(
        whole, lambda a: a.reshape(*a.shape[:first], *extents, *a.shape[first + sources :])
    )
    return Tensor(array, (*before, *new, *after))


def _groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Runs of dimensions that a reshape turns into each other, as short as they can be."""
    groups: list[tuple[int, tuple[int, ...]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        first, second = i, j
        i, j = min(i + 1, len(source)), min(j + 1, len(target))
        while (left := _product(source[first:i])) != (right := _product(target[second:j])):
            i, j = (i + 1, j) if left < right else (i, j + 1)
        groups.append((i - first, tuple(target[second:j])))
    return groups


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
