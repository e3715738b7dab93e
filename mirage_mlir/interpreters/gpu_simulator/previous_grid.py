"""
What threads may do with device memory before the previous grid has ended.

A kernel of a programmatic dependent launch may start while the previous grid still runs, and others
in front of it (`running_grids`). What that grid uses may be accessed once a thread has waited
(`griddepcontrol.wait`), by it and by those that it synchronized since. Source: PTX ISA,
"griddepcontrol".

No wait orders loads that are taken to read what never changes (`Pointer.noalias`, `is_invariant`):
LLVM makes `ld.global.nc` of them, which ptxas moves to where the kernel starts. On an H200 most
calls of kernels that loaded so what the previous grid wrote were wrong.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import llvm

from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind
from mirage_mlir.interpreters.gpu_simulator.running_grids import Grid, RunningGrids
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory

INVARIANT = "invariant"
"""On a load: LLVM may take it that the memory never changes."""

NOALIAS = "llvm.noalias"
"""On an argument: nothing else changes what is read through this pointer."""


def is_invariant(load: llvm.LoadOp) -> bool:
    """Whether a load says that what it reads never changes."""
    return INVARIANT in load.attributes


def noalias_arguments(function: llvm.FuncOp) -> list[bool]:
    """
    Which arguments of a kernel are pointers to what nothing else changes while it runs.

    LLVM makes `ld.global.nc` of loads through them if it finds no write through them, whether they
    are `llvm.readonly` or not; and the wait for the previous grid is no write (LLVM,
    `NVPTXTagInvariantLoads.cpp`, and alias analysis of arguments that do not escape).
    """
    notes = function.arg_attrs
    if notes is None:
        return [False] * len(function.body.block.args)
    return [NOALIAS in note.data for note in notes]


class PreviousGrid:
    """
    What the threads of a cluster know of it.

    Args:
        shared: of the cluster, with the clocks of its threads.
        grid: the kernel, with those that may run beside it.
        running: all grids of the call.
    """

    def __init__(self, shared: SharedMemory, grid: Grid, running: RunningGrids) -> None:
        threads = shared.threads * shared.blocks
        self.shared = shared
        self.grid = grid
        self.running = running
        self.waited: Array = np.full(threads, not grid.at_start)
        """Which threads know that it has ended."""
        self.waited_at: Array = np.zeros(threads, np.int32)
        """When they have waited for that."""
        self.launched: Array = np.zeros(shared.blocks, np.bool_)
        """Which blocks have let the next grid start."""

    def wait(self, threads: Array) -> None:
        """It has ended, and its writes are there."""
        first = threads[~self.waited[threads]]
        self.waited[first] = True
        self.waited_at[first] = self.shared.clocks.tick()
        self.grid.has_waited = True

    def launch_dependents(self, threads: Array) -> None:
        """The next grid may start as far as these threads are concerned."""
        self.launched[threads // self.shared.threads] = True
        self.grid.is_overtaken |= self.unaware(threads) is not None

    def end(self) -> None:
        """All threads have ended: a block that let nobody start does that by ending."""
        threads = np.arange(len(self.waited)).reshape(self.shared.blocks, -1)
        for block in threads[~self.launched]:
            self.grid.is_overtaken |= self.unaware(block) is not None

    def require_over(self, access: Access, memory: DeviceBuffer, *, writes: bool) -> None:
        """No grid that may still run uses the same bytes of `memory`, as far as threads know."""
        at_start, after_wait = self.grid.at_start, self.grid.after_wait
        clash = self._clashes(access, memory, after_wait, writes=writes)
        if not clash.any() and len(at_start) > len(after_wait):
            early = self._clashes(access, memory, at_start, writes=writes)
            if early.any() and self.unaware(access.threads[early]) is not None:
                clash = early
        if clash.any():
            name = self.shared.name_of(int(access.threads[np.argmax(clash)]))
            message = f"has {name} access what the previous grid may still use"
            self.shared.checker.report(FaultKind.RACE, access.op, message)

    def require_unwritten(self, access: Access, memory: DeviceBuffer) -> None:
        """No grid writes the bytes that may run at any time since the kernel's start."""
        if self._clashes(access, memory, self.grid.at_start, writes=False).any():
            name = self.shared.name_of(int(access.threads[0]))
            message = (
                f"has {name} load what the previous grid may still write as if it never changed "
                "(ld.global.nc), which no wait for that grid orders"
            )
            self.shared.checker.report(FaultKind.RACE, access.op, message)

    def _clashes(
        self,
        access: Access,
        memory: DeviceBuffer,
        grids: Sequence[Grid | None],
        *,
        writes: bool,
    ) -> Array:
        """Which of the accesses touch what some of the `grids` may use."""
        used = self.running.used(grids, memory, writes=writes)
        if used is None:
            return np.zeros(len(access.threads), np.bool_)
        # What lies outside is another fault.
        at = np.clip(access.bytes(), 0, max(0, len(used) - 1))
        return np.asarray(used[at].any(axis=1) if len(used) else np.zeros(len(at), np.bool_))

    def unaware(self, threads: Array) -> int | None:
        """The first of the threads that does not know that it has ended."""
        if self.waited[threads].all():
            return None
        return next((thread for thread in threads.tolist() if not self._is_aware(thread)), None)

    def _is_aware(self, thread: int) -> bool:
        """Whether a thread knows it from itself or from another one of its block."""
        if self.waited[thread]:
            return True
        block, clocks = thread // self.shared.threads, self.shared.clocks
        others = slice(block * self.shared.threads, (block + 1) * self.shared.threads)
        known = clocks.synchronized[block]
        if clocks.detailed:
            known = np.maximum(known, clocks.known[0, thread, : self.shared.threads])
        aware = bool((self.waited[others] & (self.waited_at[others] <= known)).any())
        self.waited[thread] = aware
        self.waited_at[thread] = clocks.now
        return aware
