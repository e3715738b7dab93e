"""Values of quasi-affine indices."""

from collections.abc import Mapping

from mirage_mlir.equivalence.symbolic.indices import Index, Variable


def evaluated(index: Index, values: Mapping[Variable, int]) -> int:
    """What an index is for some values of its variables."""
    linear = sum(c * values[v] for v, c in index.linear)
    floors = sum(c * (evaluated(f.dividend, values) // f.divisor) for f, c in index.floors)
    return index.constant + linear + floors
