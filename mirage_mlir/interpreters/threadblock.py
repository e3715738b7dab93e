"""
What a `kernel.graph_defined` computes: each block and each iteration, literally.

A block runs the operators before the loop, those of the loop once per iteration on the tiles that
the maps cut, adds up its accumulators, and runs the operators after the loop; an accumulator
`across` a grid axis waits until all blocks along the axis are there. Blocks whose tiles hold the
same (which happens only where dimensions repeat) compute the same, so one of them runs, and counts
as many times; so do iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Generic

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.interpreters.assemble import assemble
from mirage_mlir.interpreters.cuts import Cuts, load_cuts, signature, store_cuts
from mirage_mlir.interpreters.domain import A
from mirage_mlir.interpreters.operators import element_type_of, integers, mnemonic, shape_of
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.tiles import Tile, TileInterpreter, kind_of

Values = dict[SSAValue, Tile[A]]

MOVING = ("broadcast", "cast", "convert_layout", "transpose")
"""Mnemonics of operators that compute nothing."""

Block = tuple[int, ...]
"""The coordinates of a block, or the numbers of its groups, one per grid axis."""


@dataclass(frozen=True)
class Group:
    """Blocks along one grid axis that compute the same."""

    members: list[int]
    """Their coordinates; the first one runs."""


@dataclass(frozen=True)
class Contribution(Generic[A]):
    """What one iteration, or one block, adds to an accumulator."""

    value: Tensor[A]
    stabiliser: Tile[A]
    count: int = 1


@dataclass(frozen=True)
class Exchange(Generic[A]):
    """A block waits at an accumulator across blocks, with its own total (None: nothing to add)."""

    op: threadblock.AccumulateOp
    own: Contribution[A] | None


Run = Generator[Exchange[A], Tile[A], list[Tile[A]]]
"""A block at work: gives exchanges, takes totals, and returns what it stores."""


def run_graph(
    domain: TensorDomain[A], graph: kernel.GraphDefinedOp, inputs: Sequence[Tensor[A]]
) -> list[Tensor[A]]:
    """The outputs of a graph-defined operator, rounded to their element types."""
    run = GraphRun(domain, graph, inputs)
    return [
        domain.rounded(output, element_type_of(result.type))
        for output, result in zip(run.outputs(), graph.outputs, strict=True)
    ]


class GraphRun(Generic[A]):
    """One execution of a graph on given tensors."""

    def __init__(
        self,
        domain: TensorDomain[A],
        graph: kernel.GraphDefinedOp,
        inputs: Sequence[Tensor[A]],
    ):
        self.domain = domain
        self.tiles = TileInterpreter(domain)
        self.graph = graph
        block = graph.body.block
        self.sources: dict[SSAValue, Tensor[A]] = dict(zip(block.args, inputs, strict=True))
        self.stages = threadblock.stages(graph)
        self.loads: dict[Operation, Cuts] = {}
        self.stores: list[tuple[threadblock.StoreOp, Cuts]] = []
        self.operations: dict[Stage, list[Operation]] = {stage: [] for stage in Stage}
        for op in block.ops:
            if isinstance(op, threadblock.StoreOp):
                self.stores.append((op, store_cuts(op)))
            if not op.results:
                continue
            self.operations[self.stages[op.results[0]]].append(op)
            if isinstance(op, threadblock.LoadOp):
                self.loads[op] = load_cuts(graph, op)
        self.groups = [self._block_groups(axis) for axis in range(len(graph.grid_sizes))]

    def outputs(self) -> list[Tensor[A]]:
        """Run all blocks and put together what they store."""
        stored = self._run_blocks()
        outputs: list[Tensor[A]] = []
        for number, (_, cuts) in enumerate(self.stores):
            tiles = {block: values[number] for block, values in stored.items()}
            shape = shape_of(self.graph.outputs[number])
            members = [[group.members for group in axis] for axis in self.groups]
            outputs.append(assemble(self.domain, cuts, shape, members, tiles))
        return outputs

    # Blocks

    def _block_groups(self, grid_axis: int) -> list[Group]:
        """The blocks along one axis, in order, those that hold the same in one group."""
        groups: dict[tuple[bytes, ...], Group] = {}
        for number in range(self.graph.grid_sizes[grid_axis]):
            key = self._block_key(grid_axis, number)
            groups.setdefault(key, Group([])).members.append(number)
        return list(groups.values())

    def _block_key(self, grid_axis: int, number: int) -> tuple[bytes, ...]:
        key: list[bytes] = []
        for op, cuts in self.loads.items():
            tensor = self.sources[op.operands[0]]
            for dim, cut in cuts.along(grid_axis):
                size = cut.steps * cut.tile
                key.append(signature(tensor.axes[dim], number * size, size))
        for position, (_, cuts) in enumerate(self.stores):
            for dim, cut in cuts.along(grid_axis):
                left = shape_of(self.graph.outputs[position])[dim] - number * cut.tile
                key.append(str(min(left, cut.tile)).encode())
        return tuple(key)

    def _run_blocks(self) -> dict[Block, list[Tile[A]]]:
        """What one block of each group stores, by the numbers of its groups."""
        runs: dict[Block, Run[A]] = {}
        for numbers in product(*(range(len(axis)) for axis in self.groups)):
            coordinates = tuple(
                axis[number].members[0] for axis, number in zip(self.groups, numbers, strict=True)
            )
            runs[numbers] = self._run_block(coordinates)
        totals: dict[Block, Tile[A]] = dict.fromkeys(runs)
        while True:
            exchanges: dict[Block, Exchange[A]] = {}
            stored: dict[Block, list[Tile[A]]] = {}
            for numbers, run in runs.items():
                try:
                    # The first send starts the block, and must be None: `totals` begins so.
                    exchanges[numbers] = run.send(totals[numbers])
                except StopIteration as stop:
                    stored[numbers] = stop.value
            if stored:
                return stored
            totals = self._combine_across(exchanges)

    def _combine_across(self, exchanges: dict[Block, Exchange[A]]) -> dict[Block, Tile[A]]:
        """For each block the total of all blocks along the axes of the accumulator."""
        op = next(iter(exchanges.values())).op
        across = integers(op, "across")
        gathered: dict[Block, list[Contribution[A]]] = {}
        for numbers, exchange in exchanges.items():
            contributions = gathered.setdefault(_without(numbers, across), [])
            if (own := exchange.own) is None:
                continue
            count = 1
            for axis in across:
                count *= len(self.groups[axis][numbers[axis]].members)
            contributions.append(Contribution(own.value, own.stabiliser, count))
        totals = {
            numbers: None if (total := self._total(op, contributions)) is None else total.value
            for numbers, contributions in gathered.items()
        }
        return {numbers: totals[_without(numbers, across)] for numbers in exchanges}

    def _run_block(self, block: Block) -> Run[A]:
        """One block from its first load to its last store."""
        values: Values[A] = {}
        self._evaluate(Stage.INVARIANT, values, block, ())
        accumulators = [
            op for op in self.operations[Stage.POST] if isinstance(op, threadblock.AccumulateOp)
        ]
        contributions: dict[Operation, list[Contribution[A]]] = {op: [] for op in accumulators}
        for iteration, count in self._iterations(block):
            now = dict(values)
            self._evaluate(Stage.LOOP, now, block, iteration)
            for op in accumulators:
                if op.value in now:
                    self._contribute(op, now, count, contributions[op])
        for op in self.operations[Stage.POST]:
            if not isinstance(op, threadblock.AccumulateOp):
                self._step(op, values, block, ())
                continue
            if self.stages[op.value] == Stage.POST:
                self._contribute(op, values, 1, contributions[op])
            own = self._total(op, contributions[op])
            total = None if own is None else own.value
            if op.across.get_values():
                total = yield Exchange(op, own)
            if total is None and kind_of(op) == "sum":
                # All turns had maxima over nothing as stabilisers: nothing was added up.
                total = self.domain.constant(Fraction(0), shape_of(op.result))
            values[op.result] = self.tiles.rounded(total, op.result)
        return [self._stored(store, values[store.tile]) for store, _ in self.stores]

    def _stored(self, store: threadblock.StoreOp, value: Tile[A]) -> Tile[A]:
        """What a block stores: of a maximum over nothing, the value below every number."""
        if value is None and _is_maximum(store.tile):
            return self.domain.lowest(shape_of(store.tile))
        return value

    # Iterations

    def _iterations(self, block: Block) -> list[tuple[Block, int]]:
        """The iterations of the loops, in order, and how many others hold the same as each."""
        groups: dict[tuple[bytes, ...], list[Block]] = {}
        for iteration in product(*(range(count) for count in self.graph.loop_sizes)):
            key = self._iteration_key(block, iteration)
            groups.setdefault(key, []).append(iteration)
        return [(members[0], len(members)) for members in groups.values()]

    def _iteration_key(self, block: Block, iteration: Block) -> tuple[bytes, ...]:
        return tuple(
            signature(self.sources[op.operands[0]].axes[dim], cut.start(block, iteration), cut.tile)
            for op, cuts in self.loads.items()
            for dim, cut in cuts.looped
        )

    # Operators

    def _evaluate(self, stage: Stage, values: Values[A], block: Block, iteration: Block) -> None:
        for op in self.operations[stage]:
            self._step(op, values, block, iteration)

    def _step(self, op: Operation, values: Values[A], block: Block, iteration: Block) -> None:
        """Evaluate one operator that is not an accumulator."""
        if (cuts := self.loads.get(op)) is not None:
            tile = self.sources[op.operands[0]]
            for dim, cut in enumerate(cuts.dims):
                start = cut.start(block, iteration)
                tile = self.domain.part(tile, dim, start, start + cut.tile)
            # The tensor has the element type of the tile, and its values are rounded to it.
            results: list[Tile[A]] = [tile]
        else:
            results = self.tiles.results(op, [values[operand] for operand in op.operands])
        values.update(zip(op.results, results, strict=True))

    # Accumulators

    def _contribute(
        self,
        op: threadblock.AccumulateOp,
        values: Values[A],
        count: int,
        contributions: list[Contribution[A]],
    ) -> None:
        """Note the value of an accumulator's operand, unless it is a maximum over nothing."""
        value = values[op.value]
        stabiliser = None if op.rescale is None else values[op.rescale]
        if value is not None and (op.rescale is None or stabiliser is not None):
            contributions.append(Contribution(value, stabiliser, count))

    def _total(
        self, op: threadblock.AccumulateOp, contributions: Sequence[Contribution[A]]
    ) -> Contribution[A] | None:
        """The sum or maximum of contributions; a sum has the largest of their stabilisers."""
        if not contributions:
            return None
        numbers = self.domain.numbers
        if kind_of(op) == "max":
            return Contribution(self._fold(numbers.maximum, [c.value for c in contributions]), None)
        stabilisers = [c.stabiliser for c in contributions if c.stabiliser is not None]
        if not stabilisers:
            values = [self.domain.scaled(c.value, c.count) for c in contributions]
            return Contribution(self._fold(numbers.add, values), None)
        largest = self._fold(numbers.maximum, stabilisers)
        rescaled: list[Tensor[A]] = []
        for contribution, stabiliser in zip(contributions, stabilisers, strict=True):
            factor = self.domain.function("exp", self.domain.subtract(stabiliser, largest))
            value = self.domain.multiply(contribution.value, factor)
            rescaled.append(self.domain.scaled(value, contribution.count))
        return Contribution(self._fold(numbers.add, rescaled), largest)

    def _fold(self, operation: Callable[[A, A], A], values: Sequence[Tensor[A]]) -> Tensor[A]:
        """All values combined, in order."""
        result = values[0]
        for value in values[1:]:
            result = self.tiles.combined(operation, result, value)
        return result


def _without(block: Block, axes: Sequence[int]) -> Block:
    """The coordinates along the other axes."""
    return tuple(number for axis, number in enumerate(block) if axis not in axes)


def _is_maximum(value: SSAValue) -> bool:
    """Whether a tile is a maximum, perhaps moved about; otherwise something is computed from it."""
    op = value.owner
    if isinstance(op, threadblock.AccumulateOp):
        return kind_of(op) == "max"
    if not isinstance(op, Operation) or not op.operands:
        return False
    name = mnemonic(op)
    return name == "reduce_max" or (name in MOVING and _is_maximum(op.operands[0]))
