"""Which of many candidates are kept: such that their structures differ."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Candidate = TypeVar("Candidate")
"""Of any kind: a kernel, a plan of several, an offer to the user."""

MISJUDGED = 1.3
"""How far off the model may be of one structure beside another: of programs that it was not fitted
to, its first choice took up to 1.3 times the best of those that were timed."""


def spread(
    found: Iterable[Candidate],
    count: int,
    structure: Callable[[Candidate], str],
    seconds: Callable[[Candidate], float],
) -> list[Candidate]:
    """
    At most `count` of the candidates, in their order.

    The fastest of each structure are among them before other tilings of one: what the model
    misjudges of a structure it misjudges of all its tilings alike, so that timing these alone
    would not find out.

    Args:
        found: the fastest in the model first.
        count: how many to keep.
        structure: of a candidate, as a text.
        seconds: of a candidate, in the model.
    """
    candidates = list(found)
    fastest: dict[str, int] = {}
    for number, one in enumerate(candidates):
        fastest.setdefault(structure(one), number)
    limit = MISJUDGED * seconds(candidates[0]) if candidates else 0.0
    apart = [number for number in fastest.values() if seconds(candidates[number]) <= limit]
    kept = list(dict.fromkeys([*apart, *range(len(candidates))]))[:count]
    return [candidates[number] for number in sorted(kept)]
