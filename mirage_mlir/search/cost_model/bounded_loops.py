"""Models loops of which masks of indices leave blocks some iterations, as `bound-loops` does."""

import numpy as np

from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.tiling import Tiling


def left_of_loops(tiling: Tiling, places: Array, waves: Array) -> Array:
    """
    The share of iterations that is left where blocks with long loops start first.

    The GPU is then busy for as long as the longest loop, or all iterations over all places.

    Args:
        tiling: with the mask of the loop's axis, if there is one.
        places: blocks that run at a time.
        waves: how many blocks follow one another at each of these places, with whole loops.
    """
    mesh, masks = tiling.mesh, tiling.program.masks
    if len(mesh.trip_counts) != 1 or not masks:
        return tiling.one
    (axis,) = mesh.trip_counts
    if axis not in masks or masks[axis].rows in mesh.trip_counts:
        return tiling.one
    longest, mean = tiling.once(("lengths of loops", axis), lambda: _lengths(tiling, axis))
    busy = np.maximum(longest, np.ceil(mean * mesh.blocks / places))
    alone = (mesh.shares == 1) & (mesh.iterations > 1)
    return np.where(alone, np.minimum(busy / (waves * mesh.iterations), 1.0), 1.0)


def _lengths(tiling: Tiling, axis: str) -> tuple[Array, Array]:
    """The longest loop of a block, and how many iterations blocks run on average."""
    mesh, mask = tiling.mesh, tiling.program.masks[axis]
    columns = mesh.tiles[axis]
    size = 1 if mask.rows is None else tiling.program.sizes[mask.rows]
    rows = tiling.one if mask.rows is None else mesh.tiles[mask.rows]
    longest, mean = tiling.one * 1.0, tiling.one * 1.0
    pairs, places = np.unique(np.stack([rows, columns]), axis=1, return_inverse=True)
    for number, (tile, step) in enumerate(pairs.T):
        lengths = mask.lengths(int(tile), size, int(step))
        chosen = places.reshape(-1) == number
        longest[chosen], mean[chosen] = lengths.max(), lengths.mean()
    return longest, mean
