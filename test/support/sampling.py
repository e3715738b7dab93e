"""What a run tests of long lists of cases: a sample, or everything where `MIRAGE_TESTS=all`."""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

EVERYTHING = os.environ.get("MIRAGE_TESTS") == "all"
"""Set by `make test-all`, which takes about an hour of two cores."""


def sampled(cases: Sequence[T], every: int) -> list[T]:
    """
    One of `every` cases, the same in each run.

    For lists that cross what is independent, or are drawn at random: each case is like others.
    """
    return list(cases) if EVERYTHING else list(cases)[::every]
