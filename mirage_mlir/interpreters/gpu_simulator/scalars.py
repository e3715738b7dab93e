"""What operations on numbers do, for all threads at once; integers wrap."""

from collections.abc import Callable

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import unsupported

SMALLEST_NORMAL = float(np.finfo(np.float32).smallest_normal)

LARGEST_DIVISOR = 2.0**126
"""Beyond it `div.approx` gives 0, or NaN for infinite dividends (PTX ISA, div)."""


def unsigned(x: Array) -> Array:
    """The same bits, seen as a number that is not negative."""
    return x.view(np.uint32 if x.dtype == np.int32 else np.uint64)


def signed(x: Array) -> Array:
    """The same bits, seen as a signed number."""
    return x.view(np.int32 if x.dtype == np.uint32 else np.int64)


def _on_unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: signed(function(unsigned(x), unsigned(y)))


COMPARISONS: dict[int, Callable[[Array, Array], Array]] = {
    0: lambda x, y: x == y,
    1: lambda x, y: x != y,
    2: lambda x, y: x < y,
    3: lambda x, y: x <= y,
    4: lambda x, y: x > y,
    5: lambda x, y: x >= y,
    6: lambda x, y: unsigned(x) < unsigned(y),
    7: lambda x, y: unsigned(x) <= unsigned(y),
    8: lambda x, y: unsigned(x) > unsigned(y),
    9: lambda x, y: unsigned(x) >= unsigned(y),
}
"""`arith.cmpi` by the number of its predicate."""


def _ordered(compare: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A comparison that is false where an operand is NaN; numpy's `!=` alone is not."""
    return lambda x, y: compare(x, y) & ~(np.isnan(x) | np.isnan(y))


FLOAT_COMPARISONS: dict[int, Callable[[Array, Array], Array]] = {
    1: np.equal,
    2: np.greater,
    3: np.greater_equal,
    4: np.less,
    5: np.less_equal,
    6: _ordered(np.not_equal),
    13: np.not_equal,
}
"""`arith.cmpf` by the number of its predicate: the ordered ones, and `une`."""


def flushed(x: Array) -> Array:
    """Subnormal numbers become zeros of their sign (`ftz`)."""
    return np.where(np.abs(x) < SMALLEST_NORMAL, np.copysign(np.float32(0), x), x)


def approximate_division(x: Array, y: Array) -> Array:
    """`div.approx`, up to its two units in the last place."""
    beyond = np.where(np.isinf(x), np.float32(np.nan), np.float32(0))
    return np.where((np.abs(y) > LARGEST_DIVISOR) & np.isfinite(y), beyond, x / y)


def fused(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z`, rounded once (twice in rare ties: f64 holds the product, not the sum)."""
    return (x.astype(np.float64) * y + z).astype(np.float32)


def _zero_extended(x: Array) -> Array:
    return unsigned(x).astype(np.int64)


def _as_float(x: Array) -> Array:
    return unsigned(x).astype(np.float32)


def _reciprocal_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _flushing(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: flushed(function(flushed(x)))


FUNCTIONS: dict[type[Operation], Callable[..., Array]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.DivUIOp: _on_unsigned(np.floor_divide),
    arith.RemUIOp: _on_unsigned(np.remainder),
    arith.ShRUIOp: _on_unsigned(np.right_shift),
    arith.ShLIOp: _on_unsigned(np.left_shift),
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.MinSIOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.UIToFPOp: _as_float,
    arith.ExtUIOp: _zero_extended,
    arith.TruncIOp: np.asarray,
    arith.SelectOp: np.where,
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.NegfOp: np.negative,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    math.AbsFOp: np.abs,
    math.CeilOp: np.ceil,
    math.CopySignOp: np.copysign,
    math.FloorOp: np.floor,
    math.FmaOp: fused,
    math.RoundEvenOp: np.rint,
    math.SqrtOp: np.sqrt,
    math.RsqrtOp: _reciprocal_root,
    nvvm.Ex2Op: _flushing(np.exp2),
    nvvm.Log2Op: _flushing(np.log2),
    nvvm.RcpApproxFtzOp: _flushing(np.reciprocal),
}
"""Operations that need no more than their operands."""


def function_of(op: Operation) -> Callable[..., Array]:
    """What `op` does to the values of its operands."""
    if isinstance(op, arith.CmpiOp):
        return COMPARISONS[op.predicate.value.data]
    if isinstance(op, arith.CmpfOp):
        return FLOAT_COMPARISONS[op.predicate.value.data]
    if isinstance(op, arith.DivfOp):
        approximate = FastMathFlag.APPROX_FUNC in op.fastmath.data
        return approximate_division if approximate else np.divide
    if isinstance(op, nvvm.Ex2Op | nvvm.Log2Op) and not op.ftz.value.data:
        raise unsupported(op, "keeps subnormal numbers, which no lowered kernel does")
    return FUNCTIONS[type(op)]
