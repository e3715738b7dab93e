"""
Structural configurations: the axes that a kernel spreads over blocks, and those that it loops over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from mirage_mlir.search.program.program import Kind, Program

MAX_GRID_AXES = 3
"""A grid has x, y and z."""

MAX_VALUE_AXES = 8
"""
Axes of one value, those of dimensions that stay together counted once; attention has 5. Of sums
over every other one of 8 no graph was found, and each axis more doubles the time to see that.
"""


LONGEST_ROW = 1 << 15
"""Elements of a row up to which a single block holds it: 64 in each thread of a block with 512."""


@dataclass(frozen=True)
class Configuration:
    """
    One way to cut the index space of a kernel, sizes left open.

    Each block has its own part of every axis in `grid`; the axes in `loop` are walked part by
    part; all other axes are whole in each tile.

    How many blocks walk a loop together, each some iterations of it, is left open like the sizes:
    the bits of the axis that the loop walks are then those of iterations and blocks in one.
    Whatever is summed over the loop is summed over these blocks too, so nothing else tells them
    apart.

    Of the axes in `single`, which are on the grid, a block takes one index.

    Of the axis in `cluster` each block of a cluster has a part. What is summed over it the blocks
    add up, and each goes on with its own part.
    """

    grid: tuple[str, ...]
    loop: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()

    def __str__(self) -> str:
        grid = ", ".join(f"{axis}=1" if axis in self.single else axis for axis in self.grid)
        loop = f" loop({', '.join(self.loop)})" if self.loop else ""
        cluster = f" cluster({', '.join(self.cluster)})" if self.cluster else ""
        return f"grid({grid}){loop}{cluster}"


def one_kernel_configurations(program: Program) -> Iterator[Configuration]:
    """
    The configurations in which one kernel can hold all of `program`, simplest first.

    There are none where a value has more axes than `MAX_VALUE_AXES`.

    Each block, or the blocks that share a loop, compute their own part of every output: an axis on
    the grid is an axis of every output, or one whose sum outputs leave open, and that must be on
    the grid. (Of outputs that are sums left open, an axis may be on the grid that only some have:
    all blocks along it store the same of the others.) Axes that a matmul carries along are on the
    grid or in the loop, one index at a time. What is stored is complete after the loop: an axis of
    an output is not looped over, but where sums over it are left open: then each block walks its
    part of the axis, and stores that part of the output tile by tile.
    """
    if any(len(node.present) > MAX_VALUE_AXES for node in program.nodes):
        return
    edges = [{*output.axes, *output.partial} for output in program.outputs]
    enough = any if program.open_sums else all
    shared = [axis for axis in program.sizes if enough(axis in edge for edge in edges)]
    crowded = _crowded_sides(program)
    fixed = [axis for axis in shared if axis in program.batch | program.open_sums]
    loops = [loop for loop in _loops(program) if program.batch <= {*fixed, *loop}]
    if not program.open_sums <= set(fixed):
        return
    free = [axis for axis in shared if axis not in fixed]
    for count in range(MAX_GRID_AXES - len(fixed) + 1):
        for chosen in combinations(free, count):
            grid = tuple(axis for axis in shared if axis in chosen) + tuple(fixed)
            for single, loop in product(_singles(crowded, chosen), loops):
                carried = [axis for axis in (*grid, *loop) if axis in program.batch]
                yield Configuration(grid, loop, (*single, *carried))
    yield from _clusters(program, shared)


def _clusters(program: Program, shared: Sequence[str]) -> Iterator[Configuration]:
    """
    Those in which a cluster holds rows that are too long for a block, and reads them once.

    All other axes that outputs have are on the grid. An output may lack the axis: each block of a
    cluster has whole sums, and all store the same.
    """
    if program.open_sums or any(node.kind is Kind.MATMUL for node in program.nodes):
        return
    summed = {axis for node in program.nodes for axis in node.reduced}
    stored = {axis for output in program.outputs for axis in output.axes}
    for axis in program.sizes:
        rows = sum(axis in tensor.axes for tensor in program.inputs)
        grid = tuple(other for other in shared if other != axis)
        long = rows * program.sizes[axis] > LONGEST_ROW and 0 < len(grid) < MAX_GRID_AXES
        if long and axis in summed & stored:
            yield Configuration(grid, cluster=(axis,))


def _loops(program: Program) -> list[tuple[str, ...]]:
    """No loop, a loop over one axis, and nested loops over two that are summed together."""
    stored = {axis for output in program.outputs for axis in output.axes}
    walked = [axis for axis in program.sizes if axis not in stored - program.open_sums]
    pairs = [
        pair
        for pair in combinations(walked, 2)
        if any(set(pair) <= set(node.reduced) for node in program.nodes)
    ]
    return [(), *((axis,) for axis in walked), *pairs]


def _crowded_sides(program: Program) -> list[frozenset[str]]:
    """Groups of two or more axes that only one operand of a matmul has."""
    sides: dict[frozenset[str], None] = {}
    for node in program.nodes:
        if node.kind is Kind.MATMUL:
            for operand in node.operands:
                own = {*program.nodes[operand].present} - {*node.reduced} - program.batch
                if len(own) > 1:
                    sides[frozenset(own)] = None
    return list(sides)


def _singles(crowded: Sequence[frozenset[str]], chosen: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """
    The axes of the grid of which a block takes one index, besides those that matmuls carry along.

    A tensor core has rows and columns: of several axes on one side, all but one take one index.
    """
    yield ()
    candidates = [axis for axis in chosen if any(axis in side for side in crowded)]
    for count in range(1, len(candidates) + 1):
        for single in combinations(candidates, count):
            if any(len(side - set(single)) <= 1 for side in crowded):
                yield single
