"""
Flows: groups of threads at one place of the program, which wait and diverge separately.

A kernel starts as one flow of all threads of a cluster. Where some warps take a branch in which
threads wait for each other and some do not, they part: each flow runs to the kernel's end on its
own, one at a time, until it has to wait. The order is always the same.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.decisions.registers import most_registers
from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.clocks import WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.hand_off import HandOff
from mirage_mlir.interpreters.gpu_simulator.previous_grid import PreviousGrid
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory
from mirage_mlir.interpreters.gpu_simulator.transactions import TransactionBarrier
from mirage_mlir.interpreters.gpu_simulator.values import Pending, Pointer, Value

BlockIndex = tuple[int, int, int]


@dataclass(frozen=True)
class Wait:
    """
    Why a flow cannot go on.

    Args:
        op: at which it waits.
        ready: the threads that could go on alone.
        what: it waits for, in words.
    """

    op: Operation
    ready: Array
    what: str


@dataclass
class Iterations:
    """A loop under way: the iteration, where it ends, and the loop."""

    op: scf.ForOp
    numbers: range
    done: int = 0


@dataclass
class Frame:
    """
    A block of operations under way.

    Args:
        steps: its operations with their rules.
        active: the threads that run it.
        position: of the next operation.
        iterations: of the loop whose body it is.
    """

    steps: Sequence[tuple[Rule, Operation]]
    active: Array
    position: int = 0
    iterations: Iterations | None = None


@dataclass
class Prepared:
    """
    What is found out about the operations of a kernel once, not in each cluster.

    Args:
        steps: of each block, its operations with their rules.
        known: operations on values of types that the simulator has.
    """

    steps: dict[Block, list[tuple[Rule, Operation]]] = field(
        default_factory=dict[Block, list[tuple["Rule", Operation]]]
    )
    known: set[Operation] = field(default_factory=set[Operation])


class Flow:
    """
    Threads of a cluster that are at the same place; thread t of block b is number b n + t.

    Flows of a cluster share everything but values and places.

    Args:
        blocks: the indices of the cluster's blocks in the grid, in the order of their ranks.
        shared: their memory, which knows how many threads a block has.
        rules: what each operation does.
        available: the memory that is there before the previous grid has ended; None where the
            kernel starts after that.
        hand_off: what blocks of the launch hand to each other.
        prepared: what earlier clusters of the kernel have found out.
    """

    def __init__(
        self,
        blocks: Sequence[BlockIndex],
        shared: SharedMemory,
        rules: Rules,
        *,
        available: Collection[DeviceBuffer] | None = None,
        hand_off: HandOff | None = None,
        prepared: Prepared | None = None,
    ) -> None:
        self.blocks = blocks
        self.hand_off = hand_off or HandOff()
        self.hand_off.start_block(shared.clocks)
        self.shared = shared
        self.checker = shared.checker
        self.rules = rules
        self.size = shared.threads * len(blocks)
        self.values: dict[SSAValue, Value] = {}
        self.frames: list[Frame] = []
        self.active = np.ones(self.size, np.bool_)
        """Which threads are where the program is now."""
        self.wait: Wait | None = None
        """Why this flow stopped."""
        self.arrived = False
        """Whether its threads are at a barrier for which it waits."""
        self.groups = np.zeros(self.size, np.int64)
        """How many groups of asynchronous copies each thread has closed."""
        self.previous = PreviousGrid(shared, available)
        self.expected: dict[tuple[int, int], int] = {}
        """How many threads each barrier is for at which some wait, by block and number."""
        self.arrivals: dict[tuple[int, int], int] = {}
        """How many threads each barrier has counted that went on, by block and number."""
        self.barrier = np.full(self.size, -1)
        """The number of the barrier at which each thread waits, or -1."""
        self.ended = np.zeros(self.size, np.bool_)
        """Which threads have reached the kernel's end."""
        self.flows = [self]
        """All flows of the cluster that have not ended."""
        self.transactions: dict[tuple[int, int], TransactionBarrier] = {}
        """The transaction barriers, by block and first byte."""
        self.wgmma_fenced = np.zeros(self.size, np.bool_)
        """Whose registers matmuls may use."""
        self.registers: Array = np.full(self.size, int(most_registers(shared.threads)))
        """How many each thread may use: as ptxas takes them for a block, or as it asked for."""
        self.started = np.zeros(self.size, np.int32)
        """When each thread started the last matmul of its warpgroup."""
        self.commits: dict[int, list[int]] = {}
        """When each warpgroup, by its first thread, closed its groups of matmuls."""
        self.prepared = prepared or Prepared()

    @property
    def here(self) -> Array:
        """The numbers of the active threads."""
        return np.flatnonzero(self.active)

    @property
    def ranks(self) -> Array:
        """The block of each thread."""
        return np.arange(self.size, dtype=np.int32) // np.int32(self.shared.threads)

    # Values

    def array(self, value: SSAValue) -> Array:
        """The elements of a scalar or vector."""
        found = self.finished(value)
        assert isinstance(found, np.ndarray)
        return found

    def finished(self, value: SSAValue) -> Value:
        """A value that no warpgroup matmul adds to any more."""
        found = self.values[value]
        if not isinstance(found, Pending):
            return found
        if not self.is_over(found):
            message = "reads the sums of matmuls that may still be under way"
            self.checker.report(FaultKind.INCOMPLETE, self.operation, message)
        return found.value

    def is_over(self, sums: Pending) -> bool:
        """Whether the active threads have waited for the matmuls that add to `sums`."""
        here = self.here
        return bool((self.shared.clocks.matmuls_seen(here) >= sums.stamp[here]).all())

    @property
    def operation(self) -> Operation:
        """What is run now."""
        frame = self.frames[-1]
        return frame.steps[frame.position][1]

    def pointer(self, value: SSAValue) -> Pointer:
        """The addresses of a pointer."""
        found = self.values[value]
        assert isinstance(found, Pointer)
        return found

    def access(
        self, op: Operation, pointer: Pointer, threads: Array, size: int, alignment: int
    ) -> Access:
        """`size` bytes behind the pointers of some threads."""
        blocks = None if pointer.blocks is None else pointer.blocks[threads]
        if isinstance(pointer.memory, DeviceBuffer):
            self.previous.require_over(op, pointer.memory, threads)
        return Access(op, threads, pointer.offset[threads], size, alignment, blocks)

    def filled(self, number: int) -> Array:
        """An i32 that all threads agree on."""
        return np.full(self.size, number, np.int32)

    def uniform(self, op: Operation, value: SSAValue) -> int:
        """An integer that all active threads must agree on."""
        found = self.array(value)[self.active]
        if (found != found[0]).any():
            which = int(np.argmax(found != found[0]))
            names = [self.shared.name_of(int(thread)) for thread in self.here[[0, which]]]
            message = f"has {names[0]} see {found[0]} where {names[1]} sees {found[which]}"
            self.checker.report(FaultKind.DIVERGENCE, op, message)
        return int(found[0])

    # Threads that must be together

    def require_groups(self, op: Operation, size: int) -> Array:
        """Of each `size` threads all must be here, or none; which of these groups are."""
        groups: Array = self.active.reshape(-1, size)
        torn = groups.any(axis=1) & ~groups.all(axis=1)
        if torn.any():
            group = int(np.argmax(torn))
            present, absent = (int(np.argmax(groups[group] == here)) for here in (True, False))
            names = [self.shared.name_of(group * size + thread) for thread in (present, absent)]
            message = f"is reached by {names[0]}, but not by {names[1]}"
            self.checker.report(FaultKind.DIVERGENCE, op, message)
        return np.asarray(groups.any(axis=1))

    def require_warps(self, op: Operation) -> Array:
        """Of each warp all threads must be here, or none; which warps are."""
        return self.require_groups(op, WARP_THREADS)

    def whole_warps(self, threads: Array) -> Array:
        """All threads of the warps of which some are among `threads`."""
        found = threads.reshape(-1, WARP_THREADS).any(axis=1)
        return np.repeat(found, WARP_THREADS)

    # Going on

    def enter(self, block: Block, active: Array, iterations: Iterations | None = None) -> None:
        """Run a block of operations next, by the threads `active`."""
        steps = self.prepared.steps.get(block)
        if steps is None:
            rules = self.rules
            steps = [(rules.get(type(op), refuse), op) for op in block.ops]
            self.prepared.steps[block] = steps
        self.frames.append(Frame(steps, active, iterations=iterations))
        self.active = active

    def leave(self) -> None:
        """Go back to where the present block was entered."""
        self.frames.pop()
        if self.frames:
            self.active = self.frames[-1].active

    def go_on(self) -> bool:
        """Run until the kernel's end, or until the threads wait; whether anything was run."""
        moved, self.wait = False, None
        while self.frames:
            frame = self.frames[-1]
            if frame.position == len(frame.steps):
                self.end_block(frame)
                continue
            rule, op = frame.steps[frame.position]
            self.wait = rule(self, op)
            if self.wait is not None:
                return moved
            frame.position += 1
            moved = True
        return moved

    def end_block(self, frame: Frame) -> None:
        """Take the loop's next iteration, or go back."""
        iterations = frame.iterations
        if iterations is None:
            self.leave()
            return
        _, last = frame.steps[-1]
        values = [self.values[value] for value in last.operands]
        iterations.done += 1
        if iterations.done < len(iterations.numbers):
            self.start_iteration(iterations, values)
            frame.position = 0
        else:
            self.values.update(zip(iterations.op.results, values, strict=True))
            self.leave()

    def start_iteration(self, iterations: Iterations, values: Sequence[Value]) -> None:
        """Give a loop's body the number of its iteration, and what the one before left."""
        number, *carried = iterations.op.body.block.args
        self.values[number] = self.filled(iterations.numbers[iterations.done])
        self.values.update(zip(carried, values, strict=True))

    def part(self, warps: Array) -> None:
        """The threads of `warps` go on without the others, which become a flow of their own."""
        others = copy.copy(self)
        others.values = dict(self.values)
        others.frames = [
            replace(
                frame,
                active=frame.active & ~warps,
                iterations=frame.iterations and replace(frame.iterations),
            )
            for frame in self.frames
        ]
        others.active = others.frames[-1].active
        for frame in self.frames:
            frame.active = frame.active & warps
        self.active = self.frames[-1].active
        self.flows.append(others)


def refuse(flow: Flow, op: Operation) -> None:
    """The rule of operations that have none."""
    raise unsupported(op)


Rule = Callable[[Flow, Operation], Wait | None]

Rules = dict[type[Operation], Rule]
