"""What each elementwise operator of a tile does to one element, in `arith` and `math` on f32."""

from collections.abc import Callable

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import Float32Type, FloatAttr, f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.elementwise import parameters_of
from mirage_mlir.dialects.loop_bounds import set_where_unmasked, where_unmasked
from mirage_mlir.operators.elementwise import CodeName
from mirage_mlir.operators.table import ROWS

Scalar = SSAValue
Rule = Callable[[Builder, Operation, list[Scalar]], Scalar]

OPERATIONS: dict[CodeName, Callable[..., Operation]] = {
    "arith.addf": arith.AddfOp,
    "arith.subf": arith.SubfOp,
    "arith.mulf": arith.MulfOp,
    "arith.divf": arith.DivfOp,
    "arith.negf": arith.NegfOp,
    "arith.maximumf": arith.MaximumfOp,
    "arith.minimumf": arith.MinimumfOp,
    "math.absf": math.AbsFOp,
    "math.exp": math.ExpOp,
    "math.log": math.LogOp,
    "math.sqrt": math.SqrtOp,
    "math.rsqrt": math.RsqrtOp,
    "math.tanh": math.TanhOp,
    "math.erf": math.ErfOp,
    "math.expm1": math.ExpM1Op,
    "math.log1p": math.Log1pOp,
    "math.sin": math.SinOp,
    "math.cos": math.CosOp,
    "math.floor": math.FloorOp,
    "math.ceil": math.CeilOp,
    "math.roundeven": math.RoundEvenOp,
    "math.powf": math.PowFOp,
}
"""What the names in the code of operators stand for."""


APPROXIMATE = FastMathFlagsAttr((FastMathFlag.APPROX_FUNC,))
"""Lets a function be computed with a small absolute error instead of a small relative one."""


def constant(builder: Builder, value: float) -> Scalar:
    """The f32 constant `value`."""
    return builder.insert(arith.ConstantOp(FloatAttr(value, Float32Type()))).result


class Writer:
    """Appends the code of operators to a thread graph."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def constant(self, value: float) -> Scalar:
        """An f32 constant."""
        return constant(self.builder, value)

    def op(self, name: CodeName, *operands: Scalar, approximate: bool = False) -> Scalar:
        """The result of an operation."""
        flags = (APPROXIMATE,) if approximate else ()
        return self.builder.insert(OPERATIONS[name](*operands, *flags)).results[0]

    def select(
        self, predicate: str, x: Scalar, y: Scalar, if_true: Scalar, if_false: Scalar
    ) -> Scalar:
        """One of two values, by a comparison."""
        holds = self.builder.insert(arith.CmpfOp(x, y, predicate)).result
        return self.builder.insert(arith.SelectOp(holds, if_true, if_false)).result


def _rule(name: str) -> Rule:
    """The rule of an operator of the table."""

    def rule(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
        row = ROWS[name]
        return row.write(Writer(builder), parameters_of(op, row), args)

    return rule


def _constant(builder: Builder, op: Operation, _: list[Scalar]) -> Scalar:
    assert isinstance(op, threadblock.ConstantOp)
    return constant(builder, op.value.value.data)


def _same(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    return args[0]


RULES: dict[type[Operation], Rule] = {
    **{op: _rule(name) for name, op in threadblock.BINARY.items()},
    **{op: _rule(name) for name, op in threadblock.TERNARY.items()},
    **{op: _rule(name) for name, op in threadblock.UNARY.items()},
    threadblock.ConstantOp: _constant,
    threadblock.BroadcastOp: _same,
}
"""Every operator that computes an element from the elements at its place, alone."""


def widen(builder: Builder, value: Scalar) -> Scalar:
    """`value` in f32, in which everything between memory and memory is computed."""
    return value if value.type == f32 else builder.insert(arith.ExtFOp(value, f32)).result


def apply_rule(builder: Builder, op: Operation, args: list[Scalar]) -> Scalar:
    """The element of `op`'s result, rounded to the result's element type."""
    result = RULES[type(op)](builder, op, [widen(builder, arg) for arg in args])
    if isinstance(op, threadblock.SelectOp) and (known := where_unmasked(op)) is not None:
        assert isinstance(result.owner, arith.SelectOp), "a selection is one of scalars"
        set_where_unmasked(result.owner, known)
    element = threadblock.tile_type(op.results[0]).element_type
    return result if element == f32 else builder.insert(arith.TruncFOp(result, element)).result
