"""
Whether rounding changes a step of indices: a floor, or a comparison.

Over numbers `floor(i * (1/41))` is `floor(i / 41)`. In f32 it is 0 where i is 41, and a mask of it
has another row. The floating-point gate sees that where it computes that row; of large programs it
computes a few. So each step that depends on indices alone is computed here for all values of its
operands, as kernels do and as fractions, which are compared.

Operands that are whole numbers of several indices are any numbers in their range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import isfinite, lcm

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import Float16Type, Float32Type, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.float_domain import COMPARISONS

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

MOST_VALUES = 1 << 22
"""Values of an operand, at most: 32 MB as f64. Steps of more are left to the gate."""

MOST = 1 << 62
"""Numerators and denominators are 64-bit numbers."""

VIEWS = frozenset(["reshape", "transpose", "broadcast", "repeat", "repeat_interleave", "slice"])


@dataclass(frozen=True)
class IndexValue:
    """
    All values that something has which is made of indices, as a fraction and with rounding.

    Args:
        base: what it is a function of; None for a constant. Values of one base correspond.
        numerators, denominator: the exact values.
        rounded: those of kernels.
    """

    base: int | None
    numerators: Whole
    denominator: int
    rounded: Real

    @cached_property
    def is_exact(self) -> bool:
        """Whether rounding changes no value."""
        return bool((self.rounded * self.denominator == self.numerators).all())

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers, and none is rounded."""
        return self.denominator == 1 and self.is_exact


class IndexSteps:
    """Evaluates all that depends on indices alone in a function, operation by operation."""

    def __init__(self) -> None:
        self._values: dict[SSAValue, IndexValue] = {}
        self._bases: Iterator[int] = count()

    def changed(self, function: FuncOp) -> str | None:
        """What rounding changes first; None if it changes nothing, or nothing that is known."""
        for op in function.body.block.ops:
            found = self._graph(op) if isinstance(op, kernel.GraphDefinedOp) else self._visit(op)
            if found is not None:
                return found
        return None

    def _graph(self, graph: kernel.GraphDefinedOp) -> str | None:
        for argument, value in zip(graph.body.block.args, graph.inputs, strict=True):
            self._pass_on(value, argument)
        outputs = iter(graph.outputs)
        for op in graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                self._pass_on(op.tile, next(outputs))
            elif (found := self._visit(op)) is not None:
                return found
        return None

    def _pass_on(self, value: SSAValue, result: SSAValue) -> None:
        if value in self._values:
            self._values[result] = self._values[value]

    def _visit(self, op: Operation) -> str | None:
        """Evaluate an operation; returns what rounding changes."""
        if len(op.results) != 1:
            return None
        name = op.name.partition(".")[2]
        if isinstance(op, threadblock.LoadOp) or name in VIEWS:
            self._pass_on(op.operands[0], op.results[0])
            return None
        operands = [self._values.get(value) for value in op.operands]
        known = [value for value in operands if value is not None]
        if len(known) < len(operands) or name not in RULES:
            return None
        found = RULES[name](self, op, *known)
        if found is None:
            return None
        value = _stored(found, op.results[0])
        if value is not None:
            self._values[op.results[0]] = value
        exact = found.rounded * found.denominator == found.numerators
        if name in STEPS and not exact.all():
            place = int(np.argmin(exact))
            wrong, right = float(found.rounded[place]), int(found.numerators[place])
            return f"'{op.name}' of indices is {wrong:g} in f32 where it should be {right}"
        return None

    # --- operations

    def iota(self, op: Operation) -> IndexValue | None:
        """Indices along a dimension."""
        if isinstance(op, kernel.IotaOp):
            return self._range(0, kernel.shape_of(op.result)[op.dim.value.data] - 1)
        assert isinstance(op, threadblock.IotaOp)
        start, steps = op.start.value.data, zip(op.whole, op.strides.get_values(), strict=True)
        ends = [(size - 1) * stride for size, stride in steps]
        low, high = (sum(side(0, end) for end in ends) for side in (min, max))
        return self._range(start + low, start + high)

    def constant(self, op: Operation) -> IndexValue | None:
        """A number."""
        assert isinstance(op, kernel.ConstantOp | threadblock.ConstantOp)
        return _number(op.value.value.data)

    def scale(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """A multiple."""
        assert isinstance(op, kernel.ScaleOp | threadblock.ScaleOp)
        factor = _number(op.factor.value.data)
        return None if factor is None else self.multiply(op, x, factor)

    def add(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A sum."""
        return self._together(x, y, np.add)

    def subtract(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A difference."""
        return self._together(x, y, np.subtract)

    def larger(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """The maximum."""
        return self._together(x, y, np.maximum)

    def smaller(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """The minimum."""
        return self._together(x, y, np.minimum)

    def multiply(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A product."""
        pair = self._pair(x, y)
        if pair is None:
            return None
        x, y = pair
        denominator = x.denominator * y.denominator
        if max(_largest(x) * _largest(y), denominator) >= MOST:
            return None
        return IndexValue(
            x.base if y.base is None else y.base,
            x.numerators * y.numerators,
            denominator,
            x.rounded * y.rounded,
        )

    def divide(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A quotient by a constant."""
        if y.base is not None or not y.numerators[0]:
            return None
        by = int(y.numerators[0])
        over = y.denominator * (1 if by > 0 else -1)
        denominator = x.denominator * abs(by)
        if max(_largest(x) * y.denominator, denominator) >= MOST:
            return None
        return IndexValue(x.base, x.numerators * over, denominator, x.rounded / y.rounded)

    def negate(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """The other sign."""
        return IndexValue(x.base, -x.numerators, x.denominator, -x.rounded)

    def size(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """Without the sign."""
        return IndexValue(x.base, np.abs(x.numerators), x.denominator, np.abs(x.rounded))

    def square(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """Times itself."""
        return self.multiply(op, x, x)

    def relu(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """What is above 0."""
        return IndexValue(
            x.base, np.maximum(x.numerators, 0), x.denominator, np.maximum(x.rounded, 0)
        )

    def cast(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """The same in another type."""
        return x

    def floor(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """The whole number below."""
        return IndexValue(x.base, x.numerators // x.denominator, 1, np.floor(x.rounded))

    def ceil(self, op: Operation, x: IndexValue) -> IndexValue | None:
        """The whole number above."""
        return IndexValue(x.base, -(-x.numerators // x.denominator), 1, np.ceil(x.rounded))

    def compare(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A condition: 1 where it holds."""
        assert isinstance(op, kernel.CompareOp | threadblock.CompareOp)
        if x.is_exact and y.is_exact:
            return IndexValue(next(self._bases), np.arange(2), 1, np.arange(2.0))
        pair = self._pair(x, y)
        common = None if pair is None else _with_one_denominator(*pair)
        if pair is None or common is None:
            return None
        predicate = COMPARISONS[op.predicate.data]
        x, y = pair
        exact = predicate(*common[:2]).astype(np.int64)
        rounded = predicate(x.rounded, y.rounded).astype(np.float64)
        exact, rounded = np.broadcast_arrays(exact, rounded)
        return IndexValue(x.base if y.base is None else y.base, exact, 1, rounded)

    # --- several indices

    def _range(self, low: int, high: int) -> IndexValue | None:
        """All whole numbers from `low` to `high`."""
        if high - low >= MOST_VALUES:
            return None
        numbers = np.arange(low, high + 1)
        return IndexValue(next(self._bases), numbers, 1, numbers.astype(np.float64))

    def _together(
        self, x: IndexValue, y: IndexValue, operation: Callable[..., NDArray[np.float64]]
    ) -> IndexValue | None:
        """A sum, difference, maximum or minimum."""
        if x.is_whole and y.is_whole and x.base != y.base and None not in (x.base, y.base):
            ends = [operation(a, b) for a in _ends(x) for b in _ends(y)]
            return self._range(int(min(ends)), int(max(ends)))
        pair = self._pair(x, y)
        common = None if pair is None else _with_one_denominator(*pair)
        if pair is None or common is None:
            return None
        left, right, denominator = common
        x, y = pair
        exact = np.asarray(operation(left, right), np.int64)
        rounded = np.asarray(operation(x.rounded, y.rounded), np.float64)
        return IndexValue(x.base if y.base is None else y.base, exact, denominator, rounded)

    def _pair(self, x: IndexValue, y: IndexValue) -> tuple[IndexValue, IndexValue] | None:
        """Two values of one base; None if there are too many pairs of values."""
        if x.base == y.base or None in (x.base, y.base):
            return x, y
        if x.numerators.size * y.numerators.size > MOST_VALUES:
            return None
        base, rows, columns = next(self._bases), y.numerators.size, x.numerators.size
        return (
            IndexValue(
                base, np.repeat(x.numerators, rows), x.denominator, np.repeat(x.rounded, rows)
            ),
            IndexValue(
                base, np.tile(y.numerators, columns), y.denominator, np.tile(y.rounded, columns)
            ),
        )


def changed_step(reference: FuncOp, candidate: FuncOp) -> str | None:
    """
    What rounding changes in a step of indices of a candidate; None where it changes nothing.

    What it changes in the reference too is what its author wrote.
    """
    changed = IndexSteps().changed(candidate)
    if changed is None or IndexSteps().changed(reference) is not None:
        return None
    return changed


def _number(value: float) -> IndexValue | None:
    """A constant; None for one that is not finite, or has too many digits."""
    if not isfinite(value):
        return None
    exact: Fraction = simplest_rational(value)
    if max(abs(exact.numerator), exact.denominator) >= MOST:
        return None
    rounded = np.array([np.float32(value)], np.float64)
    return IndexValue(None, np.array([exact.numerator]), exact.denominator, rounded)


def _stored(value: IndexValue, result: SSAValue) -> IndexValue | None:
    """A value as a result has it: rounded to its type; None for a type that is not known here."""
    kind = result.type
    assert isinstance(kind, TensorType | TileType)
    if isinstance(kind.get_element_type(), Float32Type):
        return replace(value, rounded=value.rounded.astype(np.float32).astype(np.float64))
    if isinstance(kind.get_element_type(), Float16Type):
        return replace(value, rounded=value.rounded.astype(np.float16).astype(np.float64))
    return None


def _largest(value: IndexValue) -> int:
    return max(1, *map(abs, _ends(value)))


def _ends(value: IndexValue) -> tuple[int, int]:
    return int(value.numerators.min()), int(value.numerators.max())


def _with_one_denominator(x: IndexValue, y: IndexValue) -> tuple[Whole, Whole, int] | None:
    """The numerators of two values over one denominator."""
    denominator = lcm(x.denominator, y.denominator)
    factors = denominator // x.denominator, denominator // y.denominator
    largest = max(_largest(x) * factors[0], _largest(y) * factors[1])
    # A sum of two may be twice as large.
    if max(2 * largest, denominator) >= MOST:
        return None
    return x.numerators * factors[0], y.numerators * factors[1], denominator


STEPS = frozenset(["floor", "ceil", "compare"])

RULES: dict[str, Callable[..., IndexValue | None]] = {
    "iota": IndexSteps.iota,
    "constant": IndexSteps.constant,
    "scale": IndexSteps.scale,
    "add": IndexSteps.add,
    "sub": IndexSteps.subtract,
    "mul": IndexSteps.multiply,
    "div": IndexSteps.divide,
    "max": IndexSteps.larger,
    "min": IndexSteps.smaller,
    "neg": IndexSteps.negate,
    "abs": IndexSteps.size,
    "square": IndexSteps.square,
    "relu": IndexSteps.relu,
    "cast": IndexSteps.cast,
    "floor": IndexSteps.floor,
    "ceil": IndexSteps.ceil,
    "compare": IndexSteps.compare,
}
