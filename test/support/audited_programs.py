"""Programs whose graphs brute force enumerates, and of which operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from residue_tiles import SIZE

from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind


@dataclass(frozen=True)
class Subject:
    """
    A program to audit.

    Graphs are made of up to `most` of `operators`, enough for the shortest graphs with a loop;
    `further` operators are for runs of minutes.
    """

    build: Callable[[], ProgramBuilder]
    operators: tuple[str, ...]
    most: int
    scale: Fraction = Fraction(1)
    further: tuple[str, ...] = ()


SQUARE = (SIZE, SIZE)
MEAN = Fraction(1, SIZE)


def _rms(b: ProgramBuilder, x: int) -> int:
    root = b.function(Function("sqrt"), b.mean(b.binary(Kind.MUL, x, x), (1,)))
    return b.binary(Kind.DIV, x, root)


def _rmsnorm_linear() -> ProgramBuilder:
    b = ProgramBuilder()
    x, w = b.input(SQUARE), b.input(SQUARE)
    b.output(b.matmul(_rms(b, x), w))
    return b


def _weighted_rmsnorm_linear() -> ProgramBuilder:
    b = ProgramBuilder()
    x, weight, w = b.input(SQUARE), b.input((1, SIZE)), b.input(SQUARE)
    b.output(b.matmul(b.binary(Kind.MUL, _rms(b, x), weight), w))
    return b


def _lora() -> ProgramBuilder:
    b = ProgramBuilder()
    x, w, down, up = (b.input(SQUARE) for _ in range(4))
    b.output(b.binary(Kind.ADD, b.matmul(x, w), b.matmul(b.matmul(x, down), up)))
    return b


def _gated_mlp() -> ProgramBuilder:
    b = ProgramBuilder()
    x, gate, up = (b.input(SQUARE) for _ in range(3))
    b.output(b.binary(Kind.MUL, b.function(Function("silu"), b.matmul(x, gate)), b.matmul(x, up)))
    return b


def _attention_core() -> ProgramBuilder:
    b = ProgramBuilder()
    q, k, v = (b.input(SQUARE) for _ in range(3))
    powers = b.function(Function("exp"), b.matmul(q, k))
    weights = b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (1,)))
    b.output(b.matmul(weights, v))
    return b


def _centred_linear() -> ProgramBuilder:
    """The first half of LayerNorm."""
    b = ProgramBuilder()
    x, w = b.input(SQUARE), b.input(SQUARE)
    b.output(b.matmul(b.binary(Kind.SUB, x, b.mean(x, (1,))), w))
    return b


def _sum_of_linears() -> ProgramBuilder:
    """Two products with one sum, of which one is enough."""
    b = ProgramBuilder()
    x, y, u, v = (b.input(SQUARE) for _ in range(4))
    s = b.binary(Kind.ADD, u, v)
    b.output(b.binary(Kind.ADD, b.matmul(x, s), b.matmul(y, s)))
    return b


def _residual() -> ProgramBuilder:
    """The inner step of nTrans, `x + alpha * (h - x)`."""
    b = ProgramBuilder()
    x, h, alpha = b.input(SQUARE), b.input(SQUARE), b.input((1, SIZE))
    step = b.binary(Kind.MUL, alpha, b.binary(Kind.SUB, h, x))
    b.output(b.binary(Kind.ADD, x, step))
    return b


def _softmax() -> ProgramBuilder:
    b = ProgramBuilder()
    powers = b.function(Function("exp"), b.input(SQUARE))
    b.output(b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (1,))))
    return b


SUMS = ("sum_columns", "accumulate", "sum_accumulate")
MATMULS = ("matmul", "matmul_accumulate")
NORM = ("mul", "div", "sqrt", "rms", "rms_accumulate", *MATMULS)
MEANS = ("mean", "mean_accumulate", "rows_accumulate")

SUBJECTS = {
    "rmsnorm_linear": Subject(_rmsnorm_linear, NORM, 4, MEAN, ("scale", *SUMS)),
    "weighted_rmsnorm_linear": Subject(_weighted_rmsnorm_linear, NORM, 4, MEAN, ("scale", *SUMS)),
    "lora": Subject(_lora, ("add", "mul", "accumulate", *MATMULS), 4),
    "gated_mlp": Subject(_gated_mlp, ("add", "mul", "silu", "accumulate", *MATMULS), 4),
    "attention_core": Subject(
        _attention_core,
        ("exp", "div", "sum_accumulate", *MATMULS),
        5,
        further=("mul", "sum_columns", "accumulate"),
    ),
    "centred_linear": Subject(
        _centred_linear, ("sub", "mul", *MEANS, *MATMULS), 5, MEAN, ("sum_rows", "accumulate")
    ),
    "sum_of_linears": Subject(_sum_of_linears, ("add", "mul", "accumulate", *MATMULS), 4),
    "residual": Subject(_residual, ("add", "sub", "mul"), 4),
    "softmax": Subject(_softmax, ("exp", "mul", "div", *SUMS), 4),
}
