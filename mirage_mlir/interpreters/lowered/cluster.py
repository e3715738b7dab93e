"""The blocks of one cluster, mostly a single one, whose threads run side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.interpreters.lowered.accesses import Access
from mirage_mlir.interpreters.lowered.device_memory import DeviceBuffer
from mirage_mlir.interpreters.lowered.encoding import Array
from mirage_mlir.interpreters.lowered.faults import FaultKind, unsupported
from mirage_mlir.interpreters.lowered.shared_memory import SharedMemory
from mirage_mlir.interpreters.lowered.values import Pointer, Value

WARP_THREADS = 32

BlockIndex = tuple[int, int, int]


class Cluster:
    """
    What the threads of a cluster hold while they run; thread t of block b is number b n + t.

    Args:
        blocks: the indices of the blocks in the grid, in the order of their ranks.
        shared: their memory, which knows how many threads a block has.
        rules: what each operation does.
        given: the memory that is there before the kernel in front has ended; None where the kernel
            starts after that.
    """

    def __init__(
        self,
        blocks: Sequence[BlockIndex],
        shared: SharedMemory,
        rules: Rules,
        *,
        given: Collection[DeviceBuffer] | None = None,
    ) -> None:
        self.blocks = blocks
        self.shared = shared
        self.checker = shared.checker
        self.rules = rules
        self.size = shared.threads * len(blocks)
        self.values: dict[SSAValue, Value] = {}
        self.active = np.ones(self.size, np.bool_)
        """Which threads are where the program is now."""
        self.groups = np.zeros(self.size, np.int64)
        """How many groups of asynchronous copies each thread has closed."""
        self.given = given
        self.waited = np.full(self.size, given is None)
        """Which threads know that the kernel in front has ended."""

    @property
    def here(self) -> Array:
        """The numbers of the active threads."""
        return np.flatnonzero(self.active)

    @property
    def ranks(self) -> Array:
        """The block of each thread."""
        return np.arange(self.size, dtype=np.int32) // np.int32(self.shared.threads)

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

    def access(
        self, op: Operation, pointer: Pointer, threads: Array, size: int, alignment: int
    ) -> Access:
        """`size` bytes behind the pointers of some threads."""
        blocks = None if pointer.blocks is None else pointer.blocks[threads]
        given = isinstance(pointer.memory, SharedMemory) or pointer.memory in (self.given or ())
        if not given and not (waited := self.waited[threads]).all():
            name = self.shared.name_of(int(threads[np.argmin(waited)]))
            message = f"has {name} access what the kernel in front may still use"
            self.checker.report(FaultKind.RACE, op, message)
        return Access(op, threads, pointer.offset[threads], size, alignment, blocks)

    def filled(self, number: int) -> Array:
        """An i32 that all threads agree on."""
        return np.full(self.size, number, np.int32)

    def uniform(self, op: Operation, value: SSAValue) -> int:
        """An integer that all active threads must agree on."""
        found = self.array(value)[self.active]
        if (found != found[0]).any():
            which = int(np.argmax(found != found[0]))
            names = [self.shared.name_of(int(thread)) for thread in self.here[[0, which]]]
            message = f"has {names[0]} see {found[0]} where {names[1]} sees {found[which]}"
            self.checker.report(FaultKind.DIVERGENCE, op, message)
        return int(found[0])

    def require_groups(self, op: Operation, size: int) -> Array:
        """Of each `size` threads all must be here, or none; which of these groups are."""
        groups: Array = self.active.reshape(-1, size)
        torn = groups.any(axis=1) & ~groups.all(axis=1)
        if torn.any():
            group = int(np.argmax(torn))
            present, absent = (int(np.argmax(groups[group] == here)) for here in (True, False))
            names = [self.shared.name_of(group * size + thread) for thread in (present, absent)]
            message = f"is reached by {names[0]}, but not by {names[1]}"
            self.checker.report(FaultKind.DIVERGENCE, op, message)
        return np.asarray(groups.any(axis=1))

    def require_warps(self, op: Operation) -> None:
        """Of each warp all threads must be here, or none."""
        self.require_groups(op, WARP_THREADS)

    def run(self, block: Block) -> None:
        """Let the active threads run through a block of operations."""
        for op in block.ops:
            rule = self.rules.get(type(op))
            if rule is None:
                raise unsupported(op)
            rule(self, op)


Rule = Callable[[Cluster, Operation], None]

Rules = dict[type[Operation], Rule]
