"""The shared memory of one block, and who touched which byte of it since threads last met."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.lowered.accesses import Access, first_wrong, inside
from mirage_mlir.interpreters.lowered.encoding import POISON, Array
from mirage_mlir.interpreters.lowered.faults import Checker, FaultKind

NAME = "shared memory"

NOBODY = -1

SEVERAL = 1 << 20
"""Stands for more than one thread; no block has as many."""


class Copy(NamedTuple):
    """An asynchronous copy under way: bytes n x size, and the group of each of the n threads."""

    access: Access
    data: Array
    groups: Array


class Marks:
    """Who touched each byte, and by which operation."""

    def __init__(self, size: int) -> None:
        self.thread: Array = np.full(size, NOBODY, np.int32)
        self.site: Array = np.zeros(size, np.int32)

    def clear(self) -> None:
        """Forget everything."""
        self.thread.fill(NOBODY)


class SharedMemory:
    """
    Bytes that the threads of one block share.

    Between two barriers nothing orders accesses of different threads: to each byte only one
    thread may write, and then none other read. An asynchronous copy writes from when it starts
    until its thread has waited for it, and until the next barrier it is a write of that thread.
    A matrix load is a read by all lanes of the warp.
    """

    def __init__(self, size: int, checker: Checker) -> None:
        self.checker = checker
        self.data = np.full(size, POISON, np.uint8)
        self.written = np.zeros(size, np.bool_)
        self.writers, self.readers, self.copiers = Marks(size), Marks(size), Marks(size)
        self.copies: list[Copy] = []
        self.sites: list[Operation] = []
        self.numbers: dict[Operation, int] = {}

    def barrier(self) -> None:
        """All threads met: what they did is ordered before what they will do."""
        self.writers.clear()
        self.readers.clear()

    def read(self, access: Access) -> Array:
        """What lies there, n x size bytes; all must have been written."""
        valid = inside(access, len(self.data), NAME, self.checker)
        result = np.full((len(valid), access.size), POISON, np.uint8)
        access = access.only(valid)
        at, threads = access.bytes, access.threads[:, None]
        self._require_unwritten(access, at, threads)
        if not (written := self.written[at]).all():
            self._report(FaultKind.UNINITIALISED, access, ~written, "read what none wrote")
        before = self.readers.thread[at]
        self._mark(self.readers, access, at, threads)
        alone = (before == NOBODY) | (before == threads)
        alone &= self.readers.thread[at] == threads
        if not alone.all():
            self.readers.thread[at[~alone]] = SEVERAL
        result[valid] = self.data[at]
        return result

    def read_matrices(self, access: Access) -> Array:
        """
        What lies there, for whole warps.

        Bytes that nothing wrote are NaN and no fault: fragments reach past a tile's edge, and
        the products with what lies there are never stored, or the results show it.
        """
        valid = inside(access, len(self.data), NAME, self.checker)
        result = np.full((len(valid), access.size), POISON, np.uint8)
        access = access.only(valid)
        at = access.bytes
        everyone = np.full((len(at), 1), SEVERAL)
        self._require_unwritten(access, at, everyone)
        self._mark(self.readers, access, at, everyone)
        result[valid] = self.data[at]
        return result

    def write(self, access: Access, data: Array) -> None:
        """Put `data`, n x size bytes, there."""
        valid = inside(access, len(self.data), NAME, self.checker)
        access, data = access.only(valid), data[valid]
        at, threads = access.bytes, access.threads[:, None]
        self._require_free(access, at, threads)
        self._mark(self.writers, access, at, threads)
        if (other := self.writers.thread[at] != threads).any():
            self._report(FaultKind.RACE, access, other, "write what another writes")
        self.data[at] = data
        self.written[at] = True

    def start_copy(self, access: Access, data: Array, groups: Array) -> None:
        """Start writing `data`, in the group of copies that each thread has open."""
        valid = inside(access, len(self.data), NAME, self.checker)
        access, data, groups = access.only(valid), data[valid], groups[valid]
        at, threads = access.bytes, access.threads[:, None]
        # Not even its own thread's earlier write is ordered before a copy.
        self._require_free(access, at, np.full((len(at), 1), NOBODY), of_readers=threads)
        self._mark(self.copiers, access, at, threads)
        if (other := self.copiers.thread[at] != threads).any():
            self._report(FaultKind.RACE, access, other, "copy to what another copies to")
        self.copies.append(Copy(access, data, groups))

    def complete(self, threads: Array, limits: Array) -> None:
        """`threads` have waited for their copies in the groups below `limits` (of all threads)."""
        waiting = np.zeros(len(limits), np.bool_)
        waiting[threads] = True
        left: list[Copy] = []
        for access, data, groups in self.copies:
            done = waiting[access.threads] & (groups < limits[access.threads])
            if done.any():
                self._arrive(access.only(done), data[done])
            if not done.all():
                left.append(Copy(access.only(~done), data[~done], groups[~done]))
        self.copies = left

    def _arrive(self, access: Access, data: Array) -> None:
        at = access.bytes
        self.data[at] = data
        self.written[at] = True
        self.copiers.thread[at] = NOBODY
        self._mark(self.writers, access, at, access.threads[:, None])

    def _require_unwritten(self, access: Access, at: Array, threads: Array) -> None:
        """Nobody else is writing what is read."""
        copying = self.copiers.thread[at] != NOBODY
        if copying.any():
            what = "read what an asynchronous copy still writes"
            self._report(FaultKind.INCOMPLETE, access, copying, what, self.copiers)
        writer = self.writers.thread[at]
        other = (writer != NOBODY) & (writer != threads)
        if other.any():
            what = "read what another writes"
            self._report(FaultKind.RACE, access, other, what, self.writers)

    def _require_free(
        self, access: Access, at: Array, threads: Array, of_readers: Array | None = None
    ) -> None:
        """Nobody else reads or writes what is written."""
        for marks, allowed, verb in (
            (self.copiers, NOBODY, "copies to"),
            (self.writers, threads, "writes"),
            (self.readers, threads if of_readers is None else of_readers, "reads"),
        ):
            found = marks.thread[at]
            other = (found != NOBODY) & (found != allowed)
            if other.any():
                self._report(FaultKind.RACE, access, other, f"write what another {verb}", marks)

    def _mark(self, marks: Marks, access: Access, at: Array, threads: Array) -> None:
        site = self.numbers.get(access.op)
        if site is None:
            site = self.numbers[access.op] = len(self.sites)
            self.sites.append(access.op)
        marks.thread[at] = threads
        marks.site[at] = site

    def _report(
        self,
        kind: FaultKind,
        access: Access,
        wrong: Array,
        what: str,
        marks: Marks | None = None,
    ) -> None:
        thread, byte = first_wrong(access, wrong)
        other = self.sites[int(marks.site[byte])] if marks else None
        message = f"has thread {thread} {what}: byte {byte} of {NAME}"
        self.checker.report(kind, access.op, message, other)
