"""
Chooses register layouts of thread graphs that no matmul determines: whether neighbouring threads
lie along columns or along rows.

Threads along columns read a column-major tensor or tile in many more sectors than needed; threads
along rows may write a row-major one so. A thread graph without an operand in registers, with all
operations that inherit its layout, is one choice. All choices are made together with the layouts
of the tiles in shared memory that are read or written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.banks import Spread
from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    blocked,
    ceil_div,
)
from mirage_mlir.layouts.layout_choice import Option, Pair, Problem, choose
from mirage_mlir.passes.analysis.access_widths import row_dim
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import (
    Reduction,
    broadcast_sides,
    item_bytes,
    reduced_sides,
    registers_of,
    resident_slots,
    widest_run,
)
from mirage_mlir.passes.layouts.layout_costs import (
    INSTRUCTION_COST,
    conversion_cost,
    device_cost,
)
from mirage_mlir.passes.layouts.places import leading, reads_apart
from mirage_mlir.passes.layouts.reduced_digits import (
    digit_cost,
    digit_options,
    reduction_cost,
)
from mirage_mlir.passes.layouts.row_blocks import block_options
from mirage_mlir.passes.layouts.tile_layouts import TileLayouts, Use

MINIMUM_GAIN = 0.1
"""The part of all costs that a change of layouts must save, since the costs are not exact."""

FIRST = (1, 2, 4, 8, 16, 32)
"""Candidates for how many lanes of a warp lie along rows before lanes lie along columns."""

FEW = (1, 2, 4)
"""Candidates for how many threads share a row that is reduced: few threads exchange less, but each
reads more."""


def instructions(op: thread.GraphOp) -> int:
    """How many a thread graph takes for each element, at least."""
    return sum(1 for each in op.body.block.ops if each.operands)


@dataclass
class Group:
    """
    Operations whose results have the register layout of the first one's.

    Args:
        options: the possible layouts, the present one first.
    """

    first: thread.GraphOp
    options: list[RegisterLayout]
    members: list[Operation]


class Better(NamedTuple):
    """Layouts of free thread graphs, and the cost of all layouts together."""

    layouts: dict[thread.GraphOp, RegisterLayout]
    cost: int


@dataclass
class RegisterLayouts:
    """
    Chooses layouts for the thread graphs of one graph that are `free` to have any.

    Args:
        tiles: what is known of the graph's tiles in shared memory.
        free: thread graphs without an operand whose layout they take.
    """

    graph: kernel.GraphDefinedOp
    tiles: TileLayouts
    free: list[thread.GraphOp]

    def better(self) -> Better:
        """The free graphs that should have another layout."""
        groups = self.groups()
        if not groups:
            return Better({}, 0)
        group_of = {op: number for number, group in enumerate(groups) for op in group.members}
        loaded = [op for op in self.graph.body.block.ops if is_shared(op)]
        layouts = [self.layouts_of(op) for op in loaded]
        priced: list[tuple[Option, ...]] = []
        pairs: list[Pair] = []
        for number, (op, options) in enumerate(zip(loaded, layouts, strict=True)):
            uses = list(self.tiles.uses(op))
            fixed = [use for use in uses if use.by not in group_of]
            if len(options) == 1:
                priced.append((Option(0),))
            else:
                priced.append(tuple(self.tiles.price(op, layout, fixed) for layout in options))
            for use in uses:
                if use.by in group_of:
                    place = group_of[use.by]
                    table = self.together(op, use, options, groups[place].options)
                    pairs.append((number, len(loaded) + place, table))
        for group in groups:
            priced.append(tuple(Option(self.price(group, each)) for each in group.options))
        pairs += self.conversions(groups, group_of, len(loaded))
        pairs += self.readings_again(groups, group_of, len(loaded))
        looped = [self.tiles.times(group.first) > 1 for group in groups]
        problem = Problem(tuple(priced), tuple(pairs))
        chosen = self.choice(problem, len(loaded), looped)
        given = {
            group.first: group.options[index]
            for group, index in zip(groups, chosen[len(loaded) :], strict=True)
            if index or reads_apart(group.first)
        }
        return Better(given, problem.cost(chosen))

    def layouts_of(self, op: Operation) -> list[SharedLayout]:
        """The possible layouts of a tile in shared memory; for `wgmma` there is only one."""
        return (
            self.tiles.options(op) if self.tiles.has_choice(op) else [shared_layout(op.results[0])]
        )

    @staticmethod
    def choice(problem: Problem, first: int, looped: Sequence[bool]) -> tuple[int, ...]:
        """
        The best options of all tiles; of those from `first` on the present ones where the gain is
        small.

        A gain in the loop is compared with the cost of the same tiles, any other gain with the
        cost of all tiles. `looped` says for each tile from `first` on whether it is in the loop.
        """
        best, present = choose(problem), choose(problem.settled(first))
        assert best is not None, "without a limit every choice fits"
        assert present is not None, "without a limit every choice fits"
        chosen = list(present)
        for part in problem.parts():
            before = problem.cost(present, part)
            within = part if any(looped[tile - first] for tile in part if tile >= first) else None
            least = MINIMUM_GAIN * problem.cost(present, within)
            if before - problem.cost(best, part) > least:
                for tile in part:
                    chosen[tile] = best[tile]
        return tuple(chosen)

    def groups(self) -> list[Group]:
        """The free graphs, each with all operations that take its layout."""
        found: dict[Operation, Group] = {}
        for op in self.graph.body.block.ops:
            leader: SSAValue | None = None
            if isinstance(op, thread.GraphOp):
                free = op in self.free or reads_apart(op)
                if free and len(options := self.options(op)) > 1:
                    found[op] = Group(op, options, [op])
                    continue
                leader = leading(op)
            elif isinstance(op, threadblock.AccumulateOp):
                leader = op.value
            elif isinstance(op, threadblock.TransposeOp):
                leader = op.input
            owner = leader.owner if leader is not None else None
            if isinstance(owner, Operation) and owner in found:
                if layout_of(op.results[0]) == layout_of(owner.results[0]):
                    found[op] = found[owner]
                    found[owner].members.append(op)
        return [group for op, group in found.items() if op is group.first]

    def options(self, op: thread.GraphOp) -> list[RegisterLayout]:
        """The layouts that a free thread graph may have, the present one first."""
        shape, widest = threadblock.shape_of(op.results[0]), widest_run(self.graph)
        found = [registers_of(op.results[0])]
        threads = self.tiles.threads
        for first, run in product(FIRST, (widest, widest // 2, widest // 4, 1)):
            found.append(blocked(shape, threads, run, rows_first=first))
        if is_reduced_along_rows(op):
            for first, few in product(FIRST, FEW):
                found.append(blocked(shape, threads, widest, rows_first=first, most_across=few))
        rows, columns = as_matrix(shape)
        if self.is_permuted(op):
            # Blocks of neighbours on both sides, which are runs of either order of the elements.
            runs = (widest, widest // 2, widest // 4)
            for first, tall, run in product(FIRST, runs, runs):
                if tall > 1 and shape[row_dim(shape)] % tall == 0 and columns % run == 0:
                    found.append(blocked(shape, threads, run, rows_first=first, tall=tall))
        if len(shape) > 1 and rows == shape[row_dim(shape)]:
            # Runs along a column, which in a tile of several matrices end with each matrix.
            for first in FIRST:
                along = blocked((columns, rows), threads, widest, rows_first=first)
                found.append(along.transposed())
        looped = self.tiles.stages[op.results[0]] is Stage.LOOP
        found += digit_options(self.graph, op, threads, looped=looped)
        if looped:
            # Threads that read in place find in L1 what they read before, and wait once.
            found += block_options(op, threads)
        return list(dict.fromkeys(found))

    def is_permuted(self, op: thread.GraphOp) -> bool:
        """
        Whether the rows of a tile that `op` reads in place, or that is stored, are neighbours in
        memory, and its columns are apart.
        """
        tiles = [
            (view_of(value.owner.source), threadblock.shape_of(value))
            for value in op.operands
            if isinstance(value.owner, threadblock.LoadOp)
            and isinstance(layout_of(value), GlobalAttr)
        ]
        tiles += [
            (view_of(output), threadblock.shape_of(store.tile))
            for output, store in zip(self.graph.outputs, self.stores(), strict=True)
        ]
        return any(
            len(shape) > 1 and view.strides[-1] != 1 and view.strides[row_dim(shape)] == 1
            for view, shape in tiles
        )

    def price(self, group: Group, layout: RegisterLayout) -> int:
        """The cost of a group in a layout, without accesses to shared memory."""
        warps = ceil_div(self.tiles.threads, WARP_THREADS)
        total = 0
        for op in group.members:
            cost = 0
            if isinstance(op, thread.GraphOp):
                cost += len(layout.offsets) * warps * instructions(op) * INSTRUCTION_COST
                for value in op.operands:
                    cost += self.moving(op, value, layout, group)
                    if self.first_readers[value] is op:
                        cost += self.reading(op, value, layout)
            total += cost * self.tiles.times(op)
            for use in op.results[0].uses:
                total += self.using(use.operation, layout) * self.tiles.times(use.operation)
        return total + digit_cost(group.members, layout, self.digit_use)

    def digit_use(self, op: Reduction | threadblock.StoreOp, layout: RegisterLayout) -> int:
        """The cost of a reduction over any rows or of a store, as often as a block does it."""
        warps = ceil_div(self.tiles.threads, WARP_THREADS)
        reduces = isinstance(op, Reduction)
        cost = reduction_cost(op, layout, warps) if reduces else self.using(op, layout)
        return cost * self.tiles.times(op)

    def reading(self, op: thread.GraphOp, value: SSAValue, layout: RegisterLayout) -> int:
        """The cost of reading an operand in place from device memory."""
        load = value.owner
        if not isinstance(layout_of(value), GlobalAttr) or not isinstance(load, threadblock.LoadOp):
            return 0
        shape, own = threadblock.shape_of(op.results[0]), threadblock.shape_of(value)
        sides = broadcast_sides(own, shape) or (False, False)
        spread = Spread(layout, as_matrix(shape), sides)
        return device_cost(spread, shape, own, view_of(load.source), item_bytes(value))

    @cached_property
    def first_readers(self) -> dict[SSAValue, Operation]:
        """The first thread graph that reads each tile; who reads it in its layout has it then."""
        found: dict[SSAValue, Operation] = {}
        for op in self.graph.body.block.ops:
            if isinstance(op, thread.GraphOp):
                for value in op.operands:
                    found.setdefault(value, op)
        return found

    def readings_again(
        self, groups: list[Group], group_of: dict[Operation, int], first: int
    ) -> Iterator[Pair]:
        """The cost of tiles that two groups read in place, each in a layout of its own."""
        seen: set[tuple[SSAValue, int]] = set()
        for op in self.graph.body.block.ops:
            if not isinstance(op, thread.GraphOp) or op not in group_of:
                continue
            for value in op.operands:
                other, own = group_of.get(self.first_readers[value]), group_of[op]
                if other is None or other == own or (value, own) in seen:
                    continue
                seen.add((value, own))
                options, times = groups[own].options, self.tiles.times(op)
                costs = [self.reading(op, value, each) * times for each in options]
                table = tuple(
                    tuple(0 if a == b else cost for b in groups[other].options)
                    for a, cost in zip(options, costs, strict=True)
                )
                yield first + own, first + other, table

    def moving(
        self, op: thread.GraphOp, value: SSAValue, layout: RegisterLayout, group: Group
    ) -> int:
        """The cost of moving row or column scalars from the threads that hold them."""
        shape = threadblock.shape_of(op.results[0])
        if not isinstance(layout_of(value), RegistersAttr) or made_by(value) in group.members:
            return 0
        if broadcast_sides(threadblock.shape_of(value), shape) in (None, (False, False)):
            return 0
        return conversion_cost(value) if resident_slots(value, layout, shape) is None else 0

    def using(self, user: Operation, layout: RegisterLayout) -> int:
        """The cost of storing or reducing a tile in a layout."""
        if isinstance(user, threadblock.StoreOp):
            shape = threadblock.shape_of(user.tile)
            spread = Spread(layout, as_matrix(shape), writes=True)
            view = view_of(self.graph.outputs[self.stores().index(user)])
            return device_cost(spread, shape, shape, view, item_bytes(user.tile))
        if isinstance(user, Reduction) and reduced_sides(user) is not None:
            return reduction_cost(user, layout, ceil_div(self.tiles.threads, WARP_THREADS))
        return 0

    def stores(self) -> list[threadblock.StoreOp]:
        """The stores, in the order of the graph's results."""
        ops = self.graph.body.block.ops
        return [op for op in ops if isinstance(op, threadblock.StoreOp)]

    def together(
        self,
        op: Operation,
        use: Use,
        layouts: list[SharedLayout],
        options: list[RegisterLayout],
    ) -> tuple[tuple[int, ...], ...]:
        """The cost of an access of a tile for each layout of the tile and of the registers."""
        assert isinstance(use.access, Spread)
        accesses = [replace(use, access=replace(use.access, layout=each)) for each in options]
        return tuple(
            tuple(self.tiles.access_cost(op, layout, each) for each in accesses)
            for layout in layouts
        )

    def conversions(
        self, groups: list[Group], group_of: dict[Operation, int], first: int
    ) -> Iterator[Pair]:
        """The cost of two groups that are operands of one thread graph and differ in layout."""
        for op in self.graph.body.block.ops:
            if not isinstance(op, thread.GraphOp) or op not in group_of:
                continue
            for value in op.operands:
                other = group_of.get(value.owner) if isinstance(value.owner, Operation) else None
                if other is None or other == group_of[op]:
                    continue
                times = self.tiles.times(op)
                table = tuple(
                    tuple(
                        0 if reader == maker else conversion_cost(value, maker, reader) * times
                        for maker in groups[other].options
                    )
                    for reader in groups[group_of[op]].options
                )
                yield first + group_of[op], first + other, table


def is_shared(op: Operation) -> bool:
    """Whether `op` puts a tile in shared memory, which threads may access in any layout."""
    made = isinstance(op, threadblock.LoadOp | ConvertLayoutOp | threadblock.ConcatOp)
    return made and isinstance(layout_of(op.results[0]), SharedAttr)


def is_reduced_along_rows(op: Operation) -> bool:
    """Whether all users of the result of `op` are reductions over whole rows."""
    users = [use.operation for use in op.results[0].uses]
    sides = [reduced_sides(user) for user in users if isinstance(user, Reduction)]
    return bool(sides) and len(sides) == len(users) and all(s == (False, True) for s in sides)


def made_by(value: SSAValue) -> object:
    """The operation that defines a tile; for a reduction, the one that defines its input."""
    owner = value.owner
    while isinstance(owner, Reduction):
        owner = owner.input.owner
    return owner
