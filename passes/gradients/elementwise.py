"""
Derivatives of elementwise operators, found from what their rows say that they mean.

A row's meaning is written for any `Arithmetic`. Here it runs on dual numbers: a value and its
derivative by the operand, both as operators of the gradient program. So a new row has a gradient
without another word.
Source: Griewank and Walther, "Evaluating Derivatives" (2008), section 3.1 (forward mode).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import parameters_of
from mirage_mlir.operators.elementwise import FunctionName, Row
from mirage_mlir.passes.gradients.steps import Steps

Term = SSAValue | Fraction
"""A tensor in f32, or a number."""

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Dual:
    """A value, and its derivative by the operand that is differentiated by."""

    value: Term
    derivative: Term


class Numbers:
    """Arithmetic on tensors and numbers: numbers among themselves are computed here."""

    def __init__(self, steps: Steps, like: SSAValue) -> None:
        self.steps = steps
        self._like = like

    def tensor(self, x: Term) -> SSAValue:
        """`x` as a tensor that broadcasts."""
        return x if isinstance(x, SSAValue) else self.steps.constant(float(x), self._like)

    def add(self, x: Term, y: Term) -> Term:
        """`x + y`."""
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return x + y
        if x == ZERO or y == ZERO:
            return y if x == ZERO else x
        return self.steps.plus(self.tensor(x), self.tensor(y))

    def subtract(self, x: Term, y: Term) -> Term:
        """`x - y`."""
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return x - y
        if y == ZERO:
            return x
        return (
            self.scale(y, -ONE) if x == ZERO else self.steps.minus(self.tensor(x), self.tensor(y))
        )

    def scale(self, x: Term, factor: Fraction) -> Term:
        """`x * factor`."""
        if isinstance(x, Fraction):
            return x * factor
        return ZERO if factor == 0 else self.steps.scaled(x, float(factor))

    def multiply(self, x: Term, y: Term) -> Term:
        """`x * y`."""
        if isinstance(x, Fraction):
            return self.scale(y, x)
        return self.scale(x, y) if isinstance(y, Fraction) else self.steps.times(x, y)

    def divide(self, x: Term, y: Term) -> Term:
        """`x / y`."""
        if isinstance(y, Fraction):
            return self.scale(x, 1 / y)
        if x == ZERO:
            return ZERO
        return self.steps.add(kernel.DivOp(self.tensor(x), y))

    def power(self, x: Term, exponent: Fraction) -> Term:
        """`x ** exponent`."""
        if exponent in (0, 1):
            return x if exponent == 1 else ONE
        if exponent == 2:
            return self.multiply(x, x)
        return self.steps.add(kernel.PowOp(self.tensor(x), float(exponent)))

    def compare(self, predicate: str, x: Term, y: Term) -> Term:
        """1 where a comparison holds and 0 elsewhere."""
        return self.steps.add(kernel.CompareOp(self.tensor(x), self.tensor(y), predicate))

    def select(self, condition: Term, x: Term, y: Term) -> Term:
        """`x` where a condition is 1, and `y` where it is 0."""
        if x == y or (x, y) == (ONE, ZERO):
            return x if x == y else condition
        chosen = self.tensor(condition), self.tensor(x), self.tensor(y)
        return self.steps.add(kernel.SelectOp(*chosen))

    def function(self, name: FunctionName, x: Term) -> Term:
        """A function of one number."""
        return self.steps.add(FUNCTIONS[name](self.tensor(x)))


FUNCTIONS: dict[str, type[kernel.UnaryOp]] = {
    **{op.name.removeprefix("kernel."): op for op in kernel.FUNCTION_OPS},
    **kernel.ROW_OPS,
}
"""Operators on one tensor without parameters, by mnemonic, and those made from rows."""


class Duals:
    """`Arithmetic` on dual numbers, by the rules of differentiation."""

    def __init__(self, numbers: Numbers) -> None:
        self._of = numbers

    def constant(self, value: Fraction) -> Dual:
        """One number."""
        return Dual(value, ZERO)

    def real(self, value: float) -> Fraction:
        """All digits of an irrational number."""
        return Fraction(value)

    def add(self, x: Dual, y: Dual) -> Dual:
        """`(x + y)' = x' + y'`."""
        of = self._of
        return Dual(of.add(x.value, y.value), of.add(x.derivative, y.derivative))

    def subtract(self, x: Dual, y: Dual) -> Dual:
        """`(x - y)' = x' - y'`."""
        of = self._of
        return Dual(of.subtract(x.value, y.value), of.subtract(x.derivative, y.derivative))

    def multiply(self, x: Dual, y: Dual) -> Dual:
        """`(x y)' = x' y + x y'`."""
        of = self._of
        terms = of.multiply(x.derivative, y.value), of.multiply(x.value, y.derivative)
        return Dual(of.multiply(x.value, y.value), of.add(*terms))

    def divide(self, x: Dual, y: Dual) -> Dual:
        """`(x / y)' = (x' - (x / y) y') / y`."""
        of = self._of
        quotient = of.divide(x.value, y.value)
        change = of.subtract(x.derivative, of.multiply(quotient, y.derivative))
        return Dual(quotient, of.divide(change, y.value))

    def scale(self, x: Dual, factor: Fraction) -> Dual:
        """`(a x)' = a x'`."""
        return Dual(self._of.scale(x.value, factor), self._of.scale(x.derivative, factor))

    def power(self, x: Dual, exponent: Fraction) -> Dual:
        """`(x ** a)' = a x ** (a - 1) x'`."""
        of = self._of
        slope = of.scale(of.power(x.value, exponent - 1), exponent)
        return Dual(of.power(x.value, exponent), of.multiply(slope, x.derivative))

    def compare(self, predicate: str, x: Dual, y: Dual) -> Dual:
        """It changes nowhere but where it jumps."""
        return Dual(self._of.compare(predicate, x.value, y.value), ZERO)

    def select(self, condition: Dual, x: Dual, y: Dual) -> Dual:
        """The derivative of what is selected."""
        return Dual(
            self._of.select(condition.value, x.value, y.value),
            self._of.select(condition.value, x.derivative, y.derivative),
        )

    def maximum(self, x: Dual, y: Dual) -> Dual:
        """The derivative of the larger one, and the mean of both where they are equal."""
        return self._chosen(x, y, ("gt", "ge"))

    def minimum(self, x: Dual, y: Dual) -> Dual:
        """The derivative of the smaller one, and the mean of both where they are equal."""
        return self._chosen(x, y, ("lt", "le"))

    def _chosen(self, x: Dual, y: Dual, predicates: tuple[str, str]) -> Dual:
        of = self._of
        strictly, weakly = (of.compare(each, x.value, y.value) for each in predicates)
        share = of.scale(of.add(strictly, weakly), Fraction(1, 2))
        change = of.multiply(share, of.subtract(x.derivative, y.derivative))
        return Dual(of.select(weakly, x.value, y.value), of.add(y.derivative, change))

    def function(self, name: FunctionName, x: Dual) -> Dual:
        """`f(x)' = f'(x) x'`."""
        value = self._of.function(name, x.value)
        slope = SLOPES[name](self._of, x.value, value)
        return Dual(value, self._of.multiply(slope, x.derivative))


def _bell(of: Numbers, x: Term, value: Term) -> Term:
    bell = of.function("exp", of.scale(of.multiply(x, x), -ONE))
    return of.scale(bell, Fraction(2 / sqrt(pi)))


SLOPES: dict[FunctionName, Callable[[Numbers, Term, Term], Term]] = {
    "exp": lambda of, x, value: value,
    "log": lambda of, x, value: of.divide(ONE, x),
    "sqrt": lambda of, x, value: of.divide(Fraction(1, 2), value),
    "rsqrt": lambda of, x, value: of.scale(of.divide(value, x), Fraction(-1, 2)),
    "sigmoid": lambda of, x, value: of.multiply(value, of.subtract(ONE, value)),
    "tanh": lambda of, x, value: of.subtract(ONE, of.multiply(value, value)),
    "erf": _bell,
    "expm1": lambda of, x, value: of.add(value, ONE),
    "log1p": lambda of, x, value: of.divide(ONE, of.add(x, ONE)),
    "sin": lambda of, x, value: of.function("cos", x),
    "cos": lambda of, x, value: of.scale(of.function("sin", x), -ONE),
    # Steps: PyTorch and JAX say 0 at their edges, too.
    "floor": lambda of, x, value: ZERO,
    "ceil": lambda of, x, value: ZERO,
    "round": lambda of, x, value: ZERO,
}
"""The derivative of each function at `x`, where it is `value`."""


def derivative(steps: Steps, op: Operation, row: Row, number: int) -> Term:
    """
    The derivative of an elementwise operator by its operand `number`, element by element.

    Where the operator has an edge it is that of PyTorch: the mean of both sides of a maximum.
    """
    numbers = Numbers(steps, op.results[0])
    operands = [
        Dual(steps.widen(operand), ONE if other == number else ZERO)
        for other, operand in enumerate(op.operands)
    ]
    return row.mean(Duals(numbers), parameters_of(op, row), operands).derivative
