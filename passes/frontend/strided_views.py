"""Views in functions of kernel operators: which operators move no data, and with what strides."""

from math import prod

from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.passes.analysis.index_formulas import is_formula, makes_formula
from mirage_mlir.passes.analysis.tensor_views import VIEWS, TensorView, dense_strides, through


def view_of(value: SSAValue) -> TensorView | None:
    """
    The memory behind a value, followed through views; what an operator computes is dense.

    None when a reshape on the way needs a copy.
    """
    owner = value.owner
    if isinstance(owner, Block) or not isinstance(owner, VIEWS):
        shape = kernel.shape_of(value)
        return TensorView(value, shape, dense_strides(shape))
    source = view_of(owner.operands[0])
    return None if source is None else through(owner, source, kernel.shape_of(value))


def owns_memory(value: SSAValue) -> bool:
    """Whether a value is all of a tensor that the function computes, dims in any order."""
    view = view_of(value)
    if view is None or isinstance(view.root.owner, Block) or view.offset or is_formula(view.root):
        return False
    pairs = sorted(
        ((step, size) for size, step in zip(view.shape, view.strides, strict=True) if size > 1),
        reverse=True,
    )
    dense = dense_strides(tuple(size for _, size in pairs))
    whole = prod(view.shape) == prod(kernel.shape_of(view.root))
    return whole and tuple(step for step, _ in pairs) == dense


def bytes_of(value: SSAValue) -> int:
    """The bytes of a tensor that is dense."""
    tensor = kernel.tensor_type(value)
    return prod(tensor.get_shape()) * byte_width(tensor.element_type)


def is_strided_view(op: Operation) -> bool:
    """Whether `op` only looks at its operand's memory in another way."""
    return isinstance(op, VIEWS) and view_of(op.results[0]) is not None


def takes_no_kernel(op: Operation) -> bool:
    """Whether the result of `op` needs no memory of its own: a view, or a formula of indices."""
    return is_strided_view(op) or makes_formula(op)


def strides_of(value: SSAValue) -> tuple[int, ...]:
    """
    The strides of a value in elements; one that needs a copy is dense after it.

    A formula of indices has none. It gets some by which no two dimensions seem to be one: a kernel
    computes it from the index along each.
    """
    if is_formula(value):
        return (1,) * len(kernel.shape_of(value))
    view = view_of(value)
    return dense_strides(kernel.shape_of(value)) if view is None else view.strides
