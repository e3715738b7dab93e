"""
Rearrangements as views and copies.

What strides cannot express (repeated elements in a row, a reshape of a transposed tensor) becomes a
copy between views. A copy is a `kernel.cast` to the type that its operand has.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.index_formulas import is_formula
from mirage_mlir.passes.frontend.direct import groups_of
from mirage_mlir.passes.frontend.indices import normalise_indices, replace
from mirage_mlir.passes.frontend.logistic import join_logistic
from mirage_mlir.passes.frontend.strided_views import owns_memory, view_of
from mirage_mlir.passes.frontend.turned_matmuls import turn_matmuls


def _typed(value: SSAValue, shape: Sequence[int]) -> TensorType:
    return TensorType(kernel.tensor_type(value).element_type, shape)


def _repetition(op: kernel.RepetitionOp) -> list[Operation]:
    """`op` as a broadcast along a new dimension, a copy and a reshape."""
    shape, dim, times = kernel.shape_of(op.input), op.dim.value.data, op.times.value.data
    # numpy.tile runs through the whole again and again, repeat_interleave through each element.
    place = dim if isinstance(op, kernel.RepeatOp) else dim + 1
    single = (*shape[:place], 1, *shape[place:])
    spread = (*shape[:place], times, *shape[place:])
    reshaped = kernel.ReshapeOp(op.input, _typed(op.input, single))
    broadcast = kernel.BroadcastOp(reshaped.result, _typed(op.input, spread))
    copied = kernel.CastOp(broadcast.result, broadcast.result.type)
    return [reshaped, broadcast, copied, kernel.ReshapeOp(copied.result, op.result.type)]


def _copy_strided_parts(op: kernel.ConcatOp) -> None:
    """Make the operands of a concat dense where it cannot read them in groups of dimensions."""
    if groups_of(op) is not None:
        return
    for index, value in enumerate(op.inputs):
        view = view_of(value)
        if view is None or not view.contiguous or is_formula(value):
            copied = kernel.CastOp(value, value.type)
            copied.location = op.location
            Rewriter.insert_op(copied, InsertPoint.before(op))
            op.operands[index] = copied.result


def _needs_copy(op: kernel.ReshapeOp) -> bool:
    """Whether a reshape is no view: of strides, or of a formula of indices."""
    return view_of(op.result) is None or (is_formula(op.input) and not is_formula(op.result))


def _copy_borrowed_results(function: FuncOp) -> None:
    """A result that is an argument, part of a tensor or an earlier result needs its own memory."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    roots: list[SSAValue] = []
    for index, value in enumerate(last.operands):
        view = view_of(value)
        if view is None or view.root in roots or not owns_memory(value):
            copied = kernel.CastOp(value, value.type)
            copied.location = last.location
            function.body.block.insert_op_before(copied, last)
            last.operands[index] = copied.result
        else:
            roots.append(view.root)


def normalise(function: FuncOp) -> None:
    """Rewrite, in place, to operators that kernels have inside, and views by strides."""
    join_logistic(function)
    normalise_indices(function)
    turn_matmuls(function)
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.RepetitionOp):
            replace(op, _repetition(op))
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.ReshapeOp) and _needs_copy(op):
            copied = kernel.CastOp(op.input, op.input.type)
            replace(op, [copied, kernel.ReshapeOp(copied.result, op.result.type)])
        elif isinstance(op, kernel.ConcatOp):
            _copy_strided_parts(op)
    _copy_borrowed_results(function)
