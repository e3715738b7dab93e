"""Which candidates are kept: different structures before other tilings of one."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.search.structures import MISJUDGED, spread

CANDIDATES = st.lists(
    st.tuples(st.floats(1.0, 3.0), st.sampled_from("abcdef"), st.integers()), unique=True
)


@given(CANDIDATES, st.integers(1, 12))
def test_spread(found: list[tuple[float, str, int]], count: int) -> None:
    found.sort()
    kept = spread(found, count, lambda one: one[1], lambda one: one[0])
    assert len(kept) == min(count, len(found))
    assert kept == sorted(set(kept))
    assert kept[:1] == found[:1]
    near = {one[1] for one in found if one[0] <= MISJUDGED * found[0][0]}
    shown = {one[1] for one in kept}
    assert near <= shown or len(shown & near) == len(kept)
    # A second tiling of a structure is the next one.
    for letter in shown:
        number = sum(one[1] == letter for one in kept)
        assert [one for one in found if one[1] == letter][:number] == [
            one for one in kept if one[1] == letter
        ]
    # What is left out is no faster than a tiling that is kept for its time alone.
    firsts = [next(one for one in found if one[1] == letter) for letter in shown]
    for_time = [one for one in kept if one not in firsts]
    left = [one for one in found if one not in kept]
    assert not for_time or not left or for_time[-1] <= left[0]


def test_one_structure() -> None:
    assert spread("aaa", 2, str, lambda one: 1.0) == ["a", "a"]
    assert spread("", 2, str, lambda one: 1.0) == []
