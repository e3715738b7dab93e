"""How much a search may do."""

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from mirage_mlir import interruption

if TYPE_CHECKING:
    from mirage_mlir.search.single_kernel.limits import Limits

VERIFY_BUDGET = 5.0
"""Seconds of random tests, by shapes, above which normal forms have to do."""

MAX_KERNELS = 4
"""Kernels of a plan for one piece of a program: more than three never paid in a workload."""

CANDIDATES = 16
"""What a search keeps at least: a candidate may be rejected, or too large to be compiled."""

MOST_KERNELS = 64
"""Kernels of a plan for one piece that may be asked for; no piece has more operators than that."""

MOST_CANDIDATES = 1000
"""Candidates that may be asked for: each is verified, and timed where that is asked for."""

MOST_JOBS = 256
"""Processes that may be asked for: more than cores of most machines."""


def check_between(name: str, value: int, most: int) -> None:
    """Raise `ValueError` where an option is not from 1 to `most`."""
    if not 1 <= value <= most:
        raise ValueError(f"{name} is from 1 to {most}, not {value}")


@dataclass(frozen=True)
class Effort:
    """
    How much a search may do.

    Raises:
        ValueError: a number is out of its range.
    """

    time_limit: float | None = None
    """Seconds of search after which the best so far is taken."""
    max_kernels: int = MAX_KERNELS
    """Kernels that a plan for one piece of a program may have."""
    jobs: int = 1
    """Processes that search: the result is the same for any number."""
    candidates: int = CANDIDATES
    """Graphs of one kernel, and plans of several, that are kept."""
    verify_budget: float = VERIFY_BUDGET
    """Seconds that random tests of a result may take."""

    def __post_init__(self) -> None:
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time-limit is a positive number of seconds, not {self.time_limit}")
        if not self.verify_budget >= 0:
            raise ValueError(f"verify-budget is a number of seconds, not {self.verify_budget}")
        check_between("max-kernels", self.max_kernels, MOST_KERNELS)
        check_between("jobs", self.jobs, MOST_JOBS)
        check_between("top-k", self.candidates, MOST_CANDIDATES)

    def limits(self) -> "Limits":
        """The limits of a search that starts now."""
        # Who takes a kernel from the cache does not load the search.
        from mirage_mlir.search.single_kernel.limits import Limits

        later = float("inf") if self.time_limit is None else perf_counter() + self.time_limit
        return Limits(
            later,
            max_kernels=self.max_kernels,
            jobs=self.jobs,
            candidates=max(CANDIDATES, self.candidates),
            cancelled=interruption.requested,
        )
