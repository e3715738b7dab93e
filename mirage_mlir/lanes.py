"""
Calls spread over workers, here or on other machines.

Each worker makes one call at a time; what a lost one was at is done again by another.
"""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from mirage_mlir.worker import Worker, WorkerError, WorkerLost

ATTEMPTS = 3
"""How often a call is made whose worker is lost each time: it may be the call that ends it."""


class Lane(Protocol):
    """A worker as those see it who have calls to make; it is used by one thread at a time."""

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """
        What `function`, which is at the top level of a module, returns there.

        Raises:
            WorkerLost: the worker was lost; another one may have more luck.
            WorkerError: there is no result.
        """
        ...

    def restart(self) -> None:
        """
        Be ready again after a loss; this may wait until there is a place for it.

        Raises:
            WorkerError: there will be none.
        """
        ...

    def close(self) -> None:
        """End; also while another thread is in `call` or `restart`, which then raise or return."""
        ...


class ProcessLane:
    """A process of this machine that shares its cores with others."""

    def __init__(self) -> None:
        self._worker = Worker(threads=1)

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """As `Lane.call`."""
        return self._worker.call(None, function, *arguments)

    def restart(self) -> None:
        """The next call starts a process."""

    def close(self) -> None:
        """End the process."""
        self._worker.close()


@dataclass(eq=False)
class _Call:
    function: Callable[..., Any]
    arguments: tuple[object, ...]
    order: tuple[int, int]
    """Smaller ones first."""
    near: Hashable
    future: Future[Any] = field(default_factory=Future[Any])
    attempts: int = 0


class Lanes:
    """
    Calls that wait for a worker.

    Those that are near one another, of one program say, go to one worker where that costs no other
    worker its work: what it prepared for the first serves the next.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = list(lanes)
        self._waiting: list[_Call] = []
        self._at: dict[int, Hashable] = {}
        """What each lane is at, or was last."""
        self._changed = threading.Condition()
        self._closed = False
        self._count = 0
        self._started = 0
        self._retired = 0
        self._none_left: WorkerError | None = None
        """Why no lane serves any more."""

    def __len__(self) -> int:
        return len(self._lanes)

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: object,
        priority: int = 0,
        near: Hashable = None,
    ) -> Future[Any]:
        """The result to come; calls of a smaller `priority` are made first."""
        with self._changed:
            self._count += 1
            call = _Call(function, arguments, (priority, self._count), near)
            if self._closed:
                call.future.cancel()
                return call.future
            if self._none_left is not None:
                call.future.set_exception(self._none_left)
                return call.future
            self._waiting.append(call)
            self._changed.notify()
            self._start_one()
        return call.future

    def _start_one(self) -> bool:
        """One lane more, if there is one; whoever calls it has the lock."""
        if self._started == len(self._lanes):
            return False
        # Daemons: a lane that waits for another machine does not keep the program.
        arguments = self._started, self._lanes[self._started]
        threading.Thread(target=self._serve, args=arguments, daemon=True).start()
        self._started += 1
        return True

    def cancel_waiting(self) -> None:
        """Forget the calls that no worker has begun."""
        with self._changed:
            forgotten, self._waiting = self._waiting, []
        for call in forgotten:
            # One that is made again after a loss is running, as futures see it.
            if not call.future.cancel():
                call.future.set_exception(WorkerLost("it was interrupted"))

    def close(self) -> None:
        """End the workers; calls that are under way fail, others are not begun."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.cancel_waiting()
        for lane in self._lanes:
            lane.close()

    def _serve(self, number: int, lane: Lane) -> None:
        while (call := self._next(number)) is not None:
            if call.attempts == 0 and not call.future.set_running_or_notify_cancel():
                continue
            call.attempts += 1
            try:
                call.future.set_result(lane.call(call.function, *call.arguments))
            except WorkerLost as error:
                self._lost(call, error)
                try:
                    lane.restart()
                except WorkerError as final:
                    self._retire(final)
                    return
            # Also what is no WorkerError: whoever waits must not wait for ever.
            except Exception as error:
                call.future.set_exception(error)

    def _lost(self, call: _Call, error: WorkerLost) -> None:
        with self._changed:
            if call.attempts < ATTEMPTS and not self._closed:
                self._waiting.append(call)
                self._changed.notify()
                return
        call.future.set_exception(WorkerError(str(error)))

    def _retire(self, error: WorkerError) -> None:
        """One lane less; behind the last of them nobody waits for ever."""
        with self._changed:
            self._retired += 1
            if self._retired < self._started or self._start_one():
                self._changed.notify()
                return
            self._none_left = error
            left, self._waiting = self._waiting, []
        for call in left:
            if call.attempts or call.future.set_running_or_notify_cancel():
                call.future.set_exception(error)

    def _next(self, number: int) -> _Call | None:
        """The next call for a lane; None at the end."""
        with self._changed:
            while not self._waiting:
                if self._closed:
                    return None
                self._changed.wait()
            mine = self._at.get(number)
            busy = Counter(at for lane, at in self._at.items() if lane != number)

            def rank(call: _Call) -> tuple[int, bool, int, int]:
                priority, count = call.order
                return priority, call.near is None or call.near != mine, busy[call.near], count

            call = min(self._waiting, key=rank)
            self._waiting.remove(call)
            self._at[number] = call.near
            return call
