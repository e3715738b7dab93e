"""The shared memory of a cluster's blocks, and who touched which byte since threads last met."""

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
"""Stands for more than one thread; no cluster has as many."""


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


class SharedMemory:
    """
    The shared memories of the blocks of a cluster, one after the other.

    Between two barriers nothing orders accesses of different threads: to each byte only one
    thread may write, and then none other read. An asynchronous copy writes from when it starts
    until its thread has waited for it, and until the next barrier it is a write of that thread.
    A matrix load is a read by all lanes of the warp. Other blocks may read, and only barriers of
    the cluster order that.

    Args:
        size: bytes of one block.
        threads: of one block.
        blocks: of the cluster.
    """

    def __init__(self, size: int, threads: int, blocks: int, checker: Checker) -> None:
        self.size, self.threads, self.blocks = size, threads, blocks
        self.checker = checker
        total = size * blocks
        self.data = np.full(total, POISON, np.uint8)
        self.written = np.zeros(total, np.bool_)
        self.writers, self.readers, self.copiers = Marks(total), Marks(total), Marks(total)
        self.hidden = np.zeros(total, np.bool_)
        """Bytes that were written since the cluster's last barrier."""
        self.lent = np.zeros(total, np.bool_)
        """Bytes that other blocks read since the cluster's last barrier."""
        self.copies: list[Copy] = []
        self.sites: list[Operation] = []
        self.numbers: dict[Operation, int] = {}

    def barrier(self, blocks: Array) -> None:
        """All threads of the chosen blocks met: what they did is ordered before what follows."""
        for marks in (self.writers, self.readers):
            marks.thread.reshape(self.blocks, self.size)[blocks] = NOBODY

    def cluster_barrier(self) -> None:
        """All threads of all blocks met."""
        self.barrier(np.ones(self.blocks, np.bool_))
        self.hidden.fill(False)
        self.lent.fill(False)

    def end(self, op: Operation) -> None:
        """The blocks end; none may while others read its memory."""
        if self.lent.any():
            byte = int(np.argmax(self.lent))
            block = f"block {byte // self.size} of the cluster"
            message = f"ends {block} while others may read byte {byte % self.size} of its {NAME}"
            self.checker.report(FaultKind.RACE, op, message)

    def read(self, access: Access) -> Array:
        """What lies there, n x size bytes; all must have been written."""
        valid, result, access = self._started(access)
        at, threads = access.bytes(self.size), access.threads[:, None]
        self._require_unwritten(access, at, threads)
        if not (written := self.written[at]).all():
            self._report(FaultKind.UNINITIALISED, access, ~written, "read what none wrote")
        own = self._is_own(access)
        self._lend(access, at, own)
        self._mark_reads(access.only(own), at[own], threads[own])
        result[valid] = self.data[at]
        return result

    def read_matrices(self, access: Access) -> Array:
        """
        What lies there, for whole warps.

        Bytes that nothing wrote are NaN and no fault: fragments reach past a tile's edge, and
        the products with what lies there are never stored, or the results show it.
        """
        valid, result, access = self._started(access)
        at = access.bytes(self.size)
        everyone = np.full((len(at), 1), SEVERAL)
        self._require_unwritten(access, at, everyone)
        self._mark(self.readers, access, at, everyone)
        result[valid] = self.data[at]
        return result

    def write(self, access: Access, data: Array) -> None:
        """Put `data`, n x size bytes, there."""
        valid, _, access = self._started(access)
        data = data[valid]
        at, threads = access.bytes(self.size), access.threads[:, None]
        self._require_free(access, at, threads, threads)
        self._mark(self.writers, access, at, threads)
        if (other := self.writers.thread[at] != threads).any():
            self._report(FaultKind.RACE, access, other, "write what another writes")
        self._put(at, data)

    def start_copy(self, access: Access, data: Array, groups: Array) -> None:
        """Start writing `data`, in the group of copies that each thread has open."""
        valid, _, access = self._started(access)
        data, groups = data[valid], groups[valid]
        at, threads = access.bytes(self.size), access.threads[:, None]
        # Not even its own thread's earlier write is ordered before a copy.
        self._require_free(access, at, np.full((len(at), 1), NOBODY), threads)
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

    def name_of(self, thread: int) -> str:
        """A thread, as messages name it."""
        block, number = divmod(thread, self.threads)
        return f"thread {number}" + (f" of rank {block}" if self.blocks > 1 else "")

    # Steps of an access

    def _started(self, access: Access) -> tuple[Array, Array, Access]:
        """Which accesses lie inside, poison for all, and these accesses alone."""
        valid = inside(access, self.size, NAME, self.checker)
        result = np.full((len(valid), access.size), POISON, np.uint8)
        return valid, result, access.only(valid)

    def _is_own(self, access: Access) -> Array:
        """Which accesses are to the memory of the thread's own block."""
        return access.blocks == access.threads // self.threads

    def _put(self, at: Array, data: Array) -> None:
        self.data[at] = data
        self.written[at] = True
        self.hidden[at] = True

    def _arrive(self, access: Access, data: Array) -> None:
        at = access.bytes(self.size)
        self._put(at, data)
        self.copiers.thread[at] = NOBODY
        self._mark(self.writers, access, at, access.threads[:, None])

    def _lend(self, access: Access, at: Array, own: Array) -> None:
        """Other blocks read bytes that their owner has shown to the cluster."""
        foreign = at[~own]
        if (hidden := self.hidden[foreign]).any():
            what = "read what another block wrote since the cluster met"
            self._report(FaultKind.RACE, access.only(~own), hidden, what)
        self.lent[foreign] = True

    def _mark_reads(self, access: Access, at: Array, threads: Array) -> None:
        before = self.readers.thread[at]
        self._mark(self.readers, access, at, threads)
        alone = (before == NOBODY) | (before == threads)
        alone &= self.readers.thread[at] == threads
        if not alone.all():
            self.readers.thread[at[~alone]] = SEVERAL

    def _require_unwritten(self, access: Access, at: Array, threads: Array) -> None:
        """Nobody else of the block is writing what is read."""
        copying = self.copiers.thread[at] != NOBODY
        if copying.any():
            what = "read what an asynchronous copy still writes"
            self._report(FaultKind.INCOMPLETE, access, copying, what, self.copiers)
        writer = self.writers.thread[at]
        other = (writer != NOBODY) & (writer != threads) & self._is_own(access)[:, None]
        if other.any():
            what = "read what another writes"
            self._report(FaultKind.RACE, access, other, what, self.writers)

    def _require_free(self, access: Access, at: Array, writer: Array, reader: Array) -> None:
        """Nobody reads or writes what is written, but the given writer and reader."""
        nobody = np.full((1, 1), NOBODY)
        for marks, allowed, verb in (
            (self.copiers, nobody, "copies to"),
            (self.writers, writer, "writes"),
            (self.readers, reader, "reads"),
        ):
            found = marks.thread[at]
            other = (found != NOBODY) & (found != allowed)
            if other.any():
                self._report(FaultKind.RACE, access, other, f"write what another {verb}", marks)
        if (lent := self.lent[at]).any():
            self._report(FaultKind.RACE, access, lent, "write what another block reads")

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
        which, thread, byte = first_wrong(access, wrong)
        other = None
        if marks is not None and access.blocks is not None:
            other = self.sites[int(marks.site[byte + access.blocks[which] * self.size])]
        message = f"has {self.name_of(thread)} {what}: byte {byte} of {NAME}"
        self.checker.report(kind, access.op, message, other)
