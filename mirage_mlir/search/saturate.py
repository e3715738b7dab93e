"""
All values that a block can hold under one configuration.

From the tiles of the inputs on, every operation is applied to every value or pair of values, and
what is no sub-expression of the outputs is dropped at once (the closure is a hash index). This
ends, for the closure is finite. Sizes play no part.
"""

from collections.abc import Mapping

from mirage_mlir.expr.heads import GRID, LOOP, Poly
from mirage_mlir.search.config import Configuration
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.program import Kind
from mirage_mlir.search.values import Algebra

Bits = Mapping[str, int]
"""For each axis of a value the parts of its index that are not yet summed."""


class Saturation:
    """Builds the hypergraph of one configuration; `run` does all of it."""

    def __init__(self, algebra: Algebra, configuration: Configuration) -> None:
        self.algebra = algebra
        self.configuration = configuration
        self.graph = Hypergraph()
        self._resident: dict[Poly, Bits] = {}

    def run(self) -> Hypergraph:
        """The hypergraph of everything that can be computed and may be of use."""
        for index, form in enumerate(self.algebra.sources):
            loops = [a for a in self.algebra.forms.free(form) if a in self.configuration.loop]
            if len(loops) <= 1:
                stage = Stage.LOOP if loops else Stage.INVARIANT
                self._add(form, stage, Edge(Kind.INPUT, source=index))
        for index, (form, _) in enumerate(self.algebra.constants):
            self._add(form, Stage.INVARIANT, Edge(Kind.CONSTANT, source=index))
        current = 0
        while current < len(self.graph.values):
            self._unary(current)
            for other in range(current + 1):
                self._pair(current, other)
            current += 1
        return self.graph

    def resident(self, form: Poly) -> Bits:
        """The bits of each axis of `form` that lie inside a tile."""
        if form not in self._resident:
            bits: dict[str, int] = {}
            for axis, free in self.algebra.forms.free(form).items():
                if axis in self.configuration.grid:
                    free &= ~GRID
                if axis in self.configuration.loop:
                    free &= ~LOOP
                bits[axis] = free
            self._resident[form] = bits
        return self._resident[form]

    def _single(self, axis: str) -> bool:
        """Whether a tile has only one index of `axis`."""
        return axis in self.algebra.program.batch and axis in self.configuration.grid

    def _wide(self, form: Poly) -> list[str]:
        """The axes along which a tile of `form` has more than one index."""
        bits = self.resident(form)
        return [axis for axis in bits if bits[axis] and not self._single(axis)]

    def _add(self, form: Poly, stage: Stage, edge: Edge) -> None:
        if len(self._wide(form)) <= self.algebra.max_rank:
            self.graph.add(Value(form, stage), edge)

    def _unary(self, index: int) -> None:
        value = self.graph.values[index]
        for name, result in self.algebra.functions_of(value.form):
            self._add(result, value.stage, Edge(Kind.FUNCTION, (index,), name=name))
        inverse = self.algebra.wanted(self.algebra.forms.inverse(value.form))
        if inverse is not None:
            self._add(inverse, value.stage, Edge(Kind.INVERSE, (index,)))
        for axis, bits in self.resident(value.form).items():
            # Without sums across blocks, what a block sums over the grid stays a part.
            if bits and axis not in self.configuration.grid:
                self._reduce(index, axis, bits)
        if value.stage is Stage.LOOP:
            self._accumulate(index)

    def _reduce(self, index: int, axis: str, bits: int) -> None:
        value, forms = self.graph.values[index], self.algebra.forms
        for kind, result in (
            (Kind.REDUCE_SUM, forms.bind(value.form, axis, bits)),
            (Kind.REDUCE_MAX, forms.bind_max(value.form, axis, bits)),
        ):
            if (result := self.algebra.wanted(result)) is not None:
                self._add(result, value.stage, Edge(kind, (index,), axis))

    def _accumulate(self, index: int) -> None:
        form, forms = self.graph.values[index].form, self.algebra.forms
        loops = [axis for axis in forms.free(form) if axis in self.configuration.loop]
        for axis in loops[:1]:
            for kind, result in (
                (Kind.ACCUMULATE_SUM, forms.bind(form, axis, LOOP)),
                (Kind.ACCUMULATE_MAX, forms.bind_max(form, axis, LOOP)),
            ):
                if (result := self.algebra.wanted(result)) is not None:
                    self._add(result, Stage.POST, Edge(kind, (index,)))

    def _pair(self, a: int, b: int) -> None:
        left, right = self.graph.values[a], self.graph.values[b]
        if {left.stage, right.stage} == {Stage.LOOP, Stage.POST}:
            return
        mine, other = self.resident(left.form), self.resident(right.form)
        shared = [axis for axis in mine if axis in other]
        if any(mine[axis] != other[axis] for axis in shared):
            return
        stage = max(left.stage, right.stage)
        for kind, result in self.algebra.pairs(left.form, right.form):
            self._add(result, stage, Edge(kind, (a, b)))
        if left.form != right.form:
            for kind, result in self.algebra.pairs(right.form, left.form):
                self._add(result, stage, Edge(kind, (b, a)))
        self._matmuls(a, b, stage, shared)

    def _matmuls(self, a: int, b: int, stage: Stage, shared: list[str]) -> None:
        """Products of two tiles that share the axis summed over and nothing else of any width."""
        left, right = self.graph.values[a], self.graph.values[b]
        wide = [axis for axis in shared if not self._single(axis)]
        summed = [axis for axis in wide if self.resident(left.form)[axis]]
        if a == b or len(wide) != 1 or not summed or wide[0] in self.configuration.grid:
            return
        rows = [axis for axis in self._wide(left.form) if axis != summed[0]]
        columns = [axis for axis in self._wide(right.form) if axis != summed[0]]
        if len(rows) > 1 or len(columns) > 1 or not (rows or columns):
            return
        product = self.algebra.forms.mul(left.form, right.form)
        if product is None:
            return
        bits = self.resident(left.form)[summed[0]]
        result = self.algebra.wanted(self.algebra.forms.bind(product, summed[0], bits))
        if result is not None:
            self._add(result, stage, Edge(Kind.MATMUL, (min(a, b), max(a, b)), summed[0]))
