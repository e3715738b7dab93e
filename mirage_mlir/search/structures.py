"""Which of many candidates are kept: such that their structures differ."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Candidate = TypeVar("Candidate")
"""Of any kind: a kernel, a plan of several, an offer to the user."""

MISJUDGED = 1.3
"""How far off the model may be of one structure beside another: of programs that it was not fitted
to, its first choice took up to 1.3 times the best of those that were timed."""

NEAR = 1.05
"""The same of one tiling beside another: other graphs with the same tiling differ less, and so do
other kernels behind the loops. Four graphs of a gated MLP took 55.8 us on an H200 with one tiling,
55.1 with one that the model has 0.5 % later (weights [out, in]); flash-decoding of 1,024 keys took
5.4 us in 16 parts, 5.9 in 6, which the model had first. Beyond, the others count: of 4,096 keys it
took 11.1 us with one kernel that adds up the parts, 11.4 with another."""


def in_any_order(structure: str) -> str:
    """Equal for structures of the same kernels, whose order may differ."""
    return "; ".join(sorted(structure.split("; ")))


def spread(
    found: Iterable[Candidate],
    count: int,
    structure: Callable[[Candidate], str],
    seconds: Callable[[Candidate], float],
    tiling: Callable[[Candidate], Hashable],
) -> list[Candidate]:
    """
    At most `count` of the candidates, in their order.

    The fastest of each structure are among them before other tilings of one: what the model
    misjudges of a structure it misjudges of all its tilings alike, so that timing these alone
    would not find out. Then come the fastest of each tiling, as far as they are near.

    Args:
        found: the fastest in the model first.
        count: how many to keep.
        structure: of a candidate, as a text.
        seconds: of a candidate, in the model.
        tiling: of a candidate, what tells it from others of the same structure.
    """
    candidates = list(found)
    fastest: dict[str, int] = {}
    tilings: dict[tuple[str, Hashable], int] = {}
    for number, one in enumerate(candidates):
        name = in_any_order(structure(one))
        fastest.setdefault(name, number)
        tilings.setdefault((name, tiling(one)), number)
    least = seconds(candidates[0]) if candidates else 0.0
    apart = [at for at in fastest.values() if seconds(candidates[at]) <= MISJUDGED * least]
    near = [at for at in tilings.values() if seconds(candidates[at]) <= NEAR * least]
    kept = list(dict.fromkeys([*apart, *near, *range(len(candidates))]))[:count]
    return [candidates[number] for number in sorted(kept)]
