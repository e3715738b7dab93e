"""
Inter-block hand-off: device memory through which blocks of one launch exchange partial sums.

What a thread wrote before a fence, another thread of its block knows of, and counts the block, is
handed over. Threads that count later, or know of one that did, may read it. Everything else that
one block reads of what another wrote is a race, in whatever order the blocks ran here.
"""

from dataclasses import dataclass, field

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.accesses import Access, inside, within
from mirage_mlir.interpreters.gpu_simulator.clocks import Clocks
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import POISON, Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind

COUNTER_BYTES = 4


@dataclass
class Written:
    """
    What threads of the running block wrote at once.

    Args:
        threads: who, n.
        at: the bytes, n x size.
        fence_times: when each of them fenced that, -1 before, n.
    """

    buffer: "HandedBuffer"
    threads: Array
    at: Array
    fence_times: Array


@dataclass
class HandOff:
    """
    What the threads of the running block have done about it.

    Args:
        written: and not handed over yet.
        counted: which threads have counted their block, and when.
    """

    clocks: Clocks | None = None
    written: list[Written] = field(default_factory=list[Written])
    counted: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def start_block(self, clocks: Clocks) -> None:
        """Other threads, which know of nothing."""
        self.clocks = clocks
        self.written, self.counted = [], []

    def fence(self, threads: Array) -> None:
        """Each of the threads fences what it has written."""
        assert self.clocks is not None
        now = self.clocks.tick()
        for one in self.written:
            one.fence_times[np.isin(one.threads, threads) & (one.fence_times < 0)] = now

    def count(self, thread: int) -> None:
        """Hand over what a thread knows of, and let it know of what was handed over."""
        assert self.clocks is not None
        for one in self.written:
            own = one.fence_times >= 0
            own[own] = [
                self._knows(thread, int(writer), int(time))
                for writer, time in zip(one.threads[own], one.fence_times[own], strict=True)
            ]
            one.buffer.handed[one.at[own]] = True
        self.counted.append((thread, self.clocks.tick()))

    def _knows(self, thread: int, other: int, time: int) -> bool:
        assert self.clocks is not None
        return thread == other or self.clocks.is_over(thread, other % self.clocks.threads, time)

    def may_read(self, threads: Array) -> Array:
        """Which threads have counted, or know of one that did."""
        known = [
            any(self._knows(int(thread), other, time) for other, time in self.counted)
            for thread in threads
        ]
        return np.array(known, np.bool_)


class HandedBuffer(DeviceBuffer):
    """An allocation of which a block may read what others handed over."""

    hand_off: HandOff
    handed: Array

    @staticmethod
    def scratch(size: int, hand_off: HandOff, checker: Checker) -> "HandedBuffer":
        """Memory that nothing wrote yet."""
        buffer = HandedBuffer("scratch", np.full(size, POISON, np.uint8), checker)
        buffer.hand_off = hand_off
        buffer.handed = np.zeros(size, np.bool_)
        return buffer

    def start_launch(self) -> None:
        super().start_launch()
        self.handed[:] = False

    def others_write(self, access: Access) -> Array:
        at = access.bytes()
        writes = self.launch_writes[at]
        if access.unordered or not (writes & self.handed[at]).any():
            return writes
        return writes & ~(self.handed[at] & self.hand_off.may_read(access.threads)[:, None])

    def write(self, access: Access, data: Array) -> None:
        super().write(access, data)
        found = access.only(within(access, len(self.data)))
        never = np.full(len(found.threads), -1)
        self.hand_off.written.append(Written(self, found.threads, found.bytes(), never))


class Counters(DeviceBuffer):
    """Counters of blocks, 0 before each call."""

    hand_off: HandOff

    @staticmethod
    def of_blocks(size: int, hand_off: HandOff, checker: Checker) -> "Counters":
        """As the runtime gives them."""
        counters = Counters("counters", np.zeros(size, np.uint8), checker)
        counters.hand_off = hand_off
        return counters

    def read(self, access: Access) -> Array:
        message = "reads a counter, which other blocks change meanwhile"
        self.checker.report(FaultKind.RACE, access.op, message)
        return np.full((len(access.threads), access.size), POISON, np.uint8)

    def write(self, access: Access, data: Array) -> None:
        message = "writes a counter, which other blocks change meanwhile"
        self.checker.report(FaultKind.RACE, access.op, message)

    def count(self, access: Access, last: Array) -> Array:
        """Add 1 to each thread's counter, or make it 0 after `last`; what was there before."""
        valid = inside(access, len(self.data), self.name, self.checker)
        numbers = self.data.view(np.int32)
        before = np.zeros(len(valid), np.int32)
        for which in np.flatnonzero(valid):
            place = int(access.start[which]) // COUNTER_BYTES
            before[which] = numbers[place]
            numbers[place] = 0 if numbers[place] >= last[which] else numbers[place] + 1
            self.hand_off.count(int(access.threads[which]))
        return before
