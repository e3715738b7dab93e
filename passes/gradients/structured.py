"""
Adjoints of the operators that are not elementwise: products, sums, norms, views.

Each rule takes the gradient of the operator's result, in f32 or in the result's type, and gives one
for each operand, in its shape.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.gradients.steps import Steps
from mirage_mlir.shapes import shapes

Gradients: TypeAlias = Sequence[SSAValue | None]
"""One for each operand; None where the result does not depend on it."""


def of_matmul(op: kernel.MatmulOp, g: SSAValue, steps: Steps) -> Gradients:
    """`dA = G B^T`, `dB = A^T G`, summed over what was broadcast."""
    lhs, rhs, g = op.lhs, op.rhs, steps.like(g, op.lhs)
    if len(kernel.shape_of(lhs)) > 2 and prod(kernel.shape_of(rhs)[:-2]) == 1:
        # One right side for all: the rows of all left sides are those of one matrix.
        lhs, rhs, g = (_as_matrix(value, steps) for value in (lhs, rhs, g))
    return (
        _product(op, g, steps.transposed(rhs), kernel.shape_of(op.lhs), steps),
        _product(op, steps.transposed(lhs), g, kernel.shape_of(op.rhs), steps),
    )


def _as_matrix(value: SSAValue, steps: Steps) -> SSAValue:
    """All rows of all matrices as one."""
    *rows, columns = kernel.shape_of(value)
    return steps.reshape(value, [prod(rows), columns])


def _product(
    op: kernel.MatmulOp, lhs: SSAValue, rhs: SSAValue, shape: Sequence[int], steps: Steps
) -> SSAValue:
    """A product as precise as `op`, summed over what was broadcast from `shape`."""
    precision = op.precision.data if op.precision is not None else None
    found = (*shapes.matmul(kernel.shape_of(lhs), kernel.shape_of(rhs)),)
    element = kernel.tensor_type(lhs).element_type if prod(found) == prod(shape) else f32
    kind = TensorType(element, found)
    product = steps.add(kernel.MatmulOp(lhs, rhs, kind, precision=precision))
    if prod(found) == prod(shape):
        return steps.reshape(product, shape)
    return steps.summed_to(product, shape)


def of_sum(op: kernel.ReduceSumOp, g: SSAValue, steps: Steps) -> Gradients:
    """Each term gets the gradient of the sum."""
    return (steps.broadcast(g, kernel.shape_of(op.input)),)


def of_mean(op: kernel.ReduceMeanOp, g: SSAValue, steps: Steps) -> Gradients:
    """Each of n terms gets an n-th."""
    shape = kernel.shape_of(op.input)
    count = prod(shape[dim] for dim in op.dims.get_values())
    return (steps.broadcast(steps.scaled(steps.widen(g), 1 / count), shape),)


def of_max(op: kernel.ReduceMaxOp, g: SSAValue, steps: Steps) -> Gradients:
    """Equal parts to all that are as large as the maximum, as PyTorch's `amax` has it."""
    x, dims = steps.widen(op.input), op.dims.get_values()
    largest = steps.add(kernel.ReduceMaxOp(x, dims))
    mask = steps.add(kernel.CompareOp(x, largest, "eq"))
    share = steps.add(kernel.DivOp(steps.widen(g), steps.sum(mask, dims)))
    return (steps.times(mask, share),)


def of_relu(op: kernel.ReluOp, g: SSAValue, steps: Steps) -> Gradients:
    """Nothing at 0, as PyTorch has it, which is no mean of both sides."""
    return (_where(op.input, "gt", 0.0, g, steps),)


def of_clamp(op: kernel.ClampOp, g: SSAValue, steps: Steps) -> Gradients:
    """All of it at both limits, as PyTorch has it."""
    below = _where(op.input, "le", op.max.value.data, g, steps)
    return (_where(op.input, "ge", op.min.value.data, below, steps),)


def _where(x: SSAValue, predicate: str, limit: float, g: SSAValue, steps: Steps) -> SSAValue:
    """`g` where a comparison of `x` with a number holds, 0 elsewhere."""
    x = steps.widen(x)
    mask = steps.add(kernel.CompareOp(x, steps.constant(limit, x), predicate))
    return steps.times(mask, steps.widen(g))


def of_cumsum(op: kernel.CumsumOp, g: SSAValue, steps: Steps) -> Gradients:
    """Element i is in the sums from i on: all, without those before it."""
    dim, g = op.dim.value.data, steps.widen(g)
    before = steps.minus(steps.add(kernel.CumsumOp(g, dim)), g)
    return (steps.minus(steps.sum(g, [dim]), before),)


def of_softmax(op: kernel.SoftmaxOp, g: SSAValue, steps: Steps) -> Gradients:
    """`p (g - sum(p g))`, where p is the result."""
    g, p = steps.widen(g), steps.add(kernel.SoftmaxOp(steps.widen(op.input), op.dim.value.data))
    common = steps.sum(steps.times(p, g), [op.dim.value.data])
    return (steps.times(p, steps.minus(g, common)),)


def of_rms_norm(op: kernel.RmsNormOp, g: SSAValue, steps: Steps) -> Gradients:
    """
    With r = 1 / sqrt(mean(x^2) + eps) and h = g w: `r (h - x r^2 mean(h x))`, and `sum(g x r)`.
    """
    x = steps.widen(op.input)
    return _of_norm(op, op.weight, x, g, steps)


def of_layer_norm(op: kernel.LayerNormOp, g: SSAValue, steps: Steps) -> Gradients:
    """That of RMSNorm for `x - mean(x)`, less its mean; the bias gets the sum of the gradients."""
    x, last = steps.widen(op.input), len(kernel.shape_of(op.input)) - 1
    by_centred, *by_weight = _of_norm(
        op, op.weight, steps.minus(x, steps.mean(x, [last])), g, steps
    )
    assert by_centred is not None
    by_input = steps.minus(by_centred, steps.mean(by_centred, [last]))
    if op.bias is None:
        return by_input, *by_weight
    return by_input, *by_weight, steps.summed_to(steps.widen(g), kernel.shape_of(op.bias))


def _of_norm(
    op: kernel.NormOp, weight: SSAValue | None, x: SSAValue, g: SSAValue, steps: Steps
) -> Gradients:
    """For `x / sqrt(mean(x^2) + eps) * weight`: by x, and by the weight where there is one."""
    last, g = len(kernel.shape_of(x)) - 1, steps.widen(g)
    mean = steps.mean(steps.add(kernel.SquareOp(x)), [last])
    r = steps.add(kernel.RsqrtOp(steps.plus(mean, steps.constant(op.eps.value.data, mean))))
    h = g if weight is None else steps.times(g, steps.widen(weight))
    common = steps.times(steps.mean(steps.times(h, x), [last]), steps.times(r, r))
    by_x = steps.times(r, steps.minus(h, steps.times(x, common)))
    if weight is None:
        return (by_x,)
    each = steps.times(g, steps.times(x, r))
    return by_x, steps.summed_to(each, kernel.shape_of(weight))


def of_transpose(op: kernel.TransposeOp, g: SSAValue, steps: Steps) -> Gradients:
    """The dimensions go back to where they were."""
    order = op.permutation.get_values()
    back = [order.index(dim) for dim in range(len(order))]
    return (steps.add(kernel.TransposeOp(g, back)),)


def of_reshape(op: kernel.ReshapeOp, g: SSAValue, steps: Steps) -> Gradients:
    """The shape of before."""
    return (steps.reshape(g, kernel.shape_of(op.input)),)


def of_broadcast(op: kernel.BroadcastOp, g: SSAValue, steps: Steps) -> Gradients:
    """The sum over all copies."""
    return (steps.summed_to(steps.widen(g), kernel.shape_of(op.input)),)


def of_repeat(op: kernel.RepeatOp, g: SSAValue, steps: Steps) -> Gradients:
    """The sum over all copies, which follow each other."""
    return (_sum_of_copies(op, g, steps, inner=False),)


def of_repeat_interleave(op: kernel.RepeatInterleaveOp, g: SSAValue, steps: Steps) -> Gradients:
    """The sum over the copies of each element, which are neighbours."""
    return (_sum_of_copies(op, g, steps, inner=True),)


def _sum_of_copies(op: kernel.RepetitionOp, g: SSAValue, steps: Steps, *, inner: bool) -> SSAValue:
    shape, dim, times = kernel.shape_of(op.input), op.dim.value.data, op.times.value.data
    parted = [shape[dim], times] if inner else [times, shape[dim]]
    split = steps.reshape(steps.widen(g), [*shape[:dim], *parted, *shape[dim + 1 :]])
    return steps.reshape(steps.sum(split, [dim + inner]), shape)


def of_slice(op: kernel.SliceOp, g: SSAValue, steps: Steps) -> Gradients:
    """Zeros where nothing was read."""
    shape = kernel.shape_of(op.input)
    cuts = zip(op.offsets.get_values(), op.strides.get_values(), strict=True)
    for dim, (offset, stride) in enumerate(cuts):
        g = _spread(g, dim, stride, steps)
        reached = offset + kernel.shape_of(g)[dim]
        if reached > shape[dim]:
            # The zeros behind the last element may end behind the tensor.
            g = steps.part(g, dim, 0, shape[dim] - offset)
            reached = shape[dim]
        g = steps.padded(g, dim, offset, shape[dim] - reached)
    return (g,)


def _spread(g: SSAValue, dim: int, stride: int, steps: Steps) -> SSAValue:
    """Zeros behind each element along a dimension, so that they stand `stride` apart."""
    shape = kernel.shape_of(g)
    if stride == 1 or shape[dim] == 1:
        return g
    apart = steps.reshape(g, [*shape[: dim + 1], 1, *shape[dim + 1 :]])
    padded = steps.padded(apart, dim + 1, 0, stride - 1)
    return steps.reshape(padded, [*shape[:dim], shape[dim] * stride, *shape[dim + 1 :]])


def of_concat(op: kernel.ConcatOp, g: SSAValue, steps: Steps) -> Gradients:
    """To each input its part."""
    dim = op.dim.value.data
    sizes = [kernel.shape_of(value)[dim] for value in op.inputs]
    starts = accumulate(sizes, initial=0)
    return [steps.part(g, dim, start, size) for start, size in zip(starts, sizes, strict=False)]


def of_nothing(op: Operation, g: SSAValue, steps: Steps) -> Gradients:
    """It has no operand."""
    return ()


RULES: Mapping[type[Operation], Callable[..., Gradients]] = {
    kernel.MatmulOp: of_matmul,
    kernel.ReduceSumOp: of_sum,
    kernel.ReduceMeanOp: of_mean,
    kernel.CumsumOp: of_cumsum,
    kernel.SoftmaxOp: of_softmax,
    kernel.RmsNormOp: of_rms_norm,
    kernel.LayerNormOp: of_layer_norm,
    kernel.TransposeOp: of_transpose,
    kernel.ReshapeOp: of_reshape,
    kernel.BroadcastOp: of_broadcast,
    kernel.RepeatOp: of_repeat,
    kernel.RepeatInterleaveOp: of_repeat_interleave,
    kernel.SliceOp: of_slice,
    kernel.ConcatOp: of_concat,
    kernel.ConstantOp: of_nothing,
    kernel.IotaOp: of_nothing,
    kernel.ReduceMaxOp: of_max,
    kernel.ReluOp: of_relu,
    kernel.ClampOp: of_clamp,
}
"""By operator; the elementwise ones without an edge of their own need none (`elementwise`)."""
