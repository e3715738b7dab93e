"""
The least sum of costs of single and of paired choices, exactly, by eliminating variables.

A choice that is eliminated leaves a table: for each way to make the choices that share a cost with
it, the best that it can be (Dechter, "Bucket elimination", Artificial Intelligence 113, 1999). The
work is exponential in how many choices a table is for, which is two or three for the tiles of a
kernel: each is read by few others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_TABLE = 1 << 22
"""Entries: a second or two. Tables of tiles had 1.1 million entries at most (rotary embeddings of
queries, keys and values of 512 rows)."""

Costs = NDArray[Any]
"""Integers of Python: what tells equal costs apart makes them longer than 64 bits."""


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


@dataclass(frozen=True)
class _Table:
    """The same as an array with a dimension for each choice, and an entry for each option."""

    about: tuple[int, ...]
    costs: Costs

    def over(self, choices: Sequence[int]) -> Costs:
        """The costs with a dimension for each of more choices, in their order."""
        present = [each for each in choices if each in self.about]
        costs = self.costs.transpose([self.about.index(each) for each in present])
        sizes = iter(costs.shape)
        return costs.reshape([next(sizes) if each in self.about else 1 for each in choices])


def least(options: Sequence[Sequence[int]], tables: Iterable[CostTable]) -> tuple[int, ...] | None:
    """
    An option of each choice, so that the sum over all tables is least.

    None where a table on the way would be larger than `LARGEST_TABLE`. Which one it gives of equal
    sums is not said: let no two be equal.

    Args:
        options: those of each choice.
        tables: each about one choice or several; all options are in it.
    """
    sizes = [len(each) for each in options]
    left, waiting = set(range(len(options))), [_array(options, table) for table in tables]
    eliminated: list[tuple[int, _Table]] = []
    while left:
        number = min(left, key=lambda each: (_entries(sizes, _beside(each, waiting)), each))
        beside = _beside(number, waiting)
        if _entries(sizes, beside) * sizes[number] > LARGEST_TABLE:
            return None
        concerned = [table for table in waiting if number in table.about]
        waiting = [table for table in waiting if number not in table.about]
        everything = [*beside, number]
        costs: Costs = np.zeros([sizes[each] for each in everything], dtype=object)
        for table in concerned:
            costs = costs + table.over(everything)
        eliminated.append((number, _Table(beside, costs.argmin(axis=-1))))
        waiting.append(_Table(beside, costs.min(axis=-1)))
        left.discard(number)
    places: dict[int, int] = {}
    for number, best in reversed(eliminated):
        places[number] = int(best.costs[tuple(places[each] for each in best.about)])
    return tuple(options[number][places[number]] for number in range(len(options)))


def _array(options: Sequence[Sequence[int]], table: CostTable) -> _Table:
    chosen = [options[each] for each in table.about]
    costs: Costs = np.empty(prod(map(len, chosen)), dtype=object)
    costs[:] = [table.costs[each] for each in product(*chosen)]
    return _Table(table.about, costs.reshape([len(each) for each in chosen]))


def _beside(number: int, tables: Iterable[_Table]) -> tuple[int, ...]:
    """The choices that share a table with one."""
    shared = {each for table in tables if number in table.about for each in table.about}
    return tuple(sorted(shared - {number}))


def _entries(sizes: Sequence[int], choices: Iterable[int]) -> int:
    return prod(sizes[each] for each in choices)
