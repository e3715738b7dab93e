"""Gathers of StableHLO with indices that are known: slices, one after the other."""

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import stablehlo_rearrangements as moves
from mirage_mlir.passes.stablehlo.rearrangements import MOST_SLICES, part
from mirage_mlir.passes.stablehlo.tables import table_of
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Rule, Tensor, type_of

Start = tuple[int, ...]


def _gather(emit: KernelBuilder, op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    assert isinstance(op, moves.GatherOp)
    x, indices = inputs
    numbers, shape = op.dimension_numbers, type_of(op.result).get_shape()
    if (table := table_of(indices)) is None:
        emit.fail("has indices that are no constants")
    if x.value is None:
        return x.moved(shape, None)
    vector = numbers.index_vector_dim.value.data
    if vector == table.ndim:
        table = table[..., None]
    vectors = np.moveaxis(table, vector, -1)
    starts = [
        _start(op, x, [int(each) for each in vectors[place]], place)
        for place in np.ndindex(*vectors.shape[:-1])
    ]
    runs = _runs(starts, op.slice_sizes.get_values())
    if len(runs) > MOST_SLICES:
        emit.fail(f"gathers {len(runs)} separate slices; at most {MOST_SLICES} are read one by one")
    pieces = [_piece(emit, op, x, run) for run in runs]
    value = emit.add(kernel.ConcatOp(pieces, 0)) if len(pieces) > 1 else pieces[0]
    kept = [op.slice_sizes.get_values()[dim] for dim in op.kept()]
    batch, offsets = op.batch(), numbers.of("offset_dims")
    value = emit.reshape(value, [*batch, *kept])
    outer = iter(range(len(batch)))
    order = [
        len(batch) + offsets.index(dim) if dim in offsets else next(outer)
        for dim in range(len(shape))
    ]
    if order != sorted(order):
        value = emit.add(kernel.TransposeOp(value, order))
    return emit.result(value, x.bounds)


def _start(op: moves.GatherOp, x: Tensor, row: Sequence[int], place: Sequence[int]) -> Start:
    """Where the slice of the vector at `place` begins, so that it fits."""
    found = [0] * len(x.shape)
    numbers, vector = op.dimension_numbers, op.dimension_numbers.index_vector_dim.value.data
    batching = numbers.of("operand_batching_dims"), numbers.of("start_indices_batching_dims")
    for dim, at in zip(*batching, strict=True):
        found[dim] = place[at - (at > vector)]
    for dim, index in zip(numbers.of("start_index_map"), row, strict=True):
        found[dim] = min(max(index, 0), x.shape[dim] - op.slice_sizes.get_values()[dim])
    return tuple(found)


def _runs(starts: Sequence[Start], sizes: Sequence[int]) -> list[list[Start]]:
    """Starts in a row that one slice with a stride has, along one dimension of size 1."""
    runs: list[list[Start]] = []
    for start in starts:
        if runs and _goes_on(runs[-1], start, sizes):
            runs[-1].append(start)
        else:
            runs.append([start])
    return runs


def _goes_on(run: Sequence[Start], start: Start, sizes: Sequence[int]) -> bool:
    step = [after - before for before, after in zip(run[-1], start, strict=True)]
    moving = [dim for dim, each in enumerate(step) if each]
    if len(moving) != 1 or step[moving[0]] < 0 or sizes[moving[0]] != 1:
        return False
    before = [b - a for a, b in zip(run[-2], run[-1], strict=True)] if len(run) > 1 else step
    return before == step


def _piece(emit: KernelBuilder, op: moves.GatherOp, x: Tensor, run: Sequence[Start]) -> SSAValue:
    """The slices of a run: their number, then the dimensions of each that are kept."""
    sizes, strides = [*op.slice_sizes.get_values()], [1] * len(x.shape)
    kept = [sizes[dim] for dim in op.kept()]
    order = [*range(len(x.shape))]
    if len(run) > 1:
        steps = [after - before for before, after in zip(run[0], run[1], strict=True)]
        (dim,) = (dim for dim, step in enumerate(steps) if step)
        sizes[dim], strides[dim] = len(run), steps[dim]
        order.remove(dim)
        order.insert(0, dim)
    value = emit.whole(part(emit, x, run[0], sizes, strides))
    if order != sorted(order):
        value = emit.add(kernel.TransposeOp(value, order))
    return emit.reshape(value, [len(run), *kept])


RULES: Mapping[str, Rule] = {"stablehlo.gather": _gather}
"""By the name of the operation."""
