"""Whether accesses lie inside their memory, and how wrong ones are reported."""

from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.lowered.encoding import Array
from mirage_mlir.interpreters.lowered.faults import Checker, FaultKind


class Access(NamedTuple):
    """
    `size` bytes for each of some threads.

    Args:
        op: what asks for them.
        threads: indices in the block, n.
        start: the first byte of each in its memory, n.
        size: bytes for each thread.
        alignment: of the first byte, as the operation claims.
    """

    op: Operation
    threads: Array
    start: Array
    size: int
    alignment: int

    @property
    def bytes(self) -> Array:
        """All bytes, n x size."""
        return self.start[:, None] + np.arange(self.size)

    def only(self, chosen: Array) -> "Access":
        """The accesses of some of the threads."""
        return self._replace(threads=self.threads[chosen], start=self.start[chosen])


def inside(access: Access, limit: int, name: str, checker: Checker) -> Array:
    """Which accesses lie within `limit` bytes; others, and misaligned ones, are reported."""
    outside = (access.start < 0) | (access.start + access.size > limit)
    if outside.any():
        which = int(np.argmax(outside))
        first = int(access.start[which])
        span = f"bytes {first} to {first + access.size - 1}"
        message = f"has thread {access.threads[which]} access {span} of {name}, which has {limit}"
        checker.report(FaultKind.OUT_OF_BOUNDS, access.op, message)
    odd = access.start % access.alignment != 0
    if odd.any():
        which = int(np.argmax(odd))
        thread, first = access.threads[which], access.start[which]
        message = f"has thread {thread} access {access.size} bytes from byte {first} of {name}"
        checker.report(FaultKind.MISALIGNED, access.op, message)
    return ~outside


def first_wrong(access: Access, wrong: Array) -> tuple[int, int]:
    """Thread and byte of the first access with a wrong byte; `wrong` is n x size."""
    which = int(np.argmax(wrong.any(axis=1)))
    return int(access.threads[which]), int(access.start[which] + np.argmax(wrong[which]))
