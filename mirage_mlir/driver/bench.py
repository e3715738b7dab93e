"""
Which of several kernels for one program are right, and how long they take, on a GPU.

Right means: on fresh random inputs the result, in memory that held NaN before, is as near to that
of float64 as the program itself is when each operator rounds. Times are of CUDA graphs of calls
that rotate over input sets which together are far larger than L2, so that a call reads its inputs
from device memory, as a layer of a model does.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func

from mirage_mlir.driver.encoding import decode_tensor, encode, size_in_bytes
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.artifact import TargetCode, TensorSpec
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.stopwatch import Call, Loaded, Stopwatch

Reference = Callable[[Sequence[AnyArray]], Sequence[AnyArray]]

CHECKS = 2
"""Fresh inputs on which each kernel is compared with float64."""

MANY_ELEMENTS = 1 << 25
"""Elements of the inputs above which one check must do: float64 on the host takes seconds then."""

AS_GOOD = 4.0
"""How much more than the program, run operator by operator, a kernel may be off: another order of
sums moves the error by less than twice in all our workloads."""

TOLERANCE = {ElementType.F16: 5e-4, ElementType.BF16: 4e-3, ElementType.F32: 1e-5}
"""The relative error in the 2-norm that is right whatever the program's own error is."""

SETS_OVER_L2 = 4
"""Input sets together are this many times L2."""

MOST_SETS = 128
"""Input sets of a small program: beyond it memory is not the matter."""

CALLS = 20
"""The fewest calls in a graph: with fewer the launch of the graph itself shows."""

POOL = 1 << 22
"""Random numbers that larger inputs and those of timed calls are cut from."""


@dataclass(frozen=True)
class Subject:
    """A program, and what its kernels take."""

    program: str
    """MLIR text."""
    name: str
    """Of the function in it."""
    inputs: tuple[TensorSpec, ...]
    reference: Reference | None = None
    """Computes the outputs in float64; the interpreter does where it is None."""


@dataclass(frozen=True)
class Trial:
    """One kernel for the program: machine code, and the tensors that it writes."""

    code: TargetCode
    outputs: tuple[TensorSpec, ...]


@dataclass(frozen=True)
class Reading:
    """What was found about a trial."""

    error: float
    """`||y - r|| / ||r||`, the worst of all outputs and checks; NaN where the kernel gives
    one and the program a number."""
    tolerance: float
    """The error that is right."""
    microseconds: float

    @property
    def right(self) -> bool:
        """Whether the kernel computes the program."""
        return self.error <= self.tolerance


@dataclass(frozen=True)
class _Check:
    """Inputs as they lie in memory, and what belongs to them."""

    inputs: tuple[bytes, ...]
    arrays: tuple[AnyArray, ...]
    references: tuple[AnyArray, ...]


def relative_error(result: AnyArray, reference: AnyArray) -> float:
    """
    `||result - reference|| / ||reference||` in float64, of the elements that the reference has.

    The program itself has none where it is the logarithm of a negative number, say.
    """
    wide = reference.astype(np.float64)
    known = np.isfinite(wide)
    wide = wide[known]
    scale = float(np.linalg.norm(wide))
    return float(np.linalg.norm(result.astype(np.float64)[known] - wide)) / (scale or 1.0)


def _badness(pair: tuple[float, float]) -> float:
    """How many times an error is what it may be; NaN is worse than all numbers."""
    error, allowed = pair
    return math.inf if math.isnan(error) else error / allowed


def spread_of(spec: TensorSpec) -> float:
    """
    The standard deviation of a random input.

    Weights of a product are scaled by their depth, so that results are near 1.
    """
    if spec.constant and len(spec.shape) > 1:
        return spec.shape[-2] ** -0.5
    return 1.0


class Bench:
    """Kernels for one program on one device."""

    def __init__(self, subject: Subject, stopwatch: Stopwatch) -> None:
        self.subject = subject
        self.stopwatch = stopwatch
        # Not seeded: a kernel that is right for some inputs only must not stay unseen.
        self._random = np.random.default_rng()
        self._kept: list[int] = []
        """Memory that is held until the end."""
        self._pools: dict[tuple[ElementType, float], int] = {}
        """Random numbers on the device, by their type and spread."""

    def prepare(self) -> None:
        """Compute the references now."""
        assert self._checks

    def close(self) -> None:
        """Give the memory of the inputs back."""
        for address in (*self._kept, *self._pools.values()):
            self.stopwatch.free(address)
        self._kept.clear()
        self._pools.clear()

    def device(self) -> str:
        """The name of the device."""
        return self.stopwatch.name

    def read(self, trial: Trial, replays: int) -> Reading:
        """Check a trial, and time it where it is right; raises `CudaError` where it goes wrong."""
        loaded = self.stopwatch.load(trial.code)
        found = [pair for check in self._checks for pair in self._check(trial, loaded, check)]
        worst, allowed = max(found, key=_badness)
        if not worst <= allowed:
            return Reading(worst, allowed, math.inf)
        (microseconds,) = self.compare([trial], 1, replays)
        return Reading(worst, allowed, microseconds)

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        """
        The median time of a call of each trial, in microseconds, all timed in turn.

        Each call starts as behind kernels of another library.
        """
        memory: list[int] = []
        loaded = [self.stopwatch.load(trial.code.behind_others()) for trial in trials]
        pairs = zip(trials, loaded, strict=True)
        calls = [self._rotation(trial, code, memory) for trial, code in pairs]
        count = self._calls
        times = self.stopwatch.times(calls, rounds, replays)
        for code in loaded:
            code.release()
        for address in memory:
            self.stopwatch.free(address)
        return [statistics.median(found) / count for found in times]

    # Checking

    @cached_property
    def _checks(self) -> list[_Check]:
        elements = sum(prod(spec.shape) for spec in self.subject.inputs)
        return [self._new_check() for _ in range(CHECKS if elements <= MANY_ELEMENTS else 1)]

    @cached_property
    def _function(self) -> func.FuncOp:
        name = self.subject.name
        return function_named(parse_program(self.subject.program, name), name)

    def _new_check(self) -> _Check:
        subject = self.subject
        values = [self._draw(spec) for spec in subject.inputs]
        memory = [
            encode(array, spec.element_type)
            for array, spec in zip(values, subject.inputs, strict=True)
        ]
        # What was rounded on the way into memory is the input.
        arrays = [
            decode_tensor(data, spec) for data, spec in zip(memory, subject.inputs, strict=True)
        ]
        if subject.reference is not None:
            references = subject.reference(arrays)
        else:
            references = run_function(self._function, arrays, rounding=False)
        return _Check(tuple(memory), tuple(arrays), tuple(references))

    def _allowed(self, check: _Check, number: int, error: float, least: float) -> float:
        """The error that is right for output `number`, where `least` always is."""
        if not error > least:
            return least
        rounded = run_function(self._function, check.arrays)[number]
        return max(least, AS_GOOD * relative_error(rounded, check.references[number]))

    def _draw(self, spec: TensorSpec) -> NDArray[np.float32]:
        size = prod(spec.shape)
        values = self._random.standard_normal(min(size, POOL), np.float32)
        return np.resize(values * np.float32(spread_of(spec)), spec.shape)

    def _check(self, trial: Trial, loaded: Loaded, check: _Check) -> list[tuple[float, float]]:
        """The error of each output, and what it may be."""
        watch = self.stopwatch
        inputs = [self._placed(data) for data in check.inputs]
        outputs = [watch.allocate(size_in_bytes(spec)) for spec in trial.outputs]
        for address, spec in zip(outputs, trial.outputs, strict=True):
            watch.poison(address, size_in_bytes(spec))
        scratch = self._scratch(trial.code)
        watch.run(lambda stream: loaded.launch(inputs, outputs, scratch[0], stream))
        loaded.release()
        results = [
            decode_tensor(watch.download(address, size_in_bytes(spec)), spec)
            for address, spec in zip(outputs, trial.outputs, strict=True)
        ]
        for address in (*inputs, *outputs, *scratch[1:]):
            watch.free(address)
        errors = list(map(relative_error, results, check.references))
        return [
            (error, self._allowed(check, number, error, TOLERANCE[spec.element_type]))
            for number, (error, spec) in enumerate(zip(errors, trial.outputs, strict=True))
        ]

    def _placed(self, data: bytes) -> int:
        """The address of new memory that holds `data`."""
        address = self.stopwatch.allocate(len(data))
        self.stopwatch.upload(address, data)
        return address

    def _scratch(self, code: TargetCode) -> tuple[int, ...]:
        """The address of scratch memory, and once more what has to be freed."""
        if not code.scratch_bytes:
            return (0,)
        address = self.stopwatch.allocate(code.scratch_bytes)
        self.stopwatch.poison(address, code.scratch_bytes)
        return address, address

    # Timing

    def _rotation(self, trial: Trial, loaded: Loaded, memory: list[int]) -> Call:
        """Calls that rotate over the input sets; what they write is noted in `memory`."""
        outputs: list[list[int]] = []
        for _ in self._sets:
            written = [self.stopwatch.allocate(size_in_bytes(spec)) for spec in trial.outputs]
            memory += written
            outputs.append(written)
        scratch = self._scratch(trial.code)
        memory += scratch[1:]

        def calls(stream: int) -> None:
            for number in range(self._calls):
                which = number % len(self._sets)
                loaded.launch(self._sets[which], outputs[which], scratch[0], stream)

        return calls

    @property
    def _calls(self) -> int:
        """Calls in a graph: each input set equally often."""
        return math.ceil(CALLS / len(self._sets)) * len(self._sets)

    @cached_property
    def _sets(self) -> list[list[int]]:
        """Addresses of the inputs of each set, filled with random numbers."""
        sizes = [size_in_bytes(spec) for spec in self.subject.inputs]
        wanted = math.ceil(SETS_OVER_L2 * self.stopwatch.l2_bytes / max(1, sum(sizes)))
        sets: list[list[int]] = []
        for _ in range(min(MOST_SETS, max(2, wanted))):
            sets.append([self.stopwatch.allocate(size) for size in sizes])
            self._kept += sets[-1]
            for address, spec in zip(sets[-1], self.subject.inputs, strict=True):
                self._fill(address, spec)
        return sets

    def _fill(self, address: int, spec: TensorSpec) -> None:
        """Fill a tensor with numbers from a pool, starting somewhere in it."""
        key = spec.element_type, spread_of(spec)
        if key not in self._pools:
            numbers = self._random.standard_normal(POOL, np.float32) * np.float32(key[1])
            self._pools[key] = self._placed(encode(numbers, spec.element_type))
        size, pool_size = size_in_bytes(spec), POOL * spec.element_type.itemsize
        start = int(self._random.integers(POOL)) * spec.element_type.itemsize
        done = 0
        while done < size:
            part = min(size - done, pool_size - start)
            self.stopwatch.copy(self._pools[key] + start, address + done, part)
            done, start = done + part, 0
