"""When a search stops."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from mirage_mlir.search.cost_model.instantiate import PARTS


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Limits:
    """
    When to stop.

    `deadline` is a time of `time.perf_counter`; what was found by then is returned.
    """

    deadline: float = float("inf")
    candidates: int = 16
    varied: bool = False
    """Whether those with other blocks (threads, clusters) are kept besides, the fastest of each:
    kernels share a launch only with blocks alike."""
    max_kernels: int = 4
    """Kernels that a plan may have, besides that of each operator alone."""
    bound: float = float("inf")
    """Seconds: plans that take longer need not be found."""
    parts: tuple[int, ...] = PARTS
    """Numbers of blocks over which a kernel may leave a sum open."""
    coarse: bool = False
    """Whether the tile sizes of a first look are enough: to compare ways to cut a program."""
    careful: bool = False
    """Whether two values are added, subtracted or divided only where the program does so: x W - m W
    for (x - m) W cancels where x is near m, and x^4 / s^4 for (x / s)^4 is more than f32 holds."""
    jobs: int = 1
    """Processes that may search at the same time."""
    cancelled: Callable[[], bool] = _never
    """Asked now and then: whether to stop at once, with what was found."""

    def expired(self) -> bool:
        """Whether the time is over, or the search cancelled."""
        return perf_counter() > self.deadline or self.cancelled()

    @property
    def reason(self) -> str:
        """Why it expired."""
        return "the interrupt" if self.cancelled() else "the time limit"
