"""Elementwise operators of ATen."""

from math import e, isfinite, log
from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, handles, is_number
from mirage_mlir.runtime.element_types import ElementType

UNARY = [
    *("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sigmoid", "silu", "relu", "tanh", "erf"),
    *("sin", "cos", "abs", "neg", "floor", "ceil", "round"),
]
"""Functions of one tensor that have the same name in ATen and in a graph."""

BINARY = {"maximum.default": "max", "minimum.default": "min"}

SOFTPLUS_THRESHOLD = 15
"""`exp(-15)` is below the last place of 15 in f32, so that softplus is `x` beyond it."""

PREDICATES = ["eq", "ne", "lt", "le", "gt", "ge"]


@handles(*(f"{name}.default" for name in UNARY))
def unary(call: FxCall, x: Any) -> Tensor:
    """The function of the operator's name, computed in the type of `x`."""
    name = call.node.target.overloadpacket.__name__
    return getattr(call.graph, name)(call.tensor(x, call.widest(x)))


@handles("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar")
def add(call: FxCall, lhs: Any, rhs: Any, alpha: float = 1) -> Tensor:
    """`lhs + alpha * rhs`, or minus."""
    if is_number(rhs):
        rhs, alpha = rhs * alpha, 1
    kind = call.widest(lhs, rhs, numbers=True)
    left, right = call.value(lhs, kind), call.value(rhs, kind)
    if alpha != 1:
        right = call.scaled(call.tensor(rhs, kind), alpha)
    name = call.node.target.overloadpacket.__name__
    return getattr(call.graph, name)(left, right)


@handles("rsub.Scalar", "rsub.Tensor")
def reversed_sub(call: FxCall, lhs: Any, rhs: Any, alpha: float = 1) -> Tensor:
    """`rhs - alpha * lhs`."""
    kind = call.widest(lhs, rhs, numbers=True)
    taken = call.scaled(call.tensor(lhs, kind), alpha)
    return call.graph.sub(call.value(rhs, kind), taken)


@handles("mul.Tensor", "mul.Scalar")
def mul(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """`lhs * rhs`; a factor that is a number is not rounded."""
    kind = call.widest(lhs, rhs)
    return call.graph.mul(call.value(lhs, kind), call.value(rhs, kind))


@handles("div.Tensor", "div.Scalar")
def div(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """`lhs / rhs`."""
    if is_number(rhs) and rhs != 0:
        return call.graph.scale(call.tensor(lhs, call.widest(lhs)), 1 / rhs)
    kind = call.widest(lhs, rhs, numbers=True)
    return call.graph.div(call.value(lhs, kind), call.value(rhs, kind))


@handles("reciprocal.default")
def reciprocal(call: FxCall, x: Any) -> Tensor:
    """`1 / x`."""
    return call.graph.div(1.0, call.tensor(x))


@handles(*BINARY)
def extremum(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """The larger or the smaller of both."""
    kind = call.widest(lhs, rhs)
    name = BINARY[f"{call.node.target.overloadpacket.__name__}.default"]
    return getattr(call.graph, name)(call.tensor(lhs, kind), call.tensor(rhs, kind))


@handles(
    "clamp.default", "clamp.Tensor", "clamp_min.default", "clamp_min.Tensor", "hardtanh.default"
)
def clamp(call: FxCall, x: Any, min: Any = None, max: Any = None) -> Tensor:
    """`x` within limits, of which one may be missing."""
    if call.node.target.overloadpacket.__name__ == "hardtanh":
        min, max = -1.0 if min is None else min, 1.0 if max is None else max
    limits = [each for each in (min, max) if each is not None]
    kind = call.widest(x, *limits, numbers=True)
    made = call.tensor(x, kind)
    numbers = all(is_number(each) and isfinite(each) for each in limits)
    if len(limits) == 2 and numbers and min <= max:
        # One operator: its gradient is 1 at both limits, as torch has it.
        return call.graph.clamp(made, min, max)
    if min is not None:
        made = call.graph.max(made, call.value(min, kind))
    return made if max is None else call.graph.min(made, call.value(max, kind))


@handles("clamp_max.default", "clamp_max.Tensor")
def clamp_max(call: FxCall, x: Any, max: Any) -> Tensor:
    """`x` where it is below a limit, which is there instead."""
    return clamp(call, x, None, max)


@handles("prims.fma.default")
def multiply_add(call: FxCall, x: Any, y: Any, z: Any) -> Tensor:
    """`x * y + z`, in f32, as inductor has the gradient of a softmax; any may be a number."""
    first, second, added = (call.value(each, ElementType.F32) for each in (x, y, z))
    if is_number(x) and is_number(y):
        return call.graph.add(x * y, added)
    return call.graph.add(call.graph.mul(first, second), added)


@handles("addcmul.default")
def add_product(call: FxCall, x: Any, y: Any, z: Any, value: float = 1) -> Tensor:
    """`x + value * y * z`, rounded once."""
    added, *factors = (call.tensor(each, ElementType.F32) for each in (x, y, z))
    return call.graph.add(added, call.scaled(call.graph.mul(*factors), value))


@handles("leaky_relu.default")
def leaky_relu(call: FxCall, x: Any, negative_slope: float = 0.01) -> Tensor:
    """`x` where it is positive, and `negative_slope * x` elsewhere."""
    given = call.tensor(x)
    scaled = call.graph.scale(given, negative_slope)
    return call.graph.select(call.graph.compare(given, 0.0, "gt"), given, scaled)


@handles("elu.default")
def elu(call: FxCall, x: Any, alpha: float = 1, scale: float = 1, rate: float = 1) -> Tensor:
    """`scale * x` where it is positive, and `scale * alpha * (exp(rate * x) - 1)` elsewhere."""
    graph, given = call.graph, call.tensor(x, call.widest(x))
    below = graph.expm1(call.scaled(graph.min(given, 0.0), rate))
    return graph.add(call.scaled(graph.relu(given), scale), call.scaled(below, scale * alpha))


@handles("softplus.default")
def softplus(call: FxCall, x: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`; beyond a threshold of 20 or more that is `x` in f32."""
    if threshold < SOFTPLUS_THRESHOLD:
        raise ValueError(f"a threshold of softplus below {SOFTPLUS_THRESHOLD} is not supported")
    graph, given = call.graph, call.tensor(x, ElementType.F32)
    scaled = call.scaled(given, beta)
    return call.scaled(graph.add(graph.relu(scaled), _log1p_exp(call, scaled)), 1 / beta)


@handles("log_sigmoid_forward.default")
def log_sigmoid(call: FxCall, x: Any) -> tuple[Tensor | None, ...]:
    """`-log(1 + exp(-x))`, and what only torch's backward pass reads."""
    graph, given = call.graph, call.tensor(x, ElementType.F32)
    made = graph.sub(graph.min(given, 0.0), _log1p_exp(call, given))
    return graph.cast(made, call.dtype), None


def _log1p_exp(call: FxCall, x: Tensor) -> Tensor:
    """`log(1 + exp(-|x|))`, which is in [0, log 2]."""
    graph = call.graph
    return graph.log1p(graph.exp(graph.neg(graph.abs(x))))


@handles("logaddexp.default", "logaddexp2.default")
def log_add_exp(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """`log(exp(lhs) + exp(rhs))`, or to base 2, where no power leaves f32."""
    graph, kind = call.graph, ElementType.F32
    base = 2 if call.node.target.overloadpacket.__name__ == "logaddexp2" else e
    left, right = call.tensor(lhs, kind), call.tensor(rhs, kind)
    tail = _log1p_exp(call, call.scaled(graph.sub(left, right), log(base)))
    return graph.add(graph.max(left, right), call.scaled(tail, 1 / log(base)))


@handles("xlogy.Tensor")
def xlogy(call: FxCall, x: Any, y: Any) -> Tensor:
    """`x * log(y)`, and 0 where `x` is."""
    kind, graph = call.widest(x, y), call.graph
    given = call.tensor(x, kind)
    # Not log(0), which is no number times 0.
    is_zero = graph.compare(given, 0.0, "eq")
    return graph.mul(given, graph.log(graph.select(is_zero, 1.0, call.tensor(y, kind))))


@handles("gelu.default")
def gelu(call: FxCall, x: Any, approximate: str = "none") -> Tensor:
    """`x * Phi(x)`."""
    return call.graph.gelu(call.tensor(x), approximate)


@handles("log2.default", "log10.default")
def logarithm(call: FxCall, x: Any) -> Tensor:
    """To base 2 or 10."""
    base = 2 if call.node.target.overloadpacket.__name__ == "log2" else 10
    # In f32: the logarithm is not rounded before it is scaled.
    natural = call.graph.log(call.tensor(x, ElementType.F32))
    return call.graph.scale(natural, 1 / log(base))


@handles("pow.Tensor_Scalar")
def power(call: FxCall, x: Any, exponent: float) -> Tensor:
    """`x ** exponent`."""
    given = call.tensor(x, call.widest(x))
    if exponent == 2:
        return call.graph.square(given)
    if exponent == 1:
        return given
    return call.graph.pow(given, exponent)


@handles("pow.Scalar")
def exponential(call: FxCall, base: float, exponent: Any) -> Tensor:
    """`base ** exponent`, of a base above 0."""
    if base <= 0:
        raise ValueError(f"a base of {base} is not supported: it is a number above 0")
    scaled = call.graph.scale(call.tensor(exponent, ElementType.F32), log(base))
    return call.graph.exp(scaled)


@handles("exp2.default")
def exponential_of_2(call: FxCall, x: Any) -> Tensor:
    """`2 ** x`."""
    return exponential(call, 2, x)


@handles("sinh.default", "cosh.default")
def hyperbolic(call: FxCall, x: Any) -> Tensor:
    """
    `sinh(x) = 2 s c` and `cosh(x) = 1 + 2 s s`, of s and c at half of `x`.

    Nothing cancels near 0, and no factor leaves f32 where the result does not.
    """
    graph, half = call.graph, call.graph.scale(call.tensor(x, ElementType.F32), 0.5)
    above, below = graph.expm1(half), graph.expm1(graph.neg(half))
    # 2 s, and c or s.
    difference = graph.sub(above, below)
    if call.node.target.overloadpacket.__name__ == "sinh":
        return graph.mul(difference, graph.add(graph.scale(graph.add(above, below), 0.5), 1.0))
    return graph.add(graph.mul(difference, graph.scale(difference, 0.5)), 1.0)


@handles("tan.default")
def tangent(call: FxCall, x: Any) -> Tensor:
    """`sin(x) / cos(x)`."""
    given = call.tensor(x, ElementType.F32)
    return call.graph.div(call.graph.sin(given), call.graph.cos(given))


@handles("hypot.default")
def hypotenuse(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """`sqrt(lhs^2 + rhs^2)`, without a square that leaves f32."""
    graph, kind = call.graph, ElementType.F32
    left, right = graph.abs(call.tensor(lhs, kind)), graph.abs(call.tensor(rhs, kind))
    longer = graph.max(left, right)
    # Not 0 / 0.
    divisor = graph.select(graph.compare(longer, 0.0, "eq"), 1.0, longer)
    ratio = graph.div(graph.min(left, right), divisor)
    return graph.mul(longer, graph.sqrt(graph.add(graph.square(ratio), 1.0)))


@handles("sign.default")
def sign(call: FxCall, x: Any) -> Tensor:
    """1 where `x` is positive, and -1 where it is negative."""
    graph, given = call.graph, call.tensor(x)
    return graph.sub(graph.compare(given, 0.0, "gt"), graph.compare(given, 0.0, "lt"))


@handles("trunc.default")
def truncate(call: FxCall, x: Any) -> Tensor:
    """`x` without its fraction."""
    graph, given = call.graph, call.tensor(x, call.widest(x))
    return graph.select(graph.compare(given, 0.0, "lt"), graph.ceil(given), graph.floor(given))


# Masks


@handles(*(f"{name}.{kind}" for name in PREDICATES for kind in ("Tensor", "Scalar")))
def compare(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """A mask; a number is rounded to the type of the tensor, as torch does."""
    kind = call.widest(lhs, rhs)
    name = call.node.target.overloadpacket.__name__
    return call.graph.compare(call.tensor(lhs, kind), call.value(rhs, kind), name)


@handles("where.self")
def where(call: FxCall, condition: Any, lhs: Any, rhs: Any) -> Tensor:
    """`lhs` where the condition holds."""
    kind = call.widest(lhs, rhs)
    mask = call.tensor(condition, kind)
    return call.graph.select(mask, call.tensor(lhs, kind), call.tensor(rhs, kind))


@handles("logical_and.default", "bitwise_and.Tensor")
def conjunction(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """1 where both masks are 1."""
    return call.graph.mul(*_masks(call, lhs, rhs))


@handles("logical_or.default", "bitwise_or.Tensor")
def disjunction(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """1 where one of both masks is 1."""
    return call.graph.max(*_masks(call, lhs, rhs))


@handles("logical_xor.default", "bitwise_xor.Tensor")
def exclusion(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """1 where the masks differ."""
    left, right = _masks(call, lhs, rhs)
    return call.graph.compare(left, right, "ne")


@handles("logical_not.default", "bitwise_not.default")
def negation(call: FxCall, x: Any) -> Tensor:
    """1 where the mask is 0."""
    (mask,) = _masks(call, x)
    return call.graph.compare(mask, 0.0, "eq")


def _masks(call: FxCall, *operands: Any) -> list[Tensor]:
    if not call.is_mask(call.node):
        raise ValueError("bits of integers are not supported")
    return [call.mask(each) for each in operands]


# Types and constants


@handles("_to_copy.default", "clone.default", "alias.default", "detach.default")
@handles("lift_fresh_copy.default")
def copy(call: FxCall, x: Any) -> Tensor:
    """`x` in the type of the result."""
    return call.mask(x) if call.is_mask(call.node) else call.tensor(x)


@handles("prims.convert_element_type.default")
def convert(call: FxCall, x: Any, dtype: Any) -> Tensor:
    """`x` in the type of the result."""
    return copy(call, x)


@handles("copy.default")
def assign(call: FxCall, into: Any, x: Any) -> Tensor:
    """`x` in place of what was in `into`."""
    return copy(call, x)


@handles("full.default", "full_like.default")
def full(call: FxCall, shape: Any, value: float) -> Tensor:
    """A tensor all of whose elements are one number, as its type has it."""
    if call.is_mask(call.node):
        value = bool(value)
    elif not call.node.meta["val"].dtype.is_floating_point:
        value = int(value)
    return call.graph.constant(float(value), call.shape, call.dtype)


@handles("scalar_tensor.default")
def scalar(call: FxCall, value: float) -> Tensor:
    """A tensor of rank 0."""
    return full(call, (), value)


@handles("arange.start_step")
def arange(call: FxCall, start: float, end: float, step: float = 1) -> Tensor:
    """`start`, and `step` more from each element to the next."""
    # Else in f32: indices of f16 and bf16 end early, and what is made of them is rounded once.
    exact = isinstance(start, int) and isinstance(step, int)
    (size,) = call.shape
    largest = int(max(size, abs(start), abs(start + step * size)))
    kind = call.index_type(largest) if exact else ElementType.F32
    indices = call.graph.iota(call.shape, 0, kind)
    steps = call.scaled(indices, step)
    return steps if start == 0 else call.graph.add(steps, float(start))


@handles("prims.iota.default")
def iota(call: FxCall, length: int, start: int = 0, step: int = 1) -> Tensor:
    """`start`, and `step` more from each of `length` elements to the next."""
    return arange(call, start, start + step * length, step)
