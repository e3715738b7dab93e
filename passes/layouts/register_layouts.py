"""
How threads share tiles that no tensor core makes: along columns first, or some along rows.

Where a tile is read from a tensor whose columns are not neighbours, or from a tile in shared memory
that lies so, threads along the columns ask for far more than they need; along rows what they write
may be far apart. Each tile whose layout nothing else decides, with all that follows it, is one
choice; it is made together with the layouts of the tiles in shared memory that are read or written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
)
from mirage_mlir.layouts.banks import GROUP_BYTES, Spread
from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    blocked,
    ceil_div,
)
from mirage_mlir.layouts.layout_choice import Option, Pair, Problem, choose
from mirage_mlir.layouts.sectors import DeviceTile, device_traffic
from mirage_mlir.passes.analysis.access_widths import aligned_run
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.tensor_views import TensorView, view_of
from mirage_mlir.passes.analysis.tile_attributes import (
    Reduction,
    broadcast_sides,
    item_bytes,
    reduced_lane_bits,
    reduced_sides,
    registers_of,
    resident_slots,
    split_warp_bits,
    widest_run,
)
from mirage_mlir.passes.layouts.tile_layouts import PASS_COST, TileLayouts, Use

SECTOR_COST, LINE_COST = 4, 16
"""Of 32 bytes from a cache, of which a multiprocessor gets 64 in a cycle, and of a line of 128, for
each instruction: one request more, and less of device memory asked for at once. What comes from
there comes once, however it is spread."""

INSTRUCTION_COST = 2
"""Of an instruction of a warp: four are issued in a cycle."""

BARRIER_COST = 30 * PASS_COST
"""Of a step in which all threads wait for what others wrote to shared memory."""

MINIMUM_GAIN = 0.1
"""Of all costs, that another layout than the usual one must gain: what is counted is not all."""

FIRST = (1, 2, 4, 8, 16, 32)
"""Threads of a warp that may lie along rows before others lie along columns, or the converse."""

FEW = (1, 2, 4)
"""Threads that may share a row that is reduced: they exchange less than many, and read longer."""


def leading(op: thread.GraphOp) -> SSAValue | None:
    """The operand in registers whose layout a thread graph takes; None where there is none."""
    shape = threadblock.shape_of(op.results[0])
    for value in op.operands:
        attribute = layout_of(value)
        same = broadcast_sides(threadblock.shape_of(value), shape) == (False, False)
        if same and isinstance(attribute, RegistersAttr) and attribute.layout.partial == 1:
            return value
    return None


@dataclass
class Group:
    """
    Operations whose results are spread over registers as the first one's is.

    Args:
        options: the layouts that they may have, the present one first.
    """

    first: thread.GraphOp
    options: list[RegisterLayout]
    members: list[Operation]


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

    def better(self) -> dict[thread.GraphOp, RegisterLayout]:
        """The free graphs that should have another layout, and which."""
        groups = self.groups()
        if not groups:
            return {}
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
        looped = [self.tiles.times(group.first) > 1 for group in groups]
        chosen = self.choice(Problem(tuple(priced), tuple(pairs)), len(loaded), looped)
        return {
            group.first: group.options[index]
            for group, index in zip(groups, chosen, strict=True)
            if index
        }

    def layouts_of(self, op: Operation) -> list[SharedLayout]:
        """The layouts that a tile in shared memory may have: warpgroups read it in one only."""
        return (
            self.tiles.options(op) if self.tiles.has_choice(op) else [shared_layout(op.results[0])]
        )

    @staticmethod
    def choice(problem: Problem, first: int, looped: Sequence[bool]) -> tuple[int, ...]:
        """
        The options of all tiles from the `first` on: the present ones if little is gained.

        What is gained in the loop is compared with what the same tiles cost, else with all costs:
        `looped` says of each of these tiles whether it is there.
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
        return tuple(chosen[first:])

    def groups(self) -> list[Group]:
        """The free graphs, each with all operations that take its layout."""
        found: dict[Operation, Group] = {}
        for op in self.graph.body.block.ops:
            leader: SSAValue | None = None
            if isinstance(op, thread.GraphOp):
                if op in self.free and len(options := self.options(op)) > 1:
                    found[op] = Group(op, options, [op])
                    continue
                leader = leading(op)
            elif isinstance(op, threadblock.AccumulateOp):
                leader = op.value
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
        if len(shape) > 1 and rows == shape[-2]:
            # Runs of rows; of several matrices they would end with each.
            for first in FIRST:
                along = blocked((columns, rows), threads, widest, rows_first=first)
                found.append(along.transposed())
        return list(dict.fromkeys(found))

    def price(self, group: Group, layout: RegisterLayout) -> int:
        """What a group costs in a layout, what it does in shared memory left out."""
        warps = ceil_div(self.tiles.threads, WARP_THREADS)
        total = 0
        for op in group.members:
            cost = 0
            if isinstance(op, thread.GraphOp):
                cost += len(layout.offsets) * warps * INSTRUCTION_COST
                for value in op.operands:
                    cost += self.reading(op, value, layout) + self.moving(op, value, layout, group)
            total += cost * self.tiles.times(op)
            for use in op.results[0].uses:
                total += self.using(use.operation, layout) * self.tiles.times(use.operation)
        return total

    def reading(self, op: thread.GraphOp, value: SSAValue, layout: RegisterLayout) -> int:
        """What it costs to read an operand from device memory where it lies."""
        load = value.owner
        if not isinstance(layout_of(value), GlobalAttr) or not isinstance(load, threadblock.LoadOp):
            return 0
        shape, own = threadblock.shape_of(op.results[0]), threadblock.shape_of(value)
        sides = broadcast_sides(own, shape) or (False, False)
        spread = Spread(layout, as_matrix(shape), sides)
        return device_cost(spread, shape, own, view_of(load.source), item_bytes(value))

    def moving(
        self, op: thread.GraphOp, value: SSAValue, layout: RegisterLayout, group: Group
    ) -> int:
        """What it costs to move scalars that others hold, which all rows or columns share."""
        shape = threadblock.shape_of(op.results[0])
        if not isinstance(layout_of(value), RegistersAttr) or made_by(value) in group.members:
            return 0
        if broadcast_sides(threadblock.shape_of(value), shape) in (None, (False, False)):
            return 0
        return conversion_cost(value) if resident_slots(value, layout, shape) is None else 0

    def using(self, user: Operation, layout: RegisterLayout) -> int:
        """What it costs to store or to reduce a tile in a layout."""
        if isinstance(user, threadblock.StoreOp):
            shape = threadblock.shape_of(user.tile)
            spread = Spread(layout, as_matrix(shape), writes=True)
            view = view_of(self.graph.outputs[self.stores().index(user)])
            return device_cost(spread, shape, shape, view, item_bytes(user.tile))
        if isinstance(user, Reduction) and (sides := reduced_sides(user)) is not None:
            warps = ceil_div(self.tiles.threads, WARP_THREADS)
            exchanges = len(reduced_lane_bits(layout, sides)) * len(layout.folded(*sides).offsets)
            # An exchange and an addition.
            cost = 2 * exchanges * warps * INSTRUCTION_COST
            if parts := split_warp_bits(layout, *sides):
                # Who needs the result reads what each of these warps had.
                reads = len(layout.folded(*sides).offsets) * warps << len(parts)
                cost += BARRIER_COST + reads * PASS_COST
            return cost
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
        """What an access of a tile costs, for each layout of the tile and of the registers."""
        assert isinstance(use.access, Spread)
        accesses = [replace(use, access=replace(use.access, layout=each)) for each in options]
        return tuple(
            tuple(self.tiles.access_cost(op, layout, each) for each in accesses)
            for layout in layouts
        )

    def conversions(
        self, groups: list[Group], group_of: dict[Operation, int], first: int
    ) -> Iterator[Pair]:
        """What two groups cost that MEET in one thread graph and are not spread alike."""
        for op in self.graph.body.block.ops:
            if not isinstance(op, thread.GraphOp) or op not in group_of:
                continue
            for value in op.operands:
                other = group_of.get(value.owner) if isinstance(value.owner, Operation) else None
                if other is None or other == group_of[op]:
                    continue
                cost = conversion_cost(value) * self.tiles.times(op)
                table = tuple(
                    tuple(0 if a == b else cost for b in groups[other].options)
                    for a in groups[group_of[op]].options
                )
                yield first + group_of[op], first + other, table


def is_shared(op: Operation) -> bool:
    """Whether `op` makes a tile in shared memory that threads read or write as they like."""
    made = isinstance(op, threadblock.LoadOp | ConvertLayoutOp | threadblock.ConcatOp)
    return made and isinstance(layout_of(op.results[0]), SharedAttr)


def is_reduced_along_rows(op: Operation) -> bool:
    """Whether only sums, or maxima, over whole rows use what `op` makes."""
    users = [use.operation for use in op.results[0].uses]
    sides = [reduced_sides(user) for user in users if isinstance(user, Reduction)]
    return bool(sides) and len(sides) == len(users) and all(s == (False, True) for s in sides)


def made_by(value: SSAValue) -> object:
    """What makes a tile, or the tile that it is a reduction of."""
    owner = value.owner
    while isinstance(owner, Reduction):
        owner = owner.input.owner
    return owner


def conversion_cost(value: SSAValue) -> int:
    """What it costs to take a tile from some threads to others."""
    size = item_bytes(value) * prod(threadblock.shape_of(value))
    return BARRIER_COST + 2 * ceil_div(size, GROUP_BYTES) * PASS_COST


def device_cost(
    spread: Spread, shape: tuple[int, ...], own: tuple[int, ...], view: TensorView, item: int
) -> int:
    """What it costs to read or write a tile of shape `own`, spread as one of `shape`."""
    missing = len(shape) - len(own)
    strides = tuple(
        view.strides[dim - missing] if dim >= missing and own[dim - missing] > 1 else 0
        for dim in range(len(shape))
    )
    if not spread.down:
        together = aligned_run(view, own, spread.width)
    else:
        # Reading rows: the same with the sides exchanged.
        repeated = strides[-2] == 0
        spread = spread.exchanged
        together = 1 if repeated else aligned_run(view, own, spread.width, down=True)
        shape = (*shape[:-2], shape[-1], shape[-2])
        strides = (*strides[:-2], strides[-1], strides[-2])
    asked = device_traffic(spread, DeviceTile(shape, strides, item, together))
    cost = asked.sectors * SECTOR_COST + asked.lines * LINE_COST
    return cost + asked.instructions * INSTRUCTION_COST
