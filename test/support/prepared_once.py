"""What several processes of one run of pytest need, computed once."""

import fcntl
import os
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

# A function, and its positional arguments.
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Sharing:
    """
    One of `workers` processes that run tests, `worker` counted from 0, and the `folder` in which
    they leave results to one another.
    """

    folder: Path
    worker: int = 0
    workers: int = 1

    @staticmethod
    def of_pytest(temporary: pytest.TempPathFactory) -> "Sharing":
        """This process among those of pytest-xdist, or alone."""
        base = temporary.getbasetemp()
        # "gw3", as pytest-xdist documents.
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        if worker is None:
            return Sharing(base)
        return Sharing(base.parent, int(worker[2:]), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))

    def processes(self) -> int:
        """How many processes may compute for this worker: all together have one for each core."""
        return max(1, (os.cpu_count() or 1) // self.workers)

    def turn(self, keys: Iterable[Key]) -> list[Key]:
        """The keys as this worker computes them: its own share first, then what others began."""
        keys = list(keys)
        own = keys[self.worker :: self.workers]
        return own + [key for index, key in enumerate(keys) if index % self.workers != self.worker]

    def once(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """
        What a function returns, which only the first process that asks computes; the others wait.
        An exception is each caller's own.
        """
        text = repr((function.__module__, function.__qualname__, arguments, sorted(named.items())))
        path = self.folder / f"prepared-{sha256(text.encode()).hexdigest()}"
        with path.open("a+b") as file:
            # Let go when the file closes, also of a process that was killed.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if written := file.read():
                return pickle.loads(written)
            result = function(*arguments, **named)
            file.write(pickle.dumps(result))
            return result
