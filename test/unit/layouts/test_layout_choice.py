"""The solver finds what trying all choices finds, and always the same of equal ones."""

from dataclasses import replace
from itertools import combinations, product
from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from mirage_mlir.layouts.banks import CopiedPieces, Spread, candidates, traffic
from mirage_mlir.layouts.elimination import LARGEST_TABLE, CostTable, least
from mirage_mlir.layouts.layout import blocked
from mirage_mlir.layouts.layout_choice import (
    Option,
    Pair,
    Problem,
    changed_one_by_one,
    choose,
    eliminate,
    solve,
    useful,
)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A few tiles with a few options; costs are small, so that many choices are equally good."""
    small = st.integers(0, 5)
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    tiles = tuple(
        tuple(Option(draw(small), draw(small)) for _ in range(options)) for options in counts
    )
    pairs: list[Pair] = []
    for a, b in combinations(range(len(counts)), 2):
        if draw(st.booleans()):
            costs = tuple(tuple(draw(small) for _ in range(counts[b])) for _ in range(counts[a]))
            pairs.append((a, b, costs))
    limit = draw(st.none() | st.integers(0, 12))
    return Problem(tiles, tuple(pairs), limit)


def best(problem: Problem) -> tuple[int, ...] | None:
    """The choice of least worth, all tried."""
    choices = product(*(range(len(options)) for options in problem.tiles))
    return min((c for c in choices if problem.fits(c)), key=problem.worth, default=None)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_choice_is_the_best(problem: Problem) -> None:
    assert choose(problem) == best(problem)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_solver_needs_no_options_left_out(problem: Problem) -> None:
    everything = [range(len(options)) for options in problem.tiles]
    assert solve(problem, everything) == best(problem)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_elimination_finds_what_the_solver_finds(problem: Problem) -> None:
    free = replace(problem, limit=None)
    everything = [range(len(options)) for options in free.tiles]
    assert eliminate(free, everything) == best(free)


def test_elimination_takes_many_tiles_in_a_ring() -> None:
    """A solver that tries bounds one after another does not end on this; there are 20^30 ways."""
    options = tuple(Option(0) for _ in range(20))
    away = tuple(tuple(abs(a - b) for b in range(20)) for a in range(20))
    tiles = (tuple(Option(0 if i == 7 else 5) for i in range(20)), *[options] * 29)
    pairs = tuple((min(n, (n + 1) % 30), max(n, (n + 1) % 30), away) for n in range(30))
    assert choose(Problem(tiles, pairs)) == (7,) * 30


def test_tables_that_would_be_too_large_are_not_made() -> None:
    several = [range(30)] * 6
    pairs = list(combinations(range(6), 2))
    tables = [CostTable(pair, dict.fromkeys(product(range(30), repeat=2), 0)) for pair in pairs]
    assert 30**6 > LARGEST_TABLE
    assert least(several, tables) is None


@settings(max_examples=40, deadline=None)
@given(problems())
def test_changes_one_by_one(problem: Problem) -> None:
    """A choice that fits, and that no other option of one tile makes better."""
    everything = [range(len(options)) for options in problem.tiles]
    found = changed_one_by_one(problem, everything)
    assert (found is None) == (best(problem) is None)
    if found is not None:
        assert problem.fits(found)
        for tile, options in enumerate(problem.tiles):
            for index in range(len(options)):
                other = (*found[:tile], index, *found[tile + 1 :])
                assert not problem.fits(other) or problem.worth(found) <= problem.worth(other)


def test_too_much_work_ends() -> None:
    """Every two of 20 tiles have costs, and not all fit: z3 took minutes for less."""
    random = Random(0)
    tiles = tuple(tuple(Option(random.randrange(9), size) for size in range(8)) for _ in range(20))
    pairs = tuple(
        (a, b, tuple(tuple(random.randrange(1000) for _ in range(8)) for _ in range(8)))
        for a, b in combinations(range(20), 2)
    )
    problem = Problem(tiles, pairs, limit=60)
    with patch(f"{solve.__module__}.SOLVER_WORK", 500_000):
        found = solve(problem, useful(problem))
    assert found is not None
    assert problem.fits(found)
    assert problem.cost(found) < problem.cost((0,) * 20)


def test_a_tile_gives_way_to_another() -> None:
    """Each would take the larger option; only one of them has room, and the second gains more."""
    cheap, dear = Option(9, 1), Option(1, 2)
    problem = Problem(((cheap, dear), (Option(12, 1), dear)), limit=3)
    assert choose(problem) == (0, 1)


def test_nothing_fits() -> None:
    assert choose(Problem(((Option(0, 5),),), limit=4)) is None


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([(8, 32), (16, 16), (32, 48), (5, 24)]),
    st.sampled_from([2, 4]),
    st.booleans(),
    st.booleans(),
)
def test_layouts_of_a_tile_and_of_threads(
    shape: tuple[int, int], item: int, columns_first: bool, transposed: bool
) -> None:
    """A tile that is copied, and read by threads that may lie either way."""
    tile_layouts = list(candidates(shape, item, columns_first=columns_first))
    seen = (shape[1], shape[0]) if transposed else shape
    spreads = [blocked(seen, 64, 16 // item, rows_first=first) for first in (1, 4, 32)]
    lines, run = (shape[1], shape[0]) if columns_first else shape
    written = [traffic(CopiedPieces(lines, run, 1), each, item).passes for each in tile_layouts]
    read = tuple(
        tuple(traffic(Spread(each, seen), tile, item, transposed).passes for each in spreads)
        for tile in tile_layouts
    )
    tiles = tuple(
        Option(passes * 8 + tile.size * item // 16)
        for passes, tile in zip(written, tile_layouts, strict=True)
    )
    threads = tuple(Option(len(each.offsets)) for each in spreads)
    problem = Problem((tiles, threads), ((0, 1, read),))
    everything = [range(len(options)) for options in problem.tiles]
    assert choose(problem) == solve(problem, everything) == best(problem)


def test_parts_that_share_no_cost_are_apart() -> None:
    tiles = ((Option(1), Option(2)), (Option(3), Option(4)), (Option(5), Option(6)))
    problem = Problem(tiles, ((2, 0, ((0, 7), (7, 0))),))
    assert problem.parts() == [[0, 2], [1]]
    assert [problem.cost((0, 1, 1), part) for part in problem.parts()] == [1 + 6 + 7, 4]
    assert problem.cost((0, 1, 1)) == 1 + 4 + 6 + 7
