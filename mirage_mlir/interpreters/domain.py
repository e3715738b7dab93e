"""What an interpreter needs to know of numbers."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.operators.elementwise import FunctionName

A = TypeVar("A")
S = TypeVar("S", bound=np.generic)

AnyArray = NDArray[Any]

ElementType = Literal["f16", "bf16", "tf32", "f32", "f64", "f8E4M3FN", "f8E5M2"]
"""Element types by their MLIR names; tf32 is what an MMA may make of f32."""


class NotInterpretable(Exception):
    """A number that a domain cannot represent; the message says which and why."""


class Domain(Protocol[A]):
    """
    Arrays of numbers of one kind and what can be computed with them.

    The first axis of an array counts independent runs of the program (draws, kinds of inputs) and
    is 1 where all runs agree; `TensorDomain` says what the others are. Arrays broadcast as numpy's.
    """

    def shape(self, x: A) -> tuple[int, ...]:
        """The extents, that of the runs first."""
        ...

    def rearrange(self, x: A, change: Callable[[AnyArray], AnyArray]) -> A:
        """Move elements: `change` indexes, transposes or reshapes and computes nothing."""
        ...

    def concatenate(self, parts: Sequence[A], axis: int) -> A:
        """The arrays one after the other along `axis`; the others broadcast."""
        ...

    def constant(self, value: Fraction, rank: int) -> A:
        """One number, as an array with `rank` axes of size 1 behind that of the runs."""
        ...

    def real(self, value: float) -> Fraction:
        """What stands for an irrational number; see `Arithmetic`."""
        ...

    def lowest(self, rank: int) -> A:
        """The maximum over nothing, below every number; its exponential is zero."""
        ...

    def add(self, x: A, y: A) -> A:
        """`x + y`."""
        ...

    def subtract(self, x: A, y: A) -> A:
        """`x - y`."""
        ...

    def multiply(self, x: A, y: A) -> A:
        """`x * y`."""
        ...

    def divide(self, x: A, y: A) -> A:
        """`x / y`."""
        ...

    def maximum(self, x: A, y: A) -> A:
        """The larger of two numbers."""
        ...

    def minimum(self, x: A, y: A) -> A:
        """The smaller of two numbers."""
        ...

    def integers(self, values: NDArray[np.int64]) -> A:
        """Whole numbers as they are, behind an axis of runs of size 1."""
        ...

    def compare(self, predicate: str, x: A, y: A) -> A:
        """1 where a comparison (`eq`, `ne`, `lt`, `le`, `gt`, `ge`) holds and 0 elsewhere."""
        ...

    def select(self, condition: A, x: A, y: A) -> A:
        """`x` where a condition, made by `compare`, is 1, and `y` where it is 0."""
        ...

    def function(self, name: FunctionName, x: A) -> A:
        """A function of one number."""
        ...

    def power(self, x: A, exponent: Fraction) -> A:
        """`x ** exponent`."""
        ...

    def scale(self, x: A, factor: Fraction) -> A:
        """`factor * x`."""
        ...

    def total(self, x: A, axis: int) -> A:
        """The sum along `axis`, which stays with size 1; zero over nothing."""
        ...

    def largest(self, x: A, axis: int) -> A:
        """The maximum along `axis`, which stays with size 1 and is not empty."""
        ...

    def matmul(self, x: A, y: A) -> A:
        """The product of the last two axes."""
        ...

    def rounded(self, x: A, element_type: ElementType) -> A:
        """What is left of x in memory of this type."""
        ...


def joined(parts: Sequence[NDArray[S]], axis: int) -> NDArray[S]:
    """Arrays one after the other along `axis`; the others broadcast."""
    shapes = [(*part.shape[:axis], 1, *part.shape[axis + 1 :]) for part in parts]
    around = np.broadcast_shapes(*shapes)
    return np.concatenate(
        [
            np.broadcast_to(part, (*around[:axis], part.shape[axis], *around[axis + 1 :]))
            for part in parts
        ],
        axis,
    )
