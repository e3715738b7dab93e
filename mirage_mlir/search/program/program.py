"""
Programs over named axes: what the search works on.

A tensor's dimension is an axis (a class of dimensions that must run together, such as the
contracted dimensions of a matmul) or, when its size is 1, nothing. Positions matter only at the
edges of a program, where tensors are loaded and stored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from mirage_mlir.search.program.index_masks import IndexMask, IndexSamples, masks_of

Axes = tuple[str | None, ...]
"""The axis of each dimension of a tensor, None for a dimension of size 1."""

COMPARE = "compare"
"""The function that is 1 where a predicate, its parameter, holds of two values or of a value and a
number, a second parameter, and 0 elsewhere."""

KEPT = "kept"
"""The function that is its second operand where the first is not 0, and 0 elsewhere."""

CHOSEN = "chosen"
"""The function that is one of two numbers, its parameters: the first where its operand is not 0."""

ROUNDED = "rounded"
"""The function that rounds to the element type that is its parameter, where that matters."""

NARROW = ("f16", "bf16")
"""Element types of less than 32 bits, those of the narrowest range of exponents first."""


def narrower(one: str, other: str) -> str:
    """Of two element types the one with the narrower range of exponents."""
    return next((name for name in NARROW if name in (one, other)), one)


class Kind(StrEnum):
    """The operations of programs and of the graphs that are found for them."""

    INPUT = "input"
    CONSTANT = "constant"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    FUNCTION = "function"
    MATMUL = "matmul"
    REDUCE_SUM = "reduce_sum"
    REDUCE_MAX = "reduce_max"
    VIEW = "view"
    """A transpose or broadcast, or dimensions of size 1 put in or taken out: no arithmetic."""
    INVERSE = "inverse"
    """1 / x; only in graphs, as the next two."""
    ACCUMULATE_SUM = "accumulate_sum"
    """Over a loop, by one block or by those that share it."""
    ACCUMULATE_MAX = "accumulate_max"


@dataclass(frozen=True)
class Function:
    """A function of one scalar, or of two; `parameters` are those of the operator of that name."""

    name: str
    parameters: tuple[float | str, ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}[{','.join(str(parameter) for parameter in self.parameters)}]"


@dataclass(frozen=True)
class Node:
    """One operation of a program; operands are indices of earlier nodes."""

    kind: Kind
    operands: tuple[int, ...] = ()
    axes: Axes = ()
    name: str = ""
    """Of an input."""
    function: Function | None = None
    value: Fraction = Fraction(0)
    """Of a constant."""
    reduced: tuple[str, ...] = ()
    """The axes that a reduction or matmul sums over."""
    element_type: str = "f32"
    """What the program itself narrows the result to; f32 where it does not (see `narrowing`)."""
    floor: str = "f32"
    """What it narrows some value to that is never larger than this one."""
    rounded: bool = False
    """Whether all that reads the result reads it as `element_type` has it."""

    @property
    def present(self) -> tuple[str, ...]:
        """The axes of the result, in order."""
        return tuple(axis for axis in self.axes if axis is not None)


@dataclass(frozen=True)
class Memory:
    """A tensor of which several inputs, or one, are parts."""

    number: int
    """Tells tensors of a program apart."""
    bytes: int


@dataclass(frozen=True)
class Input:
    """A tensor that the program reads: its node, and the argument that holds it."""

    node: int
    argument: int
    axes: Axes
    element_type: str
    strides: tuple[int, ...] = ()
    """Of each dimension, in elements."""
    constant: bool = False
    """Never changes between calls."""
    indices: IndexSamples | None = None
    """Some elements, where each follows from its indices and is computed where it is needed."""
    memory: Memory | None = None
    """What it is a part of, where it is not all of a tensor, or others are parts of it as well."""

    def by_stride(self) -> list[tuple[str, int]]:
        """The axes with their strides, neighbouring elements first."""
        pairs = zip(self.axes, self.strides, strict=True)
        return sorted(
            ((axis, stride) for axis, stride in pairs if axis is not None),
            key=lambda pair: pair[1],
        )


@dataclass(frozen=True)
class Output:
    """
    A tensor that the program returns.

    With `partial` the sum or maximum that its node takes over these axes is left open over the
    blocks along each of them: the tensor has one more leading dimension for each, which counts
    blocks, and is f32.
    """

    node: int
    axes: Axes
    element_type: str
    partial: tuple[str, ...] = ()
    exact: bool = False
    """It leads to a step elsewhere, a floor or a comparison, and is rounded once."""
    shift: int | None = None
    """
    The output is the maximum that the program's shift of this number subtracts, no value of the
    search; `node` is the shift's.
    """


@dataclass(frozen=True)
class Shift:
    """
    A freedom of a program that keeps its numbers in range.

    `node` is the argument S of an exp: to subtract from S any value over its axes other than
    `axes` changes no output. Shifts with one number `joint` do so by one value; the value of any
    other is its own. With `input`, `node` is an input, and some values that depend on it are the
    same whatever is subtracted from it.
    """

    node: int
    axes: tuple[str, ...]
    input: bool = False
    joint: int | None = None

    @property
    def group(self) -> tuple[int, int]:
        """What shifts by one value have in common."""
        return (0, self.node) if self.joint is None else (1, self.joint)


@dataclass(frozen=True)
class Program:
    """
    A tensor program over named axes.

    `sizes` has every axis, in order of appearance; `batch` those that a block must not tile
    because a matmul takes one index of each: it carries them along, or sums over others besides.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    sizes: Mapping[str, int]
    batch: frozenset[str]
    matrix_type: str
    """Element type of the operands of tensor cores; tf32 for f32 that may be rounded to it."""
    shifts: tuple[Shift, ...] = ()
    """Those that keep a graph of the program in the range of floating-point numbers."""

    def key(self) -> tuple[object, ...]:
        """Equal for programs that differ in nothing that a search depends on."""
        sizes = tuple(self.sizes.items())
        edges = self.inputs, self.outputs
        return self.nodes, *edges, sizes, self.batch, self.matrix_type, self.shifts

    @property
    def operand_type(self) -> str:
        """The element type in which operands of tensor cores are stored."""
        return "f32" if self.matrix_type == "tf32" else self.matrix_type

    @cached_property
    def multiplies(self) -> bool:
        """Whether there are matmuls."""
        return any(node.kind is Kind.MATMUL for node in self.nodes)

    @cached_property
    def masks(self) -> Mapping[str, IndexMask]:
        """What masks of indices leave of axes, by axis."""
        return masks_of(self)

    @property
    def computed(self) -> tuple[Output, ...]:
        """The outputs that are values of the search: all but the maxima that shifts subtract."""
        return tuple(output for output in self.outputs if output.shift is None)

    @property
    def open_sums(self) -> frozenset[str]:
        """The axes over which outputs leave a sum open."""
        return frozenset(axis for output in self.outputs for axis in output.partial)

    @property
    def is_whole(self) -> bool:
        """
        Whether outputs are values of the program alone, so that it may be cut in parts: neither
        sums that are left open nor maxima that shifts subtract.
        """
        return not self.open_sums and len(self.computed) == len(self.outputs)

    def shape(self, axes: Axes) -> tuple[int, ...]:
        """The size of each dimension."""
        return tuple(1 if axis is None else self.sizes[axis] for axis in axes)

    def multiplied(self) -> dict[str, int]:
        """
        The axes that run through tensor cores, with the step of their tiles.

        An instruction takes 16 elements of the axis that is summed and 8 of the others.
        """
        steps: dict[str, int] = {}
        for node in self.nodes:
            if node.kind is Kind.MATMUL:
                steps |= dict.fromkeys(node.present, 8)
        for node in self.nodes:
            if node.kind is Kind.MATMUL:
                steps |= dict.fromkeys(node.reduced, 16)
        return steps

    def operations(self) -> Iterator[Node]:
        """The nodes that compute something."""
        passive = (Kind.INPUT, Kind.CONSTANT, Kind.VIEW)
        return (node for node in self.nodes if node.kind not in passive)


def axis_names() -> Iterator[str]:
    """Names for axes: i, j, ..., z, then i1, j1, ..."""
    letters = "ijklmnopqrstuvwxyz"
    yield from letters
    for round_ in range(1, 1 << 16):
        yield from (f"{letter}{round_}" for letter in letters)
