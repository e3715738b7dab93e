"""Factors of dimensions that reshapes cut."""

from mirage_mlir.search.program.placement import FactorSets


def test_a_factor_that_is_met_twice() -> None:
    """Both dimensions of a matrix run together; where the second is cut, so is the first."""
    sets = FactorSets()
    (both,) = sets.new(4)
    rows, columns = sets.cut((both, both), (8, 2))
    assert [sets.size(rows), sets.size(columns)] == [8, 2]
    assert (*rows, *columns) == sets.leaves((both, both))
    assert len(rows) == 3
    assert rows[1] == columns[0]
