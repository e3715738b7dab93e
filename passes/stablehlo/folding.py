"""Numbers that a StableHLO program computes of numbers, rounded as its types say."""

from collections.abc import Callable, Mapping
from math import erf, erfc, isfinite, trunc
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute

from mirage_mlir.float_formats import FORMATS
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.float_domain import round_to_format

Function = Callable[..., Any]


def _logistic(x: np.float64) -> np.float64:
    return 1 / (1 + np.exp(-x))


def _reciprocal_root(x: np.float64) -> np.float64:
    return 1 / np.sqrt(x)


FUNCTIONS: Mapping[str, Function] = {
    "stablehlo.abs": np.abs,
    "stablehlo.add": np.add,
    "stablehlo.divide": np.divide,
    "stablehlo.ceil": np.ceil,
    "stablehlo.cosine": np.cos,
    "stablehlo.exponential": np.exp,
    "stablehlo.exponential_minus_one": np.expm1,
    "stablehlo.floor": np.floor,
    "stablehlo.log": np.log,
    "stablehlo.log_plus_one": np.log1p,
    "stablehlo.logistic": _logistic,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.multiply": np.multiply,
    "stablehlo.negate": np.negative,
    "stablehlo.power": np.power,
    "stablehlo.round_nearest_even": np.rint,
    "stablehlo.rsqrt": _reciprocal_root,
    "stablehlo.sine": np.sin,
    "stablehlo.sqrt": np.sqrt,
    "stablehlo.subtract": np.subtract,
    "stablehlo.tanh": np.tanh,
    "chlo.erf": erf,
    "chlo.erfc": erfc,
    "chlo.square": np.square,
}
"""On f64, whose results are then rounded: of sums, products and roots of f32 that is exact."""


def rounded(number: float, element: Attribute) -> float:
    """
    `number` in an element type: to the nearest float, or the integer without its fraction.

    Raises:
        OverflowError: an integer is made of what is no finite number.
    """
    if isa(element, IntegerType):
        if not isfinite(number):
            raise OverflowError(f"makes an integer of {number}")
        return _wrapped(trunc(number), element)
    if element.name not in FORMATS:
        return float(number)
    with np.errstate(over="ignore"):
        return float(round_to_format(np.array(number, np.float64), FORMATS[element.name]))


def _wrapped(number: int, kind: IntegerType) -> int:
    """The integer of the type that has the last bits of `number`."""
    width = kind.width.data
    if width == 1:
        return bool(number)
    number %= 1 << width
    is_signed = kind.signedness.data != Signedness.UNSIGNED
    return number - (1 << width) if is_signed and number >> (width - 1) else number


def fold(name: str, element: Attribute, numbers: list[float]) -> float | None:
    """What the operation `name` makes of numbers; None where that is not known here."""
    if name not in FUNCTIONS or element == i1:
        return None
    with np.errstate(all="ignore"):
        result = float(FUNCTIONS[name](*(np.float64(number) for number in numbers)))
    if isa(element, IntegerType) and not np.isfinite(result):
        return None
    return rounded(result, element)
