"""Functions of kernel operators by numpy in float64: a second meaning, for tests only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy_reference import Array, gelu, gelu_tanh, layer_norm, rms_norm, sigmoid, silu, softmax
from xdsl.dialects.builtin import FloatAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from mirage_mlir.interpreters.operators import integer, integers, mnemonic, shape_of


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


PLAIN: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "cast": np.positive,
    "div": np.divide,
    "exp": np.exp,
    "log": np.log,
    "matmul": np.matmul,
    "max": np.maximum,
    "mul": np.multiply,
    "relu": _relu,
    "rsqrt": _rsqrt,
    "sigmoid": sigmoid,
    "silu": silu,
    "sqrt": np.sqrt,
    "square": np.square,
    "sub": np.subtract,
    "tanh": np.tanh,
}
"""Operators without properties."""


def run(function: FuncOp, inputs: Sequence[Array]) -> list[Array]:
    """What a function of kernel operators returns."""
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, inputs, strict=True))
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                return operands
            values[op.results[0]] = _result(op, operands)
    raise AssertionError("a function returns")


def _result(op: Operation, operands: list[Array]) -> Array:
    name = mnemonic(op)
    if name in PLAIN:
        return PLAIN[name](*operands)
    if name == "concat":
        return np.concatenate(operands, axis=integer(op, "dim"))
    if name in ("rms_norm", "layer_norm"):
        return _norm(op, operands)
    return _unary(op, name, operands[0])


def _norm(op: Operation, operands: list[Array]) -> Array:
    x, *parameters = operands
    if mnemonic(op) == "rms_norm":
        return rms_norm(x, parameters[0] if parameters else 1.0, number(op, "eps"))
    centred = layer_norm(x, 1.0, 0.0, number(op, "eps"))
    weighted = centred * parameters[0] if parameters else centred
    return weighted + parameters[1] if len(parameters) > 1 else weighted


def _unary(op: Operation, name: str, x: Array) -> Array:
    shape = shape_of(op.results[0])
    views: Mapping[str, Callable[[], Array]] = {
        "broadcast": lambda: np.broadcast_to(x, shape),
        "clamp": lambda: np.clip(x, number(op, "min"), number(op, "max")),
        "gelu": lambda: gelu_tanh(x) if _approximate(op) == "tanh" else gelu(x),
        "pow": lambda: x ** number(op, "exponent"),
        "reduce_max": lambda: x.max(axis=integers(op, "dims"), keepdims=True),
        "reduce_mean": lambda: x.mean(axis=integers(op, "dims"), keepdims=True),
        "reduce_sum": lambda: x.sum(axis=integers(op, "dims"), keepdims=True),
        "repeat": lambda: np.concatenate([x] * integer(op, "times"), axis=integer(op, "dim")),
        "repeat_interleave": lambda: np.repeat(x, integer(op, "times"), axis=integer(op, "dim")),
        "reshape": lambda: x.reshape(shape),
        "scale": lambda: x * number(op, "factor"),
        "slice": lambda: x[_slices(op)],
        "softmax": lambda: softmax(x, integer(op, "dim")),
        "transpose": lambda: x.transpose(integers(op, "permutation")),
    }
    return views[name]()


def number(op: Operation, name: str) -> float:
    """A scalar property."""
    attribute = op.properties[name]
    assert isa(attribute, FloatAttr)
    return attribute.value.data


def _approximate(op: Operation) -> str:
    attribute = op.properties["approximate"]
    assert isinstance(attribute, StringAttr)
    return attribute.data


def _slices(op: Operation) -> tuple[slice, ...]:
    bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
    return tuple(slice(start, start + size * step, step) for start, size, step in bounds)
