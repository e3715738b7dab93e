"""
Finds equal values with different normal forms.

Normal forms keep a product of two sums as it is. So they do not show that `(x + y) * (u + v)` is `x
* s + y * s` for s = u + v, which has one multiplication more. Such products are compared by their
values in a finite field (`expr/fingerprint.py`): if the value is that of a value of the hypergraph,
an edge is added.

Values in fields know of cancellation (`a / b * b`), which could lead to cycles. The hypergraph
takes no edge whose operands need the value itself: so the rank of a value, the number of operations
from the inputs, is above that of its operands.
"""

from collections.abc import Callable, Iterator, Mapping

from mirage_mlir.expr.heads import Masks, Poly
from mirage_mlir.expr.monomial import Monomial
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage
from mirage_mlir.search.saturation.values import Algebra

Key = tuple[Poly, Masks]
"""The first value seen that is equal, and the bits of axes that are already summed."""


def key_of(forms: NormalForm, form: Poly) -> Key | None:
    """
    A key that is equal for equal values; None for partial maxima and sums, of which it is unknown.
    """
    terms = forms.monomials(form)
    masks = {monomial.masks for monomial, _ in terms}
    if len(masks) != 1 or form in forms.partial_maxima:
        return None
    # What is summed in part is told by what is summed, if that is so in all terms alike.
    whole = forms.intern({Monomial(m.factors, ()): c for m, c in terms})
    return forms.representative(whole), masks.pop()


class Interning:
    """Adds such edges to the hypergraph of one configuration, which must have all its values."""

    def __init__(
        self,
        algebra: Algebra,
        configuration: Configuration,
        graph: Hypergraph,
        resident: Callable[[Poly], Mapping[str, int]],
    ) -> None:
        self.algebra = algebra
        self.forms: NormalForm = algebra.forms
        self.configuration = configuration
        self.graph = graph
        self.resident = resident
        self.added = 0
        """Edges that no form gave."""
        self._nodes: dict[tuple[Key, Stage], int] = {}

    def run(self) -> None:
        """Try all products of two sums, or of a sum and such a product."""
        forms, values = self.forms, self.graph.values
        sums = [i for i, value in enumerate(values) if len(forms.monomials(value.form)) > 1]
        products = [i for i, value in enumerate(values) if forms.is_factored(value.form)]
        if not sums:
            return
        for index, value in enumerate(values):
            if (key := key_of(forms, value.form)) is not None:
                self._nodes.setdefault((key, value.stage), index)
        for place, a in enumerate(sums):
            for b in (*sums[place:], *products):
                self._pair(a, b)

    def _pair(self, a: int, b: int) -> None:
        left, right = self.graph.values[a], self.graph.values[b]
        if {left.stage, right.stage} == {Stage.LOOP, Stage.POST}:
            return
        mine, other = self.resident(left.form), self.resident(right.form)
        shared = [axis for axis in mine if axis in other]
        if any(mine[axis] != other[axis] for axis in shared):
            return
        stage = max(left.stage, right.stage)
        for form, edge in self._candidates(a, b, shared):
            if self.algebra.closure.has(form):
                continue
            if (key := key_of(self.forms, form)) is not None:
                self._offer(self._nodes.get((key, stage)), edge)

    def _offer(self, node: int | None, edge: Edge) -> None:
        if node is None:
            return
        before = len(self.graph.edges[node])
        self.graph.add(self.graph.values[node], edge)
        self.added += len(self.graph.edges[node]) - before

    def _candidates(self, a: int, b: int, shared: list[str]) -> Iterator[tuple[Poly, Edge]]:
        """The products of two values."""
        left, right = self.graph.values[a].form, self.graph.values[b].form
        if (product := self.forms.mul(left, right)) is None:
            return
        yield product, Edge(Kind.MUL, (a, b))
        if (axis := self._contracted(a, b, shared)) is not None:
            total = self.forms.bind(product, axis, self.resident(left)[axis])
            narrowing = self.algebra.narrowing
            if total is not None and narrowing.admits(left) and narrowing.admits(right):
                yield total, Edge(Kind.MATMUL, (min(a, b), max(a, b)), axis)

    def _contracted(self, a: int, b: int, shared: list[str]) -> str | None:
        """The axis that a matmul of both sums over, if tensor cores can take it."""
        configuration = self.configuration
        wide = [axis for axis in shared if axis not in configuration.single]
        if a == b or len(wide) != 1:
            return None
        (axis,) = wide
        if axis in configuration.grid and axis not in self.algebra.program.open_sums:
            return None
        sides = [self._width(index, axis) for index in (a, b)]
        bits = self.resident(self.graph.values[a].form)[axis]
        return axis if bits and max(sides) == 1 else None

    def _width(self, index: int, contracted: str) -> int:
        """The number of other axes of a tile."""
        bits = self.resident(self.graph.values[index].form)
        own = [axis for axis in bits if bits[axis] and axis != contracted]
        return len([axis for axis in own if axis not in self.configuration.single])


def intern_by_value(
    algebra: Algebra,
    configuration: Configuration,
    graph: Hypergraph,
    resident: Callable[[Poly], Mapping[str, int]],
) -> int:
    """
    Adds such edges; returns their number.

    Args:
        algebra: of the program.
        configuration: of the hypergraph.
        graph: the hypergraph.
        resident: the bits of each axis of a form that lie inside a tile.
    """
    interning = Interning(algebra, configuration, graph, resident)
    interning.run()
    return interning.added
