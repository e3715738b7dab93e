"""
All values that a block can hold under one configuration.

From the tiles of the inputs on, every operation is applied to every value or pair of values, and
what is no sub-expression of the outputs is dropped at once (the closure is a hash index). This
ends, for the closure is finite. Sizes play no part.
"""

from collections.abc import Callable, Mapping

from mirage_mlir.expr.heads import GRID, LOOP, Poly
from mirage_mlir.search.config import Configuration
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.interning import intern_by_value
from mirage_mlir.search.program import Kind
from mirage_mlir.search.values import Algebra

Bits = Mapping[str, int]
"""For each axis of a value the parts of its index that are not yet summed."""


MAX_VALUES = 96
"""
Values in one configuration. Programs of a dozen operators have up to 50; two nested LayerNorms,
whose sums can be regrouped in hundreds of ways, have more, and each pair of values is tried.
"""


LOOP_AND_POST = Stage.LOOP + Stage.POST
"""What is computed in the loop and what is computed after it never meet."""


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
        self._as_written = False

    def run(self) -> Hypergraph:
        """
        The hypergraph of everything that can be computed and may be of use.

        First come the values of the program as it is written, so that what is left out of a large
        hypergraph is not that.
        """
        self._add_sources()
        for self._as_written in (True, False):
            current = 0
            while current < len(self.graph.values) and not self._over():
                self._unary(current)
                for other in range(current + 1):
                    self._pair(current, other)
                current += 1
        if not self.cut:
            intern_by_value(self.algebra, self.configuration, self.graph, self.resident)
        return self.graph

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
                if axis in self.configuration.grid:
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
        if inverse is not None:
            self._add(inverse, value.stage, Edge(Kind.INVERSE, (index,)))
        for axis, bits in self.resident(value.form).items():
            # Blocks that share a loop add up; what others sum over the grid would stay a part.
            if bits and self._may_sum(axis):
                self._reduce(index, axis, bits)
        if value.stage is Stage.LOOP:
            self._accumulate(index)

    def _may_sum(self, axis: str) -> bool:
        """Whether a block may sum over its part of `axis`: others have parts only of open sums."""
        return axis not in self.configuration.grid or axis in self.algebra.program.open_sums

    def _reduce(self, index: int, axis: str, bits: int) -> None:
        value, forms = self.graph.values[index], self.algebra.forms
        for kind, result in (
            (Kind.REDUCE_SUM, forms.bind(value.form, axis, bits)),
            (Kind.REDUCE_MAX, forms.bind_max(value.form, axis, bits)),
        ):
            if (result := self.algebra.wanted(result)) is not None:
                self._add(result, value.stage, Edge(kind, (index,), axis))

    def _accumulate(self, index: int) -> None:
        """Sum over all turns; a value that is the same in some of them would count twice."""
        form, forms = self.graph.values[index].form, self.algebra.forms
        total: Poly | None = form
        most: Poly | None = form
        for axis in self.configuration.loop:
            if axis not in forms.free(form):
                return
            total, most = forms.bind(total, axis, LOOP), forms.bind_max(most, axis, LOOP)
        for kind, result in ((Kind.ACCUMULATE_SUM, total), (Kind.ACCUMULATE_MAX, most)):
            if (result := self.algebra.wanted(result)) is not None:
                self._add(result, Stage.POST, Edge(kind, (index,)))

    def _pair(self, a: int, b: int) -> None:
        left, right = self.graph.values[a], self.graph.values[b]
        if self.algebra.is_fruitless(left.form, right.form):
            return
        if left.stage + right.stage == LOOP_AND_POST and left.stage != right.stage:
            return
        mine, other = self.resident(left.form), self.resident(right.form)
        shared = [axis for axis in mine if axis in other]
        for axis in shared:
            if mine[axis] != other[axis]:
                return
        stage = max(left.stage, right.stage)
        # Where an axis goes (a maximum that absorbs another), the tile would have it all the same.
        axes = {axis for bits in (mine, other) for axis in bits if bits[axis]}
        for kind, result in self.algebra.pairs(left.form, right.form):
            if axes <= self.resident(result).keys():
                self._add(result, stage, Edge(kind, (a, b)))
        if left.form != right.form:
            for kind, result in self.algebra.pairs(right.form, left.form):
                if axes <= self.resident(result).keys():
                    self._add(result, stage, Edge(kind, (b, a)))
        self._matmuls(a, b, stage, shared)

    def _matmuls(self, a: int, b: int, stage: Stage, shared: list[str]) -> None:
        """Products of two tiles that share the axis summed over and nothing else of any width."""
        left, right = self.graph.values[a], self.graph.values[b]
        wide = [axis for axis in shared if not self._single(axis)]
        summed = [axis for axis in wide if self.resident(left.form)[axis]]
        if a == b or len(wide) != 1 or not summed or not self._may_sum(wide[0]):
            return
        rows = [axis for axis in self._wide(left.form) if axis != summed[0]]
        columns = [axis for axis in self._wide(right.form) if axis != summed[0]]
        if len(rows) > 1 or len(columns) > 1 or not (rows or columns):
            return
        if not self.algebra.may_multiply(left.form, right.form):
            return
        product = self.algebra.forms.mul(left.form, right.form)
        if product is None:
            return
        bits = self.resident(left.form)[summed[0]]
        result = self.algebra.wanted(self.algebra.forms.bind(product, summed[0], bits))
        if result is not None:
            self._add(result, stage, Edge(Kind.MATMUL, (min(a, b), max(a, b)), summed[0]))
