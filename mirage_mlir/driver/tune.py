"""
Tuning many programs at once: searched, compiled and timed by the workers of an executor.

What one worker finds is remembered before anybody hears of it, so that a run which is ended in the
middle is continued by the next, and what one user has tuned is known to all who share a cache.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.cache import Cache, Key
from mirage_mlir.driver.executor import Executor
from mirage_mlir.driver.kept_search import is_final, search_key, search_read, search_written
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import key_of
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.driver.timer import INTERRUPTED, Handed, Job, Readings, Timer, result_of
from mirage_mlir.driver.timings import Timed, Timings
from mirage_mlir.driver.tune_tasks import (
    Failed,
    OfferText,
    Settled,
    Task,
    TimedText,
    recall,
    search,
    settle,
)
from mirage_mlir.interruption import deferred, requested
from mirage_mlir.progress import Progress
from mirage_mlir.worker import WorkerError

FoundT = TypeVar("FoundT")

PERIOD = 0.2
"""Seconds between two looks at whether somebody has pressed Ctrl-C, or a lock is free."""


@dataclass(frozen=True)
class Tuned:
    """What became of one of several programs."""

    number: int
    """Which of them, from 0."""
    name: str
    settled: Settled | None
    timings: Timings | None = None
    """Of this run; None where the program was known, or nothing was timed."""
    problem: str = ""
    """Why there is no result."""
    complete: bool = True
    """Whether nothing cut it short."""


@dataclass
class Tuner:
    """Tunes programs; the answer does not depend on how many workers there are."""

    executor: Executor
    cache: Cache
    progress: Progress = field(default_factory=Progress)
    stopped: bool = False
    """From an interrupt on: nothing new is begun, what was timed counts."""
    timed: int = 0
    """Candidates so far."""
    done: int = 0
    """Programs so far."""

    def tune(self, tasks: Sequence[Task]) -> Iterator[Tuned]:
        """
        The results as they come; the caller closes the executor.

        After the first Ctrl-C what was timed until then has to do, the second one interrupts.
        """

        async def main(put: Callable[[Tuned], None]) -> None:
            await _Run(self, tasks, put).run()

        with deferred(), self.progress.shown():
            try:
                yield from Handed(main)
            finally:
                self.stop()

    def stop(self) -> None:
        """Begin nothing new."""
        self.stopped = True
        self.executor.cancel_waiting()


def task_of(module: ModuleOp, name: str, options: Options) -> Task:
    """The function `name` of a module, to be tuned."""
    return Task(text_of(alone(function_named(module, name))), name, options)


class _Run:
    def __init__(self, tuner: Tuner, tasks: Sequence[Task], put: Callable[[Tuned], None]) -> None:
        self._tuner = tuner
        self._tasks = tasks
        self._put = put
        # More than there are workers, so that none waits; not all, so that others who share the
        # cache find some that nobody is at.
        workers = len(tuner.executor.computers) + len(tuner.executor.timers)
        self._room = asyncio.Semaphore(workers + 1)

    async def run(self) -> None:
        watch = asyncio.create_task(self._watch())
        await asyncio.gather(*(self._one(number) for number in range(len(self._tasks))))
        watch.cancel()

    async def _watch(self) -> None:
        while not self._tuner.stopped:
            await asyncio.sleep(PERIOD)
            if requested():
                self._tuner.stop()

    async def _one(self, number: int) -> None:
        """Tune a program, or wait until somebody else has."""
        task, tuner = self._tasks[number], self._tuner
        key = key_of(task.program, tuner.executor.name, task.options)
        tuned: Tuned | None = None
        while tuned is None:
            async with self._room:
                tuned = await self._attempt(number, key)
            if tuned is None:
                await asyncio.sleep(PERIOD)
        tuner.done += 1
        self._put(tuned)

    async def _attempt(self, number: int, key: Key) -> Tuned | None:
        """A result; None while another process is at the program."""
        tuner, task = self._tuner, self._tasks[number]
        if tuner.stopped:
            return Tuned(number, task.name, None, None, INTERRUPTED, complete=False)
        if (known := await self._known(number, key)) is not None:
            return known
        with tuner.cache.try_lock(key) as mine:
            if not mine:
                return None
            # Somebody may have tuned it while we waited.
            if (known := await self._known(number, key)) is not None:
                return known
            try:
                return await self._tuned(number, key)
            except WorkerError as error:
                return Tuned(number, task.name, None, None, str(error), complete=not tuner.stopped)

    async def _known(self, number: int, key: Key) -> Tuned | None:
        tuner, task = self._tuner, self._tasks[number]
        entry = tuner.cache.get(key)
        if entry is None:
            return None
        try:
            call = tuner.executor.compute(recall, task, entry.get("offers"))
            result: Settled | Failed | None = await result_of(call)
        except WorkerError:
            return None
        return Tuned(number, task.name, result) if isinstance(result, Settled) else None

    async def _tuned(self, number: int, key: Key) -> Tuned:
        """Search, time, verify, compile, remember."""
        tuner, task = self._tuner, self._tasks[number]
        found = await self._candidates(task)
        if isinstance(found, Failed):
            return Tuned(number, task.name, None, None, found.problem)
        timings = await self._timings(task, found)
        timed = [
            TimedText.of(text, one) for text, one in zip(found, timings.candidates, strict=True)
        ]
        call = tuner.executor.compute(settle, task, timings.device, timings.seconds, timed)
        settled: Settled | Failed = await result_of(call)
        whole = not tuner.stopped
        if isinstance(settled, Failed):
            return Tuned(number, task.name, None, timings, settled.problem, whole)
        if whole:
            fields = [one.fields() for one in timings.candidates]
            tuner.cache.put(key, {"offers": dict(settled.offers), "candidates": fields})
        return Tuned(number, task.name, settled, timings, complete=whole)

    async def _candidates(self, task: Task) -> list[OfferText] | Failed:
        """Those that a run which was ended had found, or else a search."""
        tuner, key = self._tuner, search_key(task)
        if (known := await self._kept(task, tuner.cache.get(key))) is not None:
            return known
        found = await self._unless_stopped(tuner.executor.compute(search, task, later=True))
        if not isinstance(found, Failed) and is_final(found):
            tuner.cache.put(key, search_written(found))
        return found

    async def _kept(self, task: Task, entry: object) -> list[OfferText] | None:
        if entry is None:
            return None
        try:
            call = self._tuner.executor.compute(search_read, task, entry)
            return await self._unless_stopped(call)
        except WorkerError:
            if self._tuner.stopped:
                raise
            return None

    async def _unless_stopped(self, call: Future[FoundT]) -> FoundT:
        """The result of a call that may take minutes, which nobody waits for after an interrupt."""
        waiting = asyncio.ensure_future(result_of(call))
        while not (await asyncio.wait([waiting], timeout=PERIOD))[0]:
            if self._tuner.stopped:
                waiting.cancel()
                raise WorkerError(INTERRUPTED)
        return waiting.result()

    async def _timings(self, task: Task, found: Sequence[OfferText]) -> Timings:
        tuner, options = self._tuner, task.options
        # Not parsed here, where the work of all workers comes together.
        timed = [Timed(text.search) for text in found]
        jobs = [Job(text.function, task.name, options.target, options.pack) for text in found]
        best = inf

        def noted(timed: Timed) -> None:
            nonlocal best
            best = min(best, timed.microseconds)
            tuner.timed += 1
            shown = f"; @{task.name}: best so far {best:.1f} us" if isfinite(best) else ""
            tuner.progress.now(
                f"{tuner.timed} candidates timed, {tuner.done} of {len(self._tasks)} programs "
                f"done{shown}"
            )

        readings = Readings(tuner.cache, tuner.executor.name)
        return await Timer(tuner.executor, readings, noted).timings(task.program, timed, jobs)
