"""
Building a program from tensors with positions.

The builder records steps over shapes; `axes.resolve` finds the axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import prod

from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.search.program.index_masks import IndexSamples
from mirage_mlir.search.program.program import NARROW, Function, Kind, Memory, narrower


class Layout(StrEnum):
    """What only positions know: programs over axes have other names in its place."""

    RESHAPE = "reshape"
    SLICE = "slice"
    CONCAT = "concat"


@dataclass(frozen=True)
class Step:
    """One operation over tensors with positions; operands are indices of earlier steps."""

    kind: Kind | Layout
    shape: tuple[int, ...]
    operands: tuple[int, ...] = ()
    name: str = ""
    function: Function | None = None
    value: Fraction = Fraction(0)
    reduced: tuple[int, ...] = ()
    """The dimensions that a reduction sums over."""
    permutation: tuple[int, ...] | None = None
    """Of a transpose: the operand's dimension for each of the result's, of which may be none."""
    offsets: tuple[int, ...] = ()
    """Of a slice, for each dimension."""
    strides: tuple[int, ...] = ()
    """Of a slice, in elements of the operand's dimension."""
    dim: int = 0
    """Of a concat."""


@dataclass(frozen=True)
class InputTensor:
    """An argument, or a view of one: `strides` in elements; it may be a formula of `indices`."""

    step: int
    argument: int
    element_type: str
    strides: tuple[int, ...]
    constant: bool
    indices: IndexSamples | None = None
    memory: Memory | None = None


@dataclass(frozen=True)
class OutputTensor:
    """A result, in the shape that the program gives it."""

    step: int
    element_type: str
    exact: bool = False


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a tensor without gaps."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


class ProgramBuilder:
    """
    Records the operations of a program; every method returns the index of its result.

    Shapes are those of verified IR: what does not fit is a bug of the caller.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.inputs: list[InputTensor] = []
        self.outputs: list[OutputTensor] = []
        self.matrix_types: list[str] = []
        """The operand types of the matmuls that were recorded."""
        self.element_types: dict[int, str] = {}
        """What the program narrows steps to; those that stay f32 are left out."""
        self.read_wide: set[int] = set()
        """The steps that something reads in f32, narrowed elsewhere or not."""

    def _record(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def shape(self, value: int) -> tuple[int, ...]:
        """The shape of the result `value`."""
        return self.steps[value].shape

    def narrow(self, value: int, element_type: str) -> None:
        """Note that the program narrows `value` to an element type; f16 and bf16 are narrow."""
        if element_type in NARROW:
            known = self.element_types.get(value, element_type)
            self.element_types[value] = narrower(known, element_type)
            if known != element_type:
                # Neither type has all that is read.
                self.read_wide.add(value)

    def input(
        self,
        shape: Sequence[int],
        element_type: str = "f16",
        *,
        strides: Sequence[int] | None = None,
        constant: bool = False,
        indices: IndexSamples | None = None,
        memory: Memory | None = None,
    ) -> int:
        """The next argument; `memory` is what it is a part of."""
        argument = len(self.inputs)
        step = self._record(Step(Kind.INPUT, tuple(shape), name=f"x{argument}"))
        strides = row_major(shape) if strides is None else tuple(strides)
        self.inputs.append(
            InputTensor(step, argument, element_type, strides, constant, indices, memory)
        )
        return step

    def constant(self, value: Fraction | float, shape: Sequence[int] = ()) -> int:
        """A tensor of equal elements; a float stands for the simplest number that rounds to it."""
        exact = value if isinstance(value, Fraction) else simplest_rational(value)
        return self._record(Step(Kind.CONSTANT, tuple(shape), value=exact))

    def binary(self, kind: Kind, lhs: int, rhs: int) -> int:
        """An elementwise operation of two tensors, broadcast as numpy does."""
        return self._record(Step(kind, self._broadcast(lhs, rhs), (lhs, rhs)))

    def _broadcast(self, lhs: int, rhs: int) -> tuple[int, ...]:
        """The shape of what is computed of two tensors, elementwise."""
        long, short = self.shape(lhs), self.shape(rhs)
        if len(long) < len(short):
            long, short = short, long
        padded = (1,) * (len(long) - len(short)) + short
        assert all(a == b or 1 in (a, b) for a, b in zip(long, padded, strict=True))
        return tuple(max(a, b) for a, b in zip(long, padded, strict=True))

    def function(self, function: Function, operand: int) -> int:
        """A function of each element."""
        return self._record(Step(Kind.FUNCTION, self.shape(operand), (operand,), function=function))

    def function_of_two(self, function: Function, lhs: int, rhs: int) -> int:
        """A function of each pair of elements, broadcast as numpy does."""
        shape = self._broadcast(lhs, rhs)
        return self._record(Step(Kind.FUNCTION, shape, (lhs, rhs), function=function))

    def matmul(self, lhs: int, rhs: int, operand_type: str = "f16") -> int:
        """
        `sum_k lhs[..., m, k] * rhs[..., k, n]`, leading dimensions broadcast.

        Operands are of the type `operand_type`: the program narrows them to it.
        """
        self.matrix_types.append(operand_type)
        self.narrow(lhs, operand_type)
        self.narrow(rhs, operand_type)
        (*left, rows, contracted), (*right, same, columns) = self.shape(lhs), self.shape(rhs)
        assert contracted == same
        rank = max(len(left), len(right))
        left, right = [1] * (rank - len(left)) + left, [1] * (rank - len(right)) + right
        leading = (max(a, b) for a, b in zip(left, right, strict=True))
        return self._record(Step(Kind.MATMUL, (*leading, rows, columns), (lhs, rhs)))

    def reduce(self, kind: Kind, operand: int, dims: Sequence[int]) -> int:
        """A sum or maximum over `dims`, which stay with size 1."""
        reduced = tuple(sorted(dims))
        shape = tuple(1 if d in reduced else n for d, n in enumerate(self.shape(operand)))
        return self._record(Step(kind, shape, (operand,), reduced=reduced))

    def mean(self, operand: int, dims: Sequence[int]) -> int:
        """The arithmetic mean over `dims`, which stay with size 1."""
        total = self.reduce(Kind.REDUCE_SUM, operand, dims)
        count = prod(self.shape(operand)[dim] for dim in dims)
        return self.binary(Kind.MUL, total, self.constant(Fraction(1, count)))

    def transpose(self, operand: int, permutation: Sequence[int]) -> int:
        """Result dimension d is operand dimension `permutation[d]`."""
        shape = tuple(self.shape(operand)[dim] for dim in permutation)
        return self._record(Step(Kind.VIEW, shape, (operand,), permutation=tuple(permutation)))

    def broadcast(self, operand: int, shape: Sequence[int]) -> int:
        """Numpy's `broadcast_to`."""
        return self._record(Step(Kind.VIEW, tuple(shape), (operand,)))

    def insert_units(self, operand: int, shape: Sequence[int]) -> int:
        """A reshape that only puts in or takes out dimensions of size 1."""
        old = self.shape(operand)
        kept = [dim for dim, size in enumerate(old) if size != 1]
        assert [old[dim] for dim in kept] == [size for size in shape if size != 1]
        numbers = iter(kept)
        permutation = tuple(-1 if size == 1 else next(numbers) for size in shape)
        return self._record(Step(Kind.VIEW, tuple(shape), (operand,), permutation=permutation))

    def reshape(self, operand: int, shape: Sequence[int]) -> int:
        """The same elements, in row-major order, as a tensor of another shape."""
        old = self.shape(operand)
        assert prod(old) == prod(shape)
        if [size for size in old if size != 1] == [size for size in shape if size != 1]:
            return self.insert_units(operand, shape)
        return self._record(Step(Layout.RESHAPE, tuple(shape), (operand,)))

    def repeat(self, operand: int, dim: int, times: int) -> int:
        """The whole again and again along `dim`: element i is element `i mod n`."""
        return self._repeated(operand, dim, dim, times)

    def repeat_interleave(self, operand: int, dim: int, times: int) -> int:
        """Each element several times along `dim`: element i is element `i div times`."""
        return self._repeated(operand, dim, dim + 1, times)

    def _repeated(self, operand: int, dim: int, place: int, times: int) -> int:
        """`dim` with a new factor that the operand lacks, outside it or inside it."""
        old = self.shape(operand)
        single = self.insert_units(operand, (*old[:place], 1, *old[place:]))
        spread = self.broadcast(single, (*old[:place], times, *old[place:]))
        return self.reshape(spread, (*old[:dim], old[dim] * times, *old[dim + 1 :]))

    def slice(
        self, operand: int, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> int:
        """Element i of dimension d is element `offsets[d] + i * strides[d]` of the operand."""
        return self._record(
            Step(
                Layout.SLICE,
                tuple(sizes),
                (operand,),
                offsets=tuple(offsets),
                strides=tuple(strides),
            )
        )

    def concat(self, operands: Sequence[int], dim: int) -> int:
        """The operands one after the other along `dim`."""
        shapes = [self.shape(operand) for operand in operands]
        total = sum(shape[dim] for shape in shapes)
        shape = (*shapes[0][:dim], total, *shapes[0][dim + 1 :])
        return self._record(Step(Layout.CONCAT, shape, tuple(operands), dim=dim))

    def output(self, value: int, element_type: str = "f16", *, exact: bool = False) -> None:
        """Return `value`, which is rounded once where `exact`."""
        self.outputs.append(OutputTensor(value, element_type, exact))
