"""
Operators that the kernel and the threadblock dialect share, by mnemonic.

Both dialects give them one meaning, so each is interpreted once: on tensors or on the valid
elements of tiles.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from math import inf
from typing import Generic

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    ShapedType,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from mirage_mlir.dialects.bases import MatmulBase
from mirage_mlir.dialects.elementwise import parameters_of, row_of
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.domain import A, ElementType, NotInterpretable
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.operators.elementwise import FunctionName, Number, Parameters, Row
from mirage_mlir.operators.structured import STRUCTURED, Structured


def mnemonic(op: Operation) -> str:
    """An operation's name without its dialect."""
    return op.name.partition(".")[2]


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor or a tile, without checking its whole type anew."""
    assert isinstance(value.type, ShapedType)
    return value.type.get_shape()


@cache
def element_type_name(element_type: Attribute) -> ElementType:
    """A float type's name, as domains take it."""
    match element_type:
        case Float16Type():
            return "f16"
        case BFloat16Type():
            return "bf16"
        case Float32Type():
            return "f32"
        case Float8E4M3FNType():
            return "f8E4M3FN"
        case Float8E5M2Type():
            return "f8E5M2"
        case _:
            raise NotInterpretable(
                f"has the element type {element_type}, which has no meaning here"
            )


@cache
def element_type_of(type_: Attribute) -> ElementType:
    """The name of the element type of a tensor or tile; to look anew would take 0.5 ms."""
    if isinstance(type_, TileType):
        return element_type_name(type_.element_type)
    assert isa(type_, TensorType[Attribute])
    return element_type_name(type_.element_type)


def in_tf32(op: Operation) -> bool:
    """Whether an operator is a product that may round its operands to tf32."""
    return isinstance(op, MatmulBase) and op.in_tf32


def as_multiplied(
    domain: TensorDomain[A], op: Operation, operands: Sequence[Tensor[A]]
) -> list[Tensor[A]]:
    """The operands of a product as a tensor core multiplies them."""
    if not in_tf32(op):
        return [*operands]
    return [domain.rounded(operand, "tf32") for operand in operands]


def number(op: Operation, name: str) -> Fraction:
    """A scalar property as the number that it stands for."""
    try:
        return number_of(op.properties[name])
    except ValueError as error:
        raise NotInterpretable(f"{name}: {error}") from error


@cache
def number_of(attribute: Attribute) -> Fraction:
    """
    The number that a float attribute stands for.

    Raises:
        ValueError: it is not finite, or no float.
    """
    if not isinstance(attribute, FloatAttr):
        raise ValueError(f"{attribute} is not a float")
    return simplest_rational(attribute.value.data)


def constant(domain: TensorDomain[A], op: Operation, shape: Sequence[int]) -> Tensor[A]:
    """A tensor whose elements are all the `value` of an operation: a number or -inf."""
    return domain.lowest(shape) if is_lowest(op) else domain.constant(number(op, "value"), shape)


def is_lowest(op: Operation) -> bool:
    """Whether the `value` of a constant is -inf, which is below every number."""
    attribute = op.properties["value"]
    return isinstance(attribute, FloatAttr) and attribute.value.data == -inf


def integer(op: Operation, name: str) -> int:
    """An integer property."""
    attribute = op.properties[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def text(op: Operation, name: str) -> str:
    """A string property."""
    attribute = op.properties[name]
    assert isinstance(attribute, StringAttr)
    return attribute.data


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """An array property; empty when it is left out."""
    attribute = op.properties.get(name)
    if attribute is None:
        return ()
    assert isinstance(attribute, DenseArrayBase)
    return tuple(int(value) for value in attribute.get_values())


def structure_of(op: Operation) -> Structured | None:
    """The row of an operation of the kernel or the threadblock dialect that is not elementwise."""
    dialect, _, name = op.name.partition(".")
    return STRUCTURED.get(name) if dialect in ("kernel", "threadblock") else None


def _integers_of(op: Operation, name: str) -> tuple[int, ...]:
    """The integers of an attribute that is one integer or an array of some."""
    is_one = isinstance(op.properties.get(name), IntegerAttr)
    return (integer(op, name),) if is_one else integers(op, name)


def runs_over(op: Operation, row: Structured) -> tuple[int, ...]:
    """The dimensions of its first operand that an operator runs over."""
    rank = len(shape_of(op.operands[0])) if op.operands else 0
    return row.runs_over(rank, partial(_integers_of, op))


def terms_of(op: Operation) -> int:
    """How many terms an operator sums for an element of its result."""
    row = structure_of(op)
    if row is None or not op.operands:
        return 1
    return row.terms(shape_of(op.operands[0]), partial(_integers_of, op))


class _OfTensors(Generic[A]):
    """What meanings are made of, for the elements of tensors of one rank."""

    def __init__(self, domain: TensorDomain[A], rank: int) -> None:
        self.domain = domain
        self.rank = rank
        self.add, self.subtract = domain.add, domain.subtract
        self.multiply, self.divide = domain.multiply, domain.divide
        self.maximum, self.scale = domain.maximum, domain.scale
        self.function, self.real = domain.function, domain.numbers.real
        self.select = domain.select

    def constant(self, value: Fraction) -> Tensor[A]:
        """One number."""
        return self.domain.constant(value, (1,) * self.rank)

    def compare(self, predicate: str, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """1 where a comparison holds and 0 elsewhere."""
        compare = self.domain.numbers.compare
        return self.domain.pairwise(lambda a, b: compare(predicate, a, b), x, y)

    def minimum(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """The smaller of two numbers."""
        return self.domain.pairwise(self.domain.numbers.minimum, x, y)

    def power(self, x: Tensor[A], exponent: Fraction) -> Tensor[A]:
        """`x ** exponent`."""
        return self.domain.each(lambda array: self.domain.numbers.power(array, exponent), x)


def elementwise(
    domain: TensorDomain[A], op: Operation, operands: Sequence[Tensor[A]]
) -> Tensor[A] | None:
    """What an elementwise operator makes of operands; None when `op` is not one."""
    if mnemonic(op) == "convert_layout":
        return operands[0]
    if (row := row_of(op)) is None:
        return None
    return row.mean(_OfTensors(domain, len(operands[0].dims)), numbers_of(op, row), operands)


def numbers_of(op: Operation, row: Row) -> Parameters:
    """
    The parameters of an elementwise operator.

    Raises:
        NotInterpretable: one is no number.
    """
    for parameter in row.parameters:
        if isinstance(parameter, Number):
            number(op, parameter.name)
    return parameters_of(op, row)


def has_exponential(op: Operation, expand_sigmoid: bool) -> bool:
    """
    Whether an operator, of a thread graph too, computes exponentials of its first operand.

    With `expand_sigmoid` its sigmoids are 1 / (1 + exp(-x)), as code on threads says.
    """
    if (structure := structure_of(op)) is not None:
        return structure.exponential
    if (row := row_of(op)) is None:
        # An operation of a thread graph.
        return mnemonic(op) == "exp"
    functions = _functions_of(row, parameters_of(op, row))
    return "exp" in functions or (expand_sigmoid and "sigmoid" in functions)


class _Names:
    """Meanings that are sets of the functions of a number that they use."""

    def real(self, value: float) -> Fraction:
        return Fraction(value)

    def constant(self, value: Fraction) -> frozenset[FunctionName]:
        return frozenset()

    def _both(
        self, x: frozenset[FunctionName], y: frozenset[FunctionName]
    ) -> frozenset[FunctionName]:
        return x | y

    add = subtract = multiply = divide = maximum = minimum = _both

    def compare(
        self, predicate: str, x: frozenset[FunctionName], y: frozenset[FunctionName]
    ) -> frozenset[FunctionName]:
        return x | y

    def select(
        self,
        condition: frozenset[FunctionName],
        x: frozenset[FunctionName],
        y: frozenset[FunctionName],
    ) -> frozenset[FunctionName]:
        return condition | x | y

    def _same(self, x: frozenset[FunctionName], _: Fraction) -> frozenset[FunctionName]:
        return x

    scale = power = _same

    def function(self, name: FunctionName, x: frozenset[FunctionName]) -> frozenset[FunctionName]:
        return x | frozenset[FunctionName]([name])


def _functions_of(row: Row, parameters: Parameters) -> frozenset[FunctionName]:
    nothing = [frozenset[FunctionName]()] * row.operands
    return row.mean(_Names(), parameters, nothing)
