"""Python's `x[...]` as a slice and a reshape, as numpy's basic indexing says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias, cast

Slice: TypeAlias = "slice[Any, Any, Any]"


@dataclass(frozen=True)
class Slicing:
    """
    A slice of a tensor, and the shape that its elements get.

    Args:
        offsets, sizes, strides: of the slice, along each dimension of the tensor.
        shape: without the dimensions that a number picks one element of, with those of `None`.
    """

    offsets: list[int]
    sizes: list[int]
    strides: list[int]
    shape: list[int]


def slicing(shape: Sequence[int], key: object) -> Slicing:
    """
    What `x[key]` is for a tensor of `shape`.

    Raises:
        TypeError: an index is no integer, slice, `...` or `None`.
        IndexError: there are more indices than dimensions, or one is out of range.
        ValueError: it has no elements, or goes backwards.
    """
    found = Slicing([], [], [], [])
    indices = cast(tuple[object, ...], key) if isinstance(key, tuple) else (key,)
    for index in _spelled_out(shape, indices):
        if index is None:
            found.shape.append(1)
            continue
        dim = len(found.offsets)
        if isinstance(index, slice):
            offset, size, stride = _range(cast(Slice, index), shape[dim], dim)
            found.shape.append(size)
        else:
            offset, size, stride = _element(index, shape[dim], dim), 1, 1
        found.offsets.append(offset)
        found.sizes.append(size)
        found.strides.append(stride)
    return found


def _spelled_out(shape: Sequence[int], key: tuple[object, ...]) -> list[object]:
    """One index for each dimension, and `None` for each new one."""
    # Not `in`, which would compare tensors.
    dots = [place for place, index in enumerate(key) if index is ...]
    taken = sum(index is not None and index is not ... for index in key)
    if taken > len(shape):
        raise IndexError(f"{taken} indices for a tensor of rank {len(shape)}")
    if len(dots) > 1:
        raise IndexError("'...' stands at most once in an index")
    place = dots[0] if dots else len(key)
    rest = [slice(None)] * (len(shape) - taken)
    return [*key[:place], *rest, *key[place + 1 :]]


def _range(index: Slice, size: int, dim: int) -> tuple[int, int, int]:
    try:
        start, stop, step = index.indices(size)
    except TypeError as error:
        raise TypeError(f"{index} is no slice of dimension {dim}: {error}") from error
    if step < 0:
        raise ValueError(f"{index} goes backwards along dimension {dim}; slices go forwards")
    if not (elements := range(start, stop, step)):
        raise ValueError(f"{index} has no element of dimension {dim} of size {size}")
    return start, len(elements), step


def _element(index: object, size: int, dim: int) -> int:
    if isinstance(index, bool) or not isinstance(index, SupportsIndex):
        raise TypeError(f"an index is an integer, a slice, '...' or None, not {index!r}")
    number = index.__index__()
    if not -size <= number < size:
        raise IndexError(f"{number} is out of range for dimension {dim} of size {size}")
    return number % size
