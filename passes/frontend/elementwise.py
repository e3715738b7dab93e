"""Elementwise operators recorded for the search, as their rows say."""

from collections.abc import Sequence
from fractions import Fraction

from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.operators.elementwise import (
    Composite,
    CompositeOfTwo,
    Conditional,
    FunctionName,
    Opaque,
    Pairwise,
    Parameters,
    Row,
)
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind


class _Steps:
    """What compositions are made of: operations of the search."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.builder = builder
        self.constant = builder.constant

    def real(self, value: float) -> Fraction:
        """What stands for an irrational number."""
        return simplest_rational(value)

    def add(self, x: int, y: int) -> int:
        """`x + y`."""
        return self.builder.binary(Kind.ADD, x, y)

    def subtract(self, x: int, y: int) -> int:
        """`x - y`."""
        return self.builder.binary(Kind.SUB, x, y)

    def multiply(self, x: int, y: int) -> int:
        """`x * y`."""
        return self.builder.binary(Kind.MUL, x, y)

    def divide(self, x: int, y: int) -> int:
        """`x / y`."""
        return self.builder.binary(Kind.DIV, x, y)

    def maximum(self, x: int, y: int) -> int:
        """The larger of two numbers."""
        return self.builder.binary(Kind.MAX, x, y)

    def minimum(self, x: int, y: int) -> int:
        """The smaller of two numbers, which the search has no operation for."""
        opposites = [self.scale(value, Fraction(-1)) for value in (x, y)]
        return self.scale(self.maximum(*opposites), Fraction(-1))

    def scale(self, x: int, factor: Fraction) -> int:
        """`factor * x`."""
        return self.multiply(x, self.constant(factor))

    def power(self, x: int, exponent: Fraction) -> int:
        """`x ** exponent`."""
        return self.builder.function(Function("pow", (float(exponent),)), x)

    def function(self, name: FunctionName, x: int) -> int:
        """A function of one number."""
        return self.builder.function(Function(name), x)


def record_elementwise(
    builder: ProgramBuilder, row: Row, parameters: Parameters, operands: Sequence[int]
) -> int | None:
    """Record an operator; the number of its result, None of a comparison or a selection."""
    match row.search:
        case Pairwise(kind=kind):
            return builder.binary(Kind(kind), *operands)
        case Opaque():
            values = tuple(parameters.values[each.name] for each in row.parameters)
            return builder.function(Function(row.name, values), operands[0])
        case Composite(rule=rule):
            return rule(_Steps(builder), parameters, operands[0])
        case Conditional():
            return None
        case CompositeOfTwo(rule=rule):
            return rule(_Steps(builder), parameters, *operands)
