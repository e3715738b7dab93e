"""
Computes all values that a block can hold under one configuration.

Starting from the tiles of the inputs, every operation is applied to every value or pair of values.
What is no sub-expression of an output is dropped at once (the closure is a hash index). This ends
because the closure is finite. Tile sizes play no part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mirage_mlir.expr.heads import GRID, LOOP, Poly
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.saturation.interning import intern_by_value
from mirage_mlir.search.saturation.values import Algebra

Bits = Mapping[str, int]
"""For each axis of a value the parts of its index that are not yet summed."""


MAX_VALUES = 96
"""
Values in one configuration. Programs of a dozen operators have up to 50; two nested LayerNorms,
whose sums can be regrouped in hundreds of ways, have more, and each pair of values is tried.
"""


MAX_OPEN_VALUES = 512
"""
Values from which on sums under way are left out. The gradient of attention with normalised queries
and keys has 1,650 of them in a loop that makes nothing, which took a minute to see, and 240 in
other loops. The first choices of 222 programs are the same without this limit.
"""


@dataclass(frozen=True)
class _Tile:
    """The part of a value that a block holds."""

    bits: Bits
    held: frozenset[str]
    """The axes of which a tile has more than a part that is summed already."""
    wide: tuple[str, ...]
    """The axes along which it has more than one index."""


class Saturation:
    """
    Builds the hypergraph of one configuration; `run` does all of it.

    `expired` is asked now and then whether the time is over.
    """

    def __init__(
        self,
        algebra: Algebra,
        configuration: Configuration,
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self.algebra = algebra
        self.configuration = configuration
        self.expired = expired
        self.graph = Hypergraph()
        self.cut = False
        """Whether values were left out because there were too many, or the time was over."""
        self._resident: dict[Poly, Bits] = {}
        self._tiles: list[_Tile] = []
        """Of each value."""
        self._as_written = True
        self._put_off: list[tuple[Poly, Stage, Edge]] = []
        """Values that the program as written has not, found while only its own are."""

    def run(self) -> Hypergraph:
        """
        The hypergraph of all values that can be computed and may be of use.

        Values of the program as written come first, so that a limit on the size does not cut these.
        """
        self._add_sources()
        self._combine(0)
        count = len(self.graph.values)
        self._as_written = False
        for form, stage, edge in self._put_off:
            self._add(form, stage, edge)
        self._combine(count)
        if not self.cut:
            intern_by_value(self.algebra, self.configuration, self.graph, self.resident)
        return self.graph

    def _combine(self, first: int) -> None:
        """Apply all operations to the values from `first` on, and to all values that result."""
        current = first
        while current < len(self.graph.values) and not self._over():
            self._unary(current)
            self._pairs(current)
            current += 1

    def _over(self) -> bool:
        if self._as_written or not self.expired():
            return False
        self.cut = True
        return True

    def _add_sources(self) -> None:
        for index, form in enumerate(self.algebra.sources):
            looped = any(axis in self.configuration.loop for axis in self.algebra.forms.free(form))
            stage = Stage.LOOP if looped else Stage.INVARIANT
            self._add(form, stage, Edge(Kind.INPUT, source=index))
        for index, (form, _) in enumerate(self.algebra.constants):
            self._add(form, Stage.INVARIANT, Edge(Kind.CONSTANT, source=index))

    def resident(self, form: Poly) -> Bits:
        """The bits of each axis of `form` that lie inside a tile."""
        if form not in self._resident:
            bits: dict[str, int] = {}
            for axis, free in self.algebra.forms.free(form).items():
                if axis in (*self.configuration.grid, *self.configuration.cluster):
                    free &= ~GRID
                if axis in self.configuration.loop:
                    free &= ~LOOP
                bits[axis] = free
            self._resident[form] = bits
        return self._resident[form]

    def _single(self, axis: str) -> bool:
        """Whether a tile has only one index of `axis`."""
        return axis in self.configuration.single

    def _wide(self, form: Poly) -> list[str]:
        """The axes along which a tile of `form` has more than one index."""
        bits = self.resident(form)
        return [axis for axis in bits if bits[axis] and not self._single(axis)]

    def _add(self, form: Poly, stage: Stage, edge: Edge) -> None:
        value = Value(form, stage)
        if self.graph.find(value) is None:
            if len(self._wide(form)) > self.algebra.max_rank:
                return
            if self._as_written and not self.algebra.is_of_program(form):
                self._put_off.append((form, stage, edge))
                return
            if len(self.graph.values) >= MAX_OPEN_VALUES and self.algebra.forms.is_partial(form):
                self.cut = True
                return
            if not self._as_written and len(self.graph.values) >= MAX_VALUES:
                self.cut = True
                return
        self.graph.add(value, edge)

    def _unary(self, index: int) -> None:
        value = self.graph.values[index]
        for name, result in self.algebra.functions_of(value.form):
            self._add(result, value.stage, Edge(Kind.FUNCTION, (index,), name=name))
        inverse = self.algebra.wanted(self.algebra.forms.inverse(value.form))
        operands = [value.form]
        if inverse is not None and not self.algebra.leaves_out(Kind.INVERSE, operands, inverse):
            self._add(inverse, value.stage, Edge(Kind.INVERSE, (index,)))
        for axis, bits in self.resident(value.form).items():
            # Blocks that share a loop add up; what others sum over the grid would stay a part.
            if bits and self._may_sum(axis):
                self._reduce(index, axis, bits)
        if value.stage is Stage.LOOP:
            self._accumulate(index)
        for axis in self.configuration.cluster:
            # Each block has the sum, or the maximum, of its part.
            if self.algebra.forms.free(value.form).get(axis) == GRID:
                self._reduce(index, axis, GRID, across=True)

    def _may_sum(self, axis: str) -> bool:
        """
        Whether a block may sum over its part of `axis`: partial sums are allowed of open sums only.
        """
        return axis not in self.configuration.grid or axis in self.algebra.program.open_sums

    def _reduce(self, index: int, axis: str, bits: int, *, across: bool = False) -> None:
        """Sum over a tile; with `across` over the blocks of a cluster."""
        value, forms = self.graph.values[index], self.algebra.forms
        if (total := self.algebra.sum_of([value.form], axis, bits)) is not None:
            kind = Kind.ACCUMULATE_SUM if across else Kind.REDUCE_SUM
            self._add(total, value.stage, Edge(kind, (index,), axis))
        if not self.algebra.closure.has_maximum:
            return
        if (most := self.algebra.wanted(forms.bind_max(value.form, axis, bits))) is not None:
            kind = Kind.ACCUMULATE_MAX if across else Kind.REDUCE_MAX
            self._add(most, value.stage, Edge(kind, (index,), axis))

    def _accumulate(self, index: int) -> None:
        """Sum over all iterations; a value that is the same in some of them would count twice."""
        form, forms = self.graph.values[index].form, self.algebra.forms
        if any(axis not in forms.free(form) for axis in self.configuration.loop):
            return
        total: Poly | None = form
        for axis in self.configuration.loop:
            total = forms.bind(total, axis, LOOP)
        if (total := self.algebra.wanted(total)) is not None:
            self._add(total, Stage.POST, Edge(Kind.ACCUMULATE_SUM, (index,)))
        if not self.algebra.closure.has_maximum:
            return
        most: Poly | None = form
        for axis in self.configuration.loop:
            most = forms.bind_max(most, axis, LOOP)
        if (most := self.algebra.wanted(most)) is not None:
            self._add(most, Stage.POST, Edge(Kind.ACCUMULATE_MAX, (index,)))

    def _tile(self, index: int) -> "_Tile":
        while index >= len(self._tiles):
            form = self.graph.values[len(self._tiles)].form
            bits = self.resident(form)
            held = frozenset(axis for axis in bits if bits[axis])
            self._tiles.append(_Tile(bits, held, tuple(self._wide(form))))
        return self._tiles[index]

    def _pairs(self, current: int) -> None:
        """Combine a value with all those before it, and with itself."""
        algebra, values = self.algebra, self.graph.values
        form, stage = values[current].form, values[current].stage
        fruitless = algebra.fruitless(form)
        # What is computed in the loop and what is computed after it never meet.
        apart = {Stage.LOOP: Stage.POST, Stage.POST: Stage.LOOP}.get(stage)
        for other in range(current + 1):
            value = values[other]
            if value.form not in fruitless and value.stage is not apart:
                self._pair(current, other)
                algebra.note_fruitless(form, value.form)

    def _pair(self, a: int, b: int) -> None:
        left, right = self.graph.values[a], self.graph.values[b]
        one, two = self._tile(a), self._tile(b)
        shared = [axis for axis in one.bits if axis in two.bits]
        for axis in shared:
            if one.bits[axis] != two.bits[axis]:
                return
        stage = max(left.stage, right.stage)
        # Where an axis goes (a maximum that absorbs another), the tile would have it all the same.
        axes = one.held | two.held
        orders = [(a, b), (b, a)] if left.form != right.form else [(a, b)]
        for first, second in orders:
            forms = self.graph.values[first].form, self.graph.values[second].form
            for kind, result in self.algebra.pairs(*forms):
                if axes <= self.resident(result).keys():
                    self._add(result, stage, Edge(kind, (first, second)))
            for name, result in self.algebra.functions_of_two(*forms):
                self._add(result, stage, Edge(Kind.FUNCTION, (first, second), name=name))
        self._matmuls(a, b, stage, shared)

    def _matmuls(self, a: int, b: int, stage: Stage, shared: list[str]) -> None:
        """Matmuls of two tiles that share the summed axis and otherwise only axes of width one."""
        left, right = self.graph.values[a], self.graph.values[b]
        wide = [axis for axis in shared if not self._single(axis)]
        if a == b or len(wide) != 1:
            return
        (summed,) = wide
        mine, other = self._tile(a), self._tile(b)
        if not mine.bits[summed] or not self._may_sum(summed):
            return
        # Both tiles have the axis; besides it each may have one.
        widths = len(mine.wide) - 1, len(other.wide) - 1
        if max(widths) != 1:
            return
        if not self.algebra.may_sum_product(left.form, right.form, summed):
            return
        narrowing = self.algebra.narrowing
        if not (narrowing.admits(left.form) and narrowing.admits(right.form)):
            return
        forms = [left.form, right.form]
        if (result := self.algebra.sum_of(forms, summed, mine.bits[summed])) is not None:
            self._add(result, stage, Edge(Kind.MATMUL, (min(a, b), max(a, b)), summed))
