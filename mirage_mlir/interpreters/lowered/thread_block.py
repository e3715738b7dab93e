"""One block of threads, that run side by side through one kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.interpreters.lowered.encoding import Array
from mirage_mlir.interpreters.lowered.faults import Checker, FaultKind, unsupported
from mirage_mlir.interpreters.lowered.shared_memory import SharedMemory
from mirage_mlir.interpreters.lowered.values import Pointer, Value

WARP_THREADS = 32


class ThreadBlock:
    """
    What a block of threads holds while it runs.

    Args:
        index: of the block along each axis of the grid.
        threads: how many run.
        shared: their memory.
        checker: where faults go.
        rules: what each operation does.
    """

    def __init__(
        self,
        index: tuple[int, int, int],
        threads: int,
        shared: SharedMemory,
        checker: Checker,
        rules: Rules,
    ) -> None:
        self.index = index
        self.threads = threads
        self.shared = shared
        self.checker = checker
        self.rules = rules
        self.values: dict[SSAValue, Value] = {}
        self.active = np.ones(threads, np.bool_)
        """Which threads are where the program is now."""
        self.groups = np.zeros(threads, np.int64)
        """How many groups of asynchronous copies each thread has closed."""

    @property
    def here(self) -> Array:
        """The indices of the active threads."""
        return np.flatnonzero(self.active)

    def array(self, value: SSAValue) -> Array:
        """The elements of a scalar or vector."""
        found = self.values[value]
        assert isinstance(found, np.ndarray)
        return found

    def pointer(self, value: SSAValue) -> Pointer:
        """The addresses of a pointer."""
        found = self.values[value]
        assert isinstance(found, Pointer)
        return found

    def filled(self, number: int) -> Array:
        """An i32 that all threads agree on."""
        return np.full(self.threads, number, np.int32)

    def uniform(self, op: Operation, value: SSAValue) -> int:
        """An integer that all active threads must agree on."""
        found = self.array(value)[self.active]
        if (found != found[0]).any():
            which = int(np.argmax(found != found[0]))
            message = f"has thread {self.here[0]} see {found[0]} where thread {self.here[which]} "
            self.checker.report(FaultKind.DIVERGENCE, op, message + f"sees {found[which]}")
        return int(found[0])

    def require_all(self, op: Operation) -> None:
        """All threads of the block must be here."""
        if not self.active.all():
            self._report_absent(op, int(np.argmin(self.active)))

    def require_warps(self, op: Operation) -> None:
        """Of each warp all threads must be here, or none."""
        warps = self.active.reshape(-1, WARP_THREADS)
        torn = warps.any(axis=1) & ~warps.all(axis=1)
        if torn.any():
            warp = int(np.argmax(torn))
            self._report_absent(op, warp * WARP_THREADS + int(np.argmin(warps[warp])))

    def _report_absent(self, op: Operation, thread: int) -> None:
        message = f"is reached by thread {self.here[0]}, but not by thread {thread}"
        self.checker.report(FaultKind.DIVERGENCE, op, message)

    def run(self, block: Block) -> None:
        """Let the active threads run through a block of operations."""
        for op in block.ops:
            rule = self.rules.get(type(op))
            if rule is None:
                raise unsupported(op)
            rule(self, op)


Rules = dict[type[Operation], Callable[[ThreadBlock, Operation], None]]
