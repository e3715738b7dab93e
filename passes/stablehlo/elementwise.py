"""Elementwise operations of StableHLO as operators of the kernel dialect."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, log

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import constant_value
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.stablehlo import booleans
from mirage_mlir.passes.stablehlo.booleans import connective, scalar_to
from mirage_mlir.passes.stablehlo.folding import fold, rounded
from mirage_mlir.passes.stablehlo.tensors import (
    KernelBuilder,
    Rule,
    Tensor,
    constant,
    numbers_of,
    type_of,
)

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
    "stablehlo.ceil": kernel.ROW_OPS["ceil"],
    "stablehlo.cosine": kernel.ROW_OPS["cos"],
    "stablehlo.exponential": kernel.ExpOp,
    "stablehlo.exponential_minus_one": kernel.ROW_OPS["expm1"],
    "stablehlo.floor": kernel.ROW_OPS["floor"],
    "stablehlo.log": kernel.LogOp,
    "stablehlo.log_plus_one": kernel.ROW_OPS["log1p"],
    "stablehlo.logistic": kernel.SigmoidOp,
    "stablehlo.negate": kernel.ROW_OPS["neg"],
    "stablehlo.round_nearest_even": kernel.ROW_OPS["round"],
    "stablehlo.rsqrt": kernel.RsqrtOp,
    "stablehlo.sine": kernel.ROW_OPS["sin"],
    "stablehlo.sqrt": kernel.SqrtOp,
    "stablehlo.tanh": kernel.TanhOp,
    "chlo.erf": kernel.ROW_OPS["erf"],
    "chlo.square": kernel.SquareOp,
}


def _folded(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor | None:
    numbers = numbers_of(inputs)
    if numbers is None:
        return None
    result = fold(op.name, type_of(op.results[0]).element_type, numbers)
    return None if result is None else emit.number(result)


def _binary(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    if inputs[0].is_boolean:
        return connective(emit, op, inputs)
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


def _remainder(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    if (folded := _folded(emit, op, inputs)) is not None:
        return folded
    emit.fail("has no counterpart among the operators of the kernel dialect")


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
    if not isfinite(exponent.number):
        emit.fail(f"has the exponent {exponent.number}, which is no number for kernel.pow")
    value = emit.value(base)
    if exponent.number == 2:
        return emit.result(emit.add(kernel.SquareOp(value)))
    return emit.result(emit.add(kernel.PowOp(value, exponent.number)))


def _sign(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """The number itself where it is neither above nor below 0: a zero, or NaN."""
    if (folded := _folded(emit, op, inputs)) is not None:
        return folded
    (x,) = inputs
    if x.is_integer:
        emit.fail("computes with integers that are no constants")
    found = value = emit.value(x)
    zero, one, less = (emit.value(constant(x.shape, x.element, each)) for each in (0.0, 1.0, -1.0))
    for number, predicate in ((one, "gt"), (less, "lt")):
        mask = emit.add(kernel.CompareOp(value, zero, predicate))
        found = emit.add(kernel.SelectOp(mask, number, found))
    return emit.result(found)


def _clamp(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    low, x, high = inputs
    if x.is_integer or x.is_boolean:
        emit.fail("clamps integers that are no constants")
    least, most = low.number, high.number
    if x.value and least is not None and most is not None and isfinite(least) and isfinite(most):
        return emit.result(emit.add(kernel.ClampOp(x.value, least, most)))
    low, high = (scalar_to(emit, each, x.shape) for each in (low, high))
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
    **booleans.RULES,
    "stablehlo.clamp": _clamp,
    "stablehlo.convert": _convert,
    "stablehlo.power": _power,
    "stablehlo.remainder": _remainder,
    "stablehlo.sign": _sign,
    "chlo.erfc": _erfc,
}
"""By the name of the operation."""
