"""The `bound-loops` pass."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mirage_mlir.decisions.loop_bounds import ranges, saves, terms_of
from mirage_mlir.decisions.schedule import Mask
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.loop_bounds import LoopBounds, Unmasked, set_where_unmasked
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.analysis.buffers import cuts
from mirage_mlir.passes.analysis.index_ranges import ElementRange, IndexRanges
from mirage_mlir.passes.analysis.tile_attributes import summed_axes


def bounds_of(graph: kernel.GraphDefinedOp, known: IndexRanges) -> LoopBounds | None:
    """The iterations that blocks of `graph` need; None where these are all, or no formula."""
    axis, count = known.axis, graph.loop_sizes[0]
    first, end = ranges(_needed(graph, known))
    if not saves(first, end, count):
        return None
    steps, tiles = _distances(graph)
    begins = terms_of(first, 0, count, steps, tiles) if any(first) else None
    ends = terms_of(end, 1, count, steps, tiles) if min(end) < count else None
    if begins is None and ends is None:
        return None
    return LoopBounds(axis, begins or (), ends or ())


def unmasked_of(
    graph: kernel.GraphDefinedOp, masks: Mapping[threadblock.SelectOp, bool], known: IndexRanges
) -> Unmasked | None:
    """
    The iterations in which all `masks` select values, not numbers.

    None where there are none, or no formula.
    """
    seen = [known.found[op.condition].is_all(float(holds)) for op, holds in masks.items()]
    count = graph.loop_sizes[0]
    if not seen or not (unmasked := np.logical_and.reduce(seen)).any():
        return None
    first, end = ranges(unmasked)
    some = unmasked.any(axis=1)
    blocks = [*zip(unmasked, first, end, some, strict=True)]
    if not all(row[a:b].all() for row, a, b, any_ in blocks if any_):
        return None
    # Where a block has none, the range is empty: it ends at once, or begins behind the loop.
    to_end = all(b == count for _, _, b, any_ in blocks if any_)
    first = [a if any_ else count * to_end for _, a, _, any_ in blocks]
    end = [b if any_ else 0 for _, _, b, any_ in blocks]
    steps, tiles = _distances(graph)
    begins = terms_of(first, 0, count, steps, tiles) if any(first) else ()
    ends = () if to_end else terms_of(end, 0, count, steps, tiles)
    if begins is None or ends is None or not (begins or ends):
        return None
    return Unmasked(known.axis, begins, ends)


def masks_of(graph: kernel.GraphDefinedOp) -> dict[threadblock.SelectOp, bool]:
    """
    The selections of a value or a number by a condition on indices.

    With each is what the condition is where it selects the value.
    """
    free = set[SSAValue]()
    found: dict[threadblock.SelectOp, bool] = {}
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.IotaOp | threadblock.ConstantOp):
            free.add(op.result)
        elif isinstance(op, threadblock.TileOp) and free.issuperset(op.operands):
            free.update(op.results)
        elif isinstance(op, threadblock.SelectOp) and op.condition in free:
            if _is_number(op.lhs) or _is_number(op.rhs):
                found[op] = not _is_number(op.lhs)
    return found


def _is_number(value: SSAValue) -> bool:
    return isinstance(value.owner, threadblock.ConstantOp)


def _axis(graph: kernel.GraphDefinedOp) -> int | None:
    """
    The axis of the grid on which indices depend, 0 for none; None where bounds are no use.

    Blocks that share sums or tiles run the same iterations.
    """
    ops = list(graph.body.block.ops)
    iotas = [op for op in ops if isinstance(op, threadblock.IotaOp)]
    stored = [op for op in ops if isinstance(op, threadblock.StoreOp) and op.in_loop]
    if len(graph.loop_sizes) != 1 or graph.loop_sizes[0] < 2 or not iotas or stored:
        return None
    if prod(graph.cluster_sizes) > 1 or summed_axes(graph):
        return None
    axes = {
        axis
        for op in iotas
        for axis, dim in enumerate(op.grid_map.get_values())
        if dim >= 0 and graph.grid_sizes[axis] > 1 and op.whole[dim] > 1
    }
    return None if len(axes) > 1 else min(axes, default=0)


def _needed(graph: kernel.GraphDefinedOp, known: IndexRanges) -> Mask:
    """For each block and each iteration, whether it changes an accumulator."""
    stages = threadblock.stages(graph)
    needed = np.zeros(known.shape, np.bool_)
    for op in graph.body.block.ops:
        if not isinstance(op, threadblock.AccumulateOp) or stages[op.value] != Stage.LOOP:
            continue
        value = known.found[op.value]
        idle = value.is_all(0.0) if op.kind.data == "sum" else _is_floor(value)
        if op.rescale is not None:
            idle &= _is_floor(known.found[op.rescale])
        needed |= ~idle
    return needed


def _is_floor(value: ElementRange) -> Mask:
    """Where a maximum is what it is at least in all iterations: it changes no other then."""
    floor = value.least.min()
    return value.is_all(floor)


def _distances(graph: kernel.GraphDefinedOp) -> tuple[list[int], list[int]]:
    """By how much indices differ from block to block, and from iteration to iteration."""
    steps: list[int] = []
    tiles: list[int] = []
    for op in graph.body.block.ops:
        if not isinstance(op, threadblock.IotaOp):
            continue
        shape = threadblock.shape_of(op.result)
        for dim, stride in enumerate(op.strides.get_values()):
            grid, loops = cuts(op, dim)
            if loops:
                tiles.append(shape[dim] * stride)
            elif grid is not None and graph.grid_sizes[grid] > 1:
                steps.append(shape[dim] * stride)
    return [*dict.fromkeys([*steps, 0])], [*dict.fromkeys(each for each in tiles if each), 1]


@dataclass(frozen=True)
class BoundLoopsPass(ModulePass):
    """
    Let each block run only those iterations of its loop that change a result.

    Input, where queries see no keys behind them:
        %o = kernel.graph_defined ins(%q, %k, %v) grid [16, 8] loop [16] {
          %i = threadblock.iota of [2048, 1] strides [1, 0] grid_map [0, _] loop_map [_] : ...
          %j = threadblock.iota of [1, 2048] strides [0, 1] grid_map [_, _] loop_map [1] : ...
          %seen = threadblock.compare %i, %j {predicate = "ge"} : ...
          %s = threadblock.select %seen, %scores, %lowest : ...
          ...
        }

    Output, where block b along axis 0 runs iterations 0 to b:
        %o = kernel.graph_defined ins(%q, %k, %v) grid [16, 8] loop [16] bounds <end = [1, 1, 1]>
            unmasked <end = [1, 0, 1]> {
          ...
        }

    An iteration changes nothing if it adds 0 to all sums, and takes into maxima what these are at
    least: intervals of what the loop computes from indices tell, for every block and iteration.
    Where what is needed lies between two formulas of the block's index, these are the bounds.

    In the iterations that are `unmasked` no mask hides anything: `threadblock.where_unmasked` says
    of a selection by a condition on indices what the condition is there.

    Graphs with clusters, or sums across blocks, stay as they are: their blocks wait for each other
    in each iteration.
    """

    name = "bound-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the bounds of every `kernel.graph_defined` of the module."""
        for graph in [each for each in op.walk() if isinstance(each, kernel.GraphDefinedOp)]:
            if (axis := _axis(graph)) is None:
                continue
            known = IndexRanges(graph, axis)
            known.run()
            if (bounds := bounds_of(graph, known)) is not None:
                graph.bounds = bounds
            masks = masks_of(graph)
            if (unmasked := unmasked_of(graph, masks, known)) is not None:
                graph.unmasked = unmasked
                for mask, holds in masks.items():
                    set_where_unmasked(mask, holds)
