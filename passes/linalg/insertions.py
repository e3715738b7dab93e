"""`tensor.insert_slice`: a tensor inside another one, or beside others."""

from collections.abc import Sequence

from xdsl.ir import Operation

from mirage_mlir.diagnostics import name_of
from mirage_mlir.passes.linalg.builder import Known, LinalgBuilder, read, static_type, statics
from mirage_mlir.passes.stablehlo import rearrangements
from mirage_mlir.passes.stablehlo.rearrangements import joined, part
from mirage_mlir.passes.stablehlo.tensors import Tensor
from mirage_mlir.shapes.shapes import Shape

_RESHAPE = rearrangements.RULES["stablehlo.reshape"]


def insert_slice(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor | None:
    """
    The result of a `tensor.insert_slice`.

    None as long as it is written in parts to what `tensor.empty` leaves unset: the part that
    completes it gives the whole.
    """
    shape = static_type(emit, op.results[0].type).get_shape()
    written = op.operands[1]
    if written in known and known[written] is None:
        return _completed(emit, op, known, shape)
    return _inside(emit, op, known, read(emit, known, written))


def _place(emit: LinalgBuilder, op: Operation) -> tuple[list[int], list[int]]:
    """Offsets and sizes."""
    if any(stride != 1 for stride in statics(emit, op, "static_strides")):
        emit.fail("writes elements with others between them; kernels put tensors side by side")
    return statics(emit, op, "static_offsets"), statics(emit, op, "static_sizes")


def _source(emit: LinalgBuilder, op: Operation, known: Known, sizes: Sequence[int]) -> Tensor:
    """What is written, with the rank of the result."""
    source = read(emit, known, op.operands[0])
    emit.typed(sizes, source.element)
    return _RESHAPE(emit, emit.op, [source])


def _inside(emit: LinalgBuilder, op: Operation, known: Known, around: Tensor) -> Tensor:
    """A tensor in the place of a part of `around`, of which the rest stays on all sides."""
    offsets, sizes = _place(emit, op)
    inner, shape = _source(emit, op, known, sizes), around.shape
    for dim in reversed(range(len(shape))):
        if sizes[dim] == shape[dim]:
            continue
        # So far `inner` spans the dimensions behind `dim`, and its own part of those before.
        end = offsets[dim] + sizes[dim]
        before = _cut(emit, around, (offsets, sizes), dim, (0, offsets[dim]))
        behind = _cut(emit, around, (offsets, sizes), dim, (end, shape[dim]))
        emit.typed([*sizes[:dim], *shape[dim:]], inner.element)
        inner = joined(emit, [each for each in (before, inner, behind) if each is not None], dim)
    return inner


def _cut(
    emit: LinalgBuilder,
    x: Tensor,
    place: tuple[Sequence[int], Sequence[int]],
    dim: int,
    between: tuple[int, int],
) -> Tensor | None:
    """Of `x` what lies beside the place along `dim`; whole along the dimensions behind it."""
    low, high = between
    if low == high:
        return None
    offsets, sizes = place
    behind = len(x.shape) - dim - 1
    starts = [*offsets[:dim], low, *([0] * behind)]
    wanted = [*sizes[:dim], high - low, *x.shape[dim + 1 :]]
    emit.typed(wanted, x.element)
    return part(emit, x, starts, wanted, [1] * len(wanted))


def _completed(emit: LinalgBuilder, op: Operation, known: Known, shape: Shape) -> Tensor | None:
    """Parts that were written one after the other, side by side; None where some are missing."""
    pieces: list[tuple[list[int], list[int], Operation]] = []
    at: object = op
    while isinstance(at, Operation) and name_of(at) == "tensor.insert_slice":
        pieces.append((*_place(emit, at), at))
        at = at.operands[1].owner
    cut = {
        dim
        for _, sizes, _ in pieces
        for dim, (size, whole) in enumerate(zip(sizes, shape, strict=True))
        if size != whole
    }
    if len(cut) > 1:
        emit.fail("writes to a tensor that tensor.empty leaves unset, along several dimensions")
    dim = min(cut, default=0)
    pieces.sort(key=lambda each: each[0][dim])
    end = 0
    for offsets, sizes, _ in pieces:
        if offsets[dim] != end:
            return None
        end += sizes[dim]
    if end != shape[dim]:
        return None
    parts = [_source(emit, each, known, sizes) for _, sizes, each in pieces]
    emit.typed(shape, parts[0].element)
    return joined(emit, parts, dim)
