"""Operators of the kernel dialect in terms of elementary ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.symbolic.proof import prove
from mirage_mlir.interpreters.operators import structure_of

MOST_MASKED = 256
"""Elements of a cumulative sum that are summed under one mask. That is n additions for each, where
steps read and write all of them log2(n) times, modelled at two to six times the time."""

ROWS = (8, 16, 32)
"""Elements of a row, which are summed under one mask. On an H200 4,096 prefix sums of 128 take 0.75
of the time in rows of 8."""

FEWEST_CUT = 64
"""Elements from which on they are cut into such rows; 32 take as long in rows of 8. Rows are cut
into rows of rows only where there are more than `MOST_MASKED`."""

MOST_STORED = 1 << 30
"""Elements under the mask: 4 GB, where each operator is a kernel of its own and stores them."""

MOST_TOGETHER = 8192
"""Elements of a cumulative sum that are summed in steps: tensors of as many are put side by side by
blocks of every target, in f32."""


class F32Steps:
    """
    Elementary operators in f32 that replace `op`.

    Squares of f16 overflow and sums of them lose digits, so what is between the operands and the
    result is computed in f32 and cast once, at the end.
    """

    def __init__(self, op: Operation):
        self.op = op
        self.steps: list[Operation] = []

    def add(self, step: kernel.TensorOp) -> SSAValue:
        """The result of one more step."""
        step.location = self.op.location
        self.steps.append(step)
        return step.results[0]

    def widen(self, value: SSAValue) -> SSAValue:
        """`value` in f32."""
        source = kernel.tensor_type(value)
        if source.element_type == f32:
            return value
        return self.add(kernel.CastOp(value, TensorType(f32, source.get_shape())))

    def mean(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The arithmetic mean over `dims`."""
        count = prod(kernel.shape_of(value)[dim] for dim in dims)
        return self.add(kernel.ScaleOp(self.add(kernel.ReduceSumOp(value, dims)), 1 / count))

    def root_mean_square(self, value: SSAValue, eps: float) -> SSAValue:
        """`sqrt(mean(value^2) + eps)` over the last dimension."""
        last = len(kernel.shape_of(value)) - 1
        mean = self.mean(self.add(kernel.SquareOp(value)), [last])
        if eps != 0:
            constant = self.add(kernel.ConstantOp(eps, mean.type))
            mean = self.add(kernel.AddOp(mean, constant))
        return self.add(kernel.SqrtOp(mean))

    def part(self, value: SSAValue, dim: int, offset: int, size: int) -> SSAValue:
        """`size` indices of a dimension from `offset` on."""
        sizes = list(kernel.shape_of(value))
        sizes[dim] = size
        offsets = [offset if number == dim else 0 for number in range(len(sizes))]
        return self.add(kernel.SliceOp(value, offsets, sizes, [1] * len(sizes)))

    def replace_op(self, value: SSAValue, rewriter: PatternRewriter) -> None:
        """Let `value`, in the result's element type, take the place of the operator."""
        result_type = self.op.results[0].type
        if value.type != result_type:
            value = self.add(kernel.CastOp(value, result_type))
        rewriter.replace(self.op, self.steps, [value])


class DecomposeRmsNorm(RewritePattern):
    """`rms_norm(x, w)` is `x / sqrt(sum(x^2) * (1/N) + eps) * w`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.RmsNormOp, rewriter: PatternRewriter) -> None:
        steps = F32Steps(op)
        x = steps.widen(op.input)
        root = steps.root_mean_square(x, op.eps.value.data)
        result = steps.add(kernel.DivOp(x, root))
        if op.weight is not None:
            result = steps.add(kernel.MulOp(result, steps.widen(op.weight)))
        steps.replace_op(result, rewriter)


class DecomposeLayerNorm(RewritePattern):
    """`layer_norm(x, w, b)`: `c / sqrt(sum(c^2)/N + eps) * w + b`, where c is `x - sum(x)/N`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.LayerNormOp, rewriter: PatternRewriter) -> None:
        steps = F32Steps(op)
        x = steps.widen(op.input)
        last = len(kernel.shape_of(x)) - 1
        centred = steps.add(kernel.SubOp(x, steps.mean(x, [last])))
        root = steps.root_mean_square(centred, op.eps.value.data)
        result = steps.add(kernel.DivOp(centred, root))
        if op.weight is not None:
            result = steps.add(kernel.MulOp(result, steps.widen(op.weight)))
        if op.bias is not None:
            result = steps.add(kernel.AddOp(result, steps.widen(op.bias)))
        steps.replace_op(result, rewriter)


class DecomposeSoftmax(RewritePattern):
    """`softmax(x)` is `e / sum(e)`, e = `exp(x - max(x))`: no argument of exp is above 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SoftmaxOp, rewriter: PatternRewriter) -> None:
        steps = F32Steps(op)
        x, dims = steps.widen(op.input), [op.dim.value.data]
        shifted = steps.add(kernel.SubOp(x, steps.add(kernel.ReduceMaxOp(x, dims))))
        powers = steps.add(kernel.ExpOp(shifted))
        total = steps.add(kernel.ReduceSumOp(powers, dims))
        steps.replace_op(steps.add(kernel.DivOp(powers, total)), rewriter)


class DecomposeSilu(RewritePattern):
    """`silu(x)` is `x * sigmoid(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.SiluOp, rewriter: PatternRewriter) -> None:
        steps = F32Steps(op)
        x = steps.widen(op.input)
        gate = steps.add(kernel.SigmoidOp(x))
        steps.replace_op(steps.add(kernel.MulOp(x, gate)), rewriter)


class DecomposeReduceMean(RewritePattern):
    """`reduce_mean(x)` is `sum(x) * (1/N)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.ReduceMeanOp, rewriter: PatternRewriter) -> None:
        steps = F32Steps(op)
        steps.replace_op(steps.mean(steps.widen(op.input), op.dims.get_values()), rewriter)


@dataclass
class DecomposeCumsum(RewritePattern):
    """
    `cumsum(x)` as sums under masks, or in steps where those would be too much work.

    Under a mask element i is the sum of all j <= i, n additions for each of n elements, in one
    kernel. Many elements are cut into rows: an element is the sum of those up to it in its row, and
    of all rows before. In steps each adds to every element what is 1, 2, 4, ... places before it:
    after a step with distance d an element is the sum of up to 2 d elements that end at it, so
    ceil(log2(n)) steps, each of them a kernel, are enough. More than a block can hold are cut into
    rows, each of which begins with the sum of those before it.
    Source of the steps: Hillis and Steele, "Data Parallel Algorithms" (1986).
    """

    in_rows: bool = True
    """Whether those that one mask may take are cut into rows."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: kernel.CumsumOp, rewriter: PatternRewriter) -> None:
        steps, dim = F32Steps(op), op.dim.value.data
        size = kernel.shape_of(op.input)[dim]
        if size == 1:
            steps.replace_op(op.input, rewriter)
            return
        value = steps.widen(op.input)
        if not self.in_rows and _has_rows(op):
            total = _under_mask(steps, value, dim, "le")
        elif _is_masked(kernel.shape_of(op.input), dim):
            total = _masked(steps, value, dim, "le")
        else:
            row = _longest_row(size)
            whole = row == size
            total = _in_steps(steps, value, dim) if whole else _in_rows(steps, value, dim, row)
        steps.replace_op(total, rewriter)


def _longest_row(size: int) -> int:
    """How many of `size` elements are summed in one row: all if no such row divides them."""
    counts = range(-(-size // MOST_TOGETHER), MOST_TOGETHER + 1)
    return next((size // count for count in counts if size % count == 0), size)


def _is_masked(shape: Sequence[int], dim: int) -> bool:
    """Whether elements along `dim` are summed under masks, in rows that are short enough."""
    elements, size, fewest = prod(shape), shape[dim], FEWEST_CUT
    while (row := _masked_row(size, fewest)) is not None:
        if elements * row > MOST_STORED:
            return False
        elements, size, fewest = elements // row, size // row, MOST_MASKED + 1
    return size <= MOST_MASKED and elements * size <= MOST_STORED


def _masked_row(size: int, fewest: int) -> int | None:
    """
    The number of elements to sum in a row, if there are `fewest`; None where they are not cut.

    Each of `size` elements is the sum of up to a row, and each of `size / row` rows that of as
    many. There are three rows at least: one before another is no sum.
    """
    rows = [row for row in ROWS if size >= fewest and size % row == 0]
    if size > MOST_MASKED and not rows:
        rows = [row for row in range(3, MOST_MASKED + 1) if size % row == 0 and size >= 3 * row]
    return min(rows, key=lambda row: row + size / row**2, default=None)


def _masked(steps: F32Steps, value: SSAValue, dim: int, predicate: str) -> SSAValue:
    """
    For each index i along `dim` the sum of the elements at all j with `j predicate i`, le or lt.

    Those that are not are selected away, and not multiplied by zero: they may be infinite. Many are
    cut into rows: to the sum of those in its own row each adds that of all rows before.
    """
    tensor, shape = kernel.tensor_type(value), kernel.shape_of(value)
    fewest = FEWEST_CUT if predicate == "le" else MOST_MASKED + 1
    if (row := _masked_row(shape[dim], fewest)) is None:
        return _under_mask(steps, value, dim, predicate)
    cut = [*shape[:dim], shape[dim] // row, row, *shape[dim + 1 :]]
    rows = steps.add(kernel.ReshapeOp(value, TensorType(tensor.element_type, cut)))
    inside = _under_mask(steps, rows, dim + 1, predicate)
    before = _masked(steps, steps.add(kernel.ReduceSumOp(rows, [dim + 1])), dim, "lt")
    return steps.add(kernel.ReshapeOp(steps.add(kernel.AddOp(inside, before)), tensor))


def _under_mask(steps: F32Steps, value: SSAValue, dim: int, predicate: str) -> SSAValue:
    """The same, all under one mask."""
    tensor, shape = kernel.tensor_type(value), kernel.shape_of(value)
    kind, ones = tensor.element_type, [1] * (len(shape) + 1)

    def index(along: int) -> SSAValue:
        sizes = [*ones[:along], shape[dim], *ones[along + 1 :]]
        return steps.add(kernel.IotaOp(along, TensorType(kind, sizes)))

    mask = steps.add(kernel.CompareOp(index(dim + 1), index(dim), predicate))
    each = TensorType(kind, [*shape[:dim], 1, *shape[dim:]])
    zero = steps.add(kernel.ConstantOp(0.0, TensorType(kind, ones)))
    seen = kernel.SelectOp(mask, steps.add(kernel.ReshapeOp(value, each)), zero)
    total = steps.add(kernel.ReduceSumOp(steps.add(seen), [dim + 1]))
    return steps.add(kernel.ReshapeOp(total, tensor))


def _in_steps(steps: F32Steps, value: SSAValue, dim: int) -> SSAValue:
    """The sums of all elements up to each one along `dim`."""
    size, distance = kernel.shape_of(value)[dim], 1
    while distance < size:
        first = steps.part(value, dim, 0, distance)
        rest = steps.part(value, dim, distance, size - distance)
        before = steps.part(value, dim, 0, size - distance)
        total = steps.add(kernel.AddOp(rest, before))
        value = steps.add(kernel.ConcatOp([first, total], dim))
        distance *= 2
    return value


def _in_rows(steps: F32Steps, value: SSAValue, dim: int, row: int) -> SSAValue:
    """The same for `dim` cut into rows: sums in each row, and the sum of all rows before it."""
    tensor, shape = kernel.tensor_type(value), kernel.shape_of(value)
    count = shape[dim] // row
    cut = TensorType(tensor.element_type, [*shape[:dim], count, row, *shape[dim + 1 :]])
    inside = _in_steps(steps, steps.add(kernel.ReshapeOp(value, cut)), dim + 1)
    sums = _in_steps(steps, steps.part(inside, dim + 1, row - 1, 1), dim)
    before = steps.part(sums, dim, 0, count - 1)
    one = [*shape[:dim], 1, 1, *shape[dim + 1 :]]
    zero = steps.add(kernel.ConstantOp(0.0, TensorType(tensor.element_type, one)))
    added = steps.add(kernel.AddOp(inside, steps.add(kernel.ConcatOp([zero, before], dim))))
    return steps.add(kernel.ReshapeOp(added, tensor))


DECOMPOSITIONS: tuple[RewritePattern, ...] = (
    DecomposeRmsNorm(),
    DecomposeLayerNorm(),
    DecomposeSoftmax(),
    DecomposeSilu(),
    DecomposeReduceMean(),
    DecomposeCumsum(),
)
"""What `kernel-decompose` does."""


def unsearched(program: Operation) -> list[Operation]:
    """The operators of `program` that the search has not inside kernels."""
    rows = [(op, structure_of(op)) for op in program.walk()]
    return [op for op, row in rows if row is not None and not row.searched]


def take_apart_unsearched(program: Operation) -> None:
    """
    Take apart, in place, what the search has not inside kernels.

    Prefix sums are cut into rows if it can be proved that this is the same program: what is found
    for it has to be proved, too.
    """
    in_rows = True
    if isinstance(program, FuncOp) and any(_has_rows(op) for op in program.walk()):
        copy = program.clone()
        _take_apart(copy, in_rows=True)
        in_rows = prove(program, copy).proved
    _take_apart(program, in_rows=in_rows)


def _take_apart(program: Operation, *, in_rows: bool) -> None:
    patterns = [DecomposeCumsum(in_rows), *DECOMPOSITIONS]
    for op in unsearched(program):
        rewriter = PatternRewriter(op)
        for pattern in patterns:
            if not rewriter.has_done_action:
                pattern.match_and_rewrite(op, rewriter)


def _has_rows(op: Operation) -> bool:
    """Whether an operator is cut into rows that one mask may take together."""
    if not isinstance(op, kernel.CumsumOp):
        return False
    shape, dim = kernel.shape_of(op.input), op.dim.value.data
    one = shape[dim] <= MOST_MASKED and prod(shape) * shape[dim] <= MOST_STORED
    return one and _masked_row(shape[dim], FEWEST_CUT) is not None
