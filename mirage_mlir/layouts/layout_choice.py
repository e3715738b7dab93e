"""
The cheapest layout for each tile of a kernel.

Each tile has options with a cost; two tiles may have a cost that depends on the options of both,
as a tile in shared memory and the threads that read it; and those that are there at one time must
fit in memory. Without that limit the tiles are eliminated one after another; with it, it is a
pseudo-Boolean problem for z3's optimizer: exactly one of the variables of each tile is true. What
is too much work for both ends in a choice that is good, but maybe not the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from itertools import product
from math import prod

from mirage_mlir.layouts.elimination import CostTable, least


@dataclass(frozen=True)
class Option:
    """What one layout of a tile costs alone, and the bytes that it takes."""

    cost: int
    size: int = 0


SOLVER_WORK = 20_000_000
"""What z3 may do for one problem, in its own units, so that it ends alike on every machine: five to
ten seconds. A limit of time would not."""

Pair = tuple[int, int, tuple[tuple[int, ...], ...]]
"""Two tiles, and what each option of the first costs together with each of the second."""


@dataclass(frozen=True)
class Problem:
    """
    Tiles with options and what these cost.

    Args:
        tiles: the options of each.
        pairs: costs of two tiles together.
        limit: bytes that the chosen options may take in all.
    """

    tiles: tuple[tuple[Option, ...], ...]
    pairs: tuple[Pair, ...] = ()
    limit: int | None = None

    def cost(self, choice: Sequence[int], part: Sequence[int] | None = None) -> int:
        """What a choice of an option for each tile costs; only what the tiles of a `part` do."""
        tiles = range(len(self.tiles)) if part is None else part
        alone = sum(self.tiles[tile][choice[tile]].cost for tile in tiles)
        return alone + sum(costs[choice[a]][choice[b]] for a, b, costs in self.pairs if a in tiles)

    def parts(self) -> list[list[int]]:
        """The tiles in groups that no cost of two tiles connects, each in ascending order."""
        group = list(range(len(self.tiles)))
        for a, b, _ in self.pairs:
            old, new = group[b], group[a]
            group = [new if each == old else each for each in group]
        return [
            [tile for tile in range(len(group)) if group[tile] == number]
            for number in dict.fromkeys(group)
        ]

    def settled(self, start: int) -> "Problem":
        """The problem with only the first option of each tile from `start` on."""
        counts = [len(opts) if tile < start else 1 for tile, opts in enumerate(self.tiles)]
        return replace(
            self,
            tiles=tuple(opts[:n] for opts, n in zip(self.tiles, counts, strict=True)),
            pairs=tuple(
                (a, b, tuple(row[: counts[b]] for row in costs[: counts[a]]))
                for a, b, costs in self.pairs
            ),
        )

    def fits(self, choice: Sequence[int]) -> bool:
        """Whether the chosen options are not too large."""
        size = sum(options[i].size for options, i in zip(self.tiles, choice, strict=True))
        return self.limit is None or size <= self.limit

    def worth(self, choice: Sequence[int]) -> int:
        """
        What is minimised: the cost, and of equal ones the first choice in lexicographic order.

        So there is one optimum, whatever way a solver takes to it.
        """
        order = sum(place * index for place, index in zip(self.places(), choice, strict=True))
        return self.cost(choice) * prod(len(options) for options in self.tiles) + order

    def places(self) -> list[int]:
        """What one option further of each tile adds to the number of a choice in that order."""
        sizes = [len(options) for options in self.tiles]
        return [prod(sizes[tile + 1 :]) for tile in range(len(sizes))]


def without(problem: Problem, kept: list[list[int]], tile: int) -> list[int]:
    """
    The `kept` options of a tile but those that another one is never worse than.

    Whatever the others choose: an option may cost more with some of theirs than it saves alone.
    """
    options = problem.tiles[tile]
    tables: list[list[list[int]]] = []
    for a, b, costs in problem.pairs:
        if a == tile:
            tables.append([[row[j] for j in kept[b]] for row in costs])
        elif b == tile:
            tables.append([[costs[i][index] for i in kept[a]] for index in range(len(options))])

    def beats(one: int, other: int) -> bool:
        if problem.limit is not None and options[one].size > options[other].size:
            return False
        most = options[one].cost - options[other].cost
        most += sum(
            max(x - y for x, y in zip(table[one], table[other], strict=True)) for table in tables
        )
        return most < 0 or (most == 0 and one < other)

    left = list(kept[tile])
    for option in kept[tile]:
        if any(beats(other, option) for other in left if other != option):
            left.remove(option)
    return left


def useful(problem: Problem) -> list[list[int]]:
    """The options of each tile without those that can be left out, in turns until none can."""
    kept = [list(range(len(options))) for options in problem.tiles]
    while True:
        before = [list(options) for options in kept]
        for tile in range(len(kept)):
            kept[tile] = without(problem, kept, tile)
        if kept == before:
            return kept


@lru_cache(maxsize=1024)
def choose(problem: Problem) -> tuple[int, ...] | None:
    """
    The option of each tile with which `worth` is least; None where no choice fits.

    Options that another one beats whatever the rest does are left out first, and the limit where
    the best choice of all keeps it: then most tiles have one option left.
    """
    if problem.limit is not None:
        best = choose(replace(problem, limit=None))
        assert best is not None, "without a limit every choice fits"
        if problem.fits(best):
            return best
    kept = useful(problem)
    if all(len(indices) == 1 for indices in kept):
        only = tuple(indices[0] for indices in kept)
        return only if problem.fits(only) else None
    found = eliminate(problem, kept) if problem.limit is None else None
    return found or solve(problem, kept)


def eliminate(problem: Problem, kept: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """The best choice without a limit among the `kept` options; None if too much work."""
    return least(kept, cost_tables(problem, kept))


def cost_tables(problem: Problem, kept: Sequence[Sequence[int]]) -> list[CostTable]:
    """What adds up to the `worth` of a choice of `kept` options: for each tile and each pair."""
    scale = prod(len(options) for options in problem.tiles)
    tables: list[CostTable] = []
    for tile, (options, place) in enumerate(zip(problem.tiles, problem.places(), strict=True)):
        alone = {(i,): options[i].cost * scale + i * place for i in kept[tile]}
        tables.append(CostTable((tile,), alone))
    for a, b, together in problem.pairs:
        costs = {(i, j): together[i][j] * scale for i, j in product(kept[a], kept[b])}
        tables.append(CostTable((a, b), costs))
    return tables


def solve(problem: Problem, kept: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """
    The best choice among the `kept` options of each tile, by z3; None where none fits.

    Where that is too much work: what single changes make of the smallest options.
    """
    # An untyped module, which takes a while to load.
    z3 = import_module("z3")
    optimizer = z3.Optimize()
    optimizer.set("rlimit", SOLVER_WORK)
    optimizer.from_string(as_smt(problem, kept))
    found = str(optimizer.check())
    if found == "unknown":
        return changed_one_by_one(problem, kept)
    if found != "sat":
        return None
    model = optimizer.model()
    true = {str(variable) for variable in model if z3.is_true(model[variable])}
    return tuple(
        next(index for index in indices if name(tile, index) in true)
        for tile, indices in enumerate(kept)
    )


def changed_one_by_one(problem: Problem, kept: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """A choice that no other option of a single tile makes better; None where none fits."""
    choice = tuple(
        min(indices, key=lambda index: (options[index].size, index))
        for indices, options in zip(kept, problem.tiles, strict=True)
    )
    if not problem.fits(choice):
        return None
    while True:
        others = [
            (*choice[:tile], index, *choice[tile + 1 :])
            for tile, indices in enumerate(kept)
            for index in indices
        ]
        best = min(filter(problem.fits, others), key=problem.worth)
        if problem.worth(best) >= problem.worth(choice):
            return choice
        choice = best


def name(tile: int, index: int) -> str:
    """The variable that says whether a tile has its option `index`."""
    return f"tile{tile}_option{index}"


def as_smt(problem: Problem, kept: Sequence[Sequence[int]]) -> str:
    """The problem in SMT-LIB, with what z3 adds for optimisation."""
    lines: list[str] = []
    sizes: list[str] = []
    for tile, (indices, options) in enumerate(zip(kept, problem.tiles, strict=True)):
        variables = [name(tile, index) for index in indices]
        lines += [f"(declare-const {variable} Bool)" for variable in variables]
        ones = " ".join("1" for _ in variables)
        lines.append(f"(assert ((_ pbeq 1 {ones}) {' '.join(variables)}))")
        for index, variable in zip(indices, variables, strict=True):
            sizes.append(f"(ite {variable} {options[index].size} 0)")
    costs = [
        f"(ite (and {' '.join(map(name, table.about, chosen))}) {cost} 0)"
        for table in cost_tables(problem, kept)
        for chosen, cost in table.costs.items()
    ]
    if problem.limit is not None:
        lines.append(f"(assert (<= (+ {' '.join(sizes)} 0) {problem.limit}))")
    lines.append(f"(minimize (+ {' '.join(costs)} 0))")
    return "\n".join(lines)
