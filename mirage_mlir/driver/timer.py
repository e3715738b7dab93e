"""From candidates for a program to their times, by the workers of an executor."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects import func

from mirage_mlir.driver.bench import Reading, Subject
from mirage_mlir.driver.cache import Cache, Key
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.executor import Executor
from mirage_mlir.driver.source import alone, parse_program, text_of
from mirage_mlir.driver.timings import Timed, Timings, ranking
from mirage_mlir.worker import WorkerError

ResultT = TypeVar("ResultT")

FINALISTS, UNSURE = 8, 1.25
"""So many of the fastest, as far as their first times are no more than this apart, are timed again,
interleaved, and with them what the model puts first: large kernels run faster on a card that has
cooled down while the one before was checked. Of 13 matmuls of 2048 by 8192 on an H200 the four that
were fastest at first took 5 to 16 % longer than the fastest of all when they were interleaved."""

INTERRUPTED = "was not timed before the interrupt"


@dataclass(frozen=True)
class Job:
    """One candidate to compile."""

    candidate: str
    name: str
    target: str
    pack: bool = False


def compile_candidate(job: Job) -> CompiledFunction:
    """The candidate as machine code."""
    candidate = parse_program(job.candidate, f"{job.name}.candidate")
    return compile_function(candidate, job.name, job.target, pack=job.pack)


def jobs_for(reference: func.FuncOp, found: Sequence[Offer], target: str, pack: bool) -> list[Job]:
    """What `compile_candidate` does with candidates for `reference`."""
    name = reference.sym_name.data
    return [Job(text_of(alone(offer.function, name)), name, target, pack) for offer in found]


# Readings that are remembered


@dataclass(frozen=True)
class Readings:
    """What was found on one sort of GPU about single candidates, also by a run that was ended."""

    cache: Cache
    device: str

    def key(self, program: str, job: Job) -> Key:
        """What a reading depends on."""
        return Key(program, self.device, {"reading": asdict(job)})

    def get(self, program: str, job: Job) -> Reading | None:
        """What was found before."""
        entry = self.cache.get(self.key(program, job)) or {}
        numbers = [entry.get(name) for name in ("error", "tolerance", "microseconds")]
        if not all(isinstance(number, float) for number in numbers):
            return None
        return Reading(*cast(list[float], numbers))

    def put(self, program: str, job: Job, reading: Reading) -> None:
        """Remember it."""
        self.cache.put(self.key(program, job), asdict(reading))


# Timing


async def result_of(future: Future[ResultT]) -> ResultT:
    """What a call gives; raises `WorkerError` where there is nothing, also if it was forgotten."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError as error:
        raise WorkerError(INTERRUPTED) from error


Noted = Callable[[Timed], None]
"""Takes each candidate as soon as it was timed, or cannot be."""


def ignore(timed: Timed) -> None:
    """For those who wait for all."""


@dataclass(frozen=True)
class Timer:
    """Compiles, checks and times candidates."""

    executor: Executor
    readings: Readings
    noted: Noted = ignore

    async def timings(
        self,
        program: str,
        timed: Sequence[Timed],
        jobs: Sequence[Job],
        compiled: Mapping[int, Future[CompiledFunction]] | None = None,
    ) -> Timings:
        """
        Times of candidates for `program`.

        Args:
            program: its text.
            timed: the candidates, in the order of the model; what is found is written there.
            jobs: how each is compiled.
            compiled: what is compiled already, by number.
        """
        start = perf_counter()
        work = _Work(self, program, jobs, dict(compiled or {}))
        await asyncio.gather(*(work.read(number, one) for number, one in enumerate(timed)))
        await work.compare(timed)
        return Timings(self.executor.name, tuple(timed), perf_counter() - start)


@dataclass(frozen=True)
class _Work:
    """One program on its way."""

    timer: Timer
    program: str
    jobs: Sequence[Job]
    compiled: dict[int, Future[CompiledFunction]]

    async def compile(self, number: int, one: Timed) -> None:
        if number not in self.compiled:
            call = self.timer.executor.compute(compile_candidate, self.jobs[number])
            self.compiled[number] = call
        one.compiled = await result_of(self.compiled[number])

    def subject(self, one: Timed) -> Subject:
        assert one.compiled is not None
        return Subject(self.program, self.jobs[0].name, one.compiled.inputs)

    async def read(self, number: int, one: Timed) -> None:
        """Whether a candidate is right, and its time."""
        timer, job = self.timer, self.jobs[number]
        reading = timer.readings.get(self.program, job)
        try:
            if reading is None:
                await self.compile(number, one)
                reading = await self._measured(one)
                # Before anybody hears of it: what was said once is known to the next run.
                timer.readings.put(self.program, job, reading)
            one.take(reading)
        except WorkerError as error:
            one.problem = str(error)
        timer.noted(one)

    async def _measured(self, one: Timed) -> Reading:
        try:
            call = self.timer.executor.read(self.subject(one), one.trial())
            return await result_of(call)
        except WorkerError as error:
            if str(error) == INTERRUPTED:
                raise
            raise WorkerError(f"went wrong on the GPU: {error}") from error

    async def compare(self, timed: Sequence[Timed]) -> None:
        """Time the fastest again, interleaved, on one GPU."""
        order = ranking([one.microseconds for one in timed])
        if not order:
            return
        near = UNSURE * timed[order[0]].microseconds
        unsure = [number for number in order[:FINALISTS] if timed[number].microseconds <= near]
        best = {*unsure, min(order)}
        if len(best) < 2:
            return
        try:
            # In the order of the model: the clock drifts in one direction.
            finalists = [timed[number] for number in sorted(best)]
            for number in sorted(best):
                await self.compile(number, timed[number])
            call = self.timer.executor.compare(
                self.subject(finalists[0]), [one.trial() for one in finalists]
            )
            times = await result_of(call)
        except WorkerError:
            # Each of them ran before: what was read then must do.
            return
        for one, microseconds in zip(finalists, times, strict=True):
            one.microseconds, one.compared = microseconds, True


# Coroutines for those who are none


class Handed(Generic[ResultT]):
    """What a coroutine, in a thread of its own, hands over as it goes on."""

    def __init__(self, main: Callable[[Callable[[ResultT], None]], Coroutine[Any, Any, None]]):
        """Start `main`, which is given a function that takes what is handed over."""
        self._results: SimpleQueue[ResultT | _End] = SimpleQueue()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run, main), daemon=True)
        self._thread.start()

    def _run(self, main: Callable[[Callable[[ResultT], None]], Coroutine[Any, Any, None]]) -> None:
        error: BaseException | None = None
        try:
            asyncio.run(main(self._results.put))
        # Raised again where the results are read.
        except BaseException as raised:
            error = raised
        self._results.put(_End(error))

    def __iter__(self) -> Iterator[ResultT]:
        """What is handed over, until the end."""
        while not isinstance(result := self._results.get(), _End):
            yield result
        self._thread.join()
        if result.error is not None:
            raise result.error


@dataclass(frozen=True)
class _End:
    error: BaseException | None


def finished(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """The result of a coroutine, also for callers who have an event loop."""

    async def main(put: Callable[[ResultT], None]) -> None:
        put(await coroutine)

    (result,) = Handed(main)
    return result
