"""Functions that are polynomials near zero, in f32: `expm1`, `log1p`, `tanh`, `sin` and `cos`."""

from collections.abc import Sequence
from math import nan, pi

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.operators.elementwise import LARGEST_ANGLE
from mirage_mlir.passes.codegen.emitter import Emitter

Scalar = SSAValue

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453

EXPM1 = (
    *(1 / 3628800, 1 / 362880, 1 / 40320, 1 / 5040),
    *(1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0),
)
"""`(e^x - 1) / x`, the highest power first: what is left out is below 2^-25 for |x| up to 1."""


def expm1(emit: Emitter, x: Scalar) -> Scalar:
    """`e^x - 1`: a polynomial up to 1, the exponential beyond; both are computed."""
    near = emit.result(arith.MulfOp(_polynomial(emit, EXPM1, x), x))
    power = emit.result(nvvm.Ex2Op(emit.result(arith.MulfOp(x, emit.f32(LOG2_E)))))
    far = emit.result(arith.SubfOp(power, emit.f32(1.0)))
    is_far = emit.result(arith.CmpfOp(emit.result(math.AbsFOp(x)), emit.f32(1.0), "ogt"))
    return emit.result(arith.SelectOp(is_far, far, near))


LOG1P = (1 / 15, 1 / 13, 1 / 11, 1 / 9, 1 / 7, 1 / 5, 1 / 3)
"""`(atanh(s) / s - 1) / s^2` as a polynomial of `s^2`: what is left out is below 2^-26 of atanh."""

LOG1P_RANGE = (-0.5, 1.0)
"""Beyond it `1 + x` is 2 or more, or half or less, and its logarithm is right by itself."""


def log1p(emit: Emitter, x: Scalar) -> Scalar:
    """`log(1 + x)`: `2 atanh(x / (2 + x))` near 0, a logarithm beyond; both are computed."""
    whole = emit.result(arith.AddfOp(x, emit.f32(1.0)))
    far = emit.result(arith.MulfOp(emit.result(nvvm.Log2Op(whole)), emit.f32(LN_2)))
    share = emit.result(nvvm.RcpApproxFtzOp(emit.result(arith.AddfOp(x, emit.f32(2.0)))))
    s = emit.result(arith.MulfOp(x, share))
    square = emit.result(arith.MulfOp(s, s))
    rest = emit.result(arith.MulfOp(_polynomial(emit, LOG1P, square), square))
    double = emit.result(arith.AddfOp(s, s))
    near = emit.result(math.FmaOp(double, rest, double))
    low, high = (emit.f32(each) for each in LOG1P_RANGE)
    is_far = emit.result(arith.CmpfOp(x, high, "ogt"))
    is_low = emit.result(arith.CmpfOp(x, low, "olt"))
    chosen = emit.result(arith.SelectOp(is_far, far, near))
    return emit.result(arith.SelectOp(is_low, far, chosen))


TANH = (0.01645876, -0.05268414, 0.13320942, -0.33332957)
"""`(tanh(x) / x - 1) / x^2` as a polynomial of `x^2`: minimax up to the switch, 2^-24.8."""

TANH_SWITCH = 0.55
"""Beyond it the difference from 1 is right to a few units in the last place by itself."""


def tanh(emit: Emitter, x: Scalar) -> Scalar:
    """The hyperbolic tangent: a polynomial near 0, `far_tanh` beyond; both are computed."""
    square = emit.result(arith.MulfOp(x, x))
    share = emit.result(math.FmaOp(_polynomial(emit, TANH, square), square, emit.f32(1.0)))
    near = emit.result(arith.MulfOp(x, share))
    size = emit.result(math.AbsFOp(x))
    is_far = emit.result(arith.CmpfOp(size, emit.f32(TANH_SWITCH), "ogt"))
    return emit.result(arith.SelectOp(is_far, far_tanh(emit, x), near))


def far_tanh(emit: Emitter, x: Scalar) -> Scalar:
    """
    `1 - 2 / (1 + exp(2x))`, whose absolute error is small everywhere; `tanh.approx` has an error of
    2^-11, too much for f16.
    """
    one = emit.f32(1.0)
    power = emit.result(nvvm.Ex2Op(emit.result(arith.MulfOp(x, emit.f32(2 * LOG2_E)))))
    share = emit.result(nvvm.RcpApproxFtzOp(emit.result(arith.AddfOp(one, power))))
    return emit.result(arith.SubfOp(one, emit.result(arith.AddfOp(share, share))))


HALF_PI = (1.5707962512969971, 7.549790126404332e-08, -1.7151245100058819e-15)
"""pi / 2 in parts of f32 whose sum has 72 bits (Cody and Waite, 1980, chapter 8)."""

TO_INTEGER = 12582912.0
"""1.5 * 2^23: what is added to it, and within 2^22 of zero, is rounded to a whole number."""

SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
"""`(sin(r) / r - 1) / r^2` as a polynomial of `r^2`, up to pi / 4: Cephes, `sinf.c`."""

COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
"""`(cos(r) - 1 + r^2 / 2) / r^4`, the same."""


def sin(emit: Emitter, x: Scalar) -> Scalar:
    """The sine, right to a few units in the last place where it is no zero but 0."""
    return _of_angle(emit, x, 0.0)


def cos(emit: Emitter, x: Scalar) -> Scalar:
    """`sin(x + pi / 2)`."""
    return _of_angle(emit, x, 1.0)


def _of_angle(emit: Emitter, x: Scalar, quarters: float) -> Scalar:
    """The sine of `x` and some times pi / 2: what is left of whole multiples of it is small."""
    multiple = _rounded(emit, emit.result(arith.MulfOp(x, emit.f32(2 / pi))))
    back = emit.result(arith.NegfOp(multiple))
    rest = x
    for part in HALF_PI:
        rest = emit.result(math.FmaOp(back, emit.f32(part), rest))
    square = emit.result(arith.MulfOp(rest, rest))
    sine = emit.result(arith.MulfOp(_polynomial(emit, SIN, square), square))
    sine = emit.result(math.FmaOp(sine, rest, rest))
    cosine = emit.result(math.FmaOp(_polynomial(emit, COS, square), square, emit.f32(-0.5)))
    cosine = emit.result(math.FmaOp(cosine, square, emit.f32(1.0)))
    multiple = emit.result(arith.AddfOp(multiple, emit.f32(quarters))) if quarters else multiple
    fours = _rounded(emit, emit.result(arith.MulfOp(multiple, emit.f32(0.25))))
    # From -2 to 2: of a sine at 0, a cosine at 1, their opposites at 2 and -2, and at -1.
    quarter = emit.result(math.FmaOp(fours, emit.f32(-4.0), multiple))
    side = emit.result(math.AbsFOp(quarter))
    is_odd = emit.result(arith.CmpfOp(side, emit.f32(1.0), "oeq"))
    found = emit.result(arith.SelectOp(is_odd, cosine, sine))
    ahead = emit.result(math.AbsFOp(emit.result(arith.SubfOp(quarter, emit.f32(0.5)))))
    is_behind = emit.result(arith.CmpfOp(ahead, emit.f32(1.0), "ogt"))
    negative = emit.result(arith.NegfOp(found))
    found = emit.result(arith.SelectOp(is_behind, negative, found))
    is_far = emit.result(arith.CmpfOp(emit.result(math.AbsFOp(x)), emit.f32(LARGEST_ANGLE), "ogt"))
    return emit.result(arith.SelectOp(is_far, emit.f32(nan), found))


def _rounded(emit: Emitter, x: Scalar) -> Scalar:
    """The nearest whole number, of numbers within 2^22 of zero."""
    shifted = emit.result(arith.AddfOp(x, emit.f32(TO_INTEGER)))
    return emit.result(arith.SubfOp(shifted, emit.f32(TO_INTEGER)))


def _polynomial(emit: Emitter, factors: Sequence[float], x: Scalar) -> Scalar:
    """By Horner's rule, the highest power first."""
    found = emit.f32(factors[0])
    for factor in factors[1:]:
        found = emit.result(math.FmaOp(found, x, emit.f32(factor)))
    return found
