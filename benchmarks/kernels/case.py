"""A program that is timed: its inputs, what its time is held against, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import mirage_mlir as mi
from mirage_mlir.driver.source import text_of

EPS = 1e-5

ITEM_BYTES = {"f16": 2, "bf16": 2, "f32": 4}

FLOATS = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class Given:
    """An input: random numbers of a spread around a mean."""

    shape: tuple[int, ...]
    spread: float = 1.0
    mean: float = 0.0
    constant: bool = False
    """A weight: it never changes between calls."""
    dtype: str = ""
    """Where it is not that of the case."""


Tensors = Sequence[mi.Tensor]

Build = Callable[[mi.KernelGraph, Tensors], Tensors]
"""Takes a graph and its inputs, and returns the outputs."""


@dataclass(frozen=True)
class Bar:
    """How much of the fastest peer's time a kernel may take, if that is known."""

    must: float | None
    aim: float | None


@dataclass(frozen=True)
class Case:
    """A program at one shape and element type."""

    program: str
    label: str
    dtype: str
    inputs: tuple[Given, ...]
    outputs: tuple[tuple[int, ...], ...]
    flops: float
    bar: Bar
    build: Build | str
    """Makes the program; or the program itself, as MLIR."""
    result_types: tuple[str, ...] = ()
    """Of the outputs, where they are not `dtype`."""
    file: str = ""
    """Where it was read from."""

    @property
    def key(self) -> str:
        """What `case_named` finds it by."""
        return self.file or self.name

    @property
    def name(self) -> str:
        """Such as `rmsnorm_linear b16_n4096 f16`."""
        return f"{self.program} {self.label} {self.dtype}"

    @property
    def bytes(self) -> int:
        """What one call must move: inputs and outputs, once."""
        read = [(given.shape, given.dtype or self.dtype) for given in self.inputs]
        written = zip(self.outputs, self.output_types, strict=True)
        return sum(prod(shape) * ITEM_BYTES[dtype] for shape, dtype in (*read, *written))

    @property
    def output_types(self) -> tuple[str, ...]:
        """The element type of each output."""
        return self.result_types or (self.dtype,) * len(self.outputs)

    def text(self, *, constants: bool = True) -> str:
        """The program as MLIR."""
        if isinstance(self.build, str):
            return self.build
        return text_of(self.graph(constants=constants).to_module())

    def graph(self, *, constants: bool = True) -> mi.KernelGraph:
        """The program; without `constants` no input is marked as a weight."""
        assert not isinstance(self.build, str), "a program from a file is text"
        graph = mi.new_kernel_graph(self.program)
        tensors = [
            graph.new_input(
                dims=given.shape, dtype=self.dtype, constant=constants and given.constant
            )
            for given in self.inputs
        ]
        graph.mark_output(*self.build(graph, tensors))
        return graph


def rows(*shape: int) -> Given:
    """Activations."""
    return Given(shape)


def weight(depth: int, width: int) -> Given:
    """A matrix scaled by its depth, so that products are near 1."""
    return Given((depth, width), depth**-0.5, constant=True)


def gain(width: int) -> Given:
    """What a norm multiplies by."""
    return Given((width,), 0.1, 1.0, constant=True)


def bias(width: int) -> Given:
    """What is added."""
    return Given((width,), 0.1, constant=True)
