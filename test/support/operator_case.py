"""A program of one operator, with numpy's answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_reference import Array, representable

import mirage_mlir as mi

Shape = tuple[int, ...]

Build = Callable[[mi.KernelGraph, list[mi.Tensor]], mi.Tensor]

Reference = Callable[[list[Array]], Array]

TYPES = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class Operator:
    """A program of one operator, for any element type."""

    name: str
    shapes: tuple[Shape, ...]
    """Of the inputs."""
    build: Build
    reference: Reference
    positive: bool = False
    """The inputs are from 0.25 to 4; normal numbers otherwise."""

    def graph(self, element_type: str) -> mi.KernelGraph:
        """The program."""
        graph = mi.new_kernel_graph(self.name)
        tensors = [graph.new_input(dims=shape, dtype=element_type) for shape in self.shapes]
        graph.mark_output(self.build(graph, tensors))
        return graph

    def inputs(self, element_type: str, seed: int) -> list[NDArray[np.float32]]:
        """Random inputs that the element type has."""
        generator = np.random.default_rng(seed)
        return [
            representable(self._values(generator, shape), element_type) for shape in self.shapes
        ]

    def _values(self, generator: np.random.Generator, shape: Shape) -> NDArray[np.float32]:
        if self.positive:
            return generator.uniform(0.25, 4, shape).astype(np.float32)
        return generator.standard_normal(shape, np.float32)

    def wanted(self, inputs: list[NDArray[Any]]) -> Array:
        """The result in float64."""
        return self.reference([array.astype(np.float64) for array in inputs])


def unary(
    name: str,
    shape: Shape,
    build: Callable[[mi.KernelGraph, mi.Tensor], mi.Tensor],
    reference: Callable[[Array], Array],
    *,
    positive: bool = False,
) -> Operator:
    """An operator on one tensor."""
    return Operator(
        name, (shape,), lambda graph, x: build(graph, x[0]), lambda x: reference(x[0]), positive
    )


def binary(
    name: str,
    shapes: tuple[Shape, Shape],
    build: Callable[[mi.KernelGraph, mi.Tensor, mi.Tensor], mi.Tensor],
    reference: Callable[[Array, Array], Array],
    *,
    positive: bool = False,
) -> Operator:
    """An operator on two tensors."""
    return Operator(
        name,
        shapes,
        lambda graph, x: build(graph, x[0], x[1]),
        lambda x: reference(x[0], x[1]),
        positive,
    )
