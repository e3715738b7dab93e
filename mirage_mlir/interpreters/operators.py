"""
Operators that the kernel and the threadblock dialect share, by mnemonic.

Both dialects give them one meaning, so each is interpreted once: on tensors or on the valid
elements of tiles.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from xdsl.dialects.builtin import (
    AnyFloat,
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
from xdsl.utils.hints import isa

from mirage_mlir.dialects.bases import MatmulBase
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.domain import A, ElementType, FunctionName, NotInterpretable
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

BINARY = ("add", "sub", "mul", "div", "max")
"""Mnemonics of elementwise operators of two operands."""

FUNCTIONS: tuple[FunctionName, ...] = ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
"""Mnemonics of operators that are a function of the domain."""


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
    if not isa(attribute, FloatAttr[AnyFloat]):
        raise ValueError(f"{attribute} is not a float")
    return simplest_rational(attribute.value.data)


def integer(op: Operation, name: str) -> int:
    """An integer property."""
    attribute = op.properties[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """An array property; empty when it is left out."""
    attribute = op.properties.get(name)
    if attribute is None:
        return ()
    assert isinstance(attribute, DenseArrayBase)
    return tuple(int(value) for value in attribute.get_values())


def pairwise(domain: TensorDomain[A], name: str, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
    """One of the operators of `BINARY`."""
    match name:
        case "add":
            return domain.add(x, y)
        case "sub":
            return domain.subtract(x, y)
        case "mul":
            return domain.multiply(x, y)
        case "div":
            return domain.divide(x, y)
        case _:
            return domain.maximum(x, y)


def _square(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    return domain.multiply(x, x)


def _silu(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    return domain.multiply(x, domain.function("sigmoid", x))


def _gelu(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    approximate = op.properties["approximate"]
    assert isinstance(approximate, StringAttr)
    return domain.function("gelu" if approximate.data == "none" else "gelu_tanh", x)


def _relu(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    return domain.maximum(x, domain.constant(Fraction(0), (1,) * len(x.dims)))


def _clamp(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    low, high = (domain.constant(number(op, name), (1,) * len(x.dims)) for name in ("min", "max"))
    return domain.pairwise(domain.numbers.minimum, domain.maximum(x, low), high)


def _pow(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    exponent = number(op, "exponent")
    return domain.each(lambda array: domain.numbers.power(array, exponent), x)


def _scale(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    return domain.scale(x, number(op, "factor"))


def _cast(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A]:
    return x


def unary(domain: TensorDomain[A], op: Operation, x: Tensor[A]) -> Tensor[A] | None:
    """An elementwise operator of one operand; None when `op` is not one."""
    name = mnemonic(op)
    if name in FUNCTIONS:
        return domain.function(name, x)
    operators: dict[str, Callable[[TensorDomain[A], Operation, Tensor[A]], Tensor[A]]] = {
        "cast": _cast,
        "clamp": _clamp,
        "convert_layout": _cast,
        "gelu": _gelu,
        "pow": _pow,
        "relu": _relu,
        "scale": _scale,
        "silu": _silu,
        "square": _square,
    }
    operator = operators.get(name)
    return None if operator is None else operator(domain, op, x)
