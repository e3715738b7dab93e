"""
The least sum of costs of single and of paired choices, exactly, by eliminating variables.

A choice that is eliminated leaves a table: for each way to make the choices that share a cost with
it, the best that it can be (Dechter, "Bucket elimination", Artificial Intelligence 113, 1999). The
work is exponential in how many choices a table is for, which is two or three for the tiles of a
kernel: each is read by few others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

LARGEST_TABLE = 200_000
"""Entries: about a second. Tables of tiles had 2,400 entries at most."""


@dataclass(frozen=True)
class CostTable:
    """
    What some choices cost together.

    Args:
        about: the choices, by their numbers.
        costs: by the option of each.
    """

    about: tuple[int, ...]
    costs: dict[tuple[int, ...], int]

    def of(self, chosen: dict[int, int]) -> int:
        """The cost of options, by choice."""
        return self.costs[tuple(chosen[each] for each in self.about)]


def least(options: Sequence[Sequence[int]], tables: Iterable[CostTable]) -> tuple[int, ...] | None:
    """
    An option of each choice, so that the sum over all tables is least.

    None where a table on the way would be larger than `LARGEST_TABLE`. Which one it gives of equal
    sums is not said: let no two be equal.

    Args:
        options: those of each choice.
        tables: each about one choice or several; all options are in it.
    """
    left, waiting = set(range(len(options))), list(tables)
    eliminated: list[tuple[int, CostTable]] = []
    while left:
        number = min(left, key=lambda each: (_entries(options, _beside(each, waiting)), each))
        beside = _beside(number, waiting)
        if _entries(options, beside) * len(options[number]) > LARGEST_TABLE:
            return None
        concerned = [table for table in waiting if number in table.about]
        waiting = [table for table in waiting if number not in table.about]
        best, sums = _eliminated(number, beside, options, concerned)
        eliminated.append((number, best))
        waiting.append(sums)
        left.discard(number)
    chosen: dict[int, int] = {}
    for number, best in reversed(eliminated):
        chosen[number] = best.of(chosen)
    return tuple(chosen[number] for number in range(len(options)))


def _eliminated(
    number: int,
    beside: Sequence[int],
    options: Sequence[Sequence[int]],
    tables: Sequence[CostTable],
) -> tuple[CostTable, CostTable]:
    """For each way to choose `beside`: the best option of `number`, and what the tables cost."""
    best: dict[tuple[int, ...], int] = {}
    sums: dict[tuple[int, ...], int] = {}
    for others in product(*(options[each] for each in beside)):
        chosen = dict(zip(beside, others, strict=True))
        sums[others], best[others] = min(
            (sum(table.of(chosen | {number: option}) for table in tables), option)
            for option in options[number]
        )
    return CostTable(tuple(beside), best), CostTable(tuple(beside), sums)


def _beside(number: int, tables: Iterable[CostTable]) -> list[int]:
    """The choices that share a table with one."""
    return sorted(set(_shared(number, tables)))


def _shared(number: int, tables: Iterable[CostTable]) -> Iterator[int]:
    for table in tables:
        if number in table.about:
            yield from (each for each in table.about if each != number)


def _entries(options: Sequence[Sequence[int]], choices: Iterable[int]) -> int:
    return prod(len(options[each]) for each in choices)
