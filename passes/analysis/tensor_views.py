"""Kernel-level views as strides over the tensor that owns the memory."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects import func
from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.passes.analysis.index_formulas import VIEWS as VIEWS
from mirage_mlir.passes.analysis.index_formulas import is_formula

LEAST_RUN = 32
"""Bytes of a row that is stored apart from the next one: a sector, of which memory writes all."""


@dataclass(frozen=True)
class TensorView:
    """
    A tensor in device memory.

    Args:
        root: the value that owns the memory: a function argument or a kernel's result; or a formula
            of indices, whose elements are computed, and no memory.
        shape: sizes of the dims.
        strides: distance between neighbours along each dim, in elements; 0 where repeated.
        offset: of the first element, in elements.
    """

    root: SSAValue
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return self.offset == 0 and self.run == prod(self.shape)

    @property
    def run(self) -> int:
        """Neighbours along the last dimensions that follow one another in memory."""
        run = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size > 1 and stride != run:
                break
            run *= size
        return run


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a row-major tensor of `shape`, in elements."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def reshaped_strides(view: TensorView, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """
    The strides of `view` reshaped to `shape`; None if the reshaped view has none.

    Dimensions that are dense in one another form a run, which is split into the new dimensions.
    Both shapes must have a boundary at the end of each run.
    """
    old = [(n, s) for n, s in zip(view.shape, view.strides, strict=True) if n > 1]
    new = [n for n in shape if n > 1]
    strides: list[int] = []
    taken = 0
    while taken < len(old):
        size, stride = old[taken]
        taken += 1
        while taken < len(old) and stride == old[taken][0] * old[taken][1]:
            size, stride = size * old[taken][0], old[taken][1]
            taken += 1
        run: list[int] = []
        while prod(run) < size and len(strides) + len(run) < len(new):
            run.append(new[len(strides) + len(run)])
        if prod(run) != size:
            return None
        strides += [stride * inner for inner in dense_strides(tuple(run))]
    rest = iter(strides)
    return tuple(1 if n == 1 else next(rest) for n in shape)


def through(op: Operation, source: TensorView, shape: tuple[int, ...]) -> TensorView | None:
    """The result of the view operation `op` on `source`; None if strides cannot express it."""
    strides: tuple[int, ...] | None
    match op:
        case kernel.TransposeOp():
            strides = tuple(source.strides[dim] for dim in op.permutation.get_values())
        case kernel.ReshapeOp():
            strides = reshaped_strides(source, shape)
        case kernel.BroadcastOp():
            missing = len(shape) - len(source.shape)
            aligned = (1,) * missing + source.shape
            steps = (0,) * missing + source.strides
            strides = tuple(
                0 if old == 1 and new > 1 else step
                for old, new, step in zip(aligned, shape, steps, strict=True)
            )
        case kernel.SliceOp():
            pairs = list(zip(source.strides, op.offsets.get_values(), strict=True))
            offset = source.offset + sum(stride * start for stride, start in pairs)
            steps = op.strides.get_values()
            strides = tuple(a * b for a, b in zip(source.strides, steps, strict=True))
            return TensorView(source.root, shape, strides, offset)
        case _:
            return None
    if strides is None:
        return None
    return TensorView(source.root, shape, strides, source.offset)


def view_of(value: SSAValue) -> TensorView:
    """
    The memory behind a tensor, followed through views and into a kernel's region.

    Fails at an operation that is neither a kernel nor a view by strides.
    """
    shape = kernel.shape_of(value)
    if isinstance(value, BlockArgument):
        graph = value.owner.parent_op()
        if isinstance(graph, kernel.GraphDefinedOp):
            return view_of(graph.inputs[value.index])
        return TensorView(value, shape, dense_strides(shape))
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, kernel.GraphDefinedOp):
        return TensorView(value, shape, placed_strides(value) or dense_strides(shape))
    if is_formula(value):
        return TensorView(value, shape, dense_strides(shape))
    if owner.operands and (seen := through(owner, view_of(owner.operands[0]), shape)) is not None:
        return seen
    fail(
        owner,
        "is neither a kernel nor a view that strides can express",
        note="superoptimize makes a kernel of each operator that is not one",
    )


def placed_strides(value: SSAValue) -> tuple[int, ...] | None:
    """
    The strides of a kernel's result that let a result of the function be dense; None for its own.

    A function's result may be a view of what a kernel stores, such as heads side by side in rows.
    The kernel then stores each row where the function's result has it, so that nobody has to copy.
    Rows stay rows: where a view makes columns of them, or very short ones, the kernel stores rows
    of its own.
    """
    for views in _ways_to_results(value):
        if views and (strides := _strides_before(views, kernel.shape_of(value))):
            placed = TensorView(value, kernel.shape_of(value), strides)
            run = placed.run * byte_width(kernel.tensor_type(value).element_type)
            if run >= LEAST_RUN and _is_readable(value, placed):
                return strides
    return None


def _ways_to_results(value: SSAValue) -> list[list[Operation]]:
    """The views, last one first, through which results of the function are views of `value`."""
    block = value.owner.parent if isinstance(value.owner, Operation) else None
    last = block.last_op if block is not None else None
    found: list[list[Operation]] = []
    for each in last.arguments if isinstance(last, func.ReturnOp) else ():
        views: list[Operation] = []
        while isinstance(each.owner, kernel.TransposeOp | kernel.ReshapeOp):
            views.append(each.owner)
            each = each.owner.operands[0]
        if each is value:
            found.append(views)
    return found


def _strides_before(views: list[Operation], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of what `views`, last one first, make a dense tensor of."""
    result = views[0].results[0]
    view = TensorView(result, kernel.shape_of(result), dense_strides(kernel.shape_of(result)))
    for op in views:
        source = kernel.shape_of(op.operands[0])
        if isinstance(op, kernel.TransposeOp):
            order = op.permutation.get_values()
            strides = tuple(view.strides[order.index(dim)] for dim in range(len(source)))
        elif (reshaped := reshaped_strides(view, source)) is not None:
            strides = reshaped
        else:
            return None
        view = TensorView(result, source, strides)
    assert view.shape == shape
    return view.strides


def _is_readable(value: SSAValue, placed: TensorView) -> bool:
    """Whether strides can express all views of `value` that are read, where it lies as `placed`."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, VIEWS):
            (result,) = op.results
            seen = through(op, placed, kernel.shape_of(result))
            if seen is None or not _is_readable(result, seen):
                return False
    return True


def stored_view(op: threadblock.StoreOp) -> TensorView:
    """The tensor that a store writes to."""
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    stores = [each for each in graph.body.block.ops if isinstance(each, threadblock.StoreOp)]
    return view_of(graph.outputs[stores.index(op)])


def row_major_columns(value: SSAValue) -> bool:
    """Whether elements along the last dimension of a tensor are contiguous, or along none."""
    view = view_of(value)
    unit = [dim for dim, step in enumerate(view.strides) if step == 1 and view.shape[dim] > 1]
    return not unit or unit[-1] == len(view.shape) - 1
