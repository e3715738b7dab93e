"""Structural configurations: which axes a kernel spreads over blocks, and which it loops over."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from mirage_mlir.search.program import Program

MAX_GRID_AXES = 3
"""A grid has x, y and z."""


@dataclass(frozen=True)
class Configuration:
    """
    One way to cut the index space of a kernel, sizes left open.

    Each block has its own part of every axis in `grid`; the axes in `loop` are walked part by
    part; all other axes are whole in each tile.

    How many blocks walk a loop together, each some turns of it, is left open like the sizes: the
    bits of the axis that the loop walks are then those of turns and blocks in one. Whatever is
    summed over the loop is summed over these blocks too, so nothing else tells them apart.
    """

    grid: tuple[str, ...]
    loop: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"grid{{{','.join(self.grid)}}} loop{{{','.join(self.loop)}}}"


def one_kernel_configurations(program: Program) -> Iterator[Configuration]:
    """
    The configurations in which one kernel can hold all of `program`, simplest first.

    Each block, or the blocks that share a loop, compute their own part of every output: an axis
    on the grid is an axis of every output. Axes that a matmul carries along are always on the
    grid. What is stored is complete after the loop: an axis of an output is not looped over.
    """
    shared = [
        axis for axis in program.sizes if all(axis in output.axes for output in program.outputs)
    ]
    if not program.batch <= set(shared):
        return
    looped = [
        axis for axis in program.sizes if not any(axis in output.axes for output in program.outputs)
    ]
    batch = tuple(axis for axis in shared if axis in program.batch)
    free = [axis for axis in shared if axis not in program.batch]
    for count in range(MAX_GRID_AXES - len(batch) + 1):
        for chosen in combinations(free, count):
            grid = tuple(axis for axis in shared if axis in chosen) + batch
            yield Configuration(grid)
            yield from (Configuration(grid, (axis,)) for axis in looped)
