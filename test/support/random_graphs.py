"""Random uGraphs of one kernel: products and reductions in a loop, any operators after it."""

from collections.abc import Callable, Sequence
from random import Random

from small_graphs import Program, size
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock as tb

FUNCTIONS: Sequence[Callable[[SSAValue], Operation]] = (
    lambda x: tb.ScaleOp(x, 0.5),
    tb.SigmoidOp,
    tb.TanhOp,
    tb.ReluOp,
)

PAIRS: Sequence[type[tb.BinaryOp]] = (tb.AddOp, tb.SubOp, tb.MulOp, tb.MaxOp)

REDUCTIONS: Sequence[type[tb.ReductionOp]] = (tb.ReduceSumOp, tb.ReduceMaxOp)

TILES = (1, 2, 5, 8, 16, 17, 24, 33)

DEPTHS = (1, 3, 8, 16, 20, 32)


class GraphMaker:
    """
    Makes one function; the same seed makes the same.

    Blocks cut the rows (M) and columns (N) of the result and the depth (K) of the products, in
    any order of the grid's axes; the depth is cut by a loop too. No tile is empty, the last ones
    may be ragged.
    """

    INPUTS = ("MK", "KN", "NK", "MK", "MN", "1N", "M1")
    """The dims of each argument."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.kind = self.random.choice(["f16", "f16", "bf16", "f32"])
        self.operand_kind = self.kind if self.random.random() < 0.7 else "f16"
        self.blocks = {name: self.random.choice([1, 1, 2, 3]) for name in "MN"}
        self.blocks["K"] = self.random.choice([1, 1, 2, 4])
        self.iterations = self.random.randint(1, 4)
        self.tile = {name: self.random.choice(TILES) for name in "MN"}
        self.tile["K"] = self.random.choice(DEPTHS)
        parts = {**self.blocks, "K": self.blocks["K"] * self.iterations}
        self.size = {
            name: (parts[name] - 1) * tile + self.random.randint(1, tile)
            for name, tile in self.tile.items()
        }
        self.axes = [name for name in "MNK" if self.blocks[name] > 1] or ["M"]
        self.random.shuffle(self.axes)

    def make(self) -> ModuleOp:
        """The verified module."""
        self.program = Program(*(f"{size(self.size_of(dims))}x{self.kind}" for dims in self.INPUTS))
        grid = [self.blocks[name] for name in self.axes]
        with self.program.graph(grid, [self.iterations]) as self.graph:
            self.load()
            sums = self.sums()
            values = self.after(sums)
            chosen = self.random.sample(values, self.random.randint(1, min(3, len(values))))
            if not any([self.store(value) for value in chosen]):
                self.store(sums[0])
        return self.program.finish(*self.graph.results)

    def size_of(self, dims: str) -> list[int]:
        """Sizes by the names of dims."""
        return [self.size.get(name, 1) for name in dims]

    def cuts(self, dims: str) -> list[int]:
        """A grid map: the dim that each axis of the grid cuts."""
        return [dims.find(name) for name in self.axes]

    def load(self) -> None:
        """A tile of each argument."""
        tiles: list[SSAValue] = []
        for source, dims in zip(self.program.inputs, self.INPUTS, strict=True):
            sizes = [self.tile.get(name, 1) for name in dims]
            tiles.append(self.graph.load(source, sizes, self.cuts(dims), [dims.find("K")]))
        left, right, flipped, other, self.whole, self.row, self.column = tiles
        self.lefts, self.rights = [left, other], [right]
        if self.chance(0.5):
            self.lefts.append(self.function(left))
        if self.chance(0.3):
            self.lefts.append(self.graph.add(tb.MulOp(left, other)))
        if self.chance(0.4):
            self.rights.append(self.graph.add(tb.TransposeOp(flipped, [1, 0])))
        if self.chance(0.3):
            computed = self.graph.cast(self.function(flipped), self.operand_kind)
            self.rights.append(self.graph.add(tb.TransposeOp(computed, [1, 0])))

    def sums(self) -> list[SSAValue]:
        """What the loop accumulates: one or two products, and perhaps reductions."""
        sums: list[SSAValue] = []
        for _ in range(self.random.randint(1, 2)):
            operands = self.random.choice(self.lefts), self.random.choice(self.rights)
            left, right = (self.graph.cast(value, self.operand_kind) for value in operands)
            product = self.graph.add(tb.MatmulOp(left, right))
            if self.chance(0.3):
                product = self.graph.add(tb.MulOp(product, self.row))
            sums.append(self.total(product, self.random.choice(["sum", "sum", "sum", "max"])))
        if self.chance(0.6):
            square = self.graph.add(tb.SquareOp(self.random.choice(self.lefts)))
            dims = self.random.choice([[1], [0, 1]])
            sums.append(self.total(self.graph.add(tb.ReduceSumOp(square, dims)), "sum"))
        if self.chance(0.3):
            largest = self.graph.add(tb.ReduceMaxOp(self.random.choice(self.lefts), [1]))
            sums.append(self.total(largest, "max"))
        return sums

    def total(self, value: SSAValue, kind: str) -> SSAValue:
        """Over the loop, and over the blocks that share the depth."""
        across = [number for number, name in enumerate(self.axes) if name == "K"]
        used = across if self.blocks["K"] > 1 else []
        return self.graph.add(tb.AccumulateOp(value, kind, used))

    def after(self, sums: Sequence[SSAValue]) -> list[SSAValue]:
        """`sums` and what random operators make of them."""
        values = list(sums)
        for _ in range(self.random.randint(0, 5)):
            value = self.random.choice(values)
            step = self.random.choice([self.function, self.pair, self.pair, self.rounded])
            values.append(step(value))
            if tb.shape_of(value) == (self.tile["M"], self.tile["N"]) and self.chance(0.2):
                dims = self.random.choice([[0], [1], [0, 1]])
                values.append(self.graph.add(self.random.choice(REDUCTIONS)(value, dims)))
        return values

    def function(self, value: SSAValue) -> SSAValue:
        """A function of each element."""
        return self.graph.add(self.random.choice(FUNCTIONS)(value))

    def rounded(self, value: SSAValue) -> SSAValue:
        """The value in another element type."""
        return self.graph.cast(value, self.random.choice(["f16", "f32"]))

    def pair(self, value: SSAValue) -> SSAValue:
        """With a loaded tile that broadcasts to it."""
        shape = tb.shape_of(value)
        others = [value, self.whole, self.row, self.column]
        fitting = [
            other
            for other in others
            if all(a in (1, b) for a, b in zip(tb.shape_of(other), shape, strict=True))
        ]
        return self.graph.add(self.random.choice(PAIRS)(value, self.random.choice(fitting)))

    def store(self, value: SSAValue) -> bool:
        """Write a tile to a result, if one can be put together from the blocks' tiles."""
        sizes = zip("MN", tb.shape_of(value), strict=True)
        dims = "".join(name if tile == self.tile[name] else "1" for name, tile in sizes)
        lost = [name for name in "MN" if self.blocks[name] > 1 and name not in dims]
        if lost:
            return False
        result = f"{size(self.size_of(dims))}x{self.random.choice(['f16', 'f32'])}"
        self.graph.store(value, result, self.cuts(dims))
        return True

    def chance(self, share: float) -> bool:
        """True in a `share` of the cases."""
        return self.random.random() < share
