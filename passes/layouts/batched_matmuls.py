"""The common buffers of batched matmuls (see `mma.batches`), and their sums."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.wgmma import ITEM_BYTES, WGMMA_ROWS
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    SharedAttr,
    layout_of,
    set_layout,
)
from mirage_mlir.layouts.layout import swizzled_tile
from mirage_mlir.passes.analysis.accumulators import batch_lines
from mirage_mlir.passes.analysis.tile_attributes import (
    batch_place,
    matmul_sizes,
    registers_of,
)


def share_buffers(graph: kernel.GraphDefinedOp) -> None:
    """Give the left sides of batched matmuls, which are in shared memory, a common buffer."""
    groups: dict[int, list[threadblock.MatmulOp]] = {}
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.MatmulOp) and (place := batch_place(op)) is not None:
            groups.setdefault(place[0], []).append(op)
    for ops in groups.values():
        columns = sum(batch_lines(op) for op in ops)
        for op in ops:
            written, attribute = op.lhs.owner, layout_of(op.lhs)
            if not isinstance(written, ConvertLayoutOp) or not isinstance(attribute, SharedAttr):
                fail(op, "is batched, but threads do not write its left operand")
            depth, swizzle = matmul_sizes(op)[2], attribute.layout.swizzle
            set_layout(written, SharedAttr.of(swizzled_tile(columns, depth, ITEM_BYTES, swizzle)))
            written.batched = op.batched


def sums_with(
    op: threadblock.AccumulateOp, ops: Sequence[Operation]
) -> list[threadblock.AccumulateOp]:
    """The sums in `ops` whose matmuls are in one batch with that of `op`, in the batch's order."""
    found: dict[int, threadblock.AccumulateOp] = {}
    own = _place_in_batch(op)
    if own is None:
        return [op]
    for other in ops:
        place = _place_in_batch(other)
        if place is not None and place[0] == own[0]:
            assert isinstance(other, threadblock.AccumulateOp)
            found[place[1]] = other
    return [found[start] for start in sorted(found)]


def _place_in_batch(op: Operation) -> tuple[int, int] | None:
    if not isinstance(op, threadblock.AccumulateOp) or not isinstance(op.value.owner, Operation):
        return None
    return batch_place(op.value.owner)


def brought_together(ops: list[Operation]) -> list[Operation]:
    """`ops` with the sums of a batched matmul side by side, where the last of them stands."""
    ordered = list(ops)
    for op in ops:
        if isinstance(op, threadblock.AccumulateOp) and len(sums := sums_with(op, ops)) > 1:
            last = max(sums, key=ops.index)
            for each in sums:
                if each is not last:
                    ordered.remove(each)
                    ordered.insert(ordered.index(last), each)
    return ordered


def wgmma_rows(op: threadblock.AccumulateOp) -> int:
    """How many groups of 64 columns a warpgroup has, which are rows of the swapped matmul."""
    loops = registers_of(op.result).slots
    return prod(count for count, *step in loops if step == [0, WGMMA_ROWS])


def batched_slots(
    sums: Sequence[threadblock.AccumulateOp], slots: Sequence[list[SSAValue]]
) -> list[SSAValue]:
    """The slots of the batched matmul, from the slots of its sums."""
    count = wgmma_rows(sums[0])
    parts = [len(each) // count for each in slots]
    return [
        value
        for row in range(count)
        for each, part in zip(slots, parts, strict=True)
        for value in each[row * part : (row + 1) * part]
    ]


def split_slots(
    sums: Sequence[threadblock.AccumulateOp], slots: list[SSAValue]
) -> dict[Operation, list[SSAValue]]:
    """The slots of each sum, from the slots of the batched matmul."""
    count, rest = wgmma_rows(sums[0]), iter(slots)
    parts = [len(registers_of(op.result).offsets) // count for op in sums]
    found: dict[Operation, list[SSAValue]] = {op: [] for op in sums}
    for _ in range(count):
        for op, part in zip(sums, parts, strict=True):
            found[op] += [next(rest) for _ in range(part)]
    return found


def wgmma_columns(sums: Sequence[threadblock.AccumulateOp]) -> int:
    """The columns of the `wgmma` instruction in the batched matmul."""
    matmuls = [op.value.owner for op in sums]
    return sum(batch_lines(op) for op in matmuls if isinstance(op, threadblock.MatmulOp))
