"""
Which grids may still run when a kernel starts, and when it has waited for the previous one.

A kernel of a programmatic dependent launch starts when all blocks of the grid in front of it have
let it start, or ended. Then that grid may still run, and so may all that its blocks had not waited
for by then. A wait (`griddepcontrol.wait`) says that the previous grid has ended; that those in
front of it have, too, only if a thread of that grid waited itself. Any other launch comes after the
end of all. Source: PTX ISA, "griddepcontrol"; CUDA C++ Programming Guide, "Programmatic Dependent
Launch and Synchronization".
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array

Marks = dict[DeviceBuffer, Array]
"""For each byte of some memory whether it is meant."""


@dataclass
class Grid:
    """
    One kernel of the call.

    Args:
        at_start: the grids that may run when it starts; None stands for the call before.
        after_wait: those of them that may still run when it has waited for the previous one.
    """

    at_start: "list[Grid | None]"
    after_wait: "list[Grid | None]"
    has_waited: bool = False
    """Whether a thread of it waited for the previous grid, so that it ends after that."""
    is_overtaken: bool = False
    """Whether a block let the next one start before it knew that the previous grid has ended."""
    reads: Marks = field(default_factory=Marks)
    writes: Marks = field(default_factory=Marks)

    def end(self, memory: Iterable[DeviceBuffer]) -> None:
        """All blocks have run: note what they used."""
        for buffer in memory:
            self.reads[buffer] = buffer.launch_reads.copy()
            self.writes[buffer] = buffer.launch_writes.copy()


@dataclass
class RunningGrids:
    """The grids of one call, in order; `constants` no grid ever writes."""

    constants: Collection[DeviceBuffer]
    grids: list[Grid] = field(default_factory=list[Grid])

    def start(self, *, early: bool) -> Grid:
        """The next kernel, launched `early` or after the end of all."""
        grid = Grid(*self._running()) if early else Grid([], [])
        self.grids.append(grid)
        return grid

    def _running(self) -> "tuple[list[Grid | None], list[Grid | None]]":
        """What may run when the next one starts, and when it has waited."""
        if not self.grids:
            return [None], []
        previous = self.grids[-1]
        after = previous.after_wait if previous.has_waited else previous.at_start
        before = previous.at_start if previous.is_overtaken else previous.after_wait
        return [previous, *before], [*after]

    def used(
        self, grids: "Iterable[Grid | None]", memory: DeviceBuffer, *, writes: bool
    ) -> Array | None:
        """
        Which bytes of `memory` some of the `grids` may use: write, or for `writes` also read.

        None where it is none. The call before may use all but the constants.
        """
        found: Array | None = None
        for grid in grids:
            if grid is None:
                if memory in self.constants:
                    continue
                return np.ones(len(memory.data), np.bool_)
            marks = grid.writes[memory]
            if writes:
                marks = marks | grid.reads[memory]
            found = marks if found is None else found | marks
        return found
