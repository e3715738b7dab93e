"""Programs in normal forms, whose sub-expressions are looked for."""

from collections.abc import Callable, Mapping
from typing import Any

from mirage_mlir.expr.heads import FULL, Poly
from mirage_mlir.expr.normal_form import NormalForm

Value = Poly | None


class Builder:
    """Builds a program and keeps every value of it."""

    def __init__(self, nf: NormalForm) -> None:
        self.nf = nf
        self.inputs: dict[str, Poly] = {}
        self.values: list[Poly] = []

    def input(self, name: str, axes: str) -> Poly:
        self.inputs[name] = self.nf.input(name, axes)
        return self.inputs[name]

    def keep(self, value: Value) -> Poly:
        assert value is not None
        self.values.append(value)
        return value

    def apply(self, op: str, *operands: Any) -> Poly:
        return self.keep(getattr(self.nf, op)(*operands))

    def matmul(self, a: Poly, b: Poly, axis: str) -> Poly:
        return self.keep(self.nf.bind(self.nf.mul(a, b), axis, FULL))

    def rms_norm(self, x: Poly, axis: str) -> Poly:
        total = self.apply("bind", self.apply("mul", x, x), axis, FULL)
        mean = self.apply("div", total, self.nf.size(axis))
        shifted = self.apply("add", mean, self.nf.constant(1e-5))
        return self.apply("div", x, self.apply("function", "sqrt", shifted))


def rms_norm_linear(b: Builder) -> Poly:
    x, w, g = b.input("X", "ik"), b.input("W", "kj"), b.input("G", "k")
    return b.matmul(b.apply("mul", b.rms_norm(x, "k"), g), w, "k")


def lora(b: Builder) -> Poly:
    x, w = b.input("X", "ik"), b.input("W", "kj")
    low, high = b.input("A", "kr"), b.input("B", "rj")
    return b.apply("add", b.matmul(x, w, "k"), b.matmul(b.matmul(x, low, "k"), high, "r"))


def gated_mlp(b: Builder) -> Poly:
    x, gate, up = b.input("X", "ik"), b.input("W", "kj"), b.input("V", "kj")
    activated = b.apply("function", "silu", b.matmul(x, gate, "k"))
    return b.apply("mul", activated, b.matmul(x, up, "k"))


def gated_mlp_with_bias(b: Builder) -> Poly:
    x, gate, up = b.input("X", "ik"), b.input("W", "kj"), b.input("V", "kj")
    left = b.apply("add", b.matmul(x, gate, "k"), b.input("b", "j"))
    right = b.apply("add", b.matmul(x, up, "k"), b.input("c", "j"))
    return b.apply("mul", b.apply("function", "silu", left), right)


def attention(b: Builder) -> Poly:
    q, k, v = b.input("Q", "hid"), b.input("K", "hdt"), b.input("V", "hte")
    scores = b.apply("function", "exp", b.apply("scale", b.matmul(q, k, "d"), 0.125))
    weights = b.apply("div", scores, b.apply("bind", scores, "t", FULL))
    return b.matmul(weights, v, "t")


def attention_of_norms(b: Builder) -> Poly:
    q, k, v = b.input("Q", "id"), b.input("K", "dt"), b.input("V", "te")
    product = b.matmul(b.rms_norm(q, "d"), b.rms_norm(k, "d"), "d")
    scores = b.apply("function", "exp", product)
    return b.matmul(b.apply("div", scores, b.apply("bind", scores, "t", FULL)), v, "t")


def normalized_residual(b: Builder) -> Poly:
    x, h, alpha = b.input("X", "ik"), b.input("H", "ik"), b.input("a", "k")
    step = b.apply("mul", alpha, b.apply("sub", b.rms_norm(h, "k"), x))
    return b.rms_norm(b.apply("add", x, step), "k")


def layer_norm_linear(b: Builder) -> Poly:
    x, w, g = b.input("X", "ik"), b.input("W", "kj"), b.input("G", "k")
    mean = b.apply("div", b.apply("bind", x, "k", FULL), b.nf.size("k"))
    centred = b.apply("sub", x, mean)
    total = b.apply("bind", b.apply("mul", centred, centred), "k", FULL)
    variance = b.apply("add", b.apply("div", total, b.nf.size("k")), b.nf.constant(1e-5))
    normal = b.apply("div", centred, b.apply("function", "sqrt", variance))
    return b.matmul(b.apply("mul", normal, g), w, "k")


def scaled_by_a_sum(b: Builder) -> Poly:
    """`y * sum_k(x * w)` with the axis k in y, too, as in the gradient of a norm."""
    x, w, y = b.input("X", "ik"), b.input("W", "k"), b.input("Y", "ik")
    return b.apply("mul", y, b.apply("bind", b.apply("mul", x, w), "k", FULL))


def scaled_by_a_sum_of_sums(b: Builder) -> Poly:
    x, w, y = b.input("X", "ik"), b.input("W", "k"), b.input("Y", "ik")
    return b.apply("mul", y, b.apply("bind", b.apply("add", x, w), "k", FULL))


def stable_softmax(b: Builder) -> Poly:
    """exp under another name, so that the maximum does not cancel."""
    x = b.input("x", "ij")
    shifted = b.apply("sub", x, b.apply("bind_max", x, "j", FULL))
    e = b.apply("function", "exp of a difference", shifted)
    return b.apply("div", e, b.apply("bind", e, "j", FULL))


def greatest_product(b: Builder) -> Poly:
    scores = b.matmul(b.input("x", "ik"), b.input("w", "kj"), "k")
    greatest = b.apply("maximum", b.apply("bind_max", scores, "j", FULL), b.input("floor", "i"))
    return b.apply("function", "relu", greatest)


PROGRAMS: Mapping[str, Callable[[Builder], Poly]] = {
    f.__name__: f
    for f in (
        rms_norm_linear,
        lora,
        gated_mlp,
        gated_mlp_with_bias,
        attention,
        attention_of_norms,
        normalized_residual,
        layer_norm_linear,
        scaled_by_a_sum,
        scaled_by_a_sum_of_sums,
        stable_softmax,
        greatest_product,
    )
}
