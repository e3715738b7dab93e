"""Identities by name, as pairs of programs: what verification must accept, and what it must not."""

from __future__ import annotations

from typing import NamedTuple

from bodies import programs
from xdsl.dialects.func import FuncOp


class Identity(NamedTuple):
    """Two bodies over the arguments %0, %1, ..., each of which defines %r."""

    inputs: str
    """Shapes, parted by blanks."""
    result: str
    left: str
    right: str
    tests: bool = True
    """Whether random tests know it."""
    form: bool = True
    """Whether the normal form knows it."""
    accurate: bool = True
    """Whether the right side is as accurate as the left one on inputs of all kinds."""


def _lines(*lines: str) -> str:
    return "\n".join(lines)


IDENTITIES: dict[str, Identity] = {
    "silu(x) = x * sigmoid(x)": Identity(
        "4x6",
        "4x6",
        "%r = silu %0 : 4x6 -> 4x6",
        _lines("%s = sigmoid %0 : 4x6 -> 4x6", "%r = mul %0, %s : 4x6 4x6 -> 4x6"),
    ),
    "softmax(x + c) = softmax(x)": Identity(
        "4x6 4x1",
        "4x6",
        _lines(
            "%s = add %0, %1 : 4x6 4x1 -> 4x6",
            "%r = softmax %s {dim = 1 : i64} : 4x6 -> 4x6",
        ),
        "%r = softmax %0 {dim = 1 : i64} : 4x6 -> 4x6",
    ),
    "softmax(x) = exp(x) / sum(exp(x))": Identity(
        "4x6",
        "4x6",
        "%r = softmax %0 {dim = 1 : i64} : 4x6 -> 4x6",
        _lines(
            "%m = reduce_max %0 {dims = array<i64: 1>} : 4x6 -> 4x1",
            "%d = sub %0, %m : 4x6 4x1 -> 4x6",
            "%e = exp %d : 4x6 -> 4x6",
            "%s = reduce_sum %e {dims = array<i64: 1>} : 4x6 -> 4x1",
            "%r = div %e, %s : 4x6 4x1 -> 4x6",
        ),
    ),
    "sqrt(x) * sqrt(x) = x": Identity(
        "2x1",
        "2x1",
        _lines("%s = sqrt %0 : 2x1 -> 2x1", "%r = mul %s, %s : 2x1 2x1 -> 2x1"),
        "%r = scale %0 {factor = 1.0 : f32} : 2x1 -> 2x1",
        tests=False,
    ),
    "sqrt(x)^2 = x": Identity(
        "2x1",
        "2x1",
        _lines("%s = sqrt %0 : 2x1 -> 2x1", "%r = square %s : 2x1 -> 2x1"),
        "%r = scale %0 {factor = 1.0 : f32} : 2x1 -> 2x1",
        tests=False,
    ),
    "sqrt(a * b) = sqrt(a) * sqrt(b), both exponentials": Identity(
        "2x1 2x1",
        "2x1",
        _lines(
            "%a = exp %0 : 2x1 -> 2x1",
            "%b = exp %1 : 2x1 -> 2x1",
            "%p = mul %a, %b : 2x1 2x1 -> 2x1",
            "%r = sqrt %p : 2x1 -> 2x1",
        ),
        _lines(
            "%a = exp %0 : 2x1 -> 2x1",
            "%b = exp %1 : 2x1 -> 2x1",
            "%s = sqrt %a : 2x1 -> 2x1",
            "%t = sqrt %b : 2x1 -> 2x1",
            "%r = mul %s, %t : 2x1 2x1 -> 2x1",
        ),
        tests=False,
    ),
    "rsqrt(x) = 1 / sqrt(x)": Identity(
        "4x6 4x6",
        "4x6",
        _lines("%s = rsqrt %1 : 4x6 -> 4x6", "%r = mul %0, %s : 4x6 4x6 -> 4x6"),
        _lines("%s = sqrt %1 : 4x6 -> 4x6", "%r = div %0, %s : 4x6 4x6 -> 4x6"),
    ),
    "pow(x, 3) = x * x * x": Identity(
        "4x6",
        "4x6",
        "%r = pow %0 {exponent = 3.0 : f32} : 4x6 -> 4x6",
        _lines("%s = square %0 : 4x6 -> 4x6", "%r = mul %s, %0 : 4x6 4x6 -> 4x6"),
    ),
    "pow(x, -2) = 1 / x^2": Identity(
        "4x6 4x6",
        "4x6",
        _lines(
            "%p = pow %0 {exponent = -2.0 : f32} : 4x6 -> 4x6", "%r = mul %1, %p : 4x6 4x6 -> 4x6"
        ),
        _lines("%s = square %0 : 4x6 -> 4x6", "%r = div %1, %s : 4x6 4x6 -> 4x6"),
    ),
    "exp(a + b) = exp(a) * exp(b)": Identity(
        "4x6 4x1",
        "4x6",
        _lines("%s = add %0, %1 : 4x6 4x1 -> 4x6", "%r = exp %s : 4x6 -> 4x6"),
        _lines(
            "%s = exp %0 : 4x6 -> 4x6",
            "%t = exp %1 : 4x1 -> 4x1",
            "%r = mul %s, %t : 4x6 4x1 -> 4x6",
        ),
        # exp(9000) overflows, however small the other factor is.
        accurate=False,
    ),
    "exp(a + b) = exp(a) * exp(b), a second exp on the path": Identity(
        "4x6 4x1",
        "4x6",
        _lines(
            "%a = exp %0 : 4x6 -> 4x6",
            "%b = exp %1 : 4x1 -> 4x1",
            "%s = add %a, %b : 4x6 4x1 -> 4x6",
            "%r = exp %s : 4x6 -> 4x6",
        ),
        _lines(
            "%a = exp %0 : 4x6 -> 4x6",
            "%b = exp %1 : 4x1 -> 4x1",
            "%s = exp %a : 4x6 -> 4x6",
            "%t = exp %b : 4x1 -> 4x1",
            "%r = mul %s, %t : 4x6 4x1 -> 4x6",
        ),
        tests=False,
    ),
    "mean(x) = sum(x) / n": Identity(
        "4x6144",
        "4x1",
        "%r = reduce_mean %0 {dims = array<i64: 1>} : 4x6144 -> 4x1",
        _lines(
            "%s = reduce_sum %0 {dims = array<i64: 1>} : 4x6144 -> 4x1",
            "%r = scale %s {factor = 1.62760422e-04 : f32} : 4x1 -> 4x1",
        ),
    ),
    "max over rows, then over columns": Identity(
        "6x8",
        "1x1",
        "%r = reduce_max %0 {dims = array<i64: 0, 1>} : 6x8 -> 1x1",
        _lines(
            "%a = reduce_max %0 {dims = array<i64: 1>} : 6x8 -> 6x1",
            "%r = reduce_max %a {dims = array<i64: 0>} : 6x1 -> 1x1",
        ),
    ),
    "a maximum in tiles": Identity(
        "4x12",
        "4x1",
        "%r = reduce_max %0 {dims = array<i64: 1>} : 4x12 -> 4x1",
        _lines(
            "%a = reshape %0 : 4x12 -> 4x3x4",
            "%b = reduce_max %a {dims = array<i64: 1>} : 4x3x4 -> 4x1x4",
            "%c = reduce_max %b {dims = array<i64: 2>} : 4x1x4 -> 4x1x1",
            "%r = reshape %c : 4x1x1 -> 4x1",
        ),
    ),
    "a maximum in uneven parts": Identity(
        "4x12",
        "4x1",
        "%r = reduce_max %0 {dims = array<i64: 1>} : 4x12 -> 4x1",
        _lines(
            "%a = slice %0 {offsets = array<i64: 0, 5>, sizes = array<i64: 4, 7>, "
            "strides = array<i64: 1, 1>} : 4x12 -> 4x7",
            "%b = slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 5>, "
            "strides = array<i64: 1, 1>} : 4x12 -> 4x5",
            "%c = reduce_max %a {dims = array<i64: 1>} : 4x7 -> 4x1",
            "%d = reduce_max %b {dims = array<i64: 1>} : 4x5 -> 4x1",
            "%r = max %c, %d : 4x1 4x1 -> 4x1",
        ),
    ),
    "a / (b * c) = (a / b) / c": Identity(
        "8x8 8x8 8x8",
        "8x8",
        _lines("%p = mul %1, %2 : 8x8 8x8 -> 8x8", "%r = div %0, %p : 8x8 8x8 -> 8x8"),
        _lines("%p = div %0, %1 : 8x8 8x8 -> 8x8", "%r = div %p, %2 : 8x8 8x8 -> 8x8"),
    ),
    "(a / b) * b = a": Identity(
        "8x8 8x8",
        "8x8",
        _lines("%p = div %0, %1 : 8x8 8x8 -> 8x8", "%r = mul %p, %1 : 8x8 8x8 -> 8x8"),
        "%r = scale %0 {factor = 1.0 : f32} : 8x8 -> 8x8",
    ),
    "a / (a + b) + b / (a + b) = a / a": Identity(
        "4x6 4x6",
        "4x6",
        _lines(
            "%s = add %0, %1 : 4x6 4x6 -> 4x6",
            "%p = div %0, %s : 4x6 4x6 -> 4x6",
            "%q = div %1, %s : 4x6 4x6 -> 4x6",
            "%r = add %p, %q : 4x6 4x6 -> 4x6",
        ),
        "%r = div %0, %0 : 4x6 4x6 -> 4x6",
    ),
    "x w1 + x w2 = x (w1 + w2)": Identity(
        "4x6 6x8 6x8",
        "4x8",
        _lines(
            "%p = matmul %0, %1 : 4x6 6x8 -> 4x8",
            "%q = matmul %0, %2 : 4x6 6x8 -> 4x8",
            "%r = add %p, %q : 4x8 4x8 -> 4x8",
        ),
        _lines("%p = add %1, %2 : 6x8 6x8 -> 6x8", "%r = matmul %0, %p : 4x6 6x8 -> 4x8"),
    ),
    "(x a) b = x (a b)": Identity(
        "4x6 6x3 3x8",
        "4x8",
        _lines("%p = matmul %0, %1 : 4x6 6x3 -> 4x3", "%r = matmul %p, %2 : 4x3 3x8 -> 4x8"),
        _lines("%p = matmul %1, %2 : 6x3 3x8 -> 6x8", "%r = matmul %0, %p : 4x6 6x8 -> 4x8"),
    ),
    "(x x^T) x = x (x^T x)": Identity(
        "4x6",
        "4x6",
        _lines(
            "%t = transpose %0 {permutation = array<i64: 1, 0>} : 4x6 -> 6x4",
            "%p = matmul %0, %t : 4x6 6x4 -> 4x4",
            "%r = matmul %p, %0 : 4x4 4x6 -> 4x6",
        ),
        _lines(
            "%t = transpose %0 {permutation = array<i64: 1, 0>} : 4x6 -> 6x4",
            "%p = matmul %t, %0 : 6x4 4x6 -> 6x6",
            "%r = matmul %0, %p : 4x6 6x6 -> 4x6",
        ),
    ),
    "concat([x, y]) concat([a; b]) = x a + y b": Identity(
        "4x6 4x3 6x8 3x8",
        "4x8",
        _lines(
            "%p = concat %0, %1 {dim = 1 : i64} : 4x6 4x3 -> 4x9",
            "%q = concat %2, %3 {dim = 0 : i64} : 6x8 3x8 -> 9x8",
            "%r = matmul %p, %q : 4x9 9x8 -> 4x8",
        ),
        _lines(
            "%p = matmul %0, %2 : 4x6 6x8 -> 4x8",
            "%q = matmul %1, %3 : 4x3 3x8 -> 4x8",
            "%r = add %p, %q : 4x8 4x8 -> 4x8",
        ),
    ),
    "sum((x - mean)^2) = sum(x^2) - n mean^2": Identity(
        "4x8",
        "4x1",
        _lines(
            "%m = reduce_mean %0 {dims = array<i64: 1>} : 4x8 -> 4x1",
            "%c = sub %0, %m : 4x8 4x1 -> 4x8",
            "%q = square %c : 4x8 -> 4x8",
            "%r = reduce_sum %q {dims = array<i64: 1>} : 4x8 -> 4x1",
        ),
        _lines(
            # Shifted by the first element, which keeps its accuracy far from zero.
            "%f = slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 1>, "
            "strides = array<i64: 1, 1>} : 4x8 -> 4x1",
            "%d = sub %0, %f : 4x8 4x1 -> 4x8",
            "%q = square %d : 4x8 -> 4x8",
            "%a = reduce_sum %q {dims = array<i64: 1>} : 4x8 -> 4x1",
            "%s = reduce_sum %d {dims = array<i64: 1>} : 4x8 -> 4x1",
            "%t = square %s : 4x1 -> 4x1",
            "%u = scale %t {factor = 0.125 : f32} : 4x1 -> 4x1",
            "%r = sub %a, %u : 4x1 4x1 -> 4x1",
        ),
    ),
}
"""What is equal; which argument knows it, where one does not, is said."""

WRONG: dict[str, Identity] = {
    "sqrt(x * x) = x": Identity(
        "4x6",
        "4x6",
        "%r = scale %0 {factor = 1.0 : f32} : 4x6 -> 4x6",
        _lines("%s = square %0 : 4x6 -> 4x6", "%r = sqrt %s : 4x6 -> 4x6"),
    ),
    "silu(silu(x)) = silu(silu(y))": Identity(
        "4x6 4x6",
        "4x6",
        _lines("%s = silu %0 : 4x6 -> 4x6", "%r = silu %s : 4x6 -> 4x6"),
        _lines("%s = silu %1 : 4x6 -> 4x6", "%r = silu %s : 4x6 -> 4x6"),
    ),
    "exp(exp(x)) = exp(exp(y))": Identity(
        "4x6 4x6",
        "4x6",
        _lines("%s = exp %0 : 4x6 -> 4x6", "%r = exp %s : 4x6 -> 4x6"),
        _lines("%s = exp %1 : 4x6 -> 4x6", "%r = exp %s : 4x6 -> 4x6"),
    ),
    "silu(x w1) * (x w2) = silu(x w2) * (x w1)": Identity(
        "4x6 6x8 6x8",
        "4x8",
        _lines(
            "%p = matmul %0, %1 : 4x6 6x8 -> 4x8",
            "%q = matmul %0, %2 : 4x6 6x8 -> 4x8",
            "%s = silu %p : 4x8 -> 4x8",
            "%r = mul %s, %q : 4x8 4x8 -> 4x8",
        ),
        _lines(
            "%p = matmul %0, %1 : 4x6 6x8 -> 4x8",
            "%q = matmul %0, %2 : 4x6 6x8 -> 4x8",
            "%s = silu %q : 4x8 -> 4x8",
            "%r = mul %s, %p : 4x8 4x8 -> 4x8",
        ),
    ),
    "clamp(x, 0, 1) = clamp(x, 0, 2)": Identity(
        "4x6",
        "4x6",
        "%r = clamp %0 {min = 0.0 : f32, max = 1.0 : f32} : 4x6 -> 4x6",
        "%r = clamp %0 {min = 0.0 : f32, max = 2.0 : f32} : 4x6 -> 4x6",
    ),
    "rms_norm without the mean": Identity(
        "4x6",
        "4x6",
        "%r = rms_norm %0 {eps = 1.0e-05 : f32} : 4x6 -> 4x6",
        _lines(
            "%q = square %0 : 4x6 -> 4x6",
            "%s = reduce_sum %q {dims = array<i64: 1>} : 4x6 -> 4x1",
            "%t = rsqrt %s : 4x1 -> 4x1",
            "%r = mul %0, %t : 4x6 4x1 -> 4x6",
        ),
    ),
}
"""What must be rejected: some verifiers accept all of it but the first."""


def pair(name: str) -> tuple[FuncOp, FuncOp]:
    """The two sides of an identity as functions."""
    identity = (IDENTITIES | WRONG)[name]
    left, right = programs(identity.inputs, identity.result, identity.left, identity.right)
    return left, right
