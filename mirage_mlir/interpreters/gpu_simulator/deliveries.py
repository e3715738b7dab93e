"""Distributed shared memory: the bytes that blocks of a cluster write into each other's."""

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.last_access import Readers, Writers

TOO_SOON = "write to a block that may not have started"
"""The cluster has not met before."""

IN_USE = "write to another block what that has used since the cluster synchronized"

TWICE = "write to another block what was written there since the cluster synchronized"

PENDING = "touch what another block may write until the cluster synchronizes"


class Deliveries:
    """
    What blocks have written into each other's shared memory since the cluster's last barrier.

    From the barrier before until the one behind such bytes are for the writer alone.

    Args:
        size: bytes of all blocks; their memories follow each other.
        writers, readers: of these bytes.
    """

    def __init__(self, size: int, writers: Writers, readers: Readers) -> None:
        self.writers, self.readers = writers, readers
        self.pending: Array = np.zeros(size, np.bool_)
        """The bytes that were written."""
        self.any = False
        self.met = False
        """Whether all blocks have started."""
        self.since = 0
        """When the cluster synchronized last; 0 if it never has."""

    def meet(self) -> None:
        """All blocks know that all have started; nothing that they did is ordered by that."""
        self.met = True

    def show(self, now: int) -> None:
        """The cluster has synchronized: what was written is there."""
        self.pending.fill(False)
        self.any, self.met, self.since = False, True, now

    def add(self, at: Array) -> tuple[tuple[Array, str], ...]:
        """Note that the bytes `at` are written; what is wrong with which of them."""
        used = self.writers.stamp[at] > self.since
        used |= (self.readers.stamp[:, at] > self.since).any(axis=0)
        early = np.full(at.shape, not self.met)
        wrong = ((early, TOO_SOON), (used & ~early, IN_USE), (self.pending[at], TWICE))
        self.pending[at] = self.any = True
        return wrong
