"""Indices in functions of kernel operators: one vector in f32 of each size, and its views."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.merging import sorted_items
from mirage_mlir.passes.frontend.strided_views import VIEWS, view_of


def normalise_indices(function: FuncOp) -> None:
    """Write what depends on indices alone so that kernels read few of their views, in place."""
    spread_indices(function)
    widen_indices(function)
    merge_indices(function)


def spread_indices(root: Operation) -> None:
    """Write each `kernel.iota` as views of a vector of all indices, in place."""
    for op in list(root.walk()):
        if isinstance(op, kernel.IotaOp) and len(shape := kernel.shape_of(op.result)) > 1:
            dim, element = op.dim.value.data, kernel.tensor_type(op.result).element_type
            lines = [size if number == dim else 1 for number, size in enumerate(shape)]
            vector = kernel.IotaOp(0, TensorType(element, [shape[dim]]))
            reshaped = kernel.ReshapeOp(vector.result, TensorType(element, lines))
            spread = kernel.BroadcastOp(reshaped.result, op.result.type)
            replace(op, [vector, reshaped, spread])


def widen_indices(function: FuncOp) -> None:
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
            replace(op, [wide, kernel.CastOp(wide.results[0], narrow)])


def _cast_indices(value: SSAValue) -> SSAValue | None:
    """The indices in f32 that `value` is cast from; None where it is anything else."""
    cast = value.owner
    if not isinstance(cast, kernel.CastOp):
        return None
    view = view_of(cast.input)
    is_wide = kernel.tensor_type(cast.input).element_type == f32
    indices = view is not None and isinstance(view.root.owner, kernel.IotaOp)
    return cast.input if is_wide and indices else None


def merge_indices(function: FuncOp) -> None:
    """
    Compute once what is computed of indices alone in the same way, and drop views of equal type.

    Each view that is left is an input of the search, whose work grows with their number.
    """
    known: dict[object, Operation] = {}
    made = set[SSAValue]()
    for op in list(function.body.block.ops):
        if not isinstance(op, kernel.TensorOp) or op.regions or not made.issuperset(op.operands):
            continue
        if isinstance(op, VIEWS) and op.operands[0].type == op.results[0].type:
            Rewriter.replace_op(op, [], [op.operands[0]])
            continue
        key = op.name, tuple(op.operands), tuple(sorted_items(op)), op.results[0].type
        first = known.setdefault(key, op)
        made.update(first.results)
        if first is not op:
            Rewriter.replace_op(op, [], first.results)


def replace(op: Operation, by: Sequence[Operation]) -> None:
    """Put `by` in the place of `op`; in diagnostics they are at its place, too."""
    for new in by:
        new.location = op.location
    Rewriter.replace_op(op, by)
