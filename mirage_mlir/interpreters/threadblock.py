"""
What a `kernel.graph_defined` computes: its blocks and iterations, each as the graph says.

A block runs the operators before the loop, those of the loop in each iteration on the tiles that
the maps cut, adds up its accumulators, and runs the operators after the loop; an accumulator
`across` a grid axis waits until all blocks along the axis are there. Blocks run side by side, and
so do iterations (see `batches`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Generic

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.interpreters.assemble import assemble
from mirage_mlir.interpreters.batches import Batch, Batches
from mirage_mlir.interpreters.domain import A
from mirage_mlir.interpreters.operators import element_type_of, integers, mnemonic, shape_of
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.tile_cuts import TileCuts, load_cuts, store_cuts
from mirage_mlir.interpreters.tiles import Tile, TileInterpreter, kind_of
from mirage_mlir.interpreters.views import concatenate

Values = dict[SSAValue, Tile[A]]

MOVING = ("broadcast", "cast", "convert_layout", "transpose")
"""Mnemonics of operators that compute nothing."""

Along = tuple[tuple[int, int], ...]
"""Axes of an array of tiles, and how many tiles lie along each."""


@dataclass(frozen=True)
class Contribution(Generic[A]):
    """What iterations, or blocks, add to an accumulator."""

    value: Tensor[A]
    row_maximum: Tile[A]
    along: Along = ()
    """The axes along which they lie side by side."""


@dataclass(frozen=True)
class Exchange(Generic[A]):
    """Blocks wait at an accumulator across blocks, with their own totals (None: nothing to add)."""

    op: threadblock.AccumulateOp
    own: Contribution[A] | None


Run = Generator[Exchange[A], Tile[A], list[Tile[A]]]
"""Blocks at work: gives exchanges, takes totals, and returns what they store."""


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
        self.graph = graph
        block = graph.body.block
        self.sources: dict[SSAValue, Tensor[A]] = dict(zip(block.args, inputs, strict=True))
        self.stages = threadblock.stages(graph)
        self.loads: dict[Operation, TileCuts] = {}
        self.cut: dict[Operation, Tensor[A]] = {}
        """The tensor that each of `loads` cuts into tiles."""
        self.stores: list[tuple[threadblock.StoreOp, TileCuts]] = []
        self.operations: dict[Stage, list[Operation]] = {stage: [] for stage in Stage}
        for op in block.ops:
            if isinstance(op, threadblock.StoreOp):
                self.stores.append((op, store_cuts(graph, op)))
            if not op.results:
                continue
            self.operations[self.stages[op.results[0]]].append(op)
            if isinstance(op, threadblock.LoadOp | threadblock.IotaOp):
                self.loads[op] = load_cuts(graph, op)
            if isinstance(op, threadblock.LoadOp):
                self.cut[op] = self.sources[op.source]
            elif isinstance(op, threadblock.IotaOp):
                self.cut[op] = _indices(domain, op)
        self.batches = Batches(
            graph,
            self.stages,
            [(self.cut[op].dims, cuts) for op, cuts in self.loads.items()],
            [
                (shape_of(output), cuts)
                for output, (_, cuts) in zip(graph.outputs, self.stores, strict=True)
            ],
        )
        self.domain = TensorDomain(domain.numbers, self.batches.lead, sparse=domain.sparse)
        self.tiles = TileInterpreter(self.domain)

    def outputs(self) -> list[Tensor[A]]:
        """Run all blocks and put together what they store."""
        stored = self._run_batches()
        return [
            assemble(
                self.domain,
                self.batches,
                cuts,
                shape_of(self.graph.outputs[number]),
                {batch: values[number] for batch, values in stored.items()},
            )
            for number, (_, cuts) in enumerate(self.stores)
        ]

    # Blocks

    def _run_batches(self) -> dict[Batch, list[Tile[A]]]:
        """What the blocks of each batch store."""
        runs: dict[Batch, Run[A]] = {batch: self._run(batch) for batch in self.batches.all}
        totals: dict[Batch, Tile[A]] = dict.fromkeys(runs)
        while True:
            exchanges: dict[Batch, Exchange[A]] = {}
            stored: dict[Batch, list[Tile[A]]] = {}
            for batch, run in runs.items():
                try:
                    # The first send starts the blocks, and must be None: `totals` begins so.
                    exchanges[batch] = run.send(totals[batch])
                except StopIteration as stop:
                    stored[batch] = stop.value
            if stored:
                return stored
            totals = self._combine_across(exchanges)

    def _combine_across(self, exchanges: dict[Batch, Exchange[A]]) -> dict[Batch, Tile[A]]:
        """For each batch the total of all blocks along the axes of the accumulator."""
        op = next(iter(exchanges.values())).op
        across = integers(op, "across")
        gathered: dict[Batch, list[Contribution[A]]] = {}
        for batch, exchange in exchanges.items():
            contributions = gathered.setdefault(_without(batch, across), [])
            if (own := exchange.own) is None:
                continue
            along = tuple((1 + axis, len(self.batches.blocks(batch, axis))) for axis in across)
            contributions.append(Contribution(own.value, own.row_maximum, along))
        totals = {
            others: None if (total := self._total(op, contributions)) is None else total.value
            for others, contributions in gathered.items()
        }
        return {batch: totals[_without(batch, across)] for batch in exchanges}

    def _run(self, batch: Batch) -> Run[A]:
        """Blocks from their first loads to their last stores."""
        values: Values[A] = {}
        self._evaluate(Stage.INVARIANT, values, batch, ())
        contributions, pieces = self._iterate(values, batch)
        for op in self.operations[Stage.POST]:
            if not isinstance(op, threadblock.AccumulateOp):
                self._step(op, values, batch, ())
                continue
            if self.stages[op.value] == Stage.POST:
                self._contribute(op, values, (), contributions[op])
            # What iterations left is of no use while other blocks are waited for.
            own = self._total(op, contributions.pop(op))
            total = None if own is None else own.value
            if op.across.get_values():
                total = yield Exchange(op, own)
            if total is None and kind_of(op) == "sum":
                # All iterations had maxima over nothing as row maxima: nothing was added up.
                total = self.domain.constant(Fraction(0), shape_of(op.result))
            values[op.result] = self.tiles.rounded(total, op.result)
        return [
            self._joined(cuts, pieces[store])
            if store.in_loop
            else self._stored(store, values[store.tile])
            for store, cuts in self.stores
        ]

    def _iterate(
        self, values: Values[A], batch: Batch
    ) -> tuple[dict[Operation, list[Contribution[A]]], dict[Operation, dict[int, Tile[A]]]]:
        """What iterations of blocks leave to each accumulator, and what each of them stores."""
        accumulators = [
            op for op in self.operations[Stage.POST] if isinstance(op, threadblock.AccumulateOp)
        ]
        contributions: dict[Operation, list[Contribution[A]]] = {op: [] for op in accumulators}
        looped = {
            store: (cuts, shape_of(output))
            for output, (store, cuts) in zip(self.graph.outputs, self.stores, strict=True)
            if store.in_loop
        }
        pieces: dict[Operation, dict[int, Tile[A]]] = {store: {} for store in looped}
        for steps in self.batches.iterations(batch):
            now = dict(values)
            self._evaluate(Stage.LOOP, now, batch, steps)
            along: Along = ((self.domain.lead - 1, len(steps)),)
            for op in accumulators:
                if op.value in now:
                    self._contribute(op, now, along, contributions[op])
            for store, (cuts, shape) in looped.items():
                tile = self._stored(store, now[store.tile])
                for place, step in enumerate(steps):
                    sizes = {
                        dim: self.batches.stored_size(cut, shape[dim], batch, step)
                        for dim, cut in cuts.looped
                    }
                    pieces[store][step] = self._piece(tile, place, sizes)
        return contributions, pieces

    def _piece(self, tile: Tile[A], place: int, sizes: Mapping[int, int]) -> Tile[A]:
        """What one of the iterations that run at once stores: `sizes` lie within the result."""
        if tile is None:
            return None
        axis = self.domain.lead - 1
        if self.domain.numbers.shape(tile.array)[axis] > 1:
            taken = (slice(None),) * axis + (slice(place, place + 1),)
            tile = Tensor(self.domain.rearrange(tile.array, lambda a: a[taken]), tile.dims)
        for dim, size in sizes.items():
            tile = self.domain.part(tile, dim, 0, size)
        return tile

    def _joined(self, cuts: TileCuts, pieces: dict[int, Tile[A]]) -> Tile[A]:
        """What iterations store, along the dimension that loops cut; one iteration cuts none."""
        if not cuts.looped:
            (only,) = pieces.values()
            return only
        ((dim, _),) = cuts.looped
        parts = [part for _, part in sorted(pieces.items(), key=itemgetter(0)) if part is not None]
        return concatenate(self.domain, parts, dim) if len(parts) == len(pieces) else None

    def _stored(self, store: threadblock.StoreOp, value: Tile[A]) -> Tile[A]:
        """What a block stores: of a maximum over nothing, the value below every number."""
        if value is None and _is_maximum(store.tile):
            return self.domain.lowest(shape_of(store.tile))
        return value

    # Operators

    def _evaluate(
        self, stage: Stage, values: Values[A], batch: Batch, steps: Sequence[int]
    ) -> None:
        for op in self.operations[stage]:
            self._step(op, values, batch, steps)

    def _step(self, op: Operation, values: Values[A], batch: Batch, steps: Sequence[int]) -> None:
        """Evaluate one operator that is not an accumulator."""
        if (cuts := self.loads.get(op)) is not None:
            source = self.cut[op]
            # The tensor has the element type of the tile, and its values are rounded to it.
            results: list[Tile[A]] = [self.batches.load(self.domain, source, cuts, batch, steps)]
        else:
            results = self.tiles.results(op, [values[operand] for operand in op.operands])
        values.update(zip(op.results, results, strict=True))

    # Accumulators

    def _contribute(
        self,
        op: threadblock.AccumulateOp,
        values: Values[A],
        along: Along,
        contributions: list[Contribution[A]],
    ) -> None:
        """Note the value of an accumulator's operand, unless it is a maximum over nothing."""
        value = values[op.value]
        row_maximum = None if op.rescale is None else values[op.rescale]
        if value is not None and (op.rescale is None or row_maximum is not None):
            contributions.append(Contribution(value, row_maximum, along))

    def _total(
        self, op: threadblock.AccumulateOp, contributions: Sequence[Contribution[A]]
    ) -> Contribution[A] | None:
        """The sum or maximum of contributions; a sum has the largest of their row maxima."""
        if not contributions:
            return None
        numbers = self.domain.numbers
        if kind_of(op) == "max":
            maxima = [self._largest(c.value, c.along) for c in contributions]
            return Contribution(self._fold(numbers.maximum, maxima), None)
        stabilized = [(c, c.row_maximum) for c in contributions if c.row_maximum is not None]
        if not stabilized:
            return Contribution(
                self._added([self._sum(c.value, c.along) for c in contributions]), None
            )
        maxima = [self._largest(row_maximum, c.along) for c, row_maximum in stabilized]
        largest = self._fold(numbers.maximum, maxima)
        rescaled: list[Tensor[A]] = []
        for contribution, row_maximum in stabilized:
            own = self._cut(row_maximum, contribution.value)
            shift = self.domain.subtract(own, self._cut(largest, own))
            factor = self.domain.function("exp", shift)
            value = self.domain.multiply(contribution.value, factor)
            rescaled.append(self._sum(value, contribution.along))
        return Contribution(self._added(rescaled), largest)

    def _cut(self, x: Tensor[A], to: Tensor[A]) -> Tensor[A]:
        """The elements that a ragged tile has, too; sizes of 1 stretch."""
        for dim, (mine, size) in enumerate(zip(x.shape, to.shape, strict=True)):
            if mine > max(size, 1):
                x = self.domain.part(x, dim, 0, size)
        return x

    def _sum(self, x: Tensor[A], along: Along) -> Tensor[A]:
        """The sum of tiles that lie side by side."""
        array, numbers = x.array, self.domain.numbers
        for axis, count in along:
            if numbers.shape(array)[axis] < count:  # all alike
                array = numbers.scale(array, Fraction(count))
            elif count > 1:
                array = numbers.total(array, axis)
        return Tensor(array, x.dims)

    def _largest(self, x: Tensor[A], along: Along) -> Tensor[A]:
        """The maximum of tiles that lie side by side."""
        array, numbers = x.array, self.domain.numbers
        for axis, _ in along:
            if numbers.shape(array)[axis] > 1:
                array = numbers.largest(array, axis)
        return Tensor(array, x.dims)

    def _added(self, values: Sequence[Tensor[A]]) -> Tensor[A]:
        """The sum of all values, in order; iterations may have other rows of a tensor."""
        result = values[0]
        for value in values[1:]:
            pair = self.domain.united(result, value)
            result = self.tiles.combined(self.domain.numbers.add, *pair)
        return result

    def _fold(self, operation: Callable[[A, A], A], values: Sequence[Tensor[A]]) -> Tensor[A]:
        """All values combined, in order."""
        result = values[0]
        for value in values[1:]:
            result = self.tiles.combined(operation, result, value)
        return result


def _indices(domain: TensorDomain[A], op: threadblock.IotaOp) -> Tensor[A]:
    """The tensor of indices that an operator cuts into tiles."""
    sizes = op.whole
    total = domain.constant(Fraction(op.start.value.data), sizes)
    for dim, stride in enumerate(op.strides.get_values()):
        along = domain.scale(domain.iota(sizes, dim), Fraction(stride))
        total = domain.pairwise(domain.numbers.add, total, along)
    return total


def _without(batch: Batch, axes: Sequence[int]) -> Batch:
    """The numbers along the other axes."""
    return tuple(number for axis, number in enumerate(batch) if axis not in axes)


def _is_maximum(value: SSAValue) -> bool:
    """Whether a tile is a maximum, perhaps moved about; otherwise something is computed from it."""
    op = value.owner
    if isinstance(op, threadblock.AccumulateOp):
        return kind_of(op) == "max"
    if not isinstance(op, Operation) or not op.operands:
        return False
    name = mnemonic(op)
    return name == "reduce_max" or (name in MOVING and _is_maximum(op.operands[0]))
