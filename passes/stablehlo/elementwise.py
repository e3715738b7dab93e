"""Elementwise operations of StableHLO as operators of the kernel dialect."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, log
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerType, TensorType, i1
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, stablehlo
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.passes.patterns.canonical import constant_value
from mirage_mlir.passes.stablehlo.folding import fold, rounded
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Tensor, constant, type_of

Rule: TypeAlias = Callable[[KernelBuilder, Operation, Sequence[Tensor]], Tensor]

BINARY: Mapping[str, type[kernel.BinaryOp]] = {
    "stablehlo.add": kernel.AddOp,
    "stablehlo.divide": kernel.DivOp,
    "stablehlo.maximum": kernel.MaxOp,
    "stablehlo.minimum": kernel.MinOp,
    "stablehlo.multiply": kernel.MulOp,
    "stablehlo.subtract": kernel.SubOp,
}

NEUTRAL = {
    "stablehlo.add": (0.0, "integers"),
    "stablehlo.divide": (1.0, "behind"),
    "stablehlo.maximum": (-inf, "both"),
    "stablehlo.minimum": (inf, "both"),
    "stablehlo.multiply": (1.0, "both"),
    "stablehlo.subtract": (0.0, "behind"),
}
"""The number that changes nothing: on which side, or of which numbers (-0.0 + 0.0 is 0.0)."""

UNARY: Mapping[str, Callable[[SSAValue], Operation]] = {
    "stablehlo.abs": kernel.ROW_OPS["abs"],
    "stablehlo.cosine": kernel.ROW_OPS["cos"],
    "stablehlo.exponential": kernel.ExpOp,
    "stablehlo.exponential_minus_one": kernel.ROW_OPS["expm1"],
    "stablehlo.log": kernel.LogOp,
    "stablehlo.log_plus_one": kernel.ROW_OPS["log1p"],
    "stablehlo.logistic": kernel.SigmoidOp,
    "stablehlo.negate": kernel.ROW_OPS["neg"],
    "stablehlo.rsqrt": kernel.RsqrtOp,
    "stablehlo.sine": kernel.ROW_OPS["sin"],
    "stablehlo.sqrt": kernel.SqrtOp,
    "stablehlo.tanh": kernel.TanhOp,
    "chlo.erf": kernel.ROW_OPS["erf"],
    "chlo.square": kernel.SquareOp,
}


def _numbers(inputs: Sequence[Tensor]) -> list[float] | None:
    """The numbers that all inputs are."""
    numbers = [each.number for each in inputs if each.number is not None]
    return numbers if len(numbers) == len(inputs) else None


def _folded(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor | None:
    numbers = _numbers(inputs)
    if numbers is None:
        return None
    result = fold(op.name, type_of(op.results[0]).element_type, numbers)
    return None if result is None else emit.number(result)


def _binary(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    if inputs[0].is_boolean:
        return _connective(emit, op, inputs)
    if (folded := _folded(emit, op, inputs)) is not None:
        return folded
    for tensor, other in (tuple(inputs), tuple(reversed(inputs))):
        if _is_neutral(op.name, other, is_behind=other is inputs[1]):
            return tensor
        if op.name == "stablehlo.multiply" and other.number is not None and tensor.value:
            if not tensor.is_integer and isfinite(other.number):
                return emit.result(emit.add(kernel.ScaleOp(tensor.value, other.number)))
    bounds = _bounds(emit, op, inputs) if inputs[0].is_integer else (0, 0)
    if op.name == "stablehlo.divide" and (x := _logit(inputs)) is not None:
        return emit.result(emit.add(kernel.SigmoidOp(x)))
    lhs, rhs = (emit.value(each) for each in inputs)
    return emit.result(emit.add(BINARY[op.name](lhs, rhs)), bounds)


def _logit(inputs: Sequence[Tensor]) -> SSAValue | None:
    """x of `1 / (1 + exp(-x))`, as JAX writes logistic; None where that is not what is divided."""
    one, total = inputs
    if one.number != 1 or total.value is None or not isinstance(total.value.owner, kernel.AddOp):
        return None
    first, second = total.value.owner.operands
    if constant_value(second) == 1:
        first, second = second, first
    if constant_value(first) != 1 or not isinstance(second.owner, kernel.ExpOp):
        return None
    opposite = second.owner.operands[0].owner
    return opposite.operands[0] if isinstance(opposite, kernel.ROW_OPS["neg"]) else None


def _is_neutral(name: str, tensor: Tensor, *, is_behind: bool) -> bool:
    number, where = NEUTRAL[name]
    allowed = where == "both" or (where == "behind" and is_behind) or tensor.is_integer
    return tensor.number == number and allowed


def _bounds(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> tuple[int, int]:
    """Between which integers the result is; no sum or product may leave its type."""
    (a, b), (c, d) = (each.bounds for each in inputs)
    match op.name:
        case "stablehlo.add":
            bounds = a + c, b + d
        case "stablehlo.subtract":
            bounds = a - d, b - c
        case "stablehlo.multiply":
            corners = (a * c, a * d, b * c, b * d)
            bounds = min(corners), max(corners)
        case "stablehlo.maximum":
            bounds = max(a, c), max(b, d)
        case "stablehlo.minimum":
            bounds = min(a, c), min(b, d)
        case _:
            emit.fail("computes with integers that are no constants")
    return _within_type(emit, op, bounds)


def _within_type(emit: KernelBuilder, op: Operation, bounds: tuple[int, int]) -> tuple[int, int]:
    element = type_of(op.results[0]).element_type
    if any(rounded(bound, element) != bound for bound in bounds):
        emit.fail(f"may overflow: integers between {bounds[0]} and {bounds[1]} in {element}")
    return bounds


def _unary(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    if (folded := _folded(emit, op, inputs)) is not None:
        return folded
    (x,) = inputs
    bounds = (0, 0)
    if x.is_integer:
        low, high = x.bounds
        if op.name == "stablehlo.negate":
            bounds = _within_type(emit, op, (-high, -low))
        elif op.name == "stablehlo.abs":
            bounds = _within_type(emit, op, (0, max(abs(low), abs(high))))
        else:
            emit.fail("computes with integers that are no constants")
    return emit.result(emit.add(UNARY[op.name](emit.value(x))), bounds)


def _in_f32(
    emit: KernelBuilder, inputs: Sequence[Tensor], make: Callable[[SSAValue, SSAValue], SSAValue]
) -> Tensor:
    """A function of a number and 1, rounded once, from f32 to the element type."""
    value = emit.value(inputs[0])
    one = emit.steps.constant(1.0, value)
    return emit.result(emit.steps.like(make(emit.steps.widen(value), one), value))


def _erfc(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    def make(x: SSAValue, one: SSAValue) -> SSAValue:
        return emit.steps.minus(one, emit.add(kernel.ROW_OPS["erf"](x)))

    return _folded(emit, op, inputs) or _in_f32(emit, inputs, make)


def _power(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    base, exponent = inputs
    if (folded := _folded(emit, op, inputs)) is not None:
        return folded
    if exponent.number is None and base.number is not None and 0 < base.number < inf:
        value = emit.value(exponent)
        scaled = emit.add(kernel.ScaleOp(emit.steps.widen(value), log(base.number)))
        return emit.result(emit.steps.like(emit.add(kernel.ExpOp(scaled)), value))
    if exponent.number is None or base.is_integer:
        emit.fail("has an exponent that is no constant, or integers; kernel.pow has neither")
    value = emit.value(base)
    if exponent.number == 2:
        return emit.result(emit.add(kernel.SquareOp(value)))
    return emit.result(emit.add(kernel.PowOp(value, exponent.number)))


# Booleans


def _masks(emit: KernelBuilder, inputs: Sequence[Tensor]) -> list[SSAValue]:
    """Booleans as tensors of one element type."""
    element = emit.storage(next((each for each in inputs if each.value), inputs[0]))
    return [emit.value(each, element) for each in inputs]


def _connective(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
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
    if (numbers := _numbers(inputs)) is not None:
        return emit.number(COMPARISONS[predicate](*numbers))
    lhs, rhs = _masks(emit, inputs) if inputs[0].is_boolean else map(emit.value, inputs)
    return emit.result(emit.add(kernel.CompareOp(lhs, rhs, predicate)))


def _is_finite(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (x,) = inputs
    if x.number is not None:
        return emit.number(isfinite(x.number))
    size = emit.add(kernel.ROW_OPS["abs"](emit.value(x)))
    largest = FORMATS[x.element.name].largest
    limit = emit.value(constant(x.shape, x.element, largest))
    return emit.result(emit.add(kernel.CompareOp(size, limit, "le")))


def _scalar_to(emit: KernelBuilder, tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """A scalar as a tensor of `shape`; a tensor as it is."""
    if len(tensor.shape) == len(shape):
        return tensor
    value = None if tensor.value is None else emit.reshape(tensor.value, [1] * len(shape))
    return tensor.moved(tuple(shape), value)


def _select(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    condition, lhs, rhs = inputs
    if condition.number is not None:
        return lhs if condition.number else rhs
    condition = _scalar_to(emit, condition, lhs.shape)
    if lhs.is_boolean:
        return _select_mask(emit, condition, lhs, rhs)
    element = emit.storage(lhs)
    values = (emit.value(condition, element), emit.value(lhs), emit.value(rhs))
    low = min(lhs.bounds[0], rhs.bounds[0])
    high = max(lhs.bounds[1], rhs.bounds[1])
    return emit.result(emit.add(kernel.SelectOp(*values)), (low, high))


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


def _clamp(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    low, x, high = inputs
    if x.is_integer or x.is_boolean:
        emit.fail("clamps integers that are no constants")
    least, most = low.number, high.number
    if x.value and least is not None and most is not None and isfinite(least) and isfinite(most):
        return emit.result(emit.add(kernel.ClampOp(x.value, least, most)))
    low, high = (_scalar_to(emit, each, x.shape) for each in (low, high))
    above = emit.add(kernel.MaxOp(emit.value(x), emit.value(low)))
    return emit.result(emit.add(kernel.MinOp(above, emit.value(high))))


def _convert(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (x,) = inputs
    element = type_of(op.results[0]).element_type
    if x.number is not None:
        return emit.number(bool(x.number) if element == i1 else rounded(x.number, element))
    if element == x.element:
        return x
    value = emit.value(x)
    if element == i1:
        zero = emit.value(constant(x.shape, x.element, 0))
        return emit.result(emit.add(kernel.CompareOp(value, zero, "ne")))
    if isinstance(element, IntegerType):
        if x.is_boolean:
            return emit.result(emit.steps.widen(value), (0, 1))
        if not x.is_integer:
            emit.fail(f"makes integers of floats: {x.element} to {element}")
        return emit.result(value, _within_type(emit, op, x.bounds))
    if not isinstance(element, FloatType):
        emit.fail(f"converts to {element}, which no kernel computes with")
    return emit.result(emit.steps.cast(value, element))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(("stablehlo.and", "stablehlo.or", "stablehlo.xor"), _connective),
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.not": _not,
    "stablehlo.power": _power,
    "stablehlo.select": _select,
    "chlo.erfc": _erfc,
}
"""By the name of the operation."""
