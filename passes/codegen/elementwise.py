"""Emits thread graphs: the fused scalar code, for each element that a thread holds."""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import FloatAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm, thread, threadblock
from mirage_mlir.passes.analysis.tile_attributes import is_merge, registers_of
from mirage_mlir.passes.codegen import series
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.compared_indices import compared_indices
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Emitter, scaled_value
from mirage_mlir.passes.codegen.matrix_transpose import read_along_rows
from mirage_mlir.passes.codegen.unmasked import is_unmasked, masks_of

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453

MOST_SCALED = 1e38
"""Factors above are not multiplied by log2 e: f32 ends at 3.4e38."""

APPROXIMATE = FastMathFlagsAttr((FastMathFlag.APPROX_FUNC,))
"""Lets a division or a root be one instruction, with an error of two units in the last place."""

Scalar = SSAValue

NO_MASKS: Mapping[Operation, SSAValue] = {}
"""Of graphs that are computed as they say."""


def _exp(emit: Emitter, x: Scalar) -> Scalar:
    """`2^(x / ln 2)` by one instruction; relative error 2^-22 plus that of x / ln 2."""
    return emit.result(nvvm.Ex2Op(emit.result(arith.MulfOp(x, emit.f32(LOG2_E)))))


def _log(emit: Emitter, x: Scalar) -> Scalar:
    return emit.result(arith.MulfOp(emit.result(nvvm.Log2Op(x)), emit.f32(LN_2)))


def _power(emit: Emitter, x: Scalar, y: Scalar) -> Scalar:
    """
    `2^(y log2 x)`: NaN for negative x, but where y is a whole number, which gives the sign; 1 where
    it is 0.
    """
    exponent = _whole(y)
    if exponent == 0:
        return emit.f32(1.0)
    size = x if exponent is None else emit.result(math.AbsFOp(x))
    power = emit.result(nvvm.Ex2Op(emit.result(arith.MulfOp(y, emit.result(nvvm.Log2Op(size))))))
    return emit.result(math.CopySignOp(power, x)) if exponent and exponent % 2 else power


def _whole(value: Scalar) -> int | None:
    """The whole number that a constant is; None for others."""
    made = value.owner
    if not isinstance(made, arith.ConstantOp) or not isinstance(made.value, FloatAttr):
        return None
    number = made.value.value.data
    return int(number) if number.is_integer() else None


ERF_SWITCH = 475 / 512
"""Where the two approximations of `_erf` meet."""

ERF_NEAR = (
    *(-5.96761703e-4, 4.99119423e-3, -2.67681349e-2),
    *(1.12819925e-1, -3.76125336e-1, 1.28379166e-1),
)
"""`erf(x) / x - 1` as a polynomial of `x^2`, the highest power first: minimax up to the switch."""

ERF_FAR = (-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2)
ERF_FAR_REST = (-1.06777877e-1, -6.34846687e-1, -1.28717512e-1)
"""`log(1 - erf(x)) + x`, divided by x, as a polynomial of x: minimax beyond the switch."""


def _erf(emit: Emitter, x: Scalar) -> Scalar:
    """
    The error function, with an error of three units in the last place of f32 (`test_erf.py`).

    `x + x P(x^2)` near 0, beyond it `1 - exp(Q(|x|))` with the sign of x; both are computed.
    """
    size, square = emit.result(math.AbsFOp(x)), emit.result(arith.MulfOp(x, x))
    far = _fused(emit, emit.f32(ERF_FAR[0]), size, ERF_FAR[1])
    low = _fused(emit, emit.f32(ERF_FAR[2]), size, ERF_FAR[3])
    far = emit.result(math.FmaOp(far, square, low))
    for factor in ERF_FAR_REST:
        far = _fused(emit, far, size, factor)
    far = emit.result(math.FmaOp(far, size, emit.result(arith.NegfOp(size))))
    far = emit.result(arith.SubfOp(emit.f32(1.0), _exp(emit, far)))
    near = emit.f32(ERF_NEAR[0])
    for factor in ERF_NEAR[1:]:
        near = _fused(emit, near, square, factor)
    near = emit.result(math.FmaOp(near, x, x))
    is_far = emit.result(arith.CmpfOp(size, emit.f32(ERF_SWITCH), "ogt"))
    return emit.result(arith.SelectOp(is_far, emit.result(math.CopySignOp(far, x)), near))


def _fused(emit: Emitter, x: Scalar, y: Scalar, z: float) -> Scalar:
    """`x * y + z`."""
    return emit.result(math.FmaOp(x, y, emit.f32(z)))


ERF_STEP = 0.3275911
ERF_FACTORS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
"""Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: error below 1.5e-7."""


def _approximate_erf(emit: Emitter, x: Scalar) -> Scalar:
    """`1 - (a1 t + ... + a5 t^5) exp(-x^2)` with `t = 1 / (1 + p |x|)`, and the sign of x."""
    size = emit.result(math.AbsFOp(x))
    one = emit.f32(1.0)
    t = emit.result(nvvm.RcpApproxFtzOp(emit.result(math.FmaOp(size, emit.f32(ERF_STEP), one))))
    sum_ = emit.f32(ERF_FACTORS[0])
    for factor in ERF_FACTORS[1:]:
        sum_ = emit.result(math.FmaOp(sum_, t, emit.f32(factor)))
    tail = _exp(emit, emit.result(arith.NegfOp(emit.result(arith.MulfOp(x, x)))))
    product = emit.result(arith.MulfOp(emit.result(arith.MulfOp(sum_, t)), tail))
    return emit.result(math.CopySignOp(emit.result(arith.SubfOp(one, product)), x))


def _exp_of_difference(emit: Emitter, difference: arith.SubfOp) -> Scalar:
    """
    `2^(a / ln 2 - b / ln 2)`, which saves an instruction where many differences share b, and
    another one where a is a multiple of what is there already.

    The rounding of `b / ln 2` adds an error of 2^-24 |b / ln 2| to the exponent, which is far below
    the error of f16 for the b that f16 inputs give. A b of -1e9, as masks have it, would make that
    error more than 1: of such kernels exponentials are those of exact differences.
    """
    lhs, rhs = difference.operands
    shift = emit.result(arith.NegfOp(emit.result(arith.MulfOp(rhs, emit.f32(LOG2_E)))))
    value, factor = scaled_value(lhs) or (lhs, 1.0)
    if abs(factor) > MOST_SCALED:
        value, factor = lhs, 1.0
    return emit.result(nvvm.Ex2Op(emit.result(math.FmaOp(value, emit.f32(factor * LOG2_E), shift))))


EXPANSIONS: dict[type[Operation], Callable[..., Scalar]] = {
    math.ExpOp: _exp,
    math.LogOp: _log,
    math.PowFOp: _power,
    math.TanhOp: series.tanh,
    math.ErfOp: _erf,
    math.ExpM1Op: series.expm1,
    math.Log1pOp: series.log1p,
    math.SinOp: series.sin,
    math.CosOp: series.cos,
}
"""Functions that have no instruction of their own."""


def _merges(op: Operation) -> bool:
    """Whether `op` is in a graph that merges partial sums: there b may be LOWEST, and overflow."""
    graph = op.parent_op()
    return graph is not None and is_merge(graph)


def _peephole(ctx: KernelContext, op: Operation, arguments: list[Scalar]) -> Scalar | None:
    """What an operation is by what its operands are made of; None where that saves nothing."""
    if isinstance(op, math.ExpOp) and ctx.is_moderate and not _merges(op):
        difference = arguments[0].owner
        if isinstance(difference, arith.SubfOp):
            return _exp_of_difference(ctx.emit, difference)
    if isinstance(op, arith.CmpfOp):
        return compared_indices(ctx.emit, op, arguments)
    return None


def evaluate(ctx: KernelContext, op: Operation, arguments: list[Scalar]) -> Scalar:
    """One scalar operation of a thread graph."""
    emit = ctx.emit
    if (found := _peephole(ctx, op, arguments)) is not None:
        return found
    if isinstance(op, math.ErfOp) and FastMathFlag.APPROX_FUNC in op.fastmath.data:
        return _approximate_erf(emit, *arguments)
    if isinstance(op, math.TanhOp) and FastMathFlag.APPROX_FUNC in op.fastmath.data:
        return series.far_tanh(emit, *arguments)
    if type(op) in EXPANSIONS:
        return EXPANSIONS[type(op)](emit, *arguments)
    if isinstance(op, arith.DivfOp) and op not in ctx.exact:
        return emit.result(arith.DivfOp(arguments[0], arguments[1], APPROXIMATE))
    if isinstance(op, math.SqrtOp | math.RsqrtOp) and op not in ctx.exact:
        return emit.result(type(op)(arguments[0], APPROXIMATE))
    if len(op.results) != 1 or op.regions:
        fail(op, "has no place in a thread graph")
    copy = type(op).create(
        operands=arguments,
        result_types=[op.results[0].type],
        properties=dict(op.properties),
    )
    return emit.result(copy)


def run_thread_graph(ctx: KernelContext, op: thread.GraphOp) -> None:
    """Compute the slots of `op`'s results."""
    result = op.results[0]
    layout, shape = registers_of(result), threadblock.shape_of(result)

    def read(value: SSAValue) -> list[SSAValue]:
        return read_along_rows(ctx, value, layout, shape) or fetch(ctx, value, layout, shape)

    def computed(masks: Mapping[Operation, SSAValue]) -> list[SSAValue]:
        columns = [read(value) for value in op.operands]
        slots = range(len(layout.offsets))
        rows = [run_slot(ctx, op, columns, slot, masks) for slot in slots]
        return [value for row in rows for value in row]

    masks = masks_of(op)
    unmasked = is_unmasked(ctx) if masks else False
    if isinstance(unmasked, bool):
        found = computed({})
    else:
        for value in op.operands:
            if not isinstance(value.owner, threadblock.IotaOp):
                # Both ways read it.
                read(value)
        found = ctx.emit.either(unmasked, lambda: computed(masks), lambda: computed({}))
    count = len(op.results)
    for number, value in enumerate(op.results):
        ctx.registers[value] = found[number::count]


def run_slot(
    ctx: KernelContext,
    op: thread.GraphOp,
    columns: list[list[Scalar]],
    slot: int,
    masks: Mapping[Operation, SSAValue] = NO_MASKS,
) -> list[Scalar]:
    """
    One slot of each of `op`'s results, from the slots of each of its operands.

    Of selections among the `masks` it is the values that stand there.
    """
    block = op.body.block
    scalars: dict[SSAValue, Scalar] = {
        argument: column[slot] for argument, column in zip(block.args, columns, strict=True)
    }
    stored: list[Scalar] = []
    for inner in block.ops:
        if isinstance(inner, thread.StoreOp):
            stored.append(scalars[inner.operands[0]])
            continue
        if inner in masks:
            scalars[inner.results[0]] = scalars[masks[inner]]
            continue
        arguments = [scalars[value] for value in inner.operands]
        scalars[inner.results[0]] = evaluate(ctx, inner, arguments)
    return stored
