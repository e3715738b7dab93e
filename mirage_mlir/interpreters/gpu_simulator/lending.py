"""Distributed shared memory: the bytes that blocks of a cluster may read of each other."""

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.clocks import ORDINARY, Clocks
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.last_access import Writers


class Lending:
    """
    Which bytes may be read, and which are read, by other blocks since the cluster's last barrier.

    Args:
        size: bytes of one block; the memories of blocks follow each other.
        blocks: of the cluster.
        clocks: of its threads.
    """

    def __init__(self, size: int, blocks: int, clocks: Clocks) -> None:
        self.size, self.blocks, self.clocks = size, blocks, clocks
        self.hidden: Array = np.zeros(size * blocks, np.bool_)
        """Bytes that were written since then, or that may still be copied to."""
        self.lent: Array = np.zeros(size * blocks, np.bool_)
        """Bytes that other blocks have read since then."""

    def hide(self, at: Array) -> None:
        """These bytes are written."""
        if self.blocks > 1:
            self.hidden[at] = True

    def show(self, writers: Writers) -> None:
        """All threads have synchronized: what they wrote is there, and what they read is read."""
        if self.clocks.detailed:
            self.hidden &= self._under_way(writers)
        else:
            self.hidden.fill(False)
        self.lent.fill(False)

    def _under_way(self, writers: Writers) -> Array:
        """The bytes of bulk copies that no thread of their block knows to be over."""
        count = self.clocks.threads
        found: Array = writers.column >= count
        for block in range(self.blocks):
            own = slice(block * self.size, (block + 1) * self.size)
            threads = slice(block * count, (block + 1) * count)
            seen = self.clocks.known[ORDINARY, threads].max(axis=0)
            found[own] &= writers.stamp[own] > seen[writers.column[own]]
        return found
