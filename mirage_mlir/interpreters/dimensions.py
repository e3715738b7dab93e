"""
Which dimensions run together, in several functions at once.

Dimensions that an operator takes index by index (the contracted ones of a matmul, those of
elementwise operands, those of a tensor and its tiles) form a class. The classes decide how the
arguments of functions that are compared may repeat; they are a matter of cost only, since tensors
of any axes can be computed with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.interpreters.cuts import Cut, Cuts, load_cuts
from mirage_mlir.interpreters.operators import integer, integers, mnemonic, shape_of

Dimension = tuple[SSAValue, int]


@dataclass
class DimensionClass:
    """Dimensions that run together, and what happens to them."""

    cuts: list[Cut] = field(default_factory=list[Cut])
    """How loads cut them."""
    reduced: bool = False
    """Whether a sum or maximum runs over them."""
    factors: tuple[tuple[DimensionClass, int], ...] = ()
    """Where a reshape makes them of others, those, with their sizes, the last running fastest."""
    parts: set[int] = field(default_factory=set[int])
    """Sizes of parts in which it is looked at: tiles, and blocks of tiles."""


class DimensionClasses:
    """The classes of functions with one signature: their arguments run together."""

    def __init__(self, functions: Sequence[FuncOp]):
        self._parents: dict[Dimension, Dimension] = {}
        self._cuts: list[tuple[Dimension, Cut]] = []
        self._reduced: list[Dimension] = []
        self._products: list[tuple[Dimension, tuple[tuple[Dimension, int], ...]]] = []
        self.load_cuts: dict[kernel.GraphDefinedOp, list[tuple[SSAValue, Cuts]]] = {}
        """For each graph what it loads and how."""
        first = functions[0].body.block
        for function in functions:
            block = function.body.block
            for ours, theirs in zip(first.args, block.args, strict=True):
                self._unite_all(ours, theirs)
            for op in block.ops:
                self._visit(op)
        self._classes: dict[Dimension, DimensionClass] = {}
        for dimension, cut in self._cuts:
            found = self.of(dimension)
            found.cuts.append(cut)
            if cut.grid_axis is not None or cut.loops:
                found.parts |= {cut.tile, cut.tile * cut.steps}
        for dimension in self._reduced:
            self.of(dimension).reduced = True
        self._factorise()

    def of(self, dimension: Dimension) -> DimensionClass:
        """The class of a dimension."""
        return self._classes.setdefault(self._root(dimension), DimensionClass())

    def _factorise(self) -> None:
        """Let classes that reshapes make of others know of them, and those of their parts."""
        for dimension, factors in self._products:
            product = self.of(dimension)
            found = tuple((self.of(factor), size) for factor, size in factors)
            if not product.factors and not any(_made_of(each, product) for each, _ in found):
                product.factors = found
        for dimension, _ in self._products:
            _hand_down(self.of(dimension))

    @property
    def ragged(self) -> bool:
        """Whether some load has tiles that reach beyond the end of their tensor."""
        return any(
            size % (cut.tile * cut.steps)
            for loads in self.load_cuts.values()
            for source, cuts in loads
            for size, cut in zip(shape_of(source), cuts.dims, strict=True)
            if cut.grid_axis is not None or cut.loops
        )

    def _root(self, dimension: Dimension) -> Dimension:
        while (parent := self._parents.get(dimension, dimension)) != dimension:
            dimension = parent
        return dimension

    def _unite(self, first: Dimension, second: Dimension) -> None:
        left, right = self._root(first), self._root(second)
        if left != right:
            self._parents[right] = left

    def _unite_all(self, first: SSAValue, second: SSAValue) -> None:
        """Dimension by dimension, whatever the sizes."""
        for dim in range(len(shape_of(first))):
            self._unite((first, dim), (second, dim))

    def _unite_aligned(self, first: SSAValue, second: SSAValue) -> None:
        """Dimensions of one size, the last ones facing each other as in numpy."""
        left, right = shape_of(first), shape_of(second)
        for back in range(1, min(len(left), len(right)) + 1):
            if left[-back] == right[-back] != 1:
                self._unite((first, len(left) - back), (second, len(right) - back))

    def _visit(self, op: Operation) -> None:
        if isinstance(op, kernel.GraphDefinedOp):
            self._visit_graph(op)
            return
        match mnemonic(op):
            case "matmul":
                self._visit_matmul(op)
            case "transpose":
                for dim, source in enumerate(integers(op, "permutation")):
                    self._unite((op.results[0], dim), (op.operands[0], source))
            case "reshape":
                self._visit_reshape(op)
            case "repeat" | "repeat_interleave":
                self._visit_repetition(op)
            case _:
                self._visit_aligned(op)

    def _visit_aligned(self, op: Operation) -> None:
        for result in op.results:
            for operand in op.operands:
                self._unite_aligned(result, operand)
        for dim in _reduced_dims(op):
            self._reduced.append((op.operands[0], dim))

    def _visit_matmul(self, op: Operation) -> None:
        (left, right), (result,) = op.operands, op.results
        ranks = [len(shape_of(value)) for value in (left, right, result)]
        self._unite((left, ranks[0] - 1), (right, ranks[1] - 2))
        self._unite((left, ranks[0] - 2), (result, ranks[2] - 2))
        self._unite((right, ranks[1] - 1), (result, ranks[2] - 1))
        self._reduced.append((left, ranks[0] - 1))
        for operand, rank in ((left, ranks[0]), (right, ranks[1])):
            sizes, total = shape_of(operand), shape_of(result)
            for back in range(3, rank + 1):
                if sizes[-back] == total[-back] != 1:
                    self._unite((operand, rank - back), (result, ranks[2] - back))

    def _visit_reshape(self, op: Operation) -> None:
        """Dimensions stay, or several on one side make one on the other."""
        (source,), (result,) = op.operands, op.results
        for left, right in _groups(shape_of(source), shape_of(result)):
            if len(left) == len(right) == 1:
                self._unite((source, left[0]), (result, right[0]))
            elif len(left) == 1:
                self._note_product((source, left[0]), result, right)
            elif len(right) == 1:
                self._note_product((result, right[0]), source, left)

    def _visit_repetition(self, op: Operation) -> None:
        """The repeated dimension is made of the one before and of one that counts copies."""
        (source,), (result,) = op.operands, op.results
        self._visit_aligned(op)
        dim, times, shape = integer(op, "dim"), integer(op, "times"), shape_of(source)
        # No dimension of the result has the number of the copies'.
        copies = (result, len(shape) + dim), times
        original = (source, dim), shape[dim]
        whole = mnemonic(op) == "repeat"
        self._products.append(((result, dim), (copies, original) if whole else (original, copies)))

    def _note_product(self, product: Dimension, value: SSAValue, dims: Sequence[int]) -> None:
        sizes = shape_of(value)
        self._products.append((product, tuple(((value, dim), sizes[dim]) for dim in dims)))

    def _visit_graph(self, graph: kernel.GraphDefinedOp) -> None:
        block = graph.body.block
        for argument, operand in zip(block.args, graph.inputs, strict=True):
            self._unite_all(operand, argument)
        loads = self.load_cuts[graph] = []
        results = iter(graph.outputs)
        for op in block.ops:
            if isinstance(op, threadblock.LoadOp):
                cuts = load_cuts(graph, op)
                loads.append((op.source, cuts))
                self._unite_all(op.source, op.result)
                self._cuts += [((op.source, dim), cut) for dim, cut in enumerate(cuts.dims)]
            elif isinstance(op, threadblock.StoreOp):
                self._unite_all(op.tile, next(results))
            else:
                self._visit(op)


def _groups(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The dimensions of two shapes of one volume, size 1 left out, in the smallest groups alike."""
    ours = [dim for dim, size in enumerate(left) if size != 1]
    theirs = [dim for dim, size in enumerate(right) if size != 1]
    while ours and theirs:
        group, other = [ours.pop(0)], [theirs.pop(0)]
        product, goal = left[group[0]], right[other[0]]
        while product != goal:
            if product < goal:
                group.append(ours.pop(0))
                product *= left[group[-1]]
            else:
                other.append(theirs.pop(0))
                goal *= right[other[-1]]
        yield group, other


def _made_of(found: DimensionClass, wanted: DimensionClass) -> bool:
    """Whether `found` is `wanted`, or made of it."""
    return found is wanted or any(_made_of(factor, wanted) for factor, _ in found.factors)


def _hand_down(product: DimensionClass) -> None:
    """Parts that are parts of a factor, or whole numbers of what follows it."""
    for part in sorted(product.parts):
        inner = 1
        for factor, size in reversed(product.factors):
            if part % inner == 0 and part // inner < size:
                factor.parts.add(part // inner)
                break
            inner *= size
    for factor, _ in product.factors:
        _hand_down(factor)


def _reduced_dims(op: Operation) -> tuple[int, ...]:
    match mnemonic(op):
        case "reduce_sum" | "reduce_max" | "reduce_mean":
            return integers(op, "dims")
        case "softmax":
            return (integer(op, "dim"),)
        case "rms_norm" | "layer_norm":
            return (len(shape_of(op.operands[0])) - 1,)
        case _:
            return ()
