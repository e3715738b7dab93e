"""Functions of one element, for numbers and arrays alike, and how operations are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    I64,
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    ShapedType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

Array = NDArray[np.float64]

Function = Callable[..., Array]
"""Of numbers, or of arrays of one shape."""


class Unsupported(Exception):
    """An operation that the oracle does not know."""


def mnemonic(op: Operation) -> str:
    """The name of an operation without that of its dialect."""
    return op.name.partition(".")[2]


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor or tile."""
    assert isinstance(value.type, ShapedType)
    return value.type.get_shape()


def integer(op: Operation, name: str) -> int:
    """A property that is an integer."""
    attribute = op.properties[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """A property that is a list of integers; empty where it is left out."""
    attribute = op.properties.get(name)
    return () if attribute is None else _values_of(attribute)


# xDSL makes the constraint of a generic type anew in each call, and each step asks for maps.
@cache
def _values_of(attribute: Attribute) -> tuple[int, ...]:
    assert isa(attribute, DenseArrayBase[I64])
    return attribute.get_values()


def text(op: Operation, name: str) -> str:
    """A property that is a string."""
    attribute = op.properties[name]
    assert isinstance(attribute, StringAttr)
    return attribute.data


def number(op: Operation, name: str) -> float:
    """A property that is a scalar: the simplest number that it can stand for."""
    return _number_of(op.properties[name])


@cache
def _number_of(attribute: Attribute) -> float:
    assert isa(attribute, FloatAttr[AnyFloat])
    return simplest(attribute.value.data)


@cache
def simplest(value: float) -> float:
    """The rational number of the smallest denominator that the same f32 is nearest to."""
    if not math.isfinite(value) or value == int(value):
        return value
    exact = Fraction(value)
    low, high = 1, exact.denominator
    while low < high:
        middle = (low + high) // 2
        if np.float32(float(exact.limit_denominator(middle))) == np.float32(value):
            high = middle
        else:
            low = middle + 1
    return float(exact.limit_denominator(low))


# Functions of one element


def _erf(x: Array) -> Array:
    values: list[float] = np.ravel(x).tolist()
    return np.fromiter(map(math.erf, values), np.float64, len(values)).reshape(np.shape(x))


def _gelu(x: Array) -> Array:
    return x * (1 + _erf(x / math.sqrt(2))) / 2


def _gelu_tanh(x: Array) -> Array:
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _pow(x: Array, exponent: float) -> Array:
    return x**exponent


def _softcap(x: Array, cap: float) -> Array:
    return cap * np.tanh(x / cap)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


COMPARISONS: dict[str, Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


_ORDERED: dict[int, str] = dict(
    zip((1, 2, 3, 4, 5, 13), ("eq", "gt", "ge", "lt", "le", "ne"), strict=True)
)
"""`arith.cmpf` by the number of its predicate, as MLIR numbers them."""


def _select(condition: Array, lhs: Array, rhs: Array) -> Array:
    return np.where(np.not_equal(condition, 0), lhs, rhs)


def _compare(lhs: Array, rhs: Array, predicate: str) -> Array:
    return np.where(COMPARISONS[predicate](lhs, rhs), 1.0, 0.0)


_PLAIN: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "neg": np.negative,
    "abs": np.abs,
    "erf": _erf,
    "exp": np.exp,
    "log": np.log,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "square": np.square,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "relu": _relu,
    "tanh": np.tanh,
    "select": _select,
    "cast": np.positive,
}

_WITH_PARAMETERS = ("gelu", "clamp", "compare", "pow", "scale", "softcap")

ELEMENTWISE = frozenset([*_PLAIN, *_WITH_PARAMETERS])
"""Mnemonics of the elementwise operators of both dialects; `broadcast` and `constant` apart."""


def function_of(op: Operation) -> Function:
    """What an elementwise operator of either dialect does to its operands."""
    name = mnemonic(op)
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "gelu":
        return _gelu_tanh if text(op, "approximate") == "tanh" else _gelu
    if name == "compare":
        return partial(_compare, predicate=text(op, "predicate"))
    if name == "clamp":
        return partial(np.clip, min=number(op, "min"), max=number(op, "max"))
    if name == "softcap":
        return partial(_softcap, cap=number(op, "cap"))
    if name == "pow":
        return partial(_pow, exponent=number(op, "exponent"))
    return partial(np.multiply, number(op, "factor"))


_SCALARS: dict[str, Function] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.select": np.where,
    "arith.negf": np.negative,
    "arith.extf": np.positive,
    "arith.truncf": np.positive,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.log": np.log,
    "math.sqrt": np.sqrt,
    "math.rsqrt": _rsqrt,
    "math.tanh": np.tanh,
    "math.erf": _erf,
    "math.powf": np.power,
}
"""What the body of a `thread.graph` may hold, besides constants and stores."""


def run_thread_graph(graph: Operation, operands: Sequence[Array]) -> list[Array]:
    """The results of a `thread.graph` for elements of its operands, or arrays of one shape."""
    block = graph.regions[0].block
    values: dict[SSAValue, Array] = dict(zip(block.args, operands, strict=True))
    results: list[Array] = []
    for op in block.ops:
        given = [values[operand] for operand in op.operands]
        if op.name == "thread.store":
            results += given
        elif op.name == "arith.constant":
            values[op.results[0]] = np.array(number(op, "value"))
        elif op.name == "arith.cmpf":
            values[op.results[0]] = COMPARISONS[_ORDERED[integer(op, "predicate")]](*given)
        elif op.name in _SCALARS:
            values[op.results[0]] = _SCALARS[op.name](*given)
        else:
            raise Unsupported(f"{op.name} in a thread graph")
    return results
