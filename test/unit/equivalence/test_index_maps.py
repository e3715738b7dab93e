"""
A sample of `benchmarks/verification/index_maps.py`: one wrong index map is refused, none is not.

The oracle tells each wrong pair apart in float64, and confirms that each valid one is equal.
"""

from __future__ import annotations

import oracle
import pytest
from program_pairs import SAMPLE, valid_pair, wrong_pair
from sampling import sampled
from verdicts import verify

SEEDS = 4
"""Of the verifier; a pair is verified with the one of its number."""

WRONG = range(12)

HARD = (
    *(
        54,
        56,
        60,
        116,
        136,
        144,
        160,
        180,
        216,
        268,
        281,
        296,
        297,
        303,
        336,
        340,
        356,
        365,
        376,
        400,
        416,
    ),
    *(456, 460, 485, 496, 510, 536, 556, 560, 576, 629, 656, 716, 736, 761, 776, 780, 816, 818),
    *(822, 857, 876, 896, 901, 963, 976, 980, 981),
)
"""
Pairs of the first thousand that tests accept in which indices of a dimension repeat, and one that
has tiles ragged in two ways.
"""

VALID = range(12)


@pytest.mark.parametrize("number", sampled([*WRONG, *HARD], 6))
def test_wrong_pairs_are_refused(number: int) -> None:
    pair = wrong_pair(number, SAMPLE)
    answer = verify(pair.reference, pair.candidate, number % SEEDS)
    assert not answer.accepted, f"{pair.kind}: {pair.description}\n{answer.report}\n{pair.text}"


@pytest.mark.parametrize("number", VALID)
def test_valid_pairs_are_accepted(number: int) -> None:
    pair = valid_pair(number, SAMPLE)
    assert not oracle.differ(pair.reference, pair.candidate, number)
    answer = verify(pair.reference, pair.candidate, number % SEEDS)
    assert answer.accepted, f"{answer.report}\n{pair.text}"
