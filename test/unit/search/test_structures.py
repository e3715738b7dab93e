"""Which candidates are kept: different structures first, then tilings, then other graphs."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.search.structures import MISJUDGED, NEAR, in_any_order, spread

Found = tuple[float, str, int]
"""Seconds, a structure and a tiling of it."""

CANDIDATES = st.lists(
    st.tuples(st.floats(1.0, 3.0), st.sampled_from("abcdef"), st.integers(0, 3)), unique=True
)


def kept_of(found: list[Found], count: int) -> list[Found]:
    return spread(found, count, lambda one: one[1], lambda one: one[0], lambda one: one[2])


@given(CANDIDATES, st.integers(1, 12))
def test_spread(found: list[Found], count: int) -> None:
    found.sort()
    kept = kept_of(found, count)
    assert len(kept) == min(count, len(found))
    assert kept == sorted(set(kept))
    assert kept[:1] == found[:1]
    near = {one[1] for one in found if one[0] <= MISJUDGED * found[0][0]}
    shown = {one[1] for one in kept}
    assert near <= shown or len(shown & near) == len(kept)
    # What is left out is no faster than what is kept for its time alone.
    structures = [next(one for one in found if one[1] == letter) for letter in shown]
    tilings = {one[1:]: one for one in reversed(found)}.values()
    firsts = [*structures, *(one for one in tilings if one[0] <= NEAR * found[0][0])]
    for_time = [one for one in kept if one not in firsts]
    left = [one for one in found if one not in kept]
    assert not for_time or not left or for_time[-1] <= left[0]


def test_tilings_come_before_other_graphs() -> None:
    found = [(1.0, "a", 0), (1.001, "a", 0), (1.002, "a", 0), (1.01, "a", 1), (1.08, "a", 2)]
    assert kept_of(found, 2) == [found[0], found[3]]
    assert kept_of(found, 3) == [found[0], found[1], found[3]]
    found[-1] = (1.04, "a", 2)
    assert kept_of(found, 3) == [found[0], found[3], found[4]]


def test_the_order_of_kernels_is_no_structure() -> None:
    assert in_any_order("b; a") == in_any_order("a; b") != in_any_order("a; a")
    found = [(1.0, "a; b", 0), (1.001, "b; a", 0), (1.2, "c", 0)]
    assert kept_of(found, 2) == [found[0], found[2]]


def test_one_structure() -> None:
    assert spread("aaa", 2, str, lambda one: 1.0, str) == ["a", "a"]
    assert spread("", 2, str, lambda one: 1.0, str) == []
