"""Ways to cut the inputs of a program for a grid and a loop, and graphs on what is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

UNCUT = -1


@dataclass(frozen=True)
class InputCuts:
    """For each input the dimension that the grid cuts, and that the loop does; or `UNCUT`."""

    grid: tuple[int, ...]
    loop: tuple[int, ...]

    @property
    def has_grid(self) -> bool:
        """Whether there are several blocks."""
        return any(dim != UNCUT for dim in self.grid)

    @property
    def has_loop(self) -> bool:
        """Whether there are several iterations."""
        return any(dim != UNCUT for dim in self.loop)


def cuts(shapes: Sequence[tuple[int, int]]) -> Iterator[InputCuts]:
    """All cuts of inputs of these shapes; dimensions of size 1 cannot be cut."""
    ways = [[UNCUT, *(dim for dim in (0, 1) if shape[dim] > 1)] for shape in shapes]
    for loop in product(*ways):
        for grid in product(*ways):
            yield InputCuts(grid, loop)


class Application(NamedTuple):
    """An operator on tiles, which are numbered: the inputs, then results in order."""

    operator: str
    operands: tuple[int, ...]


Graph = tuple[Application, ...]


@dataclass(frozen=True)
class Found:
    """A graph that computes the program."""

    graph: Graph
    stored: int
    """The dimension along which blocks store, `UNCUT` for one block."""
