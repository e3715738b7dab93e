"""
Equal normal forms are equal values: random terms against an evaluator that knows no algebra.

The evaluator computes on arrays in which each axis is three: tile, loop and grid (two elements
each), so that sums over bits are sums over array axes. It runs over the reals (where every law may
be used, roots included) and over a pair of prime fields (exact).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pytest

from mirage_mlir.expr.heads import FULL, GRID, LOOP, TILE, Poly
from mirage_mlir.expr.normal_form import NormalForm

AXES = "ik"
DIGITS = {TILE: 0, LOOP: 1, GRID: 2}

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Term:
    """An operation on terms; `detail` is a name, an axis and bits, or a number."""

    op: str
    operands: tuple["Term", ...] = ()
    detail: tuple[Any, ...] = ()


def build(nf: NormalForm, term: Term) -> Poly | None:
    """The normal form of a term."""
    operation: Callable[..., Poly | None] = getattr(nf, term.op)
    return (
        operation(*(build(nf, operand) for operand in term.operands), *term.detail)
        if (term.op != "function")
        else nf.function(term.detail[0], build(nf, term.operands[0]))
    )


class Numbers(Protocol):
    """What the evaluator needs of a kind of number."""

    def input(self, name: str, shape: tuple[int, ...]) -> Array: ...
    def constant(self, value: Fraction) -> Array: ...
    def add(self, a: Array, b: Array) -> Array: ...
    def mul(self, a: Array, b: Array) -> Array: ...
    def inverse(self, a: Array) -> Array: ...
    def maximum(self, a: Array, b: Array) -> Array: ...
    def function(self, name: str, a: Array) -> Array: ...
    def same(self, a: Array, b: Array) -> bool: ...


def key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


class Reals:
    """Extended precision; NaN where a root or a quotient is not defined."""

    def __init__(self, negative: bool) -> None:
        self.low = -1.5 if negative else 0.5

    def input(self, name: str, shape: tuple[int, ...]) -> Array:
        drawn = np.random.default_rng(key(name)).uniform(self.low, 1.5, shape)
        return drawn.astype(np.longdouble)

    def constant(self, value: Fraction) -> Array:
        return np.longdouble(value.numerator) / np.asarray(np.longdouble(value.denominator))

    def add(self, a: Array, b: Array) -> Array:
        return a + b

    def mul(self, a: Array, b: Array) -> Array:
        return a * b

    def inverse(self, a: Array) -> Array:
        return 1 / a

    def maximum(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def function(self, name: str, a: Array) -> Array:
        known: dict[str, Callable[[Array], Array]] = {
            "exp": np.exp,
            "sqrt": np.sqrt,
            "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        }
        return known[name](a)

    def same(self, a: Array, b: Array) -> bool:
        a, b = np.broadcast_arrays(a, b)
        defined = np.isfinite(a) & np.isfinite(b)
        return bool(np.allclose(a[defined], b[defined], rtol=1e-9, atol=1e-9))


class Field:
    """
    Residues modulo p; functions are keyed, the maximum is that of a keyed order.

    Terms for it have no exp and no sqrt, whose laws keyed functions do not keep.
    """

    modulus = 2**31 - 1

    def input(self, name: str, shape: tuple[int, ...]) -> Array:
        return np.random.default_rng(key(name)).integers(1, self.modulus, shape, dtype=np.uint64)

    def constant(self, value: Fraction) -> Array:
        residue = value.numerator * pow(value.denominator, -1, self.modulus) % self.modulus
        return np.asarray(residue, np.uint64)

    def add(self, a: Array, b: Array) -> Array:
        return (a + b) % np.uint64(self.modulus)

    def mul(self, a: Array, b: Array) -> Array:
        return a * b % np.uint64(self.modulus)

    def inverse(self, a: Array) -> Array:
        powers = [pow(int(x), -1, self.modulus) if x else 0 for x in a.flat]
        return np.array(powers, np.uint64).reshape(a.shape)

    def rank(self, name: str, a: Array) -> Array:
        return np.array([key(f"{name} {x}") for x in a.flat], np.uint64).reshape(a.shape)

    def maximum(self, a: Array, b: Array) -> Array:
        return np.where(self.rank("order", a) > self.rank("order", b), a, b)

    def function(self, name: str, a: Array) -> Array:
        return self.rank(name, a) % np.uint64(self.modulus)

    def same(self, a: Array, b: Array) -> bool:
        return bool((a == b).all())


def evaluate(numbers: Numbers, term: Term) -> Array:
    """The term's value; array axes are the digits of each axis, of size 1 where it has none."""
    values = [evaluate(numbers, operand) for operand in term.operands]
    match term.op:
        case "input":
            name, axes = term.detail
            shape = tuple(2 if axis in axes else 1 for axis in AXES for _ in DIGITS)
            return numbers.input(name, shape)
        case "constant":
            return numbers.constant(term.detail[0]).reshape((1,) * len(AXES) * len(DIGITS))
        case "size":
            return numbers.constant(Fraction(8)).reshape((1,) * len(AXES) * len(DIGITS))
        case "sub":
            return numbers.add(values[0], numbers.mul(values[1], numbers.constant(Fraction(-1))))
        case "bind" | "bind_max":
            add = numbers.add if term.op == "bind" else numbers.maximum
            return reduced(add, values[0], *term.detail)
        case _:
            operation: Callable[..., Array] = getattr(numbers, term.op)
            return operation(*term.detail, *values)


def reduced(join: Callable[[Array, Array], Array], value: Array, axis: str, bits: int) -> Array:
    """The sum or maximum over some digits of an axis; over both elements even if they are equal."""
    for digit, place in DIGITS.items():
        if digit & bits:
            at = AXES.index(axis) * len(DIGITS) + place
            first, last = np.take(value, [0], at), np.take(value, [-1], at)
            value = join(first, last)
    return value


def draw(rng: random.Random, depth: int, functions: tuple[str, ...]) -> Term:
    """A random term from few inputs, so that equal values are met often."""
    choice = rng.random()
    if depth == 0 or choice < 0.15:
        leaves = [Term("input", (), ("x", "ik")), Term("input", (), ("y", "k"))]
        leaves += [Term("input", (), ("z", "i")), Term("constant", (), (Fraction(1, 2),))]
        leaves += [Term("size", (), ("k",)), Term("constant", (), (Fraction(2),))]
        return rng.choice(leaves)
    operand = draw(rng, depth - 1, functions)
    if choice < 0.25:
        return Term("inverse", (operand,))
    if choice < 0.4:
        return Term("function", (operand,), (rng.choice(functions),))
    if choice < 0.6:
        op, axis = rng.choice(("bind", "bind", "bind_max")), rng.choice(AXES)
        if rng.random() < 0.5:
            return Term(op, (operand,), (axis, FULL))
        order = rng.sample([TILE, LOOP, GRID], rng.choice((1, 2, 3, 3)))
        for bits in order:
            operand = Term(op, (operand,), (axis, bits))
        return operand
    op = rng.choice(("add", "add", "sub", "mul", "mul", "maximum"))
    return Term(op, (operand, draw(rng, depth - 1, functions)))


def variants() -> dict[str, NormalForm]:
    return {
        "proof": NormalForm(4096, size_algebra=True, cancelling=True),
        "factored proof": NormalForm(size_algebra=True, cancelling=True),
        "search": NormalForm(),
        "search with sizes": NormalForm(expansion_limit=4, size_algebra=True),
    }


def meetings(nf: NormalForm, numbers: list[Numbers], functions: tuple[str, ...], seed: int) -> int:
    """Draw terms, compare each with the first of the same form, return how many were compared."""
    rng = random.Random(seed)
    first: dict[Poly, tuple[Term, list[Array]]] = {}
    compared = 0
    with np.errstate(all="ignore"):
        for _ in range(4000):
            term = draw(rng, rng.choice((2, 3)), functions)
            form = build(nf, term)
            if form is None:
                continue
            values = [evaluate(n, term) for n in numbers]
            other, others = first.setdefault(form, (term, values))
            if other != term:
                compared += 1
                for number, mine, theirs in zip(numbers, values, others, strict=True):
                    assert number.same(mine, theirs), f"{nf.show(form)}: {term} and {other}"
    return compared


@pytest.mark.parametrize("variant", variants())
def test_equal_forms_are_equal_over_the_reals(variant: str) -> None:
    numbers: list[Numbers] = [Reals(negative=False), Reals(negative=True)]
    assert meetings(variants()[variant], numbers, ("exp", "sqrt", "sigmoid"), 1) > 50


@pytest.mark.parametrize("variant", variants())
def test_equal_forms_are_equal_over_a_field(variant: str) -> None:
    assert meetings(variants()[variant], [Field()], ("sigmoid", "tanh"), 2) > 50


def test_lowering_is_sound() -> None:
    nf = NormalForm()
    with nf.lowering():
        numbers: list[Numbers] = [Reals(negative=False), Reals(negative=True)]
        assert meetings(nf, numbers, ("exp", "sqrt", "sigmoid"), 3) > 50
