"""
Workers in a Ray cluster: searches and compiles are its tasks, each GPU belongs to an actor.

Ray is optional, and untyped here. All nodes need the same mirage_mlir; they answer with what they
found or with text, so that no exception of one version has to be read by another.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mirage_mlir.diagnostics import general_remark
from mirage_mlir.driver.cache import code_version
from mirage_mlir.driver.executor import Benches, Executor
from mirage_mlir.driver.machine import Machine
from mirage_mlir.lanes import Lane, Lanes
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.worker import WorkerError, WorkerLost

MachineOf = Callable[[str], Machine]
"""The GPU of the process that calls it, for what was searched for a target."""

READY = 300.0
"""
Seconds that the GPUs of a cluster have to become free, where one is. The processes that wait there
have to start, too: over a minute each on a machine whose cores are busy.
"""

PERIOD = 0.2
"""Seconds between two looks at whether we are closed."""

MOST_TASKS = 512
"""Searches and compiles at a time: each has a thread here that waits."""

MISSING = "a Ray cluster needs Ray: pip install 'mirage_mlir[ray]'"


LOST = "the Ray cluster was lost"


class ClusterLost(WorkerError):
    """Nothing can be asked of the cluster any more."""


class RayError(Exception):
    """Ray is not installed, or no cluster answers."""


def ray_module() -> Any:
    """Ray; raises `RayError` where it is not installed."""
    if find_spec("ray") is None:
        raise RayError(MISSING)
    try:
        return import_module("ray")
    except ImportError as error:
        raise RayError(f"{MISSING} ({error})") from error


# On the nodes


def called(version: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Whether a call was successful, and what it gave or why it did not."""
    if version != code_version():
        return False, "a node of the cluster has another version of mirage_mlir"
    try:
        return True, function(*arguments)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


class GpuActor:
    """Has one GPU, which Ray chose."""

    def __init__(self, machine: MachineOf, target: str) -> None:
        self._machine = machine
        self._target = target
        self._benches: Benches | None = None

    def device(self, version: str) -> Any:
        """The name of the GPU, as `called` has it."""
        done, found = called(version, self._machine, [self._target])
        if not done:
            return False, found
        self._benches = Benches(found)
        return True, found.name

    def call(self, version: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Call a function with the benches of the GPU, and the arguments."""
        return called(version, function, [self._benches, *arguments])


# Here


class _Waiting:
    """Waits for what comes from a node, unless it is closed."""

    def __init__(self) -> None:
        self._ray = ray_module()
        self._closed = threading.Event()

    def _answer(self, ask: Callable[[], Any]) -> Any:
        """
        What `called` returned; `ask` gives what it is found by.

        Raises:
            ClusterLost: the client server does not answer.
            WorkerLost: nothing came.
            WorkerError: the call failed.
        """
        self._check_connected()
        try:
            done, answer = self._awaited(ask())
        except self._ray.exceptions.RayTaskError as error:
            raise WorkerError(str(error)) from error
        except ConnectionError as error:
            raise ClusterLost(f"{LOST}: {error}") from error
        # ValueError where the client server has forgotten what was asked.
        except (self._ray.exceptions.RayError, ValueError) as error:
            self._check_connected()
            raise WorkerLost(f"its worker in the cluster was lost: {error}") from error
        if not done:
            raise WorkerError(str(answer))
        return answer

    def _awaited(self, reference: Any) -> Any:
        ready: list[Any] = []
        while not ready:
            ready, _ = self._ray.wait([reference], timeout=PERIOD)
            # Also where it is there: whoever closes us may shut Ray down.
            if self._closed.is_set():
                raise WorkerError("it was not waited for")
            self._check_connected()
        return self._ray.get(reference)

    def _check_connected(self) -> None:
        """Asked without a connection, Ray would start a cluster of its own."""
        if not self._ray.is_initialized():
            raise ClusterLost(LOST)


class TaskLane(_Waiting):
    """One CPU of the cluster."""

    def __init__(self) -> None:
        super().__init__()
        self._task = self._ray.remote(num_cpus=1, max_retries=0)(called)

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """As `Lane.call`."""
        return self._answer(lambda: self._task.remote(code_version(), function, arguments))

    def restart(self) -> None:
        """Ray finds another process."""

    def close(self) -> None:
        """
        Wait no longer.

        What is running ends by itself: Ray 2 may abort the whole process where a task that it
        cancels ends at the same time ("Tried to complete task that was not pending").
        """
        self._closed.set()


class ActorLane(_Waiting):
    """One GPU of the cluster."""

    def __init__(self, machine: MachineOf, target: str) -> None:
        super().__init__()
        self._made = machine, target
        self._actor: Any = None
        self.device = ""
        """The name of the GPU, once it is known."""

    def start(self) -> Any:
        """Ask for a GPU; what the answer of `GpuActor.device` will be found by."""
        actor = self._ray.remote(num_gpus=1, num_cpus=0)(GpuActor)
        self._actor = actor.remote(*self._made)
        return self._actor.device.remote(code_version())

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """As `Lane.call`, with the benches of the GPU."""
        return self._answer(lambda: self._actor.call.remote(code_version(), function, arguments))

    def settle(self, answer: Any) -> None:
        """Note the name of the GPU; raises `WorkerError`."""
        self.device = self._answer(lambda: answer)

    def restart(self) -> None:
        """Get another GPU of the same name, as soon as one is free; raises `ClusterLost`."""
        while not self._closed.is_set():
            self._end()
            try:
                if self._answer(self.start) == self.device:
                    return
            except ClusterLost:
                raise
            except WorkerError:
                pass
            self._closed.wait(PERIOD)

    def close(self) -> None:
        """Give the GPU back."""
        self._closed.set()
        self._end()

    def _end(self) -> None:
        if self._actor is not None:
            with suppress(ClusterLost, ConnectionError, ValueError):
                self._check_connected()
                self._ray.kill(self._actor)


def ray_executor(machine: MachineOf, target: str) -> Executor:
    """
    The CPUs and GPUs of the cluster that this process is connected with.

    Args:
        machine: called where the GPUs are.
        target: the GPU that was searched for.

    Raises:
        CudaError: no GPU of the cluster can run code for `target`.
    """
    resources: dict[str, float] = ray_module().cluster_resources()
    gpus, cpus = (int(resources.get(name, 0)) for name in ("GPU", "CPU"))
    if not gpus:
        raise CudaError("profiling needs a GPU: the Ray cluster has none")
    device, timers = _alike([ActorLane(machine, target) for _ in range(gpus)])
    computers: list[Lane] = [TaskLane() for _ in range(max(1, min(cpus, MOST_TASKS)))]
    return Executor(device, Lanes(computers), Lanes(timers))


def _alike(lanes: Sequence[ActorLane]) -> tuple[str, list[Lane]]:
    """The GPUs of the name that most have: times of others cannot be compared with theirs."""
    problems: set[str] = set()
    for lane, answer in zip(lanes, _answers([lane.start() for lane in lanes]), strict=True):
        try:
            if answer is None:
                raise WorkerError(f"a GPU was not free in {READY:.0f} s")
            lane.settle(answer)
        except WorkerError as error:
            problems.add(str(error))
    names = Counter(lane.device for lane in lanes if lane.device)
    if not names:
        raise CudaError(f"no GPU of the Ray cluster can be used: {'; '.join(sorted(problems))}")
    device = min(names, key=lambda name: (-names[name], name))
    used: list[Lane] = []
    for lane in lanes:
        if lane.device == device:
            used.append(lane)
            continue
        lane.close()
        if lane.device:
            problems.add(f"a {lane.device} is no {device}")
    for problem in sorted(problems):
        general_remark(f"a GPU of the Ray cluster is not used: {problem}")
    return device, used


def _answers(started: Sequence[Any]) -> list[Any | None]:
    """Those of `started` that are there in time."""
    ray, deadline = ray_module(), time.monotonic() + READY
    waiting = list(started)
    while waiting and time.monotonic() < deadline:
        _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=PERIOD)
    return [None if one in waiting else one for one in started]
