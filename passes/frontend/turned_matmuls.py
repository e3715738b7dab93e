"""
Matmuls whose right operand is a transposed result, the other way round.

JAX writes attention as `V^T P^T`, where P are the probabilities. As `(P V)^T` it is the same, but P
is the left operand, which stays in registers behind the matmul that it is made of
(`cost_model.chains`), and a row of the result lies in memory as the program goes on with it.
"""

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.frontend.indices import replace
from mirage_mlir.passes.frontend.strided_views import view_of


def turn_matmuls(function: FuncOp) -> None:
    """Write, in place, `(B^T A^T)^T` for `A B` where B is the transpose of what matmuls made."""
    made = _made_by_matmuls(function)
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.MatmulOp) and op.lhs not in made and _is_transposed(op.rhs, made):
            _turn(op)


def _made_by_matmuls(function: FuncOp) -> set[SSAValue]:
    """Results of matmuls, and all that follows from them."""
    made = set[SSAValue]()
    for op in function.body.block.ops:
        if isinstance(op, kernel.MatmulOp) or not made.isdisjoint(op.operands):
            made.update(op.results)
    return made


def _is_transposed(value: SSAValue, made: set[SSAValue]) -> bool:
    """Whether a value is a view of what matmuls made, in whose memory its rows are columns."""
    view = view_of(value)
    if view is None or view.root not in made:
        return False
    rows, columns = view.strides[-2:]
    return 0 < rows < columns


def _turn(op: kernel.MatmulOp) -> None:
    left, right = (_transposed(each) for each in (op.rhs, op.lhs))
    *leading, rows, columns = kernel.shape_of(op.result)
    shape = (*leading, columns, rows)
    turned = kernel.MatmulOp.create(
        operands=[left.result, right.result],
        properties=dict(op.properties),
        result_types=[TensorType(kernel.tensor_type(op.result).element_type, shape)],
    )
    replace(op, [left, right, turned, _transposed(turned.result)])


def _transposed(value: SSAValue) -> kernel.TransposeOp:
    """A view with rows as columns."""
    *leading, rows, columns = range(len(kernel.shape_of(value)))
    return kernel.TransposeOp(value, (*leading, columns, rows))
