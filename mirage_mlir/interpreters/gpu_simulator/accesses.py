"""Whether accesses lie inside their memory, and how wrong ones are reported."""

from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind

SHARED_START = 1024
"""The address of the first byte of shared memory; sm_90 keeps one KiB in front of it for itself."""


class Access(NamedTuple):
    """
    `size` bytes for each of some threads.

    Args:
        op: what asks for them.
        threads: their numbers in the cluster, n.
        start: the first byte of each in its memory, n.
        size: bytes for each thread.
        alignment: of the first byte, as the operation claims.
        blocks: in whose shared memory the bytes are, n; None in device memory.
        unordered: a read of device memory that no fence, barrier or counter orders after writes of
            this grid: a load of what never changes, or a copy in the async proxy.
    """

    op: Operation
    threads: Array
    start: Array
    size: int
    alignment: int
    blocks: Array | None = None
    unordered: bool = False

    def bytes(self, block_bytes: int = 0) -> Array:
        """All bytes, n x size; the memories of blocks follow each other."""
        start = self.start if self.blocks is None else self.start + self.blocks * block_bytes
        return start[:, None] + np.arange(self.size)

    def only(self, chosen: Array) -> "Access":
        """The accesses of some of the threads."""
        blocks = None if self.blocks is None else self.blocks[chosen]
        return self._replace(threads=self.threads[chosen], start=self.start[chosen], blocks=blocks)


class Watcher(Checker):
    """A checker that is told of every access."""

    def see(self, access: Access) -> None:
        """An access, as it is about to happen."""


class Copy(NamedTuple):
    """An asynchronous copy under way: bytes n x size, and the group of each of the n threads."""

    access: Access
    data: Array
    groups: Array


def inside(access: Access, limit: int, name: str, checker: Checker) -> Array:
    """Which accesses lie within `limit` bytes; others, and misaligned ones, are reported."""
    if isinstance(checker, Watcher):
        checker.see(access)
    reached = in_bounds(access, limit, name, checker)
    odd = access.start % access.alignment != 0
    if odd.any():
        which = int(np.argmax(odd))
        thread, first = access.threads[which], access.start[which]
        message = f"has thread {thread} access {access.size} bytes from byte {first} of {name}"
        checker.report(FaultKind.MISALIGNED, access.op, message)
    return reached


def in_bounds(access: Access, limit: int, name: str, checker: Checker) -> Array:
    """Which accesses lie within `limit` bytes; others are reported."""
    outside = ~within(access, limit)
    if outside.any():
        which = int(np.argmax(outside))
        first = int(access.start[which])
        span = f"bytes {first} to {first + access.size - 1}"
        message = f"has thread {access.threads[which]} access {span} of {name}, which has {limit}"
        checker.report(FaultKind.OUT_OF_BOUNDS, access.op, message)
    return ~outside


def within(access: Access, limit: int) -> Array:
    """Which accesses lie within `limit` bytes."""
    return (access.start >= 0) & (access.start + access.size <= limit)


def first_wrong(access: Access, wrong: Array) -> tuple[int, int, int]:
    """The first access with a wrong byte, its thread and the byte; `wrong` is n x size."""
    which = int(np.argmax(wrong.any(axis=1)))
    byte = int(access.start[which] + np.argmax(wrong[which]))
    return which, int(access.threads[which]), byte
