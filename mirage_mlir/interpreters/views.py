"""Operators that move elements and compute nothing, on tensors whose dimensions may repeat."""

from collections.abc import Sequence
from math import prod

import numpy as np

from mirage_mlir.interpreters.axes import (
    Selection,
    distinct,
    interleave,
    join,
    merge,
    refine,
    split,
    tile,
    uniform,
)
from mirage_mlir.interpreters.domain import A, AnyArray
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain


def transpose(domain: TensorDomain[A], x: Tensor[A], permutation: Sequence[int]) -> Tensor[A]:
    """Dimension d of the result is dimension `permutation[d]` of x."""
    order = (*range(domain.lead), *(domain.lead + dim for dim in permutation))
    array = domain.rearrange(x.array, lambda a: np.transpose(a, order))
    return Tensor(array, tuple(x.axes[dim] for dim in permutation))


def broadcast(domain: TensorDomain[A], x: Tensor[A], shape: Sequence[int]) -> Tensor[A]:
    """`x` repeated along its dimensions of size 1 and along new ones in front (numpy's rules)."""
    x = domain.with_rank(x, len(shape))
    axes = (
        axis if axis.size == size else uniform(size)
        for axis, size in zip(x.axes, shape, strict=True)
    )
    return Tensor(x.array, tuple(axes))


def repeat(domain: TensorDomain[A], x: Tensor[A], dim: int, times: int) -> Tensor[A]:
    """A dimension repeated as a whole: index i is index i mod size."""
    return domain.select(x, dim, Selection(tile(x.axes[dim], times), None))


def repeat_interleave(domain: TensorDomain[A], x: Tensor[A], dim: int, times: int) -> Tensor[A]:
    """Each index of a dimension repeated in place: index i is index i div times."""
    return domain.select(x, dim, Selection(interleave(x.axes[dim], times), None))


def concatenate(domain: TensorDomain[A], parts: Sequence[Tensor[A]], dim: int) -> Tensor[A]:
    """The tensors one after the other along a dimension; the other dimensions agree."""
    parts = refined(domain, parts, [d for d in range(len(parts[0].axes)) if d != dim])
    array = domain.numbers.concatenate([part.array for part in parts], domain.lead + dim)
    axis = join(tuple(part.axes[dim] for part in parts))
    first = parts[0].axes
    return Tensor(array, (*first[:dim], axis, *first[dim + 1 :]))


def refined(
    domain: TensorDomain[A], parts: Sequence[Tensor[A]], dims: Sequence[int]
) -> list[Tensor[A]]:
    """The tensors with one axis for all in each of `dims`, whose sizes agree."""
    result = list(parts)
    for dim in dims:
        axis = result[0].axes[dim]
        for other in result[1:]:
            axis = refine(axis, other.axes[dim]).axis
        for number, each in enumerate(result):
            result[number] = domain.select(
                each, dim, Selection(axis, refine(each.axes[dim], axis).left)
            )
    return result


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
    before, old, after = x.axes[:start], x.axes[start : start + sources], x.axes[start + sources :]
    if tuple(axis.size for axis in old) == tuple(targets):
        return x
    first = domain.lead + start
    if not any(axis.repeats for axis in old):
        axes, stored = tuple(map(distinct, targets)), tuple(targets)
        array = domain.rearrange(x.array, lambda a: _replaced(a, first, sources, stored))
        return Tensor(array, (*before, *axes, *after))
    merged, combinations = merge(old)
    axes, classes = split(merged, tuple(targets))
    taken = (classes if combinations is None else combinations[classes]).reshape(-1)
    stored = tuple(axis.classes for axis in axes)
    flat = (prod(axis.classes for axis in old),)
    array = domain.rearrange(x.array, lambda a: _replaced(a, first, sources, flat))
    array = domain.take(array, start, taken)
    array = domain.rearrange(array, lambda a: _replaced(a, first, 1, stored))
    return Tensor(array, (*before, *axes, *after))


def _replaced(array: AnyArray, start: int, count: int, extents: tuple[int, ...]) -> AnyArray:
    """The array reshaped, `count` axes from `start` on becoming `extents`."""
    return array.reshape(*array.shape[:start], *extents, *array.shape[start + count :])


def _groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Runs of dimensions that a reshape turns into each other, as short as they can be."""
    groups: list[tuple[int, tuple[int, ...]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        first, second = i, j
        i, j = min(i + 1, len(source)), min(j + 1, len(target))
        while (left := prod(source[first:i])) != (right := prod(target[second:j])):
            i, j = (i + 1, j) if left < right else (i, j + 1)
        groups.append((i - first, tuple(target[second:j])))
    return groups
