"""Tables of integers and booleans that a StableHLO program computes: indices of gathers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, Signedness, i1
from xdsl.ir import Attribute, Operation

from mirage_mlir.dialects import stablehlo
from mirage_mlir.dialects import stablehlo_rearrangements as moves
from mirage_mlir.hints import isa
from mirage_mlir.passes.stablehlo.booleans import COMPARISONS
from mirage_mlir.passes.stablehlo.tensors import (
    KernelBuilder,
    Rule,
    Table,
    Tensor,
    constant,
    type_of,
)
from mirage_mlir.shapes.shapes import Shape

MOST = 4096
"""Elements of a table: far above the indices that programs write, far below a mask."""


def _clamped(low: Table, x: Table, high: Table) -> Table:
    return np.minimum(np.maximum(x, low), high)


def _divided(x: Table, y: Table) -> Table | None:
    """Quotients, rounded towards 0; None where they depend on the machine."""
    if not y.all() or x.dtype.kind == "b":
        return None
    return (x - np.fmod(x, y)) // y


def _remainder(x: Table, y: Table) -> Table | None:
    return np.fmod(x, y) if y.all() and x.dtype.kind != "b" else None


ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "stablehlo.abs": np.abs,
    "stablehlo.add": np.add,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.clamp": _clamped,
    "stablehlo.convert": np.copy,
    "stablehlo.divide": _divided,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.multiply": np.multiply,
    "stablehlo.negate": np.negative,
    "stablehlo.not": np.invert,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.remainder": _remainder,
    "stablehlo.select": np.where,
    "stablehlo.sign": np.sign,
    "stablehlo.subtract": np.subtract,
    "stablehlo.xor": np.bitwise_xor,
}
"""On integers and booleans of the program's own widths, where sums wrap around as they do there."""

HERE_ALONE = ("stablehlo.divide", "stablehlo.remainder", "stablehlo.sign")
"""What kernels do not have of integers."""


def table_type(element: Attribute, shape: Shape) -> "np.dtype[Any] | None":
    """The element type of a table; None of what has none."""
    if not isa(element, IntegerType) or prod(shape) > MOST:
        return None
    if element == i1:
        return np.dtype(np.bool_)
    width, signed = element.width.data, element.signedness.data != Signedness.UNSIGNED
    return np.dtype(f"{'' if signed else 'u'}int{width}") if width in (8, 16, 32, 64) else None


def apply(rule: Rule, emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """What `rule` makes of tensors, with its elements where they follow from tables alone."""
    table = _evaluated(op, inputs)
    if table is not None and (table == table.flat[0]).all():
        kind = type_of(op.results[0])
        return constant(kind.get_shape(), kind.element_type, table.flat[0].item())
    has_table = any(each.value is None and each.number is None for each in inputs)
    is_made_here = has_table or isinstance(op, stablehlo.ConstantOp) or op.name in HERE_ALONE
    if table is not None and is_made_here:
        kind = type_of(op.results[0])
        return Tensor(kind.get_shape(), kind.element_type, table=table)
    if has_table and not (isinstance(op, moves.GatherOp) and inputs[0].table is None):
        emit.fail("computes with a table of integers, which kernels have only as indices")
    result = rule(emit, op, inputs)
    return result if table is None or result.number is not None else replace(result, table=table)


def table_of(tensor: Tensor) -> Table | None:
    """The elements, where they are known."""
    kind = table_type(tensor.element, tensor.shape)
    if tensor.number is None or kind is None:
        return tensor.table
    return np.full(tensor.shape, int(tensor.number)).astype(kind)


def _evaluated(op: Operation, inputs: Sequence[Tensor]) -> Table | None:
    if len(op.results) != 1:
        return None
    result = type_of(op.results[0])
    kind = table_type(result.element_type, result.get_shape())
    tables = [table_of(each) for each in inputs]
    known = [each for each in tables if each is not None]
    if kind is None or len(known) < len(tables):
        return None
    with np.errstate(over="ignore"):
        made = _made(op, known, result.get_shape())
    return None if made is None else made.astype(kind)


def _made(op: Operation, inputs: Sequence[Table], shape: Shape) -> Table | None:
    if op.name in ELEMENTWISE:
        made = ELEMENTWISE[op.name](*inputs)
        return None if made is None else np.asarray(made)
    match op:
        case stablehlo.ConstantOp(value=DenseIntOrFPElementsAttr() as value):
            return np.array([*value.get_values()]).reshape(value.get_shape() or ()) * (
                np.ones(shape, np.int64)
            )
        case stablehlo.IotaOp():
            dim = op.iota_dimension.value.data
            along = [-1 if number == dim else 1 for number in range(len(shape))]
            return np.broadcast_to(np.arange(shape[dim]).reshape(along), shape)
        case stablehlo.CompareOp():
            compare: Callable[..., Any] = COMPARISONS[op.comparison_direction.data.value.lower()]
            return np.asarray(compare(*inputs))
        case stablehlo.ReduceOp():
            return _all_or_any(op, inputs)
        case _:
            return _moved(op, inputs, shape)


def _moved(op: Operation, inputs: Sequence[Table], shape: Shape) -> Table | None:
    match op:
        case moves.BroadcastInDimOp():
            dims = op.broadcast_dimensions.get_values()
            x = np.transpose(inputs[0], np.argsort(dims)) if dims else inputs[0]
            sizes = [1] * len(shape)
            for dim, size in zip(sorted(dims), x.shape, strict=True):
                sizes[dim] = size
            return np.broadcast_to(x.reshape(sizes), shape)
        case moves.ReshapeOp():
            return inputs[0].reshape(shape)
        case moves.TransposeOp():
            return np.transpose(inputs[0], op.permutation.get_values())
        case moves.ReverseOp():
            return np.flip(inputs[0], op.dimensions.get_values())
        case moves.ConcatenateOp():
            return np.concatenate(inputs, op.dimension.value.data)
        case moves.SliceOp():
            fields = (op.start_indices, op.limit_indices, op.strides)
            rows = zip(*(field.get_values() for field in fields), strict=True)
            return inputs[0][tuple(slice(*row) for row in rows)]
        case _:
            return None


def _all_or_any(op: stablehlo.ReduceOp, inputs: Sequence[Table]) -> Table | None:
    """Booleans reduced, as JAX asks whether all indices are within bounds."""
    first = op.body.block.first_op
    last = op.body.block.last_op
    functions = {"stablehlo.and": np.logical_and, "stablehlo.or": np.logical_or}
    if first is None or first.name not in functions or len(inputs) != 2:
        return None
    if first.next_op is not last or {*first.operands} != {*op.body.block.args}:
        return None
    x, initial = inputs
    combine = functions[first.name]
    dims = tuple(op.dimensions.get_values())
    if x.dtype != np.bool_:
        return None
    return combine(combine.reduce(x, axis=dims), initial)
