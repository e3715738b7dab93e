"""The last access to each byte of shared memory: thread, operation and time."""

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.clocks import (
    ASYNC_PROXY,
    ORDINARY,
    WARP_THREADS,
    Clocks,
)
from mirage_mlir.interpreters.gpu_simulator.encoding import Array

NOBODY = -1

FOREVER = (1 << 31) - 1
"""The stamp of bytes that no access may ever touch."""

SEVERAL = 1 << 14
"""Stands for more than one thread; no block has as many."""

UNSHOWN = (
    "what an asynchronous copy still writes",
    "what another writes",
    "what was written with no fence of the proxies after it",
)
"""What is wrong with bytes that copies and matmuls use, as `Writers.unshown` sorts them."""


class Sites:
    """Numbers of operations."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}

    def number(self, op: Operation) -> int:
        """The number of `op`."""
        found = self._numbers.get(op)
        if found is None:
            found = self._numbers[op] = len(self.operations)
            self.operations.append(op)
        return found


class Writers:
    """The column (see `Clocks`) that wrote each byte last; stamp 0 where none did."""

    def __init__(self, size: int, clocks: Clocks) -> None:
        self.clocks = clocks
        self.column: Array = np.zeros(size, np.int16)
        self.stamp: Array = np.zeros(size, np.int32)
        self.site: Array = np.zeros(size, np.int16)

    def mark(self, at: Array, columns: Array | int, stamp: int, site: int) -> None:
        """Note a write."""
        self.column[at] = columns
        self.stamp[at] = stamp
        self.site[at] = site

    def unordered(self, at: Array, rows: Array, own: Array | None, synchronized: Array) -> Array:
        """
        Which bytes were written by what the threads do not know to be over: n x size.

        Args:
            at: the bytes, n x size.
            rows: the threads' rows in the clocks, n x 1.
            own: the columns of their own writes, which are in order; None for no such.
            synchronized: when all threads last synchronized, n x 1.
        """
        late = self.stamp[at] > synchronized
        if own is not None:
            late &= self.column[at] != own
        if self.clocks.detailed and late.any():
            late &= self.stamp[at] > self.clocks.known[ORDINARY, rows, self.column[at]]
        return np.asarray(late)

    def unshown(
        self, at: Array, known: Array, own: int | None, synchronized: Array
    ) -> tuple[Array, Array, Array]:
        """
        Which bytes copies and matmuls may not use: n x size each.

        Args:
            at: the bytes, n x size.
            known: what the starting threads know, in both senses, 2 x columns.
            own: the column of the starting thread.
            synchronized: when all threads last synchronized, n x 1.

        Returns:
            Those that a copy may still write, that a thread may still write, and that no fence of
            the thread that wrote them has shown.
        """
        stamps, columns = self.stamp[at], self.column[at]
        by_threads = columns < self.clocks.threads
        ordered = stamps <= known[ORDINARY, columns]
        visible = stamps <= known[ASYNC_PROXY, columns]
        shown = (by_threads & visible) | (~by_threads & ordered)
        ordered |= by_threads & (stamps <= synchronized)
        if own is not None:
            ordered |= columns == own
        return ~ordered & ~by_threads, ~ordered & by_threads, ordered & ~shown


class Readers:
    """
    Who read each byte last, for each party of a block.

    A party is a warp or, without details, the whole block; and the tensor core for each warp, which
    reads while the warp goes on. Of several readers in one party only that there were several is
    kept, and the time of the last.
    """

    def __init__(self, size: int, clocks: Clocks) -> None:
        self.clocks = clocks
        self.span = WARP_THREADS if clocks.detailed else clocks.threads
        self.warps = clocks.threads // self.span
        parties = 2 * self.warps if clocks.detailed else 1
        self.column: Array = np.zeros((parties, size), np.int16)
        self.stamp: Array = np.zeros((parties, size), np.int32)
        self.site: Array = np.zeros((parties, size), np.int16)

    def party_of(self, columns: Array) -> Array:
        """The party of each thread of a block."""
        return np.asarray(columns // self.span)

    def mark(self, at: Array, columns: Array, site: int, synchronized: Array) -> None:
        """Threads `columns` (n x 1) read the bytes `at` (n x size)."""
        party = self.party_of(columns)
        before = self.column[party, at]
        alone = (self.stamp[party, at] <= synchronized) | (before == columns)
        self.column[party, at] = columns
        alone &= self.column[party, at] == columns
        if not alone.all():
            parties = np.broadcast_to(party, at.shape)[~alone]
            self.column[parties, at[~alone]] = SEVERAL
        self.stamp[party, at] = self.clocks.now
        self.site[party, at] = site

    def mark_all(self, at: Array, party: Array | int, column: int, stamp: int, site: int) -> None:
        """Whole parties read: `column` is SEVERAL, or that of the tensor core for a warp."""
        self.column[party, at] = column
        self.stamp[party, at] = stamp
        self.site[party, at] = site

    def clear(self, at: Array) -> None:
        """Whoever comes after a write that was in order comes after what was read before it."""
        self.stamp[:, at] = 0

    def unordered(
        self, at: Array, rows: Array, columns: Array | None, synchronized: Array
    ) -> Array:
        """
        Which readings the threads do not know to be over: parties x n x size.

        Args:
            at: the bytes, n x size.
            rows: the threads' rows in the clocks, n x 1.
            columns: those of their own readings that they need not wait for; None for no such.
            synchronized: when all threads last synchronized, n x 1.
        """
        stamps, found = self.stamp[:, at], self.column[:, at]
        late = stamps > synchronized
        if columns is not None:
            late &= found != columns
        if self.clocks.detailed:
            for party in np.flatnonzero(late.any(axis=(1, 2))):
                late[party] &= ~self._known(int(party), rows, found[party], stamps[party])
        return np.asarray(late)

    def before_copy(
        self, at: Array, known: Array, own_column: int, synchronized: Array
    ) -> tuple[Array, Array]:
        """
        What a thread that starts a copy does not know of earlier readings; parties x n x size each.

        Args:
            at: the bytes, n x size.
            known: what the thread knows of the block, in both senses, 2 x columns.
            own_column: that of the thread; NOBODY if it is of another block.
            synchronized: when all threads last synchronized, n x 1.

        Returns:
            The readings that may not be over, and those of threads that no fence followed.
        """
        stamps, found = self.stamp[:, at], self.column[:, at]
        late, bare = np.zeros(stamps.shape, np.bool_), np.zeros(stamps.shape, np.bool_)
        for party in np.flatnonzero(stamps.any(axis=(1, 2))).tolist():
            over, visible = (
                self._known_to(known[sense], party, found[party], stamps[party])
                for sense in (ORDINARY, ASYNC_PROXY)
            )
            if party < self.warps:
                own = found[party] == own_column
                over |= own | (stamps[party] <= synchronized)
                bare[party] = over & ~visible
            late[party] = ~over
        return late, bare

    def _known_to(self, known: Array, party: int, found: Array, stamps: Array) -> Array:
        """Which readings of one party one thread knows of, in one sense."""
        several = found == SEVERAL
        lanes = known[party * self.span : (party + 1) * self.span]
        alone = stamps <= known[np.where(several, 0, found)]
        if party >= self.warps:
            return np.asarray(alone)
        return np.asarray((several & (stamps <= lanes.min())) | (~several & alone))

    def _known(self, party: int, rows: Array, found: Array, stamps: Array) -> Array:
        known = self.clocks.known[ORDINARY]
        alone = np.where(found == SEVERAL, 0, found)
        single = stamps <= known[rows, alone]
        if party >= self.warps:
            return single
        together = stamps <= self.clocks.warps_known()[rows, party]
        several = found == SEVERAL
        return np.asarray((several & together) | (~several & single))
