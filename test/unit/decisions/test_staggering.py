"""With which iteration the loop of each block begins."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.staggering import is_staggered, stagger_of


@given(st.integers(1, 300))
def test_each_iteration_is_the_first_of_a_block(iterations: int) -> None:
    step = stagger_of(iterations)
    assert (0 < step < iterations) == (iterations > 1)
    assert {block * step % iterations for block in range(iterations)} == set(range(iterations))


def test_lines_of_their_own() -> None:
    """More than half of what blocks read."""
    assert is_staggered(8192, 8192 + 512)
    assert not is_staggered(0, 512)
    assert not is_staggered(4096, 8192)
