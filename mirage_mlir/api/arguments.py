"""Checking the arguments of a user: every error says the value."""

import math
from collections.abc import Sequence


def finite(value: float, what: str) -> float:
    """`value` as Python's float; raises `TypeError` and `ValueError` on anything else."""
    # numpy's scalars are numbers too, but not all of them are Python's.
    if isinstance(value, bool) or not hasattr(value, "__float__") or hasattr(value, "__len__"):
        raise TypeError(f"{what} is a number, not {value!r}")
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{what} is a finite number, not {value!r}")
    return number


def integer(value: int, what: str) -> int:
    """`value` as Python's int; raises `TypeError` on anything else, a float too."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} are integers, not {value!r}")
    return value.__index__()


def sizes_of(dims: Sequence[int], what: str) -> list[int]:
    """The sizes of a tensor's dimensions, which are positive."""
    sizes = [integer(size, what) for size in dims]
    if any(size < 1 for size in sizes):
        raise ValueError(f"{what} are positive, not {tuple(dims)}")
    return sizes


def dims_of(shape: Sequence[int], dims: int | Sequence[int]) -> list[int]:
    """Dimensions of a tensor of `shape`, counted from the front."""
    rank = len(shape)
    given = dims if isinstance(dims, Sequence) else (dims,)
    numbers = [integer(dim, "dimensions") for dim in given]
    for dim in numbers:
        if not -rank <= dim < rank:
            raise ValueError(f"there is no dimension {dim} in the shape {tuple(shape)}")
    return [dim % rank for dim in numbers]


def fill(before: Sequence[int], dims: Sequence[int]) -> list[int]:
    """`dims` with -1 replaced by the size that keeps the number of elements."""
    sizes = [integer(size, "dims") for size in dims]
    if sizes.count(-1) != 1:
        return sizes_of(sizes, "dims")
    rest = math.prod(size for size in sizes if size != -1)
    if rest < 1 or math.prod(before) % rest:
        raise ValueError(f"no size in place of -1 makes {tuple(dims)} as many as {tuple(before)}")
    return [math.prod(before) // rest if size == -1 else size for size in sizes]
