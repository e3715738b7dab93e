"""Operations of arith and math, on numbers and elementwise on tensors."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Operation

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects.stablehlo_attributes import Direction, DirectionAttr
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg.builder import LinalgBuilder
from mirage_mlir.passes.stablehlo.tensors import Tensor, constant
from mirage_mlir.shapes.shapes import Shape

ScalarRule: TypeAlias = Callable[[LinalgBuilder, Operation, Sequence[Tensor]], Tensor]

FLOATS = {
    "arith.addf": "stablehlo.add",
    "arith.divf": "stablehlo.divide",
    "arith.maximumf": "stablehlo.maximum",
    "arith.maxnumf": "stablehlo.maximum",
    "arith.minimumf": "stablehlo.minimum",
    "arith.minnumf": "stablehlo.minimum",
    "arith.mulf": "stablehlo.multiply",
    "arith.negf": "stablehlo.negate",
    "arith.subf": "stablehlo.subtract",
    "math.absf": "stablehlo.abs",
    "math.ceil": "stablehlo.ceil",
    "math.cos": "stablehlo.cosine",
    "math.erf": "chlo.erf",
    "math.erfc": "chlo.erfc",
    "math.exp": "stablehlo.exponential",
    "math.expm1": "stablehlo.exponential_minus_one",
    "math.floor": "stablehlo.floor",
    "math.fpowi": "stablehlo.power",
    "math.log": "stablehlo.log",
    "math.log1p": "stablehlo.log_plus_one",
    "math.powf": "stablehlo.power",
    "math.roundeven": "stablehlo.round_nearest_even",
    "math.rsqrt": "stablehlo.rsqrt",
    "math.sin": "stablehlo.sine",
    "math.sqrt": "stablehlo.sqrt",
    "math.tanh": "stablehlo.tanh",
}
"""
On floats, by what StableHLO calls them.

The maxima and minima differ where one of the two is NaN: as in StableHLO, kernels give NaN then.
"""

INTEGERS = {
    "arith.addi": "stablehlo.add",
    "arith.maxsi": "stablehlo.maximum",
    "arith.minsi": "stablehlo.minimum",
    "arith.muli": "stablehlo.multiply",
    "arith.subi": "stablehlo.subtract",
    "math.absi": "stablehlo.abs",
}
"""On signed integers."""

BITS = {"arith.andi": "stablehlo.and", "arith.ori": "stablehlo.or", "arith.xori": "stablehlo.xor"}
"""On booleans."""

CASTS = (
    *("arith.extf", "arith.extsi", "arith.extui", "arith.fptosi", "arith.fptoui"),
    *("arith.index_cast", "arith.index_castui", "arith.sitofp", "arith.truncf", "arith.trunci"),
    "arith.uitofp",
)

UNSIGNED = ("arith.extui", "arith.index_castui", "arith.uitofp")
SIGNED = ("arith.extsi", "arith.index_cast", "arith.sitofp")

TRUNCATING = ("arith.fptosi", "arith.fptoui", "arith.trunci")

FLOAT_PREDICATES = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE", 13: "NE"}
"""Of `arith.cmpf`: what StableHLO has, too. All but NE are false where a number is NaN."""

OPPOSITES = {8: 6, 9: 5, 10: 4, 11: 3, 12: 2}
"""Of the other unordered ones, the ordered one that is true where they are false."""

ORDERED_NOT_EQUAL = 6

NEAREST_EVEN = 0
"""How kernels round: `to_nearest_even` of `arith.truncf`."""

INTEGER_PREDICATES = {0: "EQ", 1: "NE", 2: "LT", 3: "LE", 4: "GT", 5: "GE"}
"""Of `arith.cmpi`, signed; from 6 on come the unsigned ones."""

FIRST_UNSIGNED = 6


def _float(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    return emit.apply(FLOATS[name_of(op)], inputs, inputs[0].element)


def _integer(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    if inputs[0].is_boolean:
        emit.fail("computes with booleans as with numbers")
    return emit.apply(INTEGERS[name_of(op)], inputs, inputs[0].element)


def _bits(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    return emit.apply(BITS[name_of(op)], inputs, inputs[0].element)


def _least(x: Tensor) -> float:
    return x.bounds[0] if x.number is None else x.number


def element_of(kind: Attribute) -> Attribute:
    """The element type of a tensor, or the type itself."""
    return getattr(kind, "element_type", kind)


def _cast(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    (x,) = inputs
    rounding = op.get_attr_or_prop("roundingmode")
    if rounding is not None and rounding != IntegerAttr(NEAREST_EVEN, 32):
        emit.fail("rounds otherwise than to the nearest even number")
    if name_of(op) in UNSIGNED and not x.is_boolean and _least(x) < 0:
        emit.fail("takes for unsigned what may be negative")
    if name_of(op) in SIGNED and x.is_boolean:
        emit.fail("takes a boolean for signed: true is -1")
    if name_of(op) in TRUNCATING and element_of(op.results[0].type) == i1:
        emit.fail("makes a boolean of the last bit of a number: compare it with a number instead")
    return emit.apply("stablehlo.convert", inputs, element_of(op.results[0].type))


def _compared(emit: LinalgBuilder, inputs: Sequence[Tensor], direction: str) -> Tensor:
    properties = {"comparison_direction": DirectionAttr(Direction(direction))}
    return emit.apply("stablehlo.compare", inputs, i1, properties)


def _predicate(op: Operation) -> int:
    found = op.properties["predicate"]
    assert isa(found, IntegerAttr)
    return found.value.data


def _cmpf(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    predicate = _predicate(op)
    if predicate in OPPOSITES:
        return emit.apply("stablehlo.not", [_ordered(emit, inputs, OPPOSITES[predicate])], i1)
    return _ordered(emit, inputs, predicate)


def _ordered(emit: LinalgBuilder, inputs: Sequence[Tensor], predicate: int) -> Tensor:
    if predicate == ORDERED_NOT_EQUAL:
        sides = [_compared(emit, inputs, each) for each in ("LT", "GT")]
        return emit.apply("stablehlo.or", sides, i1)
    if predicate not in FLOAT_PREDICATES:
        emit.fail("asks whether a number is NaN")
    return _compared(emit, inputs, FLOAT_PREDICATES[predicate])


def _cmpi(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    predicate = _predicate(op)
    if predicate >= FIRST_UNSIGNED:
        if any(_least(each) < 0 for each in inputs):
            emit.fail("takes for unsigned what may be negative")
        predicate -= FIRST_UNSIGNED - 2
    if inputs[0].is_boolean and predicate > 1:
        emit.fail("orders booleans")
    return _compared(emit, inputs, INTEGER_PREDICATES[predicate])


def _select(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    return emit.apply("stablehlo.select", inputs, inputs[1].element)


def _fma(emit: LinalgBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    a, b, c = inputs
    product = emit.apply("stablehlo.multiply", [a, b], a.element)
    return emit.apply("stablehlo.add", [product, c], a.element)


RULES: Mapping[str, ScalarRule] = {
    **dict.fromkeys(FLOATS, _float),
    **dict.fromkeys(INTEGERS, _integer),
    **dict.fromkeys(BITS, _bits),
    **dict.fromkeys(CASTS, _cast),
    "arith.cmpf": _cmpf,
    "arith.cmpi": _cmpi,
    "arith.select": _select,
    "math.fma": _fma,
}
"""By the name of the operation."""


def number_of(emit: LinalgBuilder, op: Operation, shape: Shape) -> Tensor:
    """An `arith.constant` as a tensor of `shape`: one number, or a dense tensor of one."""
    value, element = op.properties["value"], element_of(op.results[0].type)
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = value.get_values()
        # By their text: a NaN is not equal to itself, and 0.0 is to -0.0.
        if not value.is_splat() and len({*map(repr, numbers)}) > 1:
            emit.fail(
                f"has {len(numbers)} elements that differ",
                note="make a table an argument of the function, marked kernel.constant",
            )
        number = numbers[0]
    elif isinstance(value, FloatAttr | IntegerAttr):
        number = value.value.data
    else:
        emit.fail("has its elements behind the program; kernels take such tables as inputs")
    assert isinstance(number, int | float)
    if isinstance(element, IndexType):
        element = IntegerType(64)
    return constant(shape, element, bool(number) if element == i1 else number)
