"""
Python processes that call functions for us, and may crash or hang while they do.

They are started from the command line, not by `multiprocessing`: that would run the user's main
program in each of them once more. What goes in and out is pickled, functions by their names.
"""

import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, BinaryIO, ParamSpec, TypeVar, cast

from mirage_mlir.garbage import process_of_ours

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""For processes that share the cores: threads of several would only disturb one another."""


class WorkerError(Exception):
    """A call did not return: the process ended, or took too long, or the function raised."""


class WorkerLost(WorkerError):
    """The process ended, or cannot be reached any more: another one may return."""


class Worker:
    """One process, started when it is first needed, and again after it was lost."""

    def __init__(self, *, threads: int | None = None) -> None:
        """With at most so many `threads` of BLAS; without, what its libraries take."""
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self.started = 0
        """How many processes there were: a new one remembers nothing of the calls before."""

    def call(
        self,
        patience: float | None,
        function: Callable[P, ResultT],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> ResultT:
        """
        The result of `function`, which is at the top level of a module, called in the process.

        Args:
            patience: seconds after which the process is killed; for ever where None.
            function: what to call; it, its arguments and its result can be pickled.
            arguments: by position.
            named: by name.

        Raises:
            WorkerError: there is no result.
        """
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((function, arguments, named), process.stdin)
            process.stdin.flush()
            if not select.select([process.stdout], [], [], patience)[0]:
                raise WorkerError(f"it was not done after {patience:.0f} seconds")
            done, answer = cast(tuple[bool, Any], pickle.load(process.stdout))
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            # The last of them where it was killed in the middle of its answer.
            self.close()
            raise WorkerLost("it ended the process that ran it") from error
        except BaseException:
            # Also on Ctrl-C: a late answer must not be taken for that to the next question.
            self.close()
            raise
        if not done:
            raise WorkerError(cast(str, answer))
        return cast(ResultT, answer)

    @property
    def running(self) -> bool:
        """Whether there is a process that may remember earlier calls."""
        return self._process is not None

    def _start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        environment = {**os.environ, "PYTHONPATH": path}
        if self._threads is not None:
            environment |= dict.fromkeys(THREADS, str(self._threads))
        self.started += 1
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mirage_mlir.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with process:
                # Closes the pipes and waits; what was not flushed has nobody to go to.
                process.stdin, stdin = None, process.stdin
                _close_quietly(stdin)


def _close_quietly(pipe: object) -> None:
    try:
        cast(BinaryIO, pipe).close()
    except BrokenPipeError:
        pass


class Workers:
    """Several processes that share the cores."""

    def __init__(self, count: int) -> None:
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._all = [Worker(threads=1) for _ in range(count)]
        for worker in self._all:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count)

    def map(
        self, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]
    ) -> Iterator[ResultT | WorkerError]:
        """What `function` returns for each of `items`, in their order, or why it does not."""

        def call(item: ItemT) -> ResultT | WorkerError:
            try:
                return self._call(function, item)
            except WorkerError as error:
                return error

        return self._threads.map(call, items)

    def submit(self, function: Callable[[ItemT], ResultT], item: ItemT) -> Future[ResultT]:
        """What `function` is going to return for `item`, or the `WorkerError`."""
        return self._threads.submit(self._call, function, item)

    def _call(self, function: Callable[[ItemT], ResultT], item: ItemT) -> ResultT:
        worker = self._idle.get()
        try:
            return worker.call(None, function, item)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End the processes; calls that are under way fail, others are not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._all:
            worker.close()


@contextmanager
def workers(count: int) -> Generator[Workers]:
    """Processes that are ended at the end of the `with` block."""
    pool = Workers(count)
    try:
        yield pool
    finally:
        pool.close()


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Call what is asked for until there are no more questions."""
    while True:
        try:
            function, arguments, named = pickle.load(questions)
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = True, function(*arguments, **named)
        except Exception as error:
            # As text: those of other packages may hold what cannot be pickled.
            answer = False, f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


def _main() -> None:
    # Whatever prints to standard output must not end up between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C on a terminal is for whoever asks: they end this process, or wait for an answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with process_of_ours():
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
