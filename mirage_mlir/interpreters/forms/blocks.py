"""
Graphs over blocks in normal form: blocks and iterations are digits of indices.

A load reads its tensor at the place (block, iteration, element); sums of an accumulator run over
iterations and, with `across`, over blocks. What a store puts together must read each of its
dimensions as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.interpreters.cuts import load_cuts, store_cuts
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.scalars import ScalarForms
from mirage_mlir.interpreters.forms.tensors import Dim, Symbolic
from mirage_mlir.interpreters.forms.terms import (
    Form,
    Place,
    Undecided,
    Variable,
    place,
    variables_of,
)
from mirage_mlir.interpreters.operators import integers, shape_of

Watch = Callable[[Operation, Symbolic], None]
"""Is shown each operation with its value."""


@dataclass
class Counter:
    """What numbers blocks along a grid axis, or iterations of a loop."""

    digits: tuple[Variable, ...]


class BlockForms:
    """One graph on given tensors."""

    def __init__(
        self,
        operators: Operators,
        graph: kernel.GraphDefinedOp,
        inputs: Sequence[Symbolic],
        watch: Watch,
    ):
        self.watch = watch
        self.operators = operators
        self.tensors = operators.tensors
        self.forms = operators.forms
        self.graph = graph
        self.grid = [Counter((self.forms.variable(size),)) for size in graph.grid_sizes]
        self.loops = [Counter((self.forms.variable(size),)) for size in graph.loop_sizes]
        self.stages = threadblock.stages(graph)
        self.values: dict[SSAValue, Symbolic] = dict(
            zip(graph.body.block.args, inputs, strict=True)
        )

    def outputs(self) -> list[Symbolic]:
        """What the graph's stores put together."""
        stored: list[Symbolic] = []
        for op in self.graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                shape = shape_of(self.graph.outputs[len(stored)])
                stored.append(self._stored(op, shape))
            else:
                for value, result in zip(op.results, self._results(op), strict=True):
                    self.values[value] = result
                    self.watch(op, result)
        return stored

    def _results(self, op: Operation) -> list[Symbolic]:
        match op:
            case threadblock.LoadOp():
                return [self._loaded(op)]
            case threadblock.AccumulateOp():
                return [self._accumulated(op)]
            case thread.GraphOp():
                operands = [self.values[operand] for operand in op.operands]
                return ScalarForms(self.tensors).results(op, operands)
            case _:
                operands = [self.values[operand] for operand in op.operands]
                return [self.operators.result(op, operands)]

    # Loads and stores

    def _loaded(self, op: threadblock.LoadOp) -> Symbolic:
        """The tile of a block and an iteration."""
        result = self.values[op.source]
        for dim, cut in enumerate(load_cuts(self.graph, op).dims):
            counters = [] if cut.grid_axis is None else [self.grid[cut.grid_axis]]
            counters += [self.loops[loop] for loop in cut.loops]
            result = self._cut(result, dim, counters, min(cut.tile, result.dims[dim].size))
        return result

    def _cut(self, x: Symbolic, dim: int, counters: Sequence[Counter], tile: int) -> Symbolic:
        """A dimension cut into tiles, which counters count."""
        old = x.dims[dim]
        if not counters and tile == old.size:
            return x
        if len(old.digits) > 1 and prod(v.size for v in _digits(counters)) * tile == old.size:
            return self._cut_again(x, dim, counters, tile)
        inner = self.forms.variable(tile)
        where = place([*_digits(counters), inner], old.size)
        new = Dim(tile, (inner,) if tile > 1 else (), where if where.limit else None)
        form = self.tensors.read_at(x.form, old.digits, where)
        return _with_dim(Symbolic(form, x.dims), dim, new)

    def _cut_again(self, x: Symbolic, dim: int, counters: Sequence[Counter], tile: int) -> Symbolic:
        """
        A dimension that is made of several, cut: each part of it is one of what counters count.

        Raises:
            Undecided: parts and tiles overlap.
        """
        sizes = [v.size for v in (*_digits(counters), self.forms.variable(tile)) if v.size > 1]
        x = self.tensors.split(x, dim, sizes)
        digits = x.dims[dim].digits
        low, values = 0, dict[Variable, Place]()
        for counter in counters:
            high = low
            while prod(v.size for v in digits[low:high]) < prod(v.size for v in counter.digits):
                high += 1
            self._refine(counter, [v.size for v in digits[low:high]])
            if len(counter.digits) != high - low:
                raise Undecided("blocks walk dimensions that are made of others in other ways")
            values |= {
                v: Place((w,)) for v, w in zip(digits[low:high], counter.digits, strict=True)
            }
            low = high
        form = self.forms.insert(x.form, values)
        return _with_dim(Symbolic(form, x.dims), dim, Dim(tile, digits[low:]))

    def _refine(self, counter: Counter, sizes: Sequence[int]) -> None:
        """Let a counter have digits of these sizes at the least, in all values that there are."""
        before = Symbolic(self.forms.constant(0), (Dim(prod(sizes), counter.digits),))
        after = self.tensors.split(before, 0, sizes).dims[0].digits
        if after == counter.digits:
            return
        values: dict[Variable, Place] = {}
        left = list(after)
        for digit in counter.digits:
            taken: list[Variable] = []
            while prod(v.size for v in taken) < digit.size:
                taken.append(left.pop(0))
            values[digit] = Place(tuple(taken))
        counter.digits = after
        self.values = {
            key: self.tensors.inserted(value, values) for key, value in self.values.items()
        }

    def _stored(self, op: threadblock.StoreOp, shape: Sequence[int]) -> Symbolic:
        """The tensor that the tiles of all blocks are."""
        tile = self.values[op.tile]
        form, dims = tile.form, list[Dim]()
        for dim, cut, size in zip(tile.dims, store_cuts(op).dims, shape, strict=True):
            counters = [] if cut.grid_axis is None else [self.grid[cut.grid_axis]]
            digits = place([*_digits(counters), *dim.digits]).digits
            if len(digits) == 1 and digits[0].size == size:
                dims.append(Dim(size, digits))
            elif digits:
                form, new = self._whole(form, digits, size)
                dims.append(new)
            else:
                dims.append(Dim(size))
        return self._without_blocks(Symbolic(form, tuple(dims)))

    def _whole(self, form: Form, digits: tuple[Variable, ...], size: int) -> tuple[Form, Dim]:
        """A form with the digits of a dimension, if they stand together, as one index."""
        new = self.tensors.dim(size)
        whole = prod(v.size for v in digits) == size

        def joined(p: Place) -> Place:
            if not any(digit in digits for digit in p.digits):
                return p
            start = next(n for n, digit in enumerate(p.digits) if digit in digits)
            rest = p.digits[start + len(digits) :]
            if p.digits[start : start + len(digits)] != digits or (p.limit and p.limit < size):
                raise Undecided("stored elements depend on how the result is cut into tiles")
            limit = p.limit if rest or start else 0
            return place((*p.digits[:start], *new.digits, *rest), limit, p.offset, p.stride)

        try:
            return self.forms.moved(form, joined), new
        except Undecided:
            if not whole:
                raise
            return form, Dim(size, digits)

    def _without_blocks(self, x: Symbolic) -> Symbolic:
        """`x`, unless it depends on the block or the iteration otherwise than by its place."""
        own = {v for dim in x.dims for v in dim.digits}
        read = {v for m, _ in x.form for v in variables_of(m) if not v.bound}
        if read - own:
            raise Undecided("stored elements depend on the block that stores them")
        # Digits of blocks stay with this run: a later use has its own.
        return x

    # Accumulators

    def _accumulated(self, op: threadblock.AccumulateOp) -> Symbolic:
        value = self.values[op.value]
        counters = [] if self.stages[op.value] == Stage.POST else list(self.loops)
        counters += [self.grid[axis] for axis in integers(op, "across")]
        over = _digits(counters)
        assert isinstance(op.kind, StringAttr)
        if op.kind.data == "max":
            form = value.form
            for variable in over:
                form = self.forms.largest(form, variable)
            return Symbolic(form, _settled(value.dims, over))
        if op.rescale is not None:
            value = self._rescaled(value, self.values[op.rescale], over)
        form = value.form
        places = [dim.valid for dim in value.dims if dim.valid is not None]
        for variable in reversed(over):
            valid = next((p for p in places if variable in p.digits), None)
            form = self.forms.bind(form, variable, valid)
            # What was valid is now part of the form, which has other variables.
            places = [p for p in places if variable not in p.digits]
        return Symbolic(form, _settled(value.dims, over))

    def _rescaled(
        self, value: Symbolic, stabiliser: Symbolic, over: Sequence[Variable]
    ) -> Symbolic:
        """`value * exp(m - M)`, M being the largest m."""
        form = stabiliser.form
        for variable in over:
            form = self.forms.largest(form, variable)
        largest = Symbolic(form, stabiliser.dims)
        factor = self.tensors.function("exp", self.tensors.subtract(stabiliser, largest))
        return self.tensors.multiply(value, factor)


def _with_dim(x: Symbolic, dim: int, new: Dim) -> Symbolic:
    return Symbolic(x.form, (*x.dims[:dim], new, *x.dims[dim + 1 :]))


def _digits(counters: Sequence[Counter]) -> list[Variable]:
    return [digit for counter in counters for digit in counter.digits]


def _settled(dims: Sequence[Dim], over: Sequence[Variable]) -> tuple[Dim, ...]:
    """Dimensions of a total: where one of its parts has an element, it has."""
    return tuple(
        Dim(dim.size, dim.digits)
        if dim.valid is not None and not set(dim.valid.digits).isdisjoint(over)
        else dim
        for dim in dims
    )
