"""Attributes that carry facts."""

import pytest

from mirage_mlir.dialects.facts import Facts, FactsAttr
from mirage_mlir.dialects.launch import KernelLaunch, LaunchAttr, Workspace, WorkspaceAttr
from mirage_mlir.dialects.schedule import (
    BlockMemory,
    MemoryAttr,
    Schedule,
    ScheduleAttr,
)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (ScheduleAttr, Schedule(threads=64), Schedule(threads=128)),
        (MemoryAttr, BlockMemory(shared_bytes=16), BlockMemory(shared_bytes=32)),
        (WorkspaceAttr, Workspace(scratch_bytes=16), Workspace()),
        (
            LaunchAttr,
            KernelLaunch((1, 1, 1), 32, arguments=("input:0",)),
            KernelLaunch((1, 1, 1), 32, arguments=("input:1",)),
        ),
    ],
)
def test_equal_if_the_facts_are(kind: type[FactsAttr], one: Facts, other: Facts) -> None:
    """Two packed constants were one where all attributes of a kind were equal."""
    assert kind.of(one) == kind.of(one)
    assert hash(kind.of(one)) == hash(kind.of(one))
    assert kind.of(one) != kind.of(other)
