"""
Layouts for tiles that are reduced over some of the dimensions that form their rows.

The distances from 32 points to 20 others, of 12 coordinates, are 640 rows. Their largest over the
others, and the sum of exponentials, are over a part of the row number. Where threads of one warp
have all values of that part, they reduce in registers; else through shared memory, where each
reduction takes two barriers, and a block has little work between them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod

from xdsl.ir import Operation

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, SharedAttr, layout_of
from mirage_mlir.layouts.digits import along_others
from mirage_mlir.layouts.layout import RegisterLayout, SharedLayout, as_matrix
from mirage_mlir.passes.analysis.row_digits import (
    reduced_digit,
    reduced_from,
    uses_in_place,
)
from mirage_mlir.passes.analysis.tile_attributes import Reduction, registers_of, widest_run
from mirage_mlir.passes.layouts.layout_costs import (
    BARRIER_COST,
    INSTRUCTION_COST,
    conversion_cost,
)
from mirage_mlir.passes.layouts.row_blocks import most_slots
from mirage_mlir.passes.layouts.tile_layouts import PASS_COST

LANES = ((32, 1), (32, 4), (32, 32), (1, 32))
"""Candidates for how many lanes lie along columns and along what is reduced, at most."""


def is_over_digit(op: Reduction) -> bool:
    """Whether threads can reduce the input in their registers over a part of its rows."""
    attribute = layout_of(op.input)
    return isinstance(attribute, RegistersAttr) and reduced_from(op, attribute.layout) is not None


def layout_over_part(op: Reduction) -> RegistersAttr | SharedAttr:
    """
    The layout of the result of a reduction over a part of the rows: warps may write copies, or each
    element is computed by itself, of an input in memory.
    """
    attribute = layout_of(op.input)
    known = reduced_from(op, attribute.layout) if isinstance(attribute, RegistersAttr) else None
    if known is None:
        rows, columns = as_matrix(threadblock.shape_of(op.result))
        return SharedAttr.of(SharedLayout(columns, 1, rows * columns))
    if not known.split:
        return RegistersAttr.of(known.kept)
    kind = "sum" if isinstance(op, threadblock.ReduceSumOp) else "max"
    down, across = known.kept.spans()
    return SharedAttr.of(SharedLayout(across, 1, down * across, 1 << len(known.split), kind))


def digit_options(
    graph: kernel.GraphDefinedOp, op: thread.GraphOp, threads: int, *, looped: bool
) -> Iterator[RegisterLayout]:
    """
    Layouts for the result of `op` in which threads reduce it over a digit among themselves.

    `looped` says whether each iteration of a loop computes it.
    """
    result, widest = op.results[0], widest_run(graph)
    shape = threadblock.shape_of(result)
    most = most_slots(op, looped=looped)
    uses = uses_in_place(result, registers_of(result))
    found = [reduced_digit(user) for user, _ in uses if isinstance(user, Reduction)]
    for digit, run, (across, inside) in product(
        dict.fromkeys(found), (widest, widest // 2, 1), LANES
    ):
        if digit is not None:
            layout = along_others(
                shape, threads, digit, max(1, run), most_across=across, most_inside=inside
            )
            if prod(count for count, _, _ in layout.slots) <= most:
                yield layout


def digit_cost(
    members: Sequence[Operation],
    layout: RegisterLayout,
    cost: Callable[[Reduction | threadblock.StoreOp, RegisterLayout], int],
) -> int:
    """
    The cost of what is done with tiles that `members` make in `layout`, and that they are not asked
    for themselves: reductions over a digit, and those and stores before or behind one.

    `cost` says what each costs in the layout of its input.
    """
    found = list(uses_in_place(members[0].results[0], layout))
    over_digits = {op for op, _ in found if isinstance(op, Reduction) and reduced_digit(op)}
    if not over_digits:
        return 0
    direct = {use.operation for op in members for use in op.results[0].uses}
    return sum(cost(op, own) for op, own in found if op not in direct or op in over_digits)


def reduction_cost(op: Reduction, layout: RegisterLayout, warps: int) -> int:
    """The cost of reducing a tile that threads have in `layout`."""
    known = reduced_from(op, layout)
    if known is None:
        # Written and read, with a barrier before and one behind.
        return BARRIER_COST + 2 * conversion_cost(op.input)
    parts = len(known.kept.offsets) * warps
    # An exchange and an addition.
    cost = 2 * len(known.lanes) * parts * INSTRUCTION_COST
    if known.split:
        # Readers of the result read the partial results of all these warps.
        cost += BARRIER_COST + (parts << len(known.split)) * PASS_COST
    return cost
