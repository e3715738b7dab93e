"""Booleans of StableHLO in the kernel dialect: tensors of zeros and ones."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, stablehlo
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Rule, Tensor, constant, numbers_of


def _masks(emit: KernelBuilder, inputs: Sequence[Tensor]) -> list[SSAValue]:
    """Booleans as tensors of one element type."""
    element = emit.storage(next((each for each in inputs if each.value), inputs[0]))
    return [emit.value(each, element) for each in inputs]


def connective(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """Conjunction, disjunction or difference of booleans."""
    if not inputs[0].is_boolean:
        emit.fail("computes with the bits of integers")
    kind = op.name.partition(".")[2]
    for tensor, other in (tuple(inputs), tuple(reversed(inputs))):
        if other.number is None:
            continue
        match kind:
            case "and" | "multiply" | "minimum":
                return tensor if other.number else emit.number(False)
            case "or" | "add" | "maximum":
                return emit.number(True) if other.number else tensor
            case "xor" if tensor.value is not None:
                return emit.result(_complement(emit, tensor.value)) if other.number else tensor
            case _:
                pass
    lhs, rhs = _masks(emit, inputs)
    match kind:
        case "and" | "multiply" | "minimum":
            return emit.result(emit.add(kernel.MulOp(lhs, rhs)))
        case "or" | "add" | "maximum":
            return emit.result(emit.add(kernel.MaxOp(lhs, rhs)))
        case "xor":
            return emit.result(emit.add(kernel.CompareOp(lhs, rhs, "ne")))
        case _:
            emit.fail("computes with booleans")


def _not(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (mask,) = inputs
    if not mask.is_boolean:
        emit.fail("computes with the bits of integers")
    if mask.number is not None:
        return emit.number(not mask.number)
    return emit.result(_complement(emit, emit.value(mask)))


def _complement(emit: KernelBuilder, mask: SSAValue) -> SSAValue:
    element, rank = kernel.tensor_type(mask).element_type, len(kernel.shape_of(mask))
    one = emit.add(kernel.ConstantOp(1.0, TensorType(element, [1] * rank)))
    return emit.add(kernel.SubOp(one, mask))


def _opposite(mask: SSAValue) -> SSAValue | None:
    """What `mask` is the complement of."""
    if isinstance(mask.owner, kernel.SubOp) and isinstance(mask.owner.lhs.owner, kernel.ConstantOp):
        return mask.owner.rhs
    return None


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "le": lambda x, y: x <= y,
    "lt": lambda x, y: x < y,
}


def _compare(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.CompareOp)
    predicate = op.comparison_direction.data.value.lower()
    if op.compare_type is not None and op.compare_type.data.value == "TOTALORDER":
        emit.fail("compares floats in their total order, in which -0.0 is less than 0.0")
    if (numbers := numbers_of(inputs)) is not None:
        return emit.number(COMPARISONS[predicate](*numbers))
    if inputs[1].number == inf:
        return _against_infinity(emit, inputs[0], predicate)
    if inputs[0].number == inf:
        return _against_infinity(emit, inputs[1], SWAPPED[predicate])
    lhs, rhs = _masks(emit, inputs) if inputs[0].is_boolean else map(emit.value, inputs)
    return emit.result(emit.add(kernel.CompareOp(lhs, rhs, predicate)))


OF_INFINITY = {"eq": "gt", "ge": "gt", "ne": "gt", "lt": "le"}
"""What compares with the largest number as the word before, or its opposite, does with infinity."""

SWAPPED = {"eq": "eq", "ne": "ne", "ge": "le", "gt": "lt", "le": "ge", "lt": "gt"}


def _against_infinity(emit: KernelBuilder, x: Tensor, predicate: str) -> Tensor:
    """A comparison of `x` with infinity, which no kernel has as a constant."""
    value = emit.value(x)
    match predicate:
        case "gt":
            return emit.number(False)
        case "le":  # all but NaN
            return emit.result(emit.add(kernel.CompareOp(value, value, "eq")))
        case _:
            largest = emit.value(constant(x.shape, x.element, FORMATS[x.element.name].largest))
            mask = emit.add(kernel.CompareOp(value, largest, OF_INFINITY[predicate]))
            return emit.result(_complement(emit, mask) if predicate == "ne" else mask)


def _is_finite(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (x,) = inputs
    if x.number is not None:
        return emit.number(isfinite(x.number))
    size = emit.add(kernel.ROW_OPS["abs"](emit.value(x)))
    largest = FORMATS[x.element.name].largest
    limit = emit.value(constant(x.shape, x.element, largest))
    return emit.result(emit.add(kernel.CompareOp(size, limit, "le")))


def scalar_to(emit: KernelBuilder, tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """A scalar as a tensor of `shape`; a tensor as it is."""
    if len(tensor.shape) == len(shape):
        return tensor
    value = None if tensor.value is None else emit.reshape(tensor.value, [1] * len(shape))
    return tensor.moved(tuple(shape), value)


def _select(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    condition, lhs, rhs = inputs
    if condition.number is not None:
        return lhs if condition.number else rhs
    condition = scalar_to(emit, condition, lhs.shape)
    if lhs.is_boolean:
        return _select_mask(emit, condition, lhs, rhs)
    element = emit.storage(lhs)
    mask, first, second = emit.value(condition, element), emit.value(lhs), emit.value(rhs)
    if (opposite := _opposite(mask)) is not None:
        mask, first, second = opposite, second, first
    low = min(lhs.bounds[0], rhs.bounds[0])
    high = max(lhs.bounds[1], rhs.bounds[1])
    return emit.result(emit.add(kernel.SelectOp(mask, first, second)), (low, high))


def _select_mask(emit: KernelBuilder, condition: Tensor, lhs: Tensor, rhs: Tensor) -> Tensor:
    match lhs.number, rhs.number:
        case (None, None):
            mask, first, second = _masks(emit, (condition, lhs, rhs))
            return emit.result(emit.add(kernel.SelectOp(mask, first, second)))
        case (first, second) if first is not None and first == second:
            return lhs
        case (None, second):
            mask, other = _masks(emit, (condition, lhs))
            if not second:
                return emit.result(emit.add(kernel.MulOp(mask, other)))
            return emit.result(emit.add(kernel.MaxOp(_complement(emit, mask), other)))
        case (first, None):
            mask, other = _masks(emit, (condition, rhs))
            if first:
                return emit.result(emit.add(kernel.MaxOp(mask, other)))
            return emit.result(emit.add(kernel.MulOp(_complement(emit, mask), other)))
        case (first, _):
            mask = emit.value(condition)
            return emit.result(mask if first else _complement(emit, mask))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("stablehlo.and", "stablehlo.or", "stablehlo.xor"), connective),
    "stablehlo.compare": _compare,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.not": _not,
    "stablehlo.select": _select,
}
"""By the name of the operation."""
