"""The table of a step's kernels, of events as a profiler gives them."""

from types import SimpleNamespace

import pytest
from step_kernels import by_name, kernels_of, one_period, period


def event(name: str, start: float, end: float, device: str = "CUDA") -> SimpleNamespace:
    """As torch's profiler gives it."""
    return SimpleNamespace(
        name=name,
        time_range=SimpleNamespace(start=start, end=end),
        device_type=SimpleNamespace(name=device),
        is_user_annotation=False,
    )


def test_time_that_overlaps_is_counted_once() -> None:
    """The second starts within the first, the third ends within it, the last after a gap."""
    events = [
        event("cudaGraphLaunch", 0, 40, "CPU"),
        event("b", 14, 25),
        event("a", 10, 20),
        event("c", 15, 18),
        event("a", 30, 32),
    ]
    kernels = kernels_of(events)
    assert [(each.name, each.duration, each.added) for each in kernels] == [
        ("a", 10, 10),
        ("b", 11, 5),
        ("c", 3, 0),
        ("a", 2, 7),
    ]
    assert sum(each.added for each in kernels) == 32 - 10
    assert by_name(kernels) == [
        {"us": 17, "count": 2, "kernel": "a"},
        {"us": 5, "count": 1, "kernel": "b"},
        {"us": 0, "count": 1, "kernel": "c"},
    ]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("abcd", ""),
        ("", ""),
        ("aa", "a"),
        # Some kernels come twice in a layer; the first and the last layer differ.
        ("xfmamdo" + "nmamdo" * 5 + "nmz", "mamdon"),
        # A stretch of equal kernels is shorter than that of layers.
        ("aaaa" + "abbc" * 3 + "z", "abbc"),
    ],
)
def test_the_period(names: str, found: str) -> None:
    places = period(names)
    assert names[places.start : places.stop] == found


def test_a_period_in_the_middle() -> None:
    """It starts at the end of what came before: a kernel may start before that."""
    starts = [0, 10, 14, 20, 24, 30]
    names = ["embed", *(name for _ in range(2) for name in ("norm", "mm")), "head"]
    events = [event(name, start, start + 8) for name, start in zip(names, starts, strict=True)]
    assert one_period(kernels_of(events)) == [
        {"start_us": -2, "duration_us": 8, "us": 6, "kernel": "norm"},
        {"start_us": 2, "duration_us": 8, "us": 4, "kernel": "mm"},
    ]
    assert one_period(kernels_of(events[:3])) == []
