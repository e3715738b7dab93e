"""
Vector clocks: which accesses of other threads happen before each thread's next one.

Time is one counter of the cluster. An access is stamped with the time at which it happens; a thread
that releases makes known what it did up to then, and whoever acquires that knows it too. Two
accesses are ordered if the later one's thread knows the time of the earlier one. Source: vector
clocks with one epoch for an access, C. Flanagan and S. Freund, "FastTrack", PLDI 2009.
"""

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.encoding import Array

WARP_THREADS = 32

GROUP_THREADS = 4 * WARP_THREADS
"""Of a warpgroup, which starts at a multiple of it."""

AGENT_TIME = 1 << 30
"""Added to the stamps of copies and matmuls, so that no barrier of threads counts as their end."""

AGENTS = 96
"""Transaction barriers and warps of a block, at most; kernels have two or three dozen."""

ORDINARY, ASYNC_PROXY = 0, 1
"""What is ordered for loads and stores; what a fence has also shown to copies and matmuls."""


class Clocks:
    """
    The clocks of all threads of a cluster.

    A column is a thread of the same block, or an agent: what a transaction barrier counts, or the
    tensor core at work for a warp.

    Args:
        detailed: whether any threads but all of a block ever synchronize; if not, only the times at
            which those synchronized are kept.
        joint: whether blocks tell each other by barriers of their own what they have done.
    """

    def __init__(self, threads: int, blocks: int, *, detailed: bool, joint: bool = False) -> None:
        self.threads, self.detailed = threads, detailed
        self.now = 1
        self.synchronized: Array = np.zeros(blocks, np.int32)
        """When all threads of each block synchronized last."""
        self.warps = -(-threads // WARP_THREADS)
        self.agents = [threads + self.warps] * blocks
        """The first column of each block that is nobody's."""
        rows = threads * blocks if detailed else 0
        self.known: Array = np.zeros((2, rows, threads + AGENTS), np.int32)
        """Up to which time each thread (row) knows what each column did, in both senses."""
        self.abroad: Array | None = None
        """The same of the columns of all blocks (third axis), its own apart, which `known` has."""
        if joint:
            self.abroad = np.zeros((2, rows, blocks, threads + AGENTS), np.int32)
        self._warps_know: Array | None = None
        self._warps_known: Array | None = None

    def tick(self) -> int:
        """The present time, which is over."""
        self.now += 1
        return self.now - 1

    def matmuls_of(self, threads: Array) -> Array:
        """
        The columns of what the tensor core does for the warps of some threads.

        A warp's wait says nothing of the other warps' parts of a matmul.
        """
        return np.asarray(self.threads + threads % self.threads // WARP_THREADS)

    def matmuls_seen(self, threads: Array) -> Array:
        """Up to which time each thread knows its warp's parts of matmuls to be over."""
        return np.asarray(self.known[ORDINARY, threads, self.matmuls_of(threads)])

    def new_agent(self, block: int) -> int | None:
        """A column that nobody has; None if there is none left."""
        column = self.agents[block]
        if column >= self.threads + AGENTS:
            return None
        self.agents[block] += 1
        return column

    # Threads that synchronize

    def synchronize_blocks(self, blocks: Array) -> None:
        """All threads of the chosen blocks synchronize."""
        self.synchronized[blocks] = self.now
        for block in np.flatnonzero(blocks) if self.detailed else ():
            self._synchronize(np.arange(block * self.threads, (block + 1) * self.threads)[None])
        self.tick()

    def synchronize(self, groups: Array) -> None:
        """The threads in each row synchronize; those of a row are of one block."""
        self._synchronize(groups)
        self.tick()

    def _synchronize(self, groups: Array) -> None:
        for group in groups:
            together = self.known[:, group].max(axis=1)
            together[ORDINARY, group % self.threads] = self.now
            self.known[:, group] = together[:, None]
            if self.abroad is not None:
                self.abroad[:, group] = self.abroad[:, group].max(axis=1)[:, None]
        self._forget()

    def synchronize_cluster(self, threads: Array) -> None:
        """Those of the blocks' threads synchronize, who have synchronized in each block."""
        if self.abroad is None:
            return
        whole = self.abroad[:, threads].max(axis=1)
        blocks = threads // self.threads
        for block in np.unique(blocks):
            own = threads[blocks == block]
            whole[:, block] = np.maximum(whole[:, block], self.known[:, own].max(axis=1))
        self.abroad[:, threads] = whole[:, None]
        self.known[:, threads] = whole[:, blocks]
        self.tick()
        self._forget()

    def release(self, thread: int) -> Array:
        """What a thread knows, and that it has come so far."""
        self.known[ORDINARY, thread, thread % self.threads] = self.tick()
        self._forget()
        if self.abroad is None:
            return self.known[:, thread]
        clock = self.abroad[:, thread].copy()
        clock[:, thread // self.threads] = self.known[:, thread]
        return clock

    def acquire(self, threads: Array, clock: Array) -> None:
        """Threads learn what others released."""
        own = clock[:, None]
        if self.abroad is not None:
            self.abroad[:, threads] = np.maximum(self.abroad[:, threads], clock[:, None])
            own = clock[:, threads // self.threads]
        self.known[:, threads] = np.maximum(self.known[:, threads], own)
        self._forget()

    def learn(self, threads: Array, agents: Array | int, time: int) -> None:
        """Threads learn how far an agent is, or each how far its own one is."""
        seen = self.known[ORDINARY, threads, agents]
        self.known[ORDINARY, threads, agents] = np.maximum(seen, time)
        self._forget()

    def fence(self, threads: Array) -> None:
        """Each thread shows to copies and matmuls what it has written."""
        self.known[ASYNC_PROXY, threads, threads % self.threads] = self.tick()

    def _forget(self) -> None:
        self._warps_know = self._warps_known = None

    # What is known

    def of_block(self, thread: int, block: int) -> Array:
        """Up to which time a thread knows what each column of a block did, in both senses."""
        if thread // self.threads == block:
            return np.asarray(self.known[:, thread])
        assert self.abroad is not None, "no barrier of another block was used"
        return np.asarray(self.abroad[:, thread, block])

    def is_over(self, thread: int, column: int, time: int) -> bool:
        """Whether a thread knows that what another one of its block did at `time` is over."""
        own = thread % self.threads == column
        return (
            own
            or max(self.synchronized[thread // self.threads], self._seen(thread, column)) >= time
        )

    def _seen(self, thread: int, column: int) -> int:
        return int(self.known[ORDINARY, thread, column]) if self.detailed else 0

    def warps_know(self) -> Array:
        """Up to which time all lanes of a warp (row) know what a column did."""
        if (found := self._warps_know) is None:
            by_lanes = self.known[ORDINARY].reshape(-1, WARP_THREADS, self.known.shape[2])
            found = self._warps_know = np.asarray(by_lanes.min(axis=1))
        return found

    def warps_known(self) -> Array:
        """Up to which time a thread (row) knows what all other lanes of a warp (column) did."""
        if (found := self._warps_known) is None:
            lanes = self.known[ORDINARY, :, : self.threads].copy()
            own = np.arange(len(lanes))
            lanes[own, own % self.threads] = AGENT_TIME
            by_lanes = lanes.reshape(len(lanes), self.warps, WARP_THREADS)
            found = self._warps_known = np.asarray(by_lanes.min(axis=2))
        return found

    def group_knows(self, threads: Array) -> Array:
        """Up to which time all these threads know what a column did, in both senses."""
        return np.asarray(self.known[:, threads].min(axis=1))
