"""The elementwise operators, one row each; `elementwise` says what the columns mean."""

from fractions import Fraction
from math import pi, sqrt
from typing import TypeVar

from mirage_mlir.operators.elementwise import (
    Arithmetic,
    Binary,
    Choice,
    Code,
    CodeName,
    Composite,
    CompositeOfTwo,
    Conditional,
    Cost,
    Dependence,
    FunctionName,
    Number,
    Opaque,
    Pairwise,
    Parameters,
    Row,
    Ternary,
    Unary,
)

V = TypeVar("V")

PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")
"""Of `compare`."""

UNROLLED_POWERS = 16
"""Integer exponents up to this become products: at most seven multiplications."""

GELU_CUBE, GELU_SCALE = 0.044715, sqrt(2 / pi)
"""Of the approximation by tanh: Hendrycks and Gimpel, section 2."""


def _function(name: FunctionName, code: CodeName, formula: str) -> Unary:
    """The row of a function that all interpretations have, and `math` too."""
    return Unary(
        name=name,
        formula=formula,
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.function(name, x),
        code=lambda c, p, x: c.op(code, x),
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    )


def _gelu(a: Arithmetic[V], p: Parameters, x: V) -> V:
    """`x / 2 (1 + erf(x / sqrt(2)))`, or its approximation by tanh."""
    if p.text("approximate") == "none":
        gate = a.function("erf", a.scale(x, a.real(sqrt(0.5))))
    else:
        cube = a.scale(a.power(x, Fraction(3)), a.real(GELU_CUBE))
        gate = a.function("tanh", a.scale(a.add(x, cube), a.real(GELU_SCALE)))
    return a.multiply(a.scale(x, Fraction(1, 2)), a.add(a.constant(Fraction(1)), gate))


def _gelu_code(c: Code[V], p: Parameters, x: V) -> V:
    if p.text("approximate") == "tanh":
        cube = c.op("arith.mulf", x, c.op("arith.mulf", x, x))
        inner = c.op("arith.addf", x, c.op("arith.mulf", cube, c.constant(GELU_CUBE)))
        scaled = c.op("arith.mulf", inner, c.constant(GELU_SCALE))
        gate = c.op("math.tanh", scaled, approximate=True)
    else:
        scaled = c.op("arith.mulf", x, c.constant(sqrt(0.5)))
        gate = c.op("math.erf", scaled, approximate=True)
    # To both 1 is added: what matters is the absolute error.
    gate = c.op("arith.addf", gate, c.constant(1.0))
    return c.op("arith.mulf", c.op("arith.mulf", x, c.constant(0.5)), gate)


def _sigmoid_code(c: Code[V], p: Parameters, x: V) -> V:
    """`1 / (1 + exp(-x))`: exp overflows to infinity for x far below 0, which divides to 0."""
    exponential = c.op("math.exp", c.op("arith.negf", x))
    one = c.constant(1.0)
    return c.op("arith.divf", one, c.op("arith.addf", one, exponential))


def _clamp(a: Arithmetic[V], p: Parameters, x: V) -> V:
    above = a.maximum(x, a.constant(p.number("min")))
    return a.minimum(above, a.constant(p.number("max")))


def _clamp_code(c: Code[V], p: Parameters, x: V) -> V:
    above = c.op("arith.maximumf", x, c.constant(p.float("min")))
    return c.op("arith.minimumf", above, c.constant(p.float("max")))


def _rsqrt(a: Arithmetic[V], p: Parameters, x: V) -> V:
    root = a.function("sqrt", x)
    return a.divide(a.constant(Fraction(1)), root)


def _power_code(c: Code[V], p: Parameters, x: V) -> V:
    exponent = p.float("exponent")
    if exponent != int(exponent) or not 1 <= abs(exponent) <= UNROLLED_POWERS:
        return c.op("math.powf", x, c.constant(exponent))
    factors: list[V] = []
    square, left = x, abs(int(exponent))
    while left:
        if left & 1:
            factors.append(square)
        left >>= 1
        if left:
            square = c.op("arith.mulf", square, square)
    product = factors[0]
    for factor in factors[1:]:
        product = c.op("arith.mulf", product, factor)
    return product if exponent > 0 else c.op("arith.divf", c.constant(1.0), product)


def _compare_code(c: Code[V], p: Parameters, x: V, y: V) -> V:
    """Ordered comparisons, false for NaN; but `ne` is true, as in numpy."""
    predicate = p.text("predicate")
    code = "une" if predicate == "ne" else f"o{predicate}"
    return c.select(code, x, y, c.constant(1.0), c.constant(0.0))


BINARY = (
    Binary(
        name="add",
        formula="`lhs + rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.add(x, y),
        code=lambda c, p, x, y: c.op("arith.addf", x, y),
        search=Pairwise("add"),
        cost=Cost.ONE,
        dependence=Dependence.SUM,
    ),
    Binary(
        name="sub",
        formula="`lhs - rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.subtract(x, y),
        code=lambda c, p, x, y: c.op("arith.subf", x, y),
        search=Pairwise("sub"),
        cost=Cost.ONE,
        dependence=Dependence.SUM,
    ),
    Binary(
        name="mul",
        formula="`lhs * rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.multiply(x, y),
        code=lambda c, p, x, y: c.op("arith.mulf", x, y),
        search=Pairwise("mul"),
        cost=Cost.ONE,
        dependence=Dependence.PRODUCT,
    ),
    Binary(
        name="div",
        formula="`lhs / rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.divide(x, y),
        code=lambda c, p, x, y: c.op("arith.divf", x, y),
        search=Pairwise("div"),
        cost=Cost.SEVERAL,
        dependence=Dependence.QUOTIENT,
    ),
    Binary(
        name="max",
        formula="The larger of `lhs` and `rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.maximum(x, y),
        code=lambda c, p, x, y: c.op("arith.maximumf", x, y),
        search=Pairwise("max"),
        cost=Cost.ONE,
        dependence=Dependence.NEW,
    ),
    Binary(
        name="min",
        formula="The smaller of `lhs` and `rhs`",
        source="",
        parameters=(),
        meaning=lambda a, p, x, y: a.minimum(x, y),
        code=lambda c, p, x, y: c.op("arith.minimumf", x, y),
        search=CompositeOfTwo(lambda a, p, x, y: a.minimum(x, y)),
        cost=Cost.ONE,
        dependence=Dependence.NEW,
    ),
    Binary(
        name="compare",
        formula="1 where `lhs` and `rhs` are as `predicate` says, 0 elsewhere",
        source="",
        parameters=(Choice("predicate", PREDICATES),),
        meaning=lambda a, p, x, y: a.compare(p.text("predicate"), x, y),
        code=_compare_code,
        search=Conditional(),
        cost=Cost.ONE,
        dependence=Dependence.NEW,
    ),
)

TERNARY = (
    Ternary(
        name="select",
        formula="`lhs` where `condition` is not 0, `rhs` where it is 0",
        source="",
        parameters=(),
        meaning=lambda a, p, c, x, y: a.select(a.compare("ne", c, a.constant(Fraction(0))), x, y),
        code=lambda c, p, condition, x, y: c.select("une", condition, c.constant(0.0), x, y),
        search=Conditional(),
        cost=Cost.ONE,
        dependence=Dependence.SELECTED,
    ),
)

UNARY = (
    Unary(
        name="neg",
        formula="`-x`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.scale(x, Fraction(-1)),
        code=lambda c, p, x: c.op("arith.negf", x),
        search=Composite(lambda a, p, x: a.scale(x, Fraction(-1))),
        cost=Cost.ONE,
        dependence=Dependence.SAME,
    ),
    Unary(
        name="abs",
        formula="`max(x, -x)`, the magnitude",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.maximum(x, a.scale(x, Fraction(-1))),
        code=lambda c, p, x: c.op("math.absf", x),
        search=Opaque(),
        cost=Cost.ONE,
        dependence=Dependence.NEW,
    ),
    _function("exp", "math.exp", "`e^x`"),
    _function("log", "math.log", "The natural logarithm"),
    Unary(
        name="square",
        formula="`x * x`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.multiply(x, x),
        code=lambda c, p, x: c.op("arith.mulf", x, x),
        search=Composite(lambda a, p, x: a.multiply(x, x)),
        cost=Cost.ONE,
        dependence=Dependence.MORE,
    ),
    _function("sqrt", "math.sqrt", "The square root"),
    Unary(
        name="rsqrt",
        formula="`1 / sqrt(x)`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.function("rsqrt", x),
        code=lambda c, p, x: c.op("math.rsqrt", x),
        search=Composite(_rsqrt),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    ),
    Unary(
        name="sigmoid",
        formula="`1 / (1 + e^-x)`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.function("sigmoid", x),
        code=_sigmoid_code,
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    ),
    Unary(
        name="silu",
        formula="`x * sigmoid(x)`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.multiply(x, a.function("sigmoid", x)),
        code=lambda c, p, x: c.op("arith.mulf", x, _sigmoid_code(c, p, x)),
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.SAME,
    ),
    Unary(
        name="relu",
        formula="`max(x, 0)`",
        source="",
        parameters=(),
        meaning=lambda a, p, x: a.maximum(x, a.constant(Fraction(0))),
        code=lambda c, p, x: c.op("arith.maximumf", x, c.constant(0.0)),
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    ),
    _function("tanh", "math.tanh", "The hyperbolic tangent"),
    _function(
        "erf",
        "math.erf",
        "The error function, `2 / sqrt(pi)` times the integral of `e^-t^2` from 0 to `x`",
    ),
    _function("expm1", "math.expm1", "`e^x - 1`, right for small `x` too"),
    _function("log1p", "math.log1p", "`log(1 + x)`, right for small `x` too"),
    _function("sin", "math.sin", "The sine of `x` in radians; NaN beyond 2^20, to either side"),
    _function("cos", "math.cos", "The cosine of `x` in radians; NaN beyond 2^20, to either side"),
    _function("floor", "math.floor", "The largest integer that is not above `x`"),
    _function("ceil", "math.ceil", "The smallest integer that is not below `x`"),
    _function("round", "math.roundeven", "The integer nearest to `x`; of two, the even one"),
    Unary(
        name="gelu",
        formula='The Gaussian error linear unit; `approximate` is "none" or "tanh"',
        source='Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016), section 2.',
        parameters=(Choice("approximate", ("none", "tanh")),),
        meaning=_gelu,
        code=_gelu_code,
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.SAME,
    ),
    Unary(
        name="softcap",
        formula="`cap * tanh(x / cap)`: near 0 as `x`, and never beyond `cap`",
        source='Gemma Team, "Gemma 2: Improving Open Language Models" (2024), section 2.',
        parameters=(Number("cap", positive=True),),
        meaning=lambda a, p, x: a.scale(
            a.function("tanh", a.scale(x, 1 / p.number("cap"))), p.number("cap")
        ),
        code=lambda c, p, x: c.op(
            "arith.mulf",
            c.op("math.tanh", c.op("arith.mulf", x, c.constant(1 / p.float("cap")))),
            c.constant(p.float("cap")),
        ),
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    ),
    Unary(
        name="clamp",
        formula="`x`, but at least `min` and at most `max`",
        source="",
        parameters=(Number("min"), Number("max")),
        meaning=_clamp,
        code=_clamp_code,
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.NEW,
    ),
    Unary(
        name="pow",
        formula="`x^exponent`",
        source="",
        parameters=(Number("exponent"),),
        meaning=lambda a, p, x: a.power(x, p.number("exponent")),
        code=_power_code,
        search=Opaque(),
        cost=Cost.SEVERAL,
        dependence=Dependence.MORE,
    ),
    Unary(
        name="scale",
        formula="`factor * x`",
        source="",
        parameters=(Number("factor"),),
        meaning=lambda a, p, x: a.scale(x, p.number("factor")),
        code=lambda c, p, x: c.op("arith.mulf", x, c.constant(p.float("factor"))),
        search=Composite(lambda a, p, x: a.multiply(x, a.constant(p.number("factor")))),
        cost=Cost.ONE,
        dependence=Dependence.SAME,
    ),
    Unary(
        name="cast",
        formula="The same numbers in another element type, rounded to nearest",
        source="",
        parameters=(),
        meaning=lambda a, p, x: x,
        code=lambda c, p, x: x,
        # Element types say how values are stored; inside a kernel they are f32.
        search=Composite(lambda a, p, x: x),
        cost=Cost.ONE,
        dependence=Dependence.SAME,
    ),
)

ROWS: dict[str, Row] = {row.name: row for row in (*BINARY, *TERNARY, *UNARY)}
"""By mnemonic."""
