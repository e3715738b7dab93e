"""Random programs through the whole of `superoptimize`, against numpy in float64."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import examine
from sampling import EVERYTHING, sampled

PARTS = 6
"""Tests, of so many programs each:"""

PROGRAMS = 10 if EVERYTHING else 5

SEEDS = 100_000
"""Of each test."""


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("part", sampled(range(PARTS), PARTS))
def test_random_programs(part: int) -> None:
    """Small ones, with rounding; `test_odd_programs` has larger ones."""

    @settings(max_examples=PROGRAMS, derandomize=True, deadline=None, database=None)
    @given(st.integers(part * SEEDS, (part + 1) * SEEDS - 1))
    def one(seed: int) -> None:
        examine(seed)

    one()
