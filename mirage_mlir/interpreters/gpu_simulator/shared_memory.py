"""The shared memory of a cluster's blocks, and which accesses to it nothing orders."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.accesses import Access, Copy, first_wrong, inside
from mirage_mlir.interpreters.gpu_simulator.clocks import AGENT_TIME, WARP_THREADS, Clocks
from mirage_mlir.interpreters.gpu_simulator.deliveries import PENDING, Deliveries
from mirage_mlir.interpreters.gpu_simulator.encoding import POISON, Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind
from mirage_mlir.interpreters.gpu_simulator.last_access import (
    FOREVER,
    NOBODY,
    SEVERAL,
    UNSHOWN,
    Readers,
    Sites,
    Writers,
)
from mirage_mlir.interpreters.gpu_simulator.lending import Lending

NAME = "shared memory"


class SharedMemory:
    """
    The shared memories of the blocks of a cluster, one after the other.

    Of two accesses to one byte by different threads, one of them a write, the later thread must
    know that the earlier one is over (see `Clocks`). An asynchronous copy writes from when it
    starts until its thread has waited for it, and is a write of that thread then. A matrix load is
    a read by all lanes of the warp. Bulk copies and warpgroup matmuls are ordered after what
    threads read and wrote only by a fence of these threads; they are over when who comes next knows
    it from their barrier or wait. Other blocks may read and write, and only barriers of the cluster
    order that.

    Args:
        size: bytes of one block.
        threads: of one block.
        blocks: of the cluster.
        detailed, joint: see `Clocks`.
    """

    def __init__(
        self,
        size: int,
        threads: int,
        blocks: int,
        checker: Checker,
        *,
        detailed: bool = False,
        joint: bool = False,
    ) -> None:
        self.size, self.threads, self.blocks = size, threads, blocks
        self.checker = checker
        self.clocks = Clocks(threads, blocks, detailed=detailed, joint=joint)
        total = size * blocks
        self.data = np.full(total, POISON, np.uint8)
        self.written = np.zeros(total, np.bool_)
        self.writers, self.readers = Writers(total, self.clocks), Readers(total, self.clocks)
        self.copiers: Array = np.full(total, NOBODY, np.int16)
        """The thread whose asynchronous copy writes there."""
        self.copy_sites: Array = np.zeros(total, np.int16)
        self.lending = Lending(size, blocks, self.clocks)
        self.deliveries = Deliveries(total, self.writers, self.readers)
        self.copies: list[Copy] = []
        self.sites = Sites()

    def barrier(self, blocks: Array) -> None:
        """
        All threads of the chosen blocks synchronized: what they did is ordered before what follows.
        """
        self.clocks.synchronize_blocks(blocks)

    def synchronize(self, block: int, threads: Array) -> None:
        """Some threads of a block synchronized."""
        if len(threads) == self.threads:
            self.barrier(np.arange(self.blocks) == block)
        else:
            self.clocks.synchronize(threads[None] + block * self.threads)

    def cluster_barrier(self) -> None:
        """All threads of all blocks synchronized."""
        self.barrier(np.ones(self.blocks, np.bool_))
        self.show()

    def show(self) -> None:
        """What blocks wrote is there for the others now, and their reading is over."""
        self.lending.show(self.writers)
        self.deliveries.show(self.clocks.tick())

    def end(self, op: Operation) -> None:
        """The blocks end; none may while others read its memory, or write to it."""
        if (lent := self.lending.lent | self.deliveries.pending).any():
            byte = int(np.argmax(lent))
            block = f"block {byte // self.size} of the cluster"
            message = f"ends {block} while others may use byte {byte % self.size} of its {NAME}"
            self.checker.report(FaultKind.RACE, op, message)

    def read(self, access: Access) -> Array:
        """What lies there, n x size bytes; all must have been written."""
        valid, result, access = self._started(access)
        at = access.bytes(self.size)
        own = self._is_own(access)
        if own.all():
            self._read_own(access, at)
        else:
            self._read_own(access.only(own), at[own])
            self._lend(access.only(~own), at[~own])
        if not (written := self.written[at]).all():
            self._report(FaultKind.UNINITIALISED, access, ~written, "read what none wrote")
        result[valid] = self.data[at]
        return result

    def read_matrices(self, access: Access) -> Array:
        """
        What lies there, for whole warps.

        Bytes that nothing wrote are NaN and no fault: fragments reach past a tile's edge, and
        the matmuls with what lies there are never stored, or the results show it.
        """
        valid, result, access = self._started(access)
        at, columns = access.bytes(self.size), self._columns(access)
        self._require_arrived(access, at)
        late = self.writers.stamp[at] > self._synchronized(access)
        if self.clocks.detailed and late.any():
            warps = access.threads[:, None] // WARP_THREADS
            late &= (
                self.writers.stamp[at] > self.clocks.warps_know()[warps, self.writers.column[at]]
            )
        self._require_written(access, at, late)
        site = self.sites.number(access.op)
        self.readers.mark_all(at, self.readers.party_of(columns), SEVERAL, self.clocks.now, site)
        result[valid] = self.data[at]
        return result

    def deliver(self, access: Access, data: Array) -> None:
        """Put `data`, n x size bytes, into the memory of any block of the cluster."""
        valid, _, access = self._started(access, delivers=True)
        at = access.bytes(self.size)
        self._require_copied(access, at, "write what another copies to")
        for wrong, what in self.deliveries.add(at):
            self._require_not(wrong, access, what)
        self._require_not_lent(access, at, "write what another block reads")
        self._put(at, data[valid])

    def write(self, access: Access, data: Array) -> None:
        """Put `data`, n x size bytes, there."""
        valid, _, access = self._started(access)
        at, columns = access.bytes(self.size), self._columns(access)
        self._require_free(access, at, columns)
        self.writers.mark(at, columns, self.clocks.now, self.sites.number(access.op))
        self._require_not(self.writers.column[at] != columns, access, "write what another writes")
        self._put(at, data[valid])

    # Asynchronous copies that threads wait for

    def start_copy(self, access: Access, data: Array, groups: Array) -> None:
        """Start writing `data`, in the group of copies that each thread has open."""
        valid, _, access = self._started(access)
        data, groups = data[valid], groups[valid]
        at, columns = access.bytes(self.size), self._columns(access)
        # Not even its own thread's earlier write is ordered before a copy.
        self._require_free(access, at, None)
        self.copiers[at] = columns
        self.copy_sites[at] = self.sites.number(access.op)
        self._require_not(self.copiers[at] != columns, access, "copy to what another copies to")
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

    # Bulk copies, warpgroup matmuls, and what they wait for

    def write_box(self, access: Access, data: Array, thread: int, column: int) -> int:
        """
        Put bytes there by a bulk copy; returns its stamp.

        Args:
            access: its pieces, n x size bytes, in one block's memory.
            data: the bytes.
            thread: which started it.
            column: of the transaction barrier that counts the bytes.
        """
        valid, _, access = self._started(access)
        if not valid.any():
            return 0
        assert access.blocks is not None
        at, block = access.bytes(self.size), int(access.blocks[0])
        known, own = self.clocks.of_block(thread, block), NOBODY
        if thread // self.threads == block:
            own = thread % self.threads
        self._require_copied(access, at, "write what another copies to")
        self._require_shown(access, at, known, own, "copy over")
        self._require_read_before_copy(access, at, known, own)
        site, stamp = self.sites.number(access.op), AGENT_TIME + self.clocks.now
        self.writers.mark(at, column, stamp, site)
        self.readers.clear(at)
        self._put(at, data[valid])
        return stamp

    def read_tile(self, access: Access, group: Array) -> Array:
        """
        What the matmuls of a warpgroup read, n x size bytes; unwritten bytes are NaN.

        Args:
            access: pieces of a tile.
            group: the 128 threads.
        """
        valid, result, access = self._started(access)
        at = access.bytes(self.size)
        self._require_arrived(access, at)
        self._require_shown(access, at, self.clocks.group_knows(group), None, "multiply")
        site, stamp = self.sites.number(access.op), AGENT_TIME + self.clocks.now
        for column in np.unique(self.clocks.matmuls_of(group)).tolist():
            party = self.readers.warps + column - self.threads
            self.readers.mark_all(at, party, column, stamp, site)
        result[valid] = self.data[at]
        return result

    def reserve(self, access: Access, column: int) -> None:
        """Make these bytes a transaction barrier, which no ordinary access may touch."""
        _, _, access = self._started(access)
        at = access.bytes(self.size)
        self._require_free(access, at, self._columns(access))
        self.writers.mark(at, column, FOREVER, self.sites.number(access.op))

    def name_of(self, thread: int) -> str:
        """A thread, as messages name it."""
        block, number = divmod(thread, self.threads)
        return f"thread {number}" + (f" of rank {block}" if self.blocks > 1 else "")

    # Steps of an access

    def _started(self, access: Access, *, delivers: bool = False) -> tuple[Array, Array, Access]:
        """Which accesses lie inside, poison for all, and these accesses alone."""
        valid = inside(access, self.size, NAME, self.checker)
        result = np.full((len(valid), access.size), POISON, np.uint8)
        access = access.only(valid)
        if self.deliveries.any and not delivers:
            self._require_not(self.deliveries.pending[access.bytes(self.size)], access, PENDING)
        return valid, result, access

    def _columns(self, access: Access) -> Array:
        return (access.threads % self.threads)[:, None]

    def _is_own(self, access: Access) -> Array:
        """Which accesses are to the memory of the thread's own block."""
        return access.blocks == access.threads // self.threads

    def _synchronized(self, access: Access) -> Array:
        """When all threads of the accessed block synchronized."""
        assert access.blocks is not None
        return self.clocks.synchronized[access.blocks][:, None]

    def _put(self, at: Array, data: Array) -> None:
        self.data[at] = data
        self.written[at] = True
        self.lending.hide(at)

    def _arrive(self, access: Access, data: Array) -> None:
        at = access.bytes(self.size)
        self._put(at, data)
        self.copiers[at] = NOBODY
        site = self.sites.number(access.op)
        self.writers.mark(at, self._columns(access), self.clocks.now, site)

    def _read_own(self, access: Access, at: Array) -> None:
        """Threads read from their block's memory."""
        columns = self._columns(access)
        self._require_arrived(access, at)
        self._require_written(access, at, self._unordered_writes(access, at, columns))
        site = self.sites.number(access.op)
        self.readers.mark(at, columns, site, self._synchronized(access))

    def _lend(self, access: Access, at: Array) -> None:
        """Other blocks read bytes that their owner has shown to the cluster."""
        self._require_arrived(access, at)
        hidden = self.lending.hidden[at]
        if (copied := hidden & (self.writers.column[at] >= self.threads)).any():
            what = "read what an asynchronous copy to another block still writes"
            self._report(FaultKind.INCOMPLETE, access, copied, what, self.writers.site)
        what = "read what another block wrote since the cluster synchronized"
        self._require_not(hidden & ~copied, access, what)
        self.lending.lent[at] = True

    # What must be over before an access

    def _unordered_writes(self, access: Access, at: Array, own: Array | None) -> Array:
        """Which bytes were written by what the thread does not know to be over."""
        return self.writers.unordered(at, access.threads[:, None], own, self._synchronized(access))

    def _require_arrived(self, access: Access, at: Array) -> None:
        """No copy that its thread has not waited for writes what is read."""
        self._require_copied(access, at, "read what an asynchronous copy still writes")

    def _require_copied(self, access: Access, at: Array, what: str) -> None:
        if self.copies and (copying := self.copiers[at] != NOBODY).any():
            kind = FaultKind.INCOMPLETE if what.startswith("read") else FaultKind.RACE
            self._report(kind, access, copying, what, self.copy_sites)

    def _require_written(self, access: Access, at: Array, late: Array) -> None:
        """What is read was written before."""
        if not late.any():
            return
        if (copied := late & (self.writers.column[at] >= self.threads)).any():
            what = "read what an asynchronous copy still writes"
            self._report(FaultKind.INCOMPLETE, access, copied, what, self.writers.site)
        if (late := late & ~copied).any():
            self._report(
                FaultKind.RACE, access, late, "read what another writes", self.writers.site
            )

    def _require_free(self, access: Access, at: Array, own: Array | None) -> None:
        """Nobody reads or writes what is written; `own` is whose writes do not count."""
        self._require_copied(access, at, "write what another copies to")
        if (late := self._unordered_writes(access, at, own)).any():
            what = "write what another writes"
            self._report(FaultKind.RACE, access, late, what, self.writers.site)
        self._require_read(access, at, self._columns(access))

    def _require_read(self, access: Access, at: Array, own: Array) -> None:
        """Nobody but its own thread reads what is written."""
        late = self.readers.unordered(at, access.threads[:, None], own, self._synchronized(access))
        for party in np.flatnonzero(late.any(axis=(1, 2))):
            what, sites = "write what another reads", self.readers.site[party]
            self._report(FaultKind.RACE, access, late[party], what, sites)
        self._require_not_lent(access, at, "write what another block reads")

    def _require_read_before_copy(self, access: Access, at: Array, known: Array, own: int) -> None:
        """
        Nobody reads what a copy writes, and fences came after what threads have read.

        An arrival orders reads before writes of threads only: copies go another way, and overtook
        matrix loads on an H200.
        """
        # When the threads of its block synchronized another block's thread need not know.
        synchronized = (
            self._synchronized(access) if own != NOBODY else np.zeros((len(at), 1), np.int32)
        )
        late, bare = self.readers.before_copy(at, known, own, synchronized)
        for wrong, what in (
            (late, "copy over what another reads"),
            (bare, "copy over what was read with no fence of the proxies after it"),
        ):
            for party in np.flatnonzero(wrong.any(axis=(1, 2))):
                sites = self.readers.site[party]
                self._report(FaultKind.RACE, access, wrong[party], what, sites)
        self._require_not_lent(access, at, "copy over what another block reads")

    def _require_not_lent(self, access: Access, at: Array, what: str) -> None:
        if self.blocks > 1:
            self._require_not(self.lending.lent[at], access, what)

    def _require_not(self, wrong: Array, access: Access, what: str) -> None:
        if wrong.any():
            self._report(FaultKind.RACE, access, wrong, what)

    def _require_shown(
        self, access: Access, at: Array, known: Array, own: int | None, verb: str
    ) -> None:
        """
        What was written is over, and a fence has shown it to copies and matmuls.

        Args:
            access: which pieces are used.
            at: their bytes.
            known: what the starting threads know, in both senses, 2 x columns.
            own: the column of the starting thread.
            verb: what is done to the bytes.
        """
        unshown = self.writers.unshown(at, known, own, self._synchronized(access))
        for kind, wrong, what in zip(
            (FaultKind.INCOMPLETE, FaultKind.RACE, FaultKind.RACE), unshown, UNSHOWN, strict=True
        ):
            if wrong.any():
                self._report(kind, access, wrong, f"{verb} {what}", self.writers.site)

    def _report(
        self, kind: FaultKind, access: Access, wrong: Array, what: str, sites: Array | None = None
    ) -> None:
        which, thread, byte = first_wrong(access, wrong)
        other = None
        if sites is not None and access.blocks is not None:
            place = byte + int(access.blocks[which]) * self.size
            other = self.sites.operations[int(sites[place])]
        message = f"has {self.name_of(thread)} {what}: byte {byte} of {NAME}"
        self.checker.report(kind, access.op, message, other)
