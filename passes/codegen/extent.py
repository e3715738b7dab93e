"""How much of a tile is inside its tensor."""

from __future__ import annotations

from dataclasses import dataclass

from mirage_mlir.passes.codegen.emitter import Index


@dataclass(frozen=True)
class Extent:
    """
    The valid elements along one dimension of a tile that may reach past its tensor's edge.

    Args:
        limit: the number of valid elements; less than 1 if there are none.
        in_loop: whether `limit` changes from iteration to iteration.
        empty: whether some block or iteration has no valid element.
        first: the first element that is the tile's own, where a shifted tile begins with elements
            of the tile before; then the tile has no other edge.
    """

    limit: Index
    in_loop: bool
    empty: bool = False
    first: Index = 0


Extents = tuple[Extent | None, ...]
"""Of the dimensions of a tile; None for one that is inside as a whole."""
