"""
Windows of StableHLO in the kernel dialect: pooling, and sums of all elements so far.

Sums and maxima of windows are those of one dimension after the other. Windows side by side are a
dimension of their own. Of those that overlap, each place is a slice with a stride, and the slices
are combined. Of windows of all elements so far the sum is `kernel.cumsum`; for other combinations
what comes later is masked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import chlo, kernel, stablehlo
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.stablehlo.contractions import REDUCTIONS, combined_by, opposite
from mirage_mlir.passes.stablehlo.elementwise import BINARY
from mirage_mlir.passes.stablehlo.rearrangements import MOST_SLICES
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Rule, Tensor

MOST_SUMMED = 512
"""Elements of which each sum so far is taken, by a mask of as many rows and columns."""


@dataclass(frozen=True)
class PoolWindow:
    """
    A window along one dimension.

    Args:
        size, step, dilation: elements of a window, from one window to the next, and between two
            elements of one.
        low, high: elements of padding before and behind.
    """

    size: int
    step: int
    dilation: int
    low: int
    high: int

    @property
    def span(self) -> int:
        """From the first element of a window to behind the last."""
        return (self.size - 1) * self.dilation + 1


def _reduce_window(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.ReduceWindowOp)
    name = combined_by(emit, op)
    if any(each != 1 for each in op.of("base_dilations")):
        emit.fail("has places between the elements of its operand")
    return _reduced(emit, name, inputs, dict(enumerate(op.rows())))


def _scan(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """What is combined is in any order of the elements so far."""
    assert isinstance(op, chlo.ScanOp)
    name = combined_by(emit, op)
    if len(op.carries) != 1:
        emit.fail(f"carries {len(op.carries)} tensors")
    if op.carries[0].first_use is not None:
        emit.fail("gives what it carries to another operation")
    size = inputs[0].shape[op.dim]
    low, high = (0, size - 1) if op.from_behind else (size - 1, 0)
    return _reduced(emit, name, inputs, {op.dim: (size, 1, 1, low, high)})


def _reduced(
    emit: KernelBuilder,
    name: str,
    inputs: Sequence[Tensor],
    rows: Mapping[int, tuple[int, int, int, int, int]],
) -> Tensor:
    """Windows of the first input, which begin with the second; `rows` as `PoolWindow` has them."""
    x, initial = inputs
    if not isinstance(x.element, FloatType):
        emit.fail(f"reduces elements of type {x.element}; kernels reduce floats")
    if initial.number != REDUCTIONS[name][0]:
        emit.fail("begins with another value than one that changes nothing")
    value = emit.whole(x)
    # Kernels have no infinity: a minimum is the opposite of the maximum of opposites.
    is_least = name == "stablehlo.minimum"
    value = opposite(emit, value) if is_least else value
    for dim, row in rows.items():
        kind = "stablehlo.maximum" if is_least else name
        value = _Along(emit, kind, dim, PoolWindow(*row)).reduce(value)
    return emit.result(opposite(emit, value) if is_least else value)


@dataclass(frozen=True)
class _Along:
    """Reduces the windows along one dimension."""

    emit: KernelBuilder
    name: str
    dim: int
    window: PoolWindow

    def reduce(self, value: SSAValue) -> SSAValue:
        window, size = self.window, kernel.shape_of(value)[self.dim]
        if window == PoolWindow(1, 1, window.dilation, 0, 0):
            return value
        is_dense = window.dilation == window.step == 1 and window.size == size
        paddings = ((size - 1, 0), (0, size - 1))
        if is_dense and (window.low, window.high) in paddings:
            from_behind = window.low == 0
            if self.name == "stablehlo.add" and not from_behind:
                steps = self.emit.steps
                return steps.like(
                    self.emit.add(kernel.CumsumOp(steps.widen(value), self.dim)), value
                )
            if size > MOST_SLICES:
                return self.so_far(value, from_behind=from_behind)
        value = self.padded(value)
        count = (kernel.shape_of(value)[self.dim] - window.span) // window.step + 1
        if window.size == window.step and window.dilation == 1:
            return self.side_by_side(value, count)
        if window.size > MOST_SLICES:
            self.emit.fail(
                f"has windows of {window.size} elements that overlap; at most {MOST_SLICES} are "
                "read one by one"
            )
        pieces = [
            self.slice(value, number * window.dilation, count, window.step)
            for number in range(window.size)
        ]
        total = pieces[0]
        for piece in pieces[1:]:
            total = self.emit.add(BINARY[self.name](total, piece))
        return total

    def slice(self, value: SSAValue, start: int, count: int, step: int = 1) -> SSAValue:
        """`count` places from `start` on."""
        sizes = [*kernel.shape_of(value)]
        starts, steps = [0] * len(sizes), [1] * len(sizes)
        if count == sizes[self.dim]:
            return value
        starts[self.dim], steps[self.dim], sizes[self.dim] = start, step, count
        return self.emit.add(kernel.SliceOp(value, starts, sizes, steps))

    def filled(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """What changes nothing, as a tensor."""
        element = kernel.tensor_type(value).element_type
        number = REDUCTIONS[self.name][0]
        return self.emit.filled(Tensor(tuple(shape), element, number=number), element, tuple(shape))

    def padded(self, value: SSAValue) -> SSAValue:
        """With what is before and behind; less than none takes some off."""
        low, high = self.window.low, self.window.high
        size = kernel.shape_of(value)[self.dim] + min(low, 0) + min(high, 0)
        value = self.slice(value, max(-low, 0), size)
        around: list[list[SSAValue]] = []
        for count in (low, high):
            shape = [*kernel.shape_of(value)]
            shape[self.dim] = count
            around.append([self.filled(value, shape)] if count > 0 else [])
        parts = [*around[0], value, *around[1]]
        return self.emit.add(kernel.ConcatOp(parts, self.dim)) if len(parts) > 1 else value

    def side_by_side(self, value: SSAValue, count: int) -> SSAValue:
        """Windows that do not overlap."""
        value = self.slice(value, 0, count * self.window.size)
        shape = [*kernel.shape_of(value)]
        cut = [*shape[: self.dim], count, self.window.size, *shape[self.dim + 1 :]]
        total = REDUCTIONS[self.name][1](self.emit, self.emit.reshape(value, cut), [self.dim + 1])
        return self.emit.reshape(total, [*shape[: self.dim], count, *shape[self.dim + 1 :]])

    def so_far(self, value: SSAValue, *, from_behind: bool) -> SSAValue:
        """Of the elements up to each one, or from each one on."""
        shape, dim = kernel.shape_of(value), self.dim
        if (size := shape[dim]) > MOST_SUMMED:
            self.emit.fail(
                f"combines {size} elements so far; at most {MOST_SUMMED} are masked for each"
            )
        element, rank = kernel.tensor_type(value).element_type, len(shape) + 1
        read, written = ([1] * rank for _ in range(2))
        read[dim] = written[dim + 1] = size
        # Of f16 not all integers up to the size are exact.
        here = self.emit.add(kernel.IotaOp(dim, TensorType(f32, read)))
        there = self.emit.add(kernel.IotaOp(dim + 1, TensorType(f32, written)))
        mask = self.emit.add(kernel.CompareOp(here, there, "ge" if from_behind else "le"))
        mask = self.emit.steps.cast(mask, element)
        wide = self.emit.reshape(value, [*shape[: dim + 1], 1, *shape[dim + 1 :]])
        neutral = self.filled(value, [1] * rank)
        masked = self.emit.add(kernel.SelectOp(mask, wide, neutral))
        return self.emit.reshape(REDUCTIONS[self.name][1](self.emit, masked, [dim]), shape)


RULES: Mapping[str, Rule] = {"stablehlo.reduce_window": _reduce_window, "chlo.scan": _scan}
"""By the name of the operation."""
