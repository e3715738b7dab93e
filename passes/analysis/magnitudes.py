"""How large the numbers of a kernel may be, as far as its constants say it."""

from collections.abc import Iterator
from math import isfinite

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, f16
from xdsl.ir import Operation

from mirage_mlir.dialects import kernel, thread, threadblock

LARGE = 2.0**15
"""
Above it numbers are large. In f32 `x / ln 2` of smaller ones has an error of 2^-9 at most, and an
exponential of it one of 2^-9 of itself.
"""

LARGEST_BOUND = 2.3e38
"""Of a maximum: divided by ln 2 it must be a number of f32, which ends at 3.4e38."""


def has_moderate_numbers(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether a kernel has nothing but f16 inputs to compute with, and no large numbers beside them.

    A mask of -1e9 is such a number, or indices that are multiplied with each other. Lower bounds of
    maxima are not: no exponential is computed of one.
    """
    if any(kernel.tensor_type(value).element_type != f16 for value in graph.inputs):
        return False
    bodies = [op for op in graph.body.block.ops if isinstance(op, thread.GraphOp)]
    return not any(any(_large_operations(body)) for body in bodies)


def _large_operations(body: thread.GraphOp) -> Iterator[bool]:
    """For each operation on scalars whether it may make a large number of moderate ones."""
    indices = [
        argument
        for argument, value in zip(body.body.block.args, body.operands, strict=True)
        if isinstance(value.owner, threadblock.IotaOp)
    ]
    for op in body.body.block.ops:
        bound = isinstance(op, arith.MaximumfOp | arith.MaxnumfOp)
        most = LARGEST_BOUND if bound else LARGE
        yield any(_is_above(most, value.owner) for value in op.operands)
        if isinstance(op, arith.DivfOp):
            yield any(_is_tiny(value.owner) for value in op.operands[1:])
        if isinstance(op, arith.MulfOp) and indices:
            yield not any(_number(value.owner) is not None for value in op.operands)


def _is_above(most: float, op: object) -> bool:
    number = _number(op)
    return number is not None and isfinite(number) and abs(number) > most


def _is_tiny(op: object) -> bool:
    number = _number(op)
    return number is not None and abs(number) < 1 / LARGE


def _number(op: object) -> float | None:
    """The number that an operation makes; None of others."""
    if isinstance(op, Operation) and isinstance(op, arith.ConstantOp):
        return op.value.value.data if isinstance(op.value, FloatAttr) else None
    return None
