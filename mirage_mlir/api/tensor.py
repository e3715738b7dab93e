"""Values of a graph under construction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from mirage_mlir.api.arguments import dims_of
from mirage_mlir.api.slicing import slicing
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.types import element_type_of_attribute
from mirage_mlir.runtime.element_types import ElementType

if TYPE_CHECKING:
    from mirage_mlir.api.graph import KernelGraph


class Tensor:
    """A value in a graph; `+`, `-`, `*`, `/`, `**`, `@`, `<` and `[...]` build operators."""

    __array_ufunc__ = None
    """Arrays of numpy leave operators to us: each of their elements would become a tensor."""

    def __init__(self, graph: KernelGraph, value: SSAValue) -> None:
        self.graph = graph
        self.value = value

    @property
    def dims(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return kernel.shape_of(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The same as `dims`."""
        return self.dims

    @property
    def T(self) -> Tensor:
        """The last two dimensions swapped; raises `ValueError` where there are fewer."""
        if len(self.dims) < 2:
            raise ValueError(f"T swaps the last two dimensions, and {self!r} has {len(self.dims)}")
        return self.graph.transpose(self)

    @property
    def dtype(self) -> ElementType:
        """The type of the elements."""
        return element_type_of_attribute(kernel.tensor_type(self.value).element_type)

    def __repr__(self) -> str:
        return f"<Tensor {'x'.join([*map(str, self.dims), self.dtype.value])}>"

    def __add__(self, other: Tensor | float) -> Tensor:
        return self.graph.add(self, other)

    def __radd__(self, other: float) -> Tensor:
        return self.graph.add(other, self)

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self.graph.sub(self, other)

    def __rsub__(self, other: float) -> Tensor:
        return self.graph.sub(other, self)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self.graph.mul(self, other)

    def __rmul__(self, other: float) -> Tensor:
        return self.graph.mul(other, self)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self.graph.div(self, other)

    def __rtruediv__(self, other: float) -> Tensor:
        return self.graph.div(other, self)

    def __neg__(self) -> Tensor:
        return self.graph.scale(self, -1.0)

    def __pow__(self, exponent: float) -> Tensor:
        return self.graph.pow(self, exponent)

    def __getitem__(self, key: object) -> Tensor:
        found = slicing(self.dims, key)
        kept = self.graph.slice(self, found.offsets, found.sizes, found.strides)
        return kept if found.shape == found.sizes else self.graph.reshape(kept, found.shape)

    def __iter__(self) -> Iterator[Tensor]:
        """Its parts along the first dimension."""
        if not self.dims:
            raise TypeError("a tensor of rank 0 has no parts")
        return (self[number] for number in range(self.dims[0]))

    def __abs__(self) -> Tensor:
        return self.graph.abs(self)

    # `==` and `!=` stay those of objects: tensors are keys of dictionaries. `compare` has both.

    def __lt__(self, other: Tensor | float) -> Tensor:
        return self.graph.compare(self, other, "lt")

    def __le__(self, other: Tensor | float) -> Tensor:
        return self.graph.compare(self, other, "le")

    def __gt__(self, other: Tensor | float) -> Tensor:
        return self.graph.compare(self, other, "gt")

    def __ge__(self, other: Tensor | float) -> Tensor:
        return self.graph.compare(self, other, "ge")

    def __bool__(self) -> bool:
        raise TypeError("a tensor of a graph has no truth value: select chooses by a mask")

    def __matmul__(self, other: Tensor) -> Tensor:
        return self.graph.matmul(self, other)


def dims_of_tensor(x: object) -> tuple[int, ...]:
    """The sizes of a tensor; raises `TypeError` where it is none."""
    if not isinstance(x, Tensor):
        raise TypeError(f"operands are tensors of a graph, not {type(x).__qualname__}")
    return x.dims


def dim_of_tensor(x: Tensor, dim: int) -> int:
    """One dimension of `x`, counted from the front."""
    return dims_of(dims_of_tensor(x), (dim,))[0]
