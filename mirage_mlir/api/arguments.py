"""Checking the arguments of a user: every error says the value."""

import math
from collections.abc import Iterable, Sequence
from typing import cast

from mirage_mlir.shapes.shapes import check_static


def finite(value: float, what: str) -> float:
    """`value` as Python's float; raises `TypeError` and `ValueError` on anything else."""
    # numpy's scalars are numbers too, but not all of them are Python's.
    if isinstance(value, bool) or not hasattr(value, "__float__") or hasattr(value, "__len__"):
        raise TypeError(f"{what} is a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{what} is a finite number, not {value!r}")
    return number


def finite_or_lowest(value: float, what: str) -> float:
    """The same, or -inf."""
    return -math.inf if value == -math.inf else finite(value, what)


def string(value: str, what: str) -> str:
    """`value`; raises `TypeError` where it is no string."""
    if not isinstance(cast(object, value), str):
        raise TypeError(f"{what} is a string, not {value!r}")
    return value


def flag(value: bool, what: str) -> bool:
    """`value`; raises `TypeError` where it is no truth value."""
    if not isinstance(cast(object, value), bool):
        raise TypeError(f"{what} is True or False, not {value!r}")
    return value


def integer(value: int, what: str) -> int:
    """`value` as Python's int; raises `TypeError` on anything else, a float too."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} are integers, not {value!r}")
    return value.__index__()


def count(value: int, what: str) -> int:
    """`value` as Python's int, from 1 up; raises `TypeError` and `ValueError` on anything else."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is an integer, not {value!r}")
    if (number := value.__index__()) < 1:
        raise ValueError(f"{what} is at least 1, not {value!r}")
    return number


def integers(values: object, what: str) -> list[int]:
    """`values` as Python's ints; raises `TypeError` on anything but a sequence of integers."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what} are a sequence of integers, not {values!r}")
    return [integer(value, what) for value in cast(Iterable[int], values)]


def sizes_of(dims: Sequence[int], what: str) -> list[int]:
    """The sizes of a tensor's dimensions, which are positive."""
    sizes = integers(dims, what)
    if any(size < 1 for size in sizes):
        raise ValueError(f"{what} are positive, not {tuple(dims)}")
    check_static(sizes, "the tensor")
    return sizes


def dims_of(shape: Sequence[int], dims: int | Iterable[int]) -> list[int]:
    """Dimensions of a tensor of `shape`, counted from the front."""
    rank = len(shape)
    given = dims if isinstance(dims, Iterable) else (dims,)
    numbers = integers(given, "dimensions")
    for dim in numbers:
        if not -rank <= dim < rank:
            raise ValueError(f"there is no dimension {dim} in the shape {tuple(shape)}")
    return [dim % rank for dim in numbers]


def fill(before: Sequence[int], dims: Sequence[int]) -> list[int]:
    """`dims` with -1 replaced by the size that keeps the number of elements."""
    sizes = integers(dims, "dims")
    if sizes.count(-1) != 1:
        return sizes_of(sizes, "dims")
    rest = math.prod(size for size in sizes if size != -1)
    if rest < 1 or math.prod(before) % rest:
        raise ValueError(f"no size in place of -1 makes {tuple(dims)} as many as {tuple(before)}")
    return [math.prod(before) // rest if size == -1 else size for size in sizes]


def refuse_strides(strides: Sequence[int], dims: Sequence[int]) -> None:
    """Raise `ValueError` where strides are not those of a dense tensor."""
    dense = [math.prod(dims[number + 1 :]) for number in range(len(dims))]
    if integers(strides, "strides") != dense:
        raise ValueError(
            f"strides {tuple(strides)} are not those of a dense tensor of dims {tuple(dims)}, "
            f"{tuple(dense)}: declare the input as it lies in memory, and transpose it in the graph"
        )
