"""
Comparisons and selections recorded for the search.

It has no operation of three operands. What `select` takes of each side is a function of two, 0
where the condition says the other side, and the two are added up: x + 0 is x, and what is not
chosen has no effect, whatever it is. The writer of tiles makes one `select` of it again.
"""

from collections.abc import Sequence
from math import isnan

import numpy as np
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.float_domain import round_to_format
from mirage_mlir.operators.elementwise import Conditional, Parameters
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import CHOSEN, COMPARE, KEPT, Function, Kind

Operand = int | float
"""The number of a value of the builder, or a number itself: infinite ones are no values of it."""

MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""The predicate that holds of y and x where one holds of x and y."""


def is_condition(op: Operation) -> bool:
    """Whether an operator is a comparison or a selection; by itself it is not searched for."""
    row = row_of(op)
    return row is not None and isinstance(row.search, Conditional)


def number_of(op: object) -> float | None:
    """The number that all elements of a constant are; None for others, and for NaN."""
    if not isinstance(op, kernel.ConstantOp):
        return None
    value = float(op.value.value.data)
    return None if isnan(value) else value


def is_exact(value: SSAValue) -> bool:
    """Whether a constant is what it says in its own element type; kernels compare in f32."""
    if (number := number_of(value.owner)) is None:
        return True
    stored = np.array(np.float32(number), np.float64)
    kind = FORMATS[kernel.tensor_type(value).element_type.name]
    return bool(round_to_format(stored, kind) == stored)


def record_condition(
    builder: ProgramBuilder,
    name: str,
    parameters: Parameters,
    operands: Sequence[Operand],
    shape: Sequence[int],
) -> int | None:
    """
    Record a comparison or a selection; the number of its result, None of numbers alone.

    Args:
        builder: records it.
        name: of the operator.
        parameters: its own.
        operands: numbers where all elements are one.
        shape: of the result.
    """
    if name == "compare":
        made = _compare(builder, parameters.text("predicate"), *operands)
    else:
        made = _select(builder, *operands)
    if made is None or builder.shape(made) == tuple(shape):
        return made
    return builder.broadcast(made, shape)


def _compare(builder: ProgramBuilder, predicate: str, lhs: Operand, rhs: Operand) -> int | None:
    if isinstance(lhs, float):
        return None if isinstance(rhs, float) else _compare(builder, MIRRORED[predicate], rhs, lhs)
    if isinstance(rhs, float):
        return builder.function(Function(COMPARE, (predicate, rhs)), lhs)
    return builder.function_of_two(Function(COMPARE, (predicate,)), lhs, rhs)


def _select(builder: ProgramBuilder, condition: Operand, lhs: Operand, rhs: Operand) -> int | None:
    if isinstance(condition, float):
        return None
    if isinstance(lhs, float) and isinstance(rhs, float):
        return builder.function(Function(CHOSEN, (lhs, rhs)), condition)
    sides = [_side(builder, condition, value, place) for place, value in enumerate((lhs, rhs))]
    terms = [side for side in sides if side is not None]
    return terms[0] if len(terms) == 1 else builder.binary(Kind.ADD, *terms)


def _side(builder: ProgramBuilder, condition: int, value: Operand, place: int) -> int | None:
    """What is taken of the first or second side, 0 elsewhere; None of one that is 0."""
    if isinstance(value, float):
        numbers = (0.0, value) if place else (value, 0.0)
        return builder.function(Function(CHOSEN, numbers), condition) if value else None
    if place:
        condition = builder.function(Function(COMPARE, ("eq", 0.0)), condition)
    return builder.function_of_two(Function(KEPT), condition, value)
