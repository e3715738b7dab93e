"""
Rearrangements as views and copies.

What strides cannot express (repeated elements in a row, a reshape of a transposed tensor) becomes a
copy between views. A copy is a `kernel.cast` to the type that its operand has.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.frontend.logistic import join_logistic
from mirage_mlir.passes.frontend.strided_views import VIEWS, owns_memory, view_of


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


def spread_indices(root: Operation) -> None:
    """Write each `kernel.iota` as views of a vector of all indices, in place."""
    for op in list(root.walk()):
        if isinstance(op, kernel.IotaOp) and len(shape := kernel.shape_of(op.result)) > 1:
            dim, element = op.dim.value.data, kernel.tensor_type(op.result).element_type
            lines = [size if number == dim else 1 for number, size in enumerate(shape)]
            vector = kernel.IotaOp(0, TensorType(element, [shape[dim]]))
            reshaped = kernel.ReshapeOp(vector.result, TensorType(element, lines))
            _replace(op, [vector, reshaped, kernel.BroadcastOp(reshaped.result, op.result.type)])


def _widen_indices(function: FuncOp) -> None:
    """
    Let indices be f32, in which kernels compute, and casts stand behind their views.

    So kernels read one vector by its views, and need not rearrange a narrow copy of it.
    """
    for op in list(function.body.block.ops):
        source = _cast_indices(op.operands[0]) if isinstance(op, VIEWS) else None
        if source is None and not isinstance(op, kernel.IotaOp):
            continue
        narrow = op.results[0].type
        wide = type(op).create(
            operands=[] if source is None else [source],
            properties=dict(op.properties),
            result_types=[TensorType(f32, kernel.shape_of(op.results[0]))],
        )
        if wide.results[0].type != narrow:
            _replace(op, [wide, kernel.CastOp(wide.results[0], narrow)])


def _cast_indices(value: SSAValue) -> SSAValue | None:
    """The indices in f32 that `value` is cast from; None where it is anything else."""
    cast = value.owner
    if not isinstance(cast, kernel.CastOp):
        return None
    view = view_of(cast.input)
    is_wide = kernel.tensor_type(cast.input).element_type == f32
    indices = view is not None and isinstance(view.root.owner, kernel.IotaOp)
    return cast.input if is_wide and indices else None


def _copy_strided_parts(op: kernel.ConcatOp) -> None:
    """Make the operands of a concat dense: it reads them in groups of dimensions."""
    for index, value in enumerate(op.inputs):
        view = view_of(value)
        if view is None or not view.contiguous:
            copied = kernel.CastOp(value, value.type)
            copied.location = op.location
            Rewriter.insert_op(copied, InsertPoint.before(op))
            op.operands[index] = copied.result


def _replace(op: Operation, by: Sequence[Operation]) -> None:
    """Put `by` in the place of `op`; in diagnostics they are at its place, too."""
    for new in by:
        new.location = op.location
    Rewriter.replace_op(op, by)


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
    spread_indices(function)
    _widen_indices(function)
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.RepetitionOp):
            _replace(op, _repetition(op))
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.ReshapeOp) and view_of(op.result) is None:
            copied = kernel.CastOp(op.input, op.input.type)
            _replace(op, [copied, kernel.ReshapeOp(copied.result, op.result.type)])
        elif isinstance(op, kernel.ConcatOp):
            _copy_strided_parts(op)
    _copy_borrowed_results(function)
