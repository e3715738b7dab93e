"""The state of transaction barriers (`mbarrier`)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.clocks import AGENT_TIME, ORDINARY, Clocks
from mirage_mlir.interpreters.gpu_simulator.encoding import Array


class Phase(NamedTuple):
    """A phase that is over: when it was, and what those who arrived knew."""

    time: int
    clock: Array


@dataclass(eq=False)
class TransactionBarrier:
    """
    A barrier that waits for arrivals and bytes.

    A phase is over when `count` threads have arrived and as many bytes as they expect were copied.
    Copies count when they start: whoever reads what they write must know the phase to be over.

    Args:
        op: which made it.
        name: in messages.
        thread: which made it, and when.
        agent: the column of its copies in the clocks.
    """

    op: Operation
    name: str
    count: int
    thread: int
    made: int
    agent: int
    shown: bool = False
    """Whether a fence has shown it to copies."""
    missing: int = 0
    """Arrivals that the phase lacks."""
    expected: int = 0
    """Bytes that arrivals of the phase expect."""
    copied: int = 0
    """Bytes of copies of the phase."""
    last_copy: int = 0
    """The stamp of the last copy."""
    clock: Array | None = None
    """What all who arrived so far knew."""
    visits: dict[int, int] = field(default_factory=dict[int, int])
    """When threads of other blocks arrived last."""
    phases: list[Phase] = field(default_factory=list[Phase])

    def __post_init__(self) -> None:
        self.missing = self.count

    def arrive(self, clocks: Clocks, thread: int, expected: int) -> None:
        """A thread arrives, and expects some bytes."""
        clock = clocks.release(thread)
        self.clock = clock.copy() if self.clock is None else np.maximum(self.clock, clock)
        self.missing -= 1
        self.expected += expected
        self.end_phase(clocks)

    def copy(self, clocks: Clocks, size: int, stamp: int) -> None:
        """A copy of `size` bytes has started."""
        self.copied += size
        self.last_copy = stamp
        self.end_phase(clocks)

    def end_phase(self, clocks: Clocks) -> None:
        """Start the next phase if nothing is missing."""
        if self.missing or self.copied != self.expected:
            return
        assert self.clock is not None
        self.phases.append(Phase(AGENT_TIME + clocks.tick(), self.clock))
        self.missing, self.expected, self.copied = self.count, 0, 0

    def lets_pass(self, parity: int) -> bool:
        """Whether the last phase that is over has this parity; the one before the first has 1."""
        return (len(self.phases) + 1) % 2 == parity

    def acquire(self, clocks: Clocks, threads: Array) -> None:
        """
        Threads have seen that a phase of the present parity is over.

        It need not be the last one: the earliest that they do not know of would have let them pass.
        If a thread knows of a phase of this parity, it would have passed without any more.
        """
        times = np.array([phase.time for phase in self.phases], np.int64)
        seen_at = clocks.known[ORDINARY, threads, self.agent]
        known = (times[:, None] <= seen_at).sum(axis=0)
        for number in np.unique(known):
            seen = int(number) + (len(times) - int(number)) % 2
            if seen > number:
                own = threads[known == number]
                clocks.acquire(own, self.phases[seen - 1].clock)
                clocks.learn(own, self.agent, self.phases[seen - 1].time)

    @property
    def lacks(self) -> str:
        """What the present phase is waiting for."""
        arrivals = f"{self.missing} of {self.count} arrivals"
        return f"phase {len(self.phases)} of {self.name}, which lacks {arrivals}" + (
            f" and {self.expected - self.copied} of {self.expected} bytes" if self.expected else ""
        )
