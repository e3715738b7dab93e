"""Floating-point numbers, with the rounding of a program's element types or without."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field import products
from mirage_mlir.float_formats import FORMATS, FloatFormat
from mirage_mlir.interpreters.domain import AnyArray, ElementType, joined
from mirage_mlir.operators.elementwise import LARGEST_ANGLE, FunctionName

Floats = NDArray[np.floating[Any]]

ROUNDOFF: dict[ElementType, float] = {
    "f16": FORMATS["f16"].roundoff,
    "bf16": FORMATS["bf16"].roundoff,
    "tf32": 2.0**-11,
    "f32": FORMATS["f32"].roundoff,
    "f64": 2.0**-53,
    "f8E4M3FN": FORMATS["f8E4M3FN"].roundoff,
    "f8E5M2": FORMATS["f8E5M2"].roundoff,
}
"""Unit roundoff: half the distance from 1 to the next number."""


FITS_IN_CACHE = 1 << 14
"""Elements that are rounded at a time, so that what each step makes is still in the L1 or L2 cache:
half the time that numpy's own conversion to f16 takes, which goes element by element."""


LEAST_NORMAL, HALF = np.float32(2.0**-14), np.float32(0.5)
"""Of f16 the least number with all digits; and what is added to those below it."""


def round_to_float16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest f16, ties to even, as f32; infinities and NaN stay."""
    if not x.flags.c_contiguous:
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    flat = x.reshape(-1)
    rounded = np.empty_like(flat)
    for start in range(0, flat.size, FITS_IN_CACHE):
        piece = slice(start, start + FITS_IN_CACHE)
        rounded[piece] = _nearest_float16(flat[piece])
    return rounded.reshape(x.shape)


def _nearest_float16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    size = np.abs(x)
    # Half of the last place, and ties to even, as in `round_to_bfloat16`; in place.
    bits = size.view(np.uint32)
    sums = bits >> np.uint32(13)
    sums &= np.uint32(1)
    sums += bits
    sums += np.uint32(0xFFF)
    sums &= np.uint32(0xFFFFE000)
    nearest = sums.view(np.float32)
    small = size < LEAST_NORMAL
    if small.any():
        # The numbers between 1/2 and 1 are as far apart as the subnormal ones of f16.
        nearest[small] = (size[small] + HALF) - HALF
    if not size.max() < FORMATS["f16"].largest:
        nearest[nearest > FORMATS["f16"].largest] = np.inf
        nearest[np.isnan(x)] = np.nan
    return np.copysign(nearest, x)


def round_to_bfloat16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest bf16, ties to even, as f32; infinities and NaN stay."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def round_to_tf32(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest tf32, ties away from zero, as f32; infinities and NaN stay."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def round_to_format(x: Floats, target: FloatFormat) -> Floats:
    """The nearest number of a narrow format, ties to even, in the type that `x` has."""
    _, exponent = np.frexp(x)
    # frexp's mantissas are from 1/2 up: the leading bit of x is worth 2^(exponent - 1).
    place = np.maximum(exponent - 1, target.least_exponent) - target.mantissa_bits
    nearest = np.ldexp(np.rint(np.ldexp(x, -place)), place).astype(x.dtype)
    beyond = np.where(target.has_infinity, np.copysign(np.inf, x), np.nan)
    rounded = np.where(np.abs(nearest) <= target.largest, nearest, beyond)
    return np.where(np.isnan(x), x, rounded).astype(x.dtype)


def round_to(x: Floats, element_type: ElementType) -> Floats:
    """`x` rounded to an element type, in the type that it has."""
    match element_type:
        case "f16":
            if x.dtype == np.float32:
                return round_to_float16(x.astype(np.float32, copy=False))
            return x.astype(np.float16).astype(x.dtype)
        case "bf16":
            return round_to_bfloat16(x.astype(np.float32)).astype(x.dtype)
        case "tf32":
            return round_to_tf32(x.astype(np.float32)).astype(x.dtype)
        case "f8E4M3FN" | "f8E5M2":
            return round_to_format(x, FORMATS[element_type])
        case "f32":
            return x if x.dtype == np.float32 else x.astype(np.float32).astype(x.dtype)
        case "f64":
            return x


def _erf(x: Floats) -> Floats:
    values: list[float] = x.reshape(-1).tolist()
    return np.array([math.erf(value) for value in values], x.dtype).reshape(x.shape)


def _within(function: Callable[[Floats], Floats], limit: float) -> Callable[[Floats], Floats]:
    """A function that is no number beyond a limit."""
    return lambda x: np.where(np.abs(x) <= limit, function(x), x.dtype.type(np.nan))


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


_FUNCTIONS: dict[FunctionName, Callable[[Floats], Floats]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "erf": _erf,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "sin": _within(np.sin, LARGEST_ANGLE),
    "cos": _within(np.cos, LARGEST_ANGLE),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}


EXACT: frozenset[FunctionName] = frozenset(["floor", "ceil", "round"])
"""Functions whose results are not rounded."""

NEIGHBOUR, SMALL_INTEGERS = 2.0**-23, 2.0**22
"""Relative distance to the next f32, at most; and numbers below which f32 has others than integers.
"""


COMPARISONS: dict[str, Callable[[AnyArray, AnyArray], NDArray[np.bool_]]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""What the predicates of `compare` mean."""


class FloatDomain:
    """
    numpy floats.

    With `rounding`, arithmetic is in f32, sums too, and a value is rounded to its element type
    where the program gives it one: what a kernel does. Without, everything is f64 and nothing is
    rounded: the reference. Overflow, division by zero and invalid arguments silently give
    infinities and NaN.

    With `luck`, a seed, what is no number of its element type becomes one of its two neighbours at
    random, the nearer one more likely: another run of the same program with other luck. Results of
    functions and sums, which are rounded to f32, become neighbours as well.
    """

    def __init__(self, *, rounding: bool, luck: Sequence[int] | None = None):
        self.rounding = rounding
        self._luck = None if luck is None else np.random.default_rng(luck)
        self.dtype = np.dtype(np.float32 if rounding else np.float64)
        self.largest_exponent: Floats | None = None
        """The largest argument of exp by magnitude in each run so far; None without exp."""

    def shape(self, x: Floats) -> tuple[int, ...]:
        return x.shape

    def rearrange(self, x: Floats, change: Callable[[AnyArray], AnyArray]) -> Floats:
        return change(x)

    def concatenate(self, parts: Sequence[Floats], axis: int) -> Floats:
        return joined(parts, axis)

    def constant(self, value: Fraction, rank: int) -> Floats:
        return np.full((1,) * (rank + 1), float(value), self.dtype)

    def real(self, value: float) -> Fraction:
        return Fraction(value)

    def lowest(self, rank: int) -> Floats:
        return np.full((1,) * (rank + 1), -np.inf, self.dtype)

    def add(self, x: Floats, y: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return x + y

    def subtract(self, x: Floats, y: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return x - y

    def multiply(self, x: Floats, y: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return x * y

    def divide(self, x: Floats, y: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return x / y

    def maximum(self, x: Floats, y: Floats) -> Floats:
        return np.maximum(x, y)

    def minimum(self, x: Floats, y: Floats) -> Floats:
        return np.minimum(x, y)

    def integers(self, values: NDArray[np.int64]) -> Floats:
        return values[None].astype(self.dtype)

    def compare(self, predicate: str, x: Floats, y: Floats) -> Floats:
        return COMPARISONS[predicate](x, y).astype(self.dtype)

    def select(self, condition: Floats, x: Floats, y: Floats) -> Floats:
        return np.where(condition != 0, x, y)

    def function(self, name: FunctionName, x: Floats) -> Floats:
        if name == "exp":
            self._note_exponents(x)
        with np.errstate(all="ignore"):
            result = _FUNCTIONS[name](x)
        return result if name in EXACT else self._lucky(result)

    def power(self, x: Floats, exponent: Fraction) -> Floats:
        with np.errstate(all="ignore"):
            return np.power(x, x.dtype.type(float(exponent)))

    def scale(self, x: Floats, factor: Fraction) -> Floats:
        with np.errstate(all="ignore"):
            return x * x.dtype.type(float(factor))

    def total(self, x: Floats, axis: int) -> Floats:
        with np.errstate(all="ignore"):
            return self._lucky(np.add.reduce(x, axis=axis, keepdims=True))

    def largest(self, x: Floats, axis: int) -> Floats:
        return np.maximum.reduce(x, axis=axis, keepdims=True)

    def matmul(self, x: Floats, y: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return products.matmul(x, y)

    def rounded(self, x: Floats, element_type: ElementType) -> Floats:
        if not self.rounding:
            return x
        with np.errstate(all="ignore"):
            nearest = round_to(x, element_type)
            if self._luck is None:
                return nearest
            moved = x * (1 + ROUNDOFF[element_type] * self._luck.uniform(-1, 1, x.shape))
            return np.where(nearest == x, x, round_to(moved.astype(x.dtype), element_type))

    def _lucky(self, x: Floats) -> Floats:
        """
        With luck a neighbour in f32 of the result of a function or a sum, or the result.

        What it was before it was rounded is not known. Small integers are taken for exact: counts
        are compared. Of other operators many are exact.
        """
        if self._luck is None:
            return x
        with np.errstate(all="ignore"):
            moved = x * (1 + NEIGHBOUR * self._luck.uniform(-1, 1, x.shape))
            exact = (np.abs(x) < SMALL_INTEGERS) & (x == np.rint(x))
            return np.where(exact, x, moved).astype(x.dtype)

    def _note_exponents(self, x: Floats) -> None:
        # exp of the maximum over nothing is zero whatever the inputs are.
        finite = np.where(np.isneginf(x), 0, x)
        largest = np.max(np.abs(finite), axis=tuple(range(1, x.ndim)), initial=0)
        before = self.largest_exponent
        self.largest_exponent = largest if before is None else np.fmax(before, largest)
