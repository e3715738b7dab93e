"""
What threads may do with device memory before the previous grid has ended.

A kernel of a programmatic dependent launch may start while the previous grid still runs. What that
grid uses may be accessed once a thread has waited (`griddepcontrol.wait`), by it and by those that
it synchronized since. Source: PTX ISA, "griddepcontrol".

No wait orders loads that are taken to read what never changes (`Pointer.noalias`, `is_invariant`):
LLVM makes `ld.global.nc` of them, which ptxas moves to where the kernel starts. On an H200 most
calls of kernels that loaded so what the previous grid wrote were wrong.
"""

from collections.abc import Collection

import numpy as np
from xdsl.dialects import llvm
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind
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
        available: the memory that no grid writes which may run when the kernel starts; None where
            the kernel starts after the previous grid has ended.
    """

    def __init__(self, shared: SharedMemory, available: Collection[DeviceBuffer] | None) -> None:
        threads = shared.threads * shared.blocks
        self.shared = shared
        self.available = available
        self.waited: Array = np.full(threads, available is None)
        """Which threads know that it has ended."""
        self.waited_at: Array = np.zeros(threads, np.int32)
        """When they have waited for that."""
        self.is_overtaken = False
        """Whether a thread let the next grid start before it knew that this one has ended."""

    def wait(self, threads: Array) -> None:
        """It has ended, and its writes are there."""
        first = threads[~self.waited[threads]]
        self.waited[first] = True
        self.waited_at[first] = self.shared.clocks.tick()

    def launch_dependents(self, threads: Array) -> None:
        """The next grid may start as far as these threads are concerned."""
        self.is_overtaken |= self.unaware(threads) is not None

    def require_over(self, op: Operation, memory: DeviceBuffer, threads: Array) -> None:
        """It does not use `memory`, or the threads know that it has ended."""
        if memory not in (self.available or ()) and (thread := self.unaware(threads)) is not None:
            name = self.shared.name_of(thread)
            message = f"has {name} access what the previous grid may still use"
            self.shared.checker.report(FaultKind.RACE, op, message)

    def require_unwritten(self, op: Operation, memory: DeviceBuffer, threads: Array) -> None:
        """It does not write `memory`, which is read at any time since the kernel's start."""
        if self.available is not None and memory not in self.available:
            name = self.shared.name_of(int(threads[0]))
            message = (
                f"has {name} load what the previous grid may still write as if it never changed "
                "(ld.global.nc), which no wait for that grid orders"
            )
            self.shared.checker.report(FaultKind.RACE, op, message)

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
