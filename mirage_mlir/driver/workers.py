"""Which workers a user asks for: processes of this machine, or a Ray cluster."""

import os
import re
import socket
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from mirage_mlir.driver.executor import Executor, local_executor
from mirage_mlir.driver.machine import this_machine
from mirage_mlir.driver.ray_executor import MachineOf, RayError, ray_executor, ray_module
from mirage_mlir.effort import MOST_JOBS

ADDRESS = re.compile(r"ray://(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})")

CONNECT = 5.0
"""Seconds in which the machine at an address has to answer."""


class Workforce:
    """Workers that somebody asked for: by default processes and GPUs of this machine."""

    def __init__(self, machine: MachineOf = this_machine, count: int = 0) -> None:
        """Take at most `count` processes, and GPUs; 0 is as many as there are."""
        self._machine = machine
        self._count = count
        self._executors: dict[str, Executor] = {}

    def executor(self, target: str) -> Executor:
        """
        All of them, to time what is searched for a target; they end with the workforce.

        Raises `CudaError` where they have no GPU that can run it.
        """
        if target not in self._executors:
            self._executors[target] = self._made(target)
        return self._executors[target]

    def _made(self, target: str) -> Executor:
        return local_executor(self._machine(target), self._count)

    def close(self) -> None:
        """End all workers."""
        for executor in self._executors.values():
            executor.close()
        self._executors.clear()


class RayWorkforce(Workforce):
    """CPUs and GPUs of the cluster that this process is connected with."""

    def _made(self, target: str) -> Executor:
        return ray_executor(self._machine, target)


@dataclass(frozen=True)
class WorkersAsked:
    """What `--workers` says."""

    count: int = 0
    ray: str | None = None
    """An address, or empty for the cluster that Ray itself finds; None for no cluster."""


def parse_workers(text: str | int | None) -> WorkersAsked:
    """
    What was asked for; None is all of this machine.

    Raises:
        ValueError: it is no number of workers and no address.
    """
    if text is None:
        return WorkersAsked()
    if text == "ray":
        return WorkersAsked(ray="")
    asked = str(text)
    if asked.isascii() and asked.isdigit() and 1 <= int(asked) <= MOST_JOBS:
        return WorkersAsked(int(asked))
    found = ADDRESS.fullmatch(asked)
    if found is None or not 0 < int(found["port"]) < 1 << 16:
        raise ValueError(
            f"workers are a number from 1 to {MOST_JOBS}, ray, or ray://HOST:PORT, not {asked!r}"
        )
    return WorkersAsked(ray=asked)


@contextmanager
def workforce(asked: WorkersAsked) -> Generator[Workforce]:
    """
    The workers, and with a cluster the connection, until the end of the `with` block.

    Raises:
        RayError: Ray is not installed, or no cluster answers.
    """
    if asked.ray is None:
        with closing(Workforce(count=asked.count)) as workers:
            yield workers
        return
    ray = ray_module()
    # A program that calls us may be connected, and goes on with it.
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, asked.ray)
    try:
        with closing(RayWorkforce()) as workers:
            yield workers
    finally:
        if ours:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    where = {"address": address} if address else {}
    if (found := ADDRESS.fullmatch(address)) is not None:
        # Ray itself would try for half a minute.
        place = found["host"].strip("[]"), int(found["port"])
        try:
            socket.create_connection(place, CONNECT).close()
        except OSError as error:
            raise RayError(f"no Ray cluster answers at {address}: {error}") from error
    # Ray warns of its own future otherwise.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR")
    except ImportError as error:
        raise RayError(f"{address} needs Ray's client: pip install 'ray[client]'") from error
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RayError(f"no Ray cluster answers at {address or 'the default'}: {reason}") from error
