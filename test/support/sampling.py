"""What a run tests of long lists of cases: a sample, or everything where `MIRAGE_TESTS=all`."""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

EVERYTHING = os.environ.get("MIRAGE_TESTS") == "all"
"""Set by `make test-all`, which takes about an hour of two cores."""


def sampled(cases: Sequence[T], every: int) -> list[T]:
    """
    One of `every` cases, the same in each run.

    For lists that cross what is independent, or are drawn at random: each case is like others.
    """
    return list(cases) if EVERYTHING else list(cases)[::every]


def round_robin(cases: Sequence[T], others: Sequence[U]) -> list[tuple[T, U]]:
    """
    Each of `cases` with one of `others`, round-robin; with each of them where everything is tested.

    For choices that are independent: chips, and where the same code runs for each of them.
    """
    if EVERYTHING:
        return [(case, other) for case in cases for other in others]
    return [(case, others[number % len(others)]) for number, case in enumerate(cases)]
