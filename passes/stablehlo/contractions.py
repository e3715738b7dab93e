"""Reductions and products of StableHLO as operators of the kernel dialect."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, prod

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects import chlo, kernel, stablehlo
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.stablehlo.elementwise import BINARY
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Rule, Tensor, type_of


def opposite(emit: KernelBuilder, value: SSAValue) -> SSAValue:
    return emit.add(kernel.ROW_OPS["neg"](value))


def _least(emit: KernelBuilder, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The minimum, which is the opposite of the maximum of opposites."""
    return opposite(emit, emit.add(kernel.ReduceMaxOp(opposite(emit, value), dims)))


REDUCTIONS: Mapping[
    str, tuple[float, Callable[[KernelBuilder, SSAValue, Sequence[int]], SSAValue]]
] = {
    "stablehlo.add": (0, lambda emit, x, dims: emit.add(kernel.ReduceSumOp(x, dims))),
    "stablehlo.maximum": (-inf, lambda emit, x, dims: emit.add(kernel.ReduceMaxOp(x, dims))),
    "stablehlo.minimum": (inf, _least),
}
"""By what the body does: the initial value that changes nothing, and the operators."""

OF_BOOLEANS = {
    "stablehlo.and": "stablehlo.minimum",
    "stablehlo.or": "stablehlo.maximum",
}
"""What reduces booleans, as zeros and ones: by which reduction."""


def _reduce(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.ReduceOp)
    name = combined_by(emit, op)
    x, initial = inputs
    if not isinstance(x.element, FloatType) and not x.is_boolean:
        emit.fail(f"reduces elements of type {x.element}; kernels reduce floats")
    if x.is_boolean and initial.number is None:
        emit.fail("begins with a boolean that is no constant")
    dims = op.dimensions.get_values()
    if x.is_boolean:
        neutral, (_, reduced) = name == "stablehlo.and", REDUCTIONS[OF_BOOLEANS[name]]
        if initial.number != neutral:
            return emit.number(bool(initial.number))
    else:
        neutral, reduced = REDUCTIONS[name]
    value = emit.value(x)
    sizes = [
        size if dim in dims else held
        for dim, (size, held) in enumerate(zip(x.shape, kernel.shape_of(value), strict=True))
    ]
    value = emit.steps.broadcast(value, sizes)
    value = reduced(emit, value, dims) if dims else value
    kept = [size for dim, size in enumerate(sizes) if dim not in dims]
    value = emit.reshape(value, kept)
    if initial.number != neutral:
        first = emit.reshape(emit.value(initial), [1] * len(kept))
        value = emit.add(BINARY[name](value, first))
    return emit.result(value)


def combined_by(
    emit: KernelBuilder, op: stablehlo.ReduceOp | stablehlo.ReduceWindowOp | chlo.ScanOp
) -> str:
    """The name of the one operation in the body, on its two arguments; of it are all results."""
    if len(op.outputs) != 1:
        emit.fail(f"reduces {len(op.outputs)} tensors together")
    body = op.body.block
    first, last = body.first_op, body.last_op
    whole = (
        first is not None
        and isinstance(last, stablehlo.ReturnOp)
        and first.next_op is last
        and {*first.operands} == {*body.args}
        and [*last.values] == [*first.results] * len(op.results)
    )
    known = OF_BOOLEANS if type_of(op.outputs[0]).element_type == i1 else REDUCTIONS
    if not whole or first is None or first.name not in known:
        found = ", ".join(name_of(each) for each in body.ops if each is not last)
        of = "; kernels reduce by one add, maximum or minimum"
        if first is not None and first.name in known and first.next_op is last:
            of += " of the two arguments of the body, which returns it"
        emit.fail(f"combines by {found or 'no operation'}{of}")
    return first.name


def _dot_general(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, stablehlo.DotGeneralOp)
    kind = type_of(op.result)
    if not isinstance(kind.element_type, FloatType):
        emit.fail(f"makes elements of type {kind.element_type}; kernels multiply floats")
    lhs, rhs = (_matrix(emit, op, tensor, side) for tensor, side in zip(inputs, SIDES, strict=True))
    elements = {kernel.tensor_type(value).element_type for value in (lhs, rhs)}
    if len(elements) > 1:
        lhs, rhs = emit.steps.widen(lhs), emit.steps.widen(rhs)
    batch = _broadcast_batch(lhs, rhs)
    shape = (*batch, kernel.shape_of(lhs)[-2], kernel.shape_of(rhs)[-1])
    product = emit.add(kernel.MatmulOp(lhs, rhs, TensorType(kind.element_type, shape)))
    return emit.result(emit.reshape(product, [*batch, *kind.get_shape()[len(batch) :]]))


SIDES = ("lhs", "rhs")


def _broadcast_batch(lhs: SSAValue, rhs: SSAValue) -> tuple[int, ...]:
    """Sizes of the leading dimensions of a product."""
    left, right = kernel.shape_of(lhs)[:-2], kernel.shape_of(rhs)[:-2]
    return tuple(max(pair) for pair in zip(left, right, strict=True))


def _matrix(emit: KernelBuilder, op: stablehlo.DotGeneralOp, x: Tensor, side: str) -> SSAValue:
    """An operand with its batching dimensions first, then those of the rows, then the columns."""
    numbers = op.dot_dimension_numbers
    batch = numbers.of(f"{side}_batching_dimensions")
    contracted, free = numbers.of(f"{side}_contracting_dimensions"), op.free(side)
    rows, columns = (free, contracted) if side == "lhs" else (contracted, free)
    order = [*batch, *rows, *columns]
    value = emit.value(x)
    sizes = [
        held if dim in batch else size
        for dim, (size, held) in enumerate(zip(x.shape, kernel.shape_of(value), strict=True))
    ]
    value = emit.steps.broadcast(value, sizes)
    if order != sorted(order):
        value = emit.add(kernel.TransposeOp(value, order))
    shape = [sizes[dim] for dim in batch]
    return emit.reshape(
        value, [*shape, *(prod(sizes[dim] for dim in dims) for dims in (rows, columns))]
    )


RULES: Mapping[str, Rule] = {
    "stablehlo.dot_general": _dot_general,
    "stablehlo.reduce": _reduce,
}
"""By the name of the operation."""
