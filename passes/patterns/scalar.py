"""What each elementwise operator of a tile does to one element, in `arith` and `math` on f32."""

from collections.abc import Callable
from math import pi, sqrt

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, FloatAttr, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock

Scalar = SSAValue
Rule = Callable[[Builder, Operation, list[Scalar]], Scalar]

UNROLLED_POWER_LIMIT = 16
"""Integer exponents up to this become products: at most seven multiplications."""


def constant(builder: Builder, value: float) -> Scalar:
    """The f32 constant `value`."""
    return builder.insert(arith.ConstantOp(FloatAttr(value, Float32Type()))).result


def _binary(op: type[arith.FloatingPointLikeBinaryOperation]) -> Rule:
    def rule(builder: Builder, _: Operation, args: list[Scalar]) -> Scalar:
        return builder.insert(op(args[0], args[1])).result

    return rule


def _unary(op: Callable[[Scalar], Operation]) -> Rule:
    def rule(builder: Builder, _: Operation, args: list[Scalar]) -> Scalar:
        return builder.insert(op(args[0])).results[0]

    return rule


def _multiply(builder: Builder, lhs: Scalar, rhs: Scalar) -> Scalar:
    return builder.insert(arith.MulfOp(lhs, rhs)).result


def _square(builder: Builder, _: Operation, args: list[Scalar]) -> Scalar:
    return _multiply(builder, args[0], args[0])


def _sigmoid(builder: Builder, _: Operation, args: list[Scalar]) -> Scalar:
    """`1 / (1 + exp(-x))`: exp overflows to infinity for x far below 0, which divides to 0."""
    exponential = builder.insert(math.ExpOp(builder.insert(arith.NegfOp(args[0])).result)).result
    one = constant(builder, 1.0)
    return builder.insert(
        arith.DivfOp(one, builder.insert(arith.AddfOp(one, exponential)).result)
    ).result


def _silu(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    return _multiply(builder, args[0], _sigmoid(builder, op, args))


def _gelu(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    """Hendrycks and Gimpel, "Gaussian Error Linear Units", section 2: exact, or with tanh."""
    assert isinstance(op, threadblock.GeluOp)
    x = args[0]
    if op.approximate.data == "tanh":
        cube = _multiply(builder, x, _multiply(builder, x, x))
        inner = builder.insert(
            arith.AddfOp(x, _multiply(builder, cube, constant(builder, 0.044715)))
        ).result
        scaled = _multiply(builder, inner, constant(builder, sqrt(2 / pi)))
        shape = builder.insert(math.TanhOp(scaled)).result
    else:
        scaled = _multiply(builder, x, constant(builder, sqrt(0.5)))
        shape = builder.insert(math.ErfOp(scaled)).result
    gate = builder.insert(arith.AddfOp(shape, constant(builder, 1.0))).result
    return _multiply(builder, _multiply(builder, x, constant(builder, 0.5)), gate)


def _relu(builder: Builder, _: Operation, args: list[Scalar]) -> Scalar:
    return builder.insert(arith.MaximumfOp(args[0], constant(builder, 0.0))).result


def _clamp(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    assert isinstance(op, threadblock.ClampOp)
    above = builder.insert(arith.MaximumfOp(args[0], constant(builder, op.min.value.data))).result
    return builder.insert(arith.MinimumfOp(above, constant(builder, op.max.value.data))).result


def _power(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    assert isinstance(op, threadblock.PowOp)
    exponent = op.exponent.value.data
    if exponent != int(exponent) or not 1 <= exponent <= UNROLLED_POWER_LIMIT:
        return builder.insert(math.PowFOp(args[0], constant(builder, exponent))).result
    result, square, left = None, args[0], int(exponent)
    while left:
        if left & 1:
            result = square if result is None else _multiply(builder, result, square)
        left >>= 1
        if left:
            square = _multiply(builder, square, square)
    assert result is not None
    return result


def _scale(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    assert isinstance(op, threadblock.ScaleOp)
    return _multiply(builder, args[0], constant(builder, op.factor.value.data))


def _constant(builder: Builder, op: Operation, _: list[Scalar]) -> Scalar:
    assert isinstance(op, threadblock.ConstantOp)
    return constant(builder, op.value.value.data)


def _same(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    return args[0]


RULES: dict[type[Operation], Rule] = {
    threadblock.AddOp: _binary(arith.AddfOp),
    threadblock.SubOp: _binary(arith.SubfOp),
    threadblock.MulOp: _binary(arith.MulfOp),
    threadblock.DivOp: _binary(arith.DivfOp),
    threadblock.MaxOp: _binary(arith.MaximumfOp),
    threadblock.ExpOp: _unary(math.ExpOp),
    threadblock.LogOp: _unary(math.LogOp),
    threadblock.SqrtOp: _unary(math.SqrtOp),
    threadblock.RsqrtOp: _unary(math.RsqrtOp),
    threadblock.TanhOp: _unary(math.TanhOp),
    threadblock.SquareOp: _square,
    threadblock.SigmoidOp: _sigmoid,
    threadblock.SiluOp: _silu,
    threadblock.GeluOp: _gelu,
    threadblock.ReluOp: _relu,
    threadblock.ClampOp: _clamp,
    threadblock.PowOp: _power,
    threadblock.ScaleOp: _scale,
    threadblock.ConstantOp: _constant,
    threadblock.BroadcastOp: _same,
    threadblock.CastOp: _same,
}
"""Every operator that computes an element from the elements at its place, alone."""


def widen(builder: Builder, value: Scalar) -> Scalar:
    """`value` in f32, in which everything between memory and memory is computed."""
    return value if value.type == f32 else builder.insert(arith.ExtFOp(value, f32)).result


def apply_rule(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    """The element of `op`'s result, rounded to the result's element type."""
    result = RULES[type(op)](builder, op, [widen(builder, arg) for arg in args])
    element = threadblock.tile_type(op.results[0]).element_type
    return result if element == f32 else builder.insert(arith.TruncFOp(result, element)).result
