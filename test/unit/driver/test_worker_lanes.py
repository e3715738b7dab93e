"""Calls spread over lanes that are lost, for a while or for good."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from mirage_mlir.lanes import ATTEMPTS, Lanes
from mirage_mlir.worker import WorkerError, WorkerLost


class LostLane:
    """Loses its first calls; after each loss it is ready again, or there is no place for it."""

    def __init__(self, losses: int, *, comes_back: bool) -> None:
        self._losses, self._comes_back = losses, comes_back
        self.calls = 0

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        self.calls += 1
        if self.calls <= self._losses:
            raise WorkerLost("it was lost")
        return function(*arguments)

    def restart(self) -> None:
        if not self._comes_back:
            raise WorkerError("there is no other")

    def close(self) -> None:
        """There is nothing."""


def test_what_was_lost_is_done_again() -> None:
    with closing(Lanes([LostLane(ATTEMPTS - 1, comes_back=True)])) as lanes:
        assert lanes.submit(abs, -3).result(10) == 3
    with closing(Lanes([LostLane(ATTEMPTS, comes_back=True)])) as lanes:
        call = lanes.submit(abs, -3)
        with pytest.raises(WorkerError, match="it was lost"):
            call.result(10)
        assert lanes.submit(abs, -4).result(10) == 4


def test_another_lane_takes_over() -> None:
    """Also one that had nothing to do before."""
    good = LostLane(0, comes_back=True)
    with closing(Lanes([LostLane(9, comes_back=False), good])) as lanes:
        assert lanes.submit(abs, -3).result(10) == 3
        assert lanes.submit(abs, -5).result(10) == 5
    assert good.calls == 2


def test_nobody_waits_for_lanes_that_are_gone() -> None:
    with closing(Lanes([LostLane(9, comes_back=False) for _ in range(2)])) as lanes:
        calls = [lanes.submit(abs, -3) for _ in range(4)]
        for call in calls:
            with pytest.raises(WorkerError, match="there is no other"):
                call.result(10)
        with pytest.raises(WorkerError, match="there is no other"):
            lanes.submit(abs, -3).result(10)
