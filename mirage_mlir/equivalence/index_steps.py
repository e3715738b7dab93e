"""
Whether rounding changes a step of indices: a floor, or a comparison.

Over numbers `floor(i * (1/41))` is `floor(i / 41)`. In f32 it is 0 where i is 41, and a mask of it
has another row. The floating-point gate sees that where it computes that row; of large programs it
computes a few. So each step that depends on indices alone is computed here for all values of its
operands, as kernels do and as fractions, which are compared.

Operands that are whole numbers of several indices are any numbers in their range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import BFloat16Type, Float16Type
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.float_domain import COMPARISONS, round_to_bfloat16

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
        numerators, denominator: the exact values, of one denominator or one for each.
        rounded: those of kernels.
    """

    base: int | None
    numerators: Whole
    denominator: Whole | int
    rounded: Real

    @cached_property
    def is_exact(self) -> bool:
        """Whether rounding changes no value."""
        return bool((self.rounded * self.denominator == self.numerators).all())

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers, and none is rounded."""
        return bool(np.all(self.denominator == 1)) and self.is_exact


@dataclass(frozen=True)
class ChangedStep:
    """
    A step that rounding changes, and what it makes of the first value that it changes.

    Steps of tensors and of tiles are alike.
    """

    name: str
    wrong: float
    right: int
    operator: str = field(compare=False)

    def __str__(self) -> str:
        return (
            f"'{self.operator}' of indices is {self.wrong:g} in f32 where it should be {self.right}"
        )


class IndexSteps:
    """Evaluates all that depends on indices alone in a function, operation by operation."""

    def __init__(self, function: FuncOp) -> None:
        self._values: dict[SSAValue, IndexValue] = {}
        self._bases: Iterator[int] = count()
        self.exact: set[Operation] = set()
        """Steps that rounding changes nothing of."""
        self.changed: Counter[ChangedStep] = Counter()
        """What it changes, and how many steps alike."""
        for op in function.body.block.ops:
            if isinstance(op, kernel.GraphDefinedOp):
                self._graph(op)
            else:
                self._visit(op)

    def _graph(self, graph: kernel.GraphDefinedOp) -> None:
        for argument, value in zip(graph.body.block.args, graph.inputs, strict=True):
            self._pass_on(value, argument)
        outputs = iter(graph.outputs)
        for op in graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                self._pass_on(op.tile, next(outputs))
            else:
                self._visit(op)

    def _pass_on(self, value: SSAValue, result: SSAValue) -> None:
        if value in self._values:
            self._values[result] = self._values[value]

    def _view(self, value: SSAValue, result: SSAValue) -> None:
        """The same values at other places: they correspond to those of `value` no more."""
        if (found := self._values.get(value)) is not None:
            constant = found.base is None
            self._values[result] = found if constant else replace(found, base=next(self._bases))

    def _visit(self, op: Operation) -> None:
        """Evaluate an operation, and note what rounding changes of it."""
        if len(op.results) != 1:
            return
        name = op.name.partition(".")[2]
        if isinstance(op, threadblock.LoadOp) or name in VIEWS:
            self._view(op.operands[0], op.results[0])
            return
        operands = [self._values.get(value) for value in op.operands]
        known = [value for value in operands if value is not None]
        if len(known) < len(operands) or name not in RULES:
            return
        found = RULES[name](self, op, *known)
        if found is None:
            return
        self._values[op.results[0]] = _stored(found, op.results[0])
        if name in STEPS:
            self._note(op, name, found)

    def _note(self, op: Operation, name: str, found: IndexValue) -> None:
        exact = found.rounded * found.denominator == found.numerators
        if exact.all():
            self.exact.add(op)
            return
        place = int(np.argmin(exact))
        wrong, right = float(found.rounded[place]), int(found.numerators[place])
        self.changed[ChangedStep(name, wrong, right, op.name)] += 1

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
        if max(_largest(x) * _largest(y), _most(x.denominator) * _most(y.denominator)) >= MOST:
            return None
        denominator = x.denominator * y.denominator
        return IndexValue(
            x.base if y.base is None else y.base,
            x.numerators * y.numerators,
            denominator,
            x.rounded * y.rounded,
        )

    def divide(self, op: Operation, x: IndexValue, y: IndexValue) -> IndexValue | None:
        """A quotient; of 0, as that by 0, for which there is no number."""
        pair = self._pair(x, y)
        if pair is None:
            return None
        x, y = pair
        if max(_largest(x) * _most(y.denominator), _most(x.denominator) * _largest(y)) >= MOST:
            return None
        defined = y.numerators != 0
        sign = np.sign(y.numerators)
        numerators = np.where(defined, x.numerators * sign * y.denominator, 0)
        denominators = np.where(defined, x.denominator * np.abs(y.numerators), 1)
        rounded = np.where(defined, x.rounded / np.where(defined, y.rounded, 1), 0)
        base = x.base if y.base is None else y.base
        if base is None and not defined.all():
            return None
        return IndexValue(base, numerators, denominators, rounded)

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
        return _spread(x, base, lambda each: np.repeat(each, rows)), _spread(
            y, base, lambda each: np.tile(each, columns)
        )


def _spread(
    value: IndexValue, base: int, spread: Callable[[NDArray[Any]], NDArray[Any]]
) -> IndexValue:
    """Each of the values several times, as those of another base."""
    denominator = value.denominator
    if np.size(denominator) > 1:
        denominator = spread(np.asarray(denominator))
    return IndexValue(base, spread(value.numerators), denominator, spread(value.rounded))


def _number(value: float) -> IndexValue | None:
    """A constant; None for one that is not finite, or has too many digits."""
    if not isfinite(value):
        return None
    exact: Fraction = simplest_rational(value)
    if max(abs(exact.numerator), exact.denominator) >= MOST:
        return None
    rounded = np.array([np.float32(value)], np.float64)
    return IndexValue(None, np.array([exact.numerator]), exact.denominator, rounded)


def _stored(value: IndexValue, result: SSAValue) -> IndexValue:
    """A value as a result has it: rounded to its type."""
    if isinstance(result.type, TileType):
        element = result.type.element_type
    else:
        element = kernel.tensor_type(result).element_type
    rounded = value.rounded.astype(np.float32)
    if isinstance(element, BFloat16Type):
        rounded = round_to_bfloat16(rounded)
    elif isinstance(element, Float16Type):
        rounded = value.rounded.astype(np.float16)
    return replace(value, rounded=rounded.astype(np.float64))


def _largest(value: IndexValue) -> int:
    return max(1, *map(abs, _ends(value)))


def _most(denominator: Whole | int) -> int:
    return int(np.max(denominator))


def _ends(value: IndexValue) -> tuple[int, int]:
    return int(value.numerators.min()), int(value.numerators.max())


def _with_one_denominator(x: IndexValue, y: IndexValue) -> tuple[Whole, Whole, Whole | int] | None:
    """The numerators of two values over the same denominators."""
    if _most(x.denominator) * _most(y.denominator) >= MOST:
        return None
    denominator = np.lcm(x.denominator, y.denominator)
    factors = denominator // x.denominator, denominator // y.denominator
    largest = max(_largest(x) * _most(factors[0]), _largest(y) * _most(factors[1]))
    # A sum of two may be twice as large.
    if 2 * largest >= MOST:
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
