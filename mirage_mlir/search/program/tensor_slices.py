"""Slices of arguments, and tensors that are joined of several values."""

from dataclasses import dataclass

from mirage_mlir.search.program.builder import InputTensor
from mirage_mlir.search.program.program import Axes


@dataclass(frozen=True)
class AxisSlice:
    """An argument viewed as `shape`, and of that `size` elements of one dimension."""

    shape: tuple[int, ...]
    dim: int
    offset: int
    size: int
    stride: int


@dataclass(frozen=True)
class ArgumentView:
    """An argument, cut in one way after the other."""

    argument: int
    cuts: tuple[AxisSlice, ...] = ()


@dataclass(frozen=True)
class Read:
    """A tensor that a program reads: its operation, and the view that it is of an argument."""

    operation: int
    tensor: InputTensor
    view: ArgumentView
    strides: tuple[int, ...]
    """Of each dimension of the operation's result, in elements."""


@dataclass(frozen=True)
class JoinedPart:
    """Elements from `start` on of a joined tensor: their value, and its axes for them."""

    value: "Value"
    start: int
    size: int
    axes: tuple[str, ...]


@dataclass(frozen=True)
class Joined:
    """Values side by side along `axis`, which none of them has."""

    axis: str
    parts: tuple[JoinedPart, ...]


@dataclass(frozen=True)
class Made:
    """
    A tensor that a program makes: its operation, and its axes as it is returned.

    `size` counts the indices along which it lies beside others; `view` is the argument that it
    is as it stands, if it is one.
    """

    operation: int
    axes: Axes
    size: int = 1
    view: ArgumentView | None = None


@dataclass(frozen=True)
class Result:
    """A result of a program: one tensor, or several side by side."""

    parts: tuple[Made, ...]
    inner: int = 1
    """Elements that lie behind each index along which the parts are side by side."""


Value = int | Joined
"""The number of an operation, or several side by side."""
