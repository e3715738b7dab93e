"""uGraphs of one kernel, written by the names of the dimensions of their tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.common import FloatType
from program_pairs.draws import Draw
from program_pairs.writer import Ops, element_of, shape_of

NOTHING = "?"
"""The name of a grid axis of one block that cuts no dimension."""


@dataclass(frozen=True)
class Tiling:
    """How named dimensions are cut."""

    sizes: dict[str, int]
    tiles: dict[str, int]
    grid: tuple[tuple[str, int], ...]
    """Name and blocks of each grid axis."""
    loop: tuple[tuple[str, int], ...]
    """Name and iterations of each loop, outermost first; two loops may cut one dimension."""
    cyclic: bool = False
    """Whether blocks take turns with the tiles of what loops cut, too."""

    def blocks(self, name: str) -> int:
        """The blocks along a dimension."""
        return dict(self.grid).get(name, 1)


def random_tiling(
    draw: Draw, free: dict[str, int], summed: dict[str, int], *, shared: bool | None = None
) -> Tiling:
    """
    A tiling of random counts, in which the last tiles may be ragged, or a few empty.

    Args:
        draw: random choices.
        free: sizes of the dimensions of results, which blocks may cut.
        summed: sizes of those that loops cut, and with `shared` blocks too.
        shared: whether blocks share one summed dimension; drawn where None.
    """
    random = draw.random
    names = random.sample(sorted(free), min(len(free), random.choice([1, 1, 2, 2, 3])))
    if shared is None:
        shared = draw.chance(0.4)
    if summed and shared:
        names = [*names[:2], random.choice(sorted(summed))]
        random.shuffle(names)
    budget = draw.scale.steps
    same = random.choice([2, 3, 4]) if draw.square else 0
    counts: dict[str, list[int]] = {name: [] for name in (*free, *summed)}
    grid: list[tuple[str, int]] = []
    for name in names:
        size = free.get(name, summed.get(name, 1))
        count = min(same or random.choice([2, 2, 3, 4, 5, 8]), size, max(1, budget))
        budget //= count
        grid.append((name, count))
        counts[name].append(count)
    loop: list[tuple[str, int]] = []
    for name in _loops(draw, summed):
        count = min(same or random.choice([2, 3, 4, 7, 8, 16]), summed[name], max(1, budget))
        budget //= count
        loop.append((name, count))
        counts[name].append(count)
    sizes = {**free, **summed}
    if not grid:
        grid.append((NOTHING, 1))
    tiles = {name: _tile(draw, sizes[name], counts[name]) for name in sizes}
    cyclic = bool({*names} & dict(loop).keys()) and draw.chance(0.5)
    return Tiling(sizes, tiles, tuple(grid), tuple(loop), cyclic)


def _loops(draw: Draw, summed: dict[str, int]) -> list[str]:
    """Names for up to two loops."""
    names = draw.random.sample(sorted(summed), min(len(summed), 2))
    if len(names) == 1 and draw.chance(0.25):
        names *= 2
    return names if draw.chance(0.9) else names[:1]


def _tile(draw: Draw, size: int, counts: Sequence[int]) -> int:
    total = 1
    for count in counts:
        total *= count
    tile = ceil(size / total)
    if total > 1 and not draw.square and draw.chance(0.4):
        tile += draw.random.randint(0, max(1, tile // 4))
    return tile


class GraphWriter:
    """
    Builds one `kernel.graph_defined`.

    Dims are strings with a letter for each dimension of a tensor: `"mk"`. A letter that the tiling
    does not know, `"1"` say, is not cut.
    """

    def __init__(self, tiling: Tiling, inputs: Sequence[SSAValue]) -> None:
        self.tiling = tiling
        self.inputs = inputs
        self.block = Block(arg_types=[value.type for value in inputs])
        self.results: list[Attribute] = []
        self.across = True
        """Whether accumulators add up blocks; otherwise they leave partial sums."""

    def add(self, op: Operation) -> SSAValue:
        """The result of an operator."""
        self.block.add_op(op)
        return op.results[0]

    def load(self, number: int, dims: str) -> SSAValue:
        """A tile of input `number`."""
        source = self.block.args[number]
        sizes = zip(dims, shape_of(source), strict=True)
        tile = [self.tiling.tiles.get(name, size) for name, size in sizes]
        grid_map = [dims.find(name) for name, _ in self.tiling.grid]
        loop_map = [dims.find(name) for name, _ in self.tiling.loop]
        kind = tb.TileType(tile, element_of(source))
        return self.add(tb.LoadOp(source, grid_map, loop_map, kind))

    def cast(self, value: SSAValue, element_type: FloatType) -> SSAValue:
        """The value in an element type."""
        kind = tb.TileType(tb.shape_of(value), element_type)
        return value if value.type == kind else self.add(tb.CastOp(value, kind))

    def matmul(self, lhs: SSAValue, rhs: SSAValue, element_type: FloatType) -> SSAValue:
        """The product of operands in an element type."""
        product = tb.MatmulOp(self.cast(lhs, element_type), self.cast(rhs, element_type))
        return self.add(product)

    def total(
        self, value: SSAValue, summed: str, kind: str = "sum", rescale: SSAValue | None = None
    ) -> SSAValue:
        """Over the loops and blocks that cut the dimensions `summed`."""
        axes = [number for number, (name, _) in enumerate(self.tiling.grid) if name in summed]
        across = axes if self.across else []
        looped = any(name in summed for name, _ in self.tiling.loop)
        if not looped and not across:
            return value
        return self.add(tb.AccumulateOp(value, kind, across, rescale))

    def store(self, value: SSAValue, dims: str, element_type: FloatType, partial: str = "") -> None:
        """Write a result; one new leading dimension has the blocks along `partial`, if any."""
        value = self.cast(value, element_type)
        names = dims
        sizes = zip(dims, tb.shape_of(value), strict=True)
        shape = [self.tiling.sizes.get(name, size) for name, size in sizes]
        if partial:
            kind = tb.TileType((1, *tb.shape_of(value)), element_type)
            value = self.add(tb.BroadcastOp(value, kind))
            names = partial + dims
            shape.insert(0, self.tiling.blocks(partial))
        grid_map = [names.find(name) for name, _ in self.tiling.grid]
        self.block.add_op(tb.StoreOp(value, grid_map))
        self.results.append(TensorType(element_type, shape))

    def finish(self, ops: Ops) -> list[SSAValue]:
        """The results of the graph, which is placed where `ops` are."""
        grid = [count for _, count in self.tiling.grid]
        loop = [count for _, count in self.tiling.loop]
        accesses = [op for op in self.block.ops if isinstance(op, tb.LoadOp | tb.StoreOp)]
        cyclic = self.tiling.cyclic and any(map(tb.is_cut_twice, accesses))
        op = kernel.GraphDefinedOp(
            self.inputs, grid, loop, self.results, Region(self.block), cyclic=cyclic
        )
        ops.add(op)
        return list(op.results)


F16 = f16
F32 = f32
"""The element type of what one kernel leaves for the next."""
