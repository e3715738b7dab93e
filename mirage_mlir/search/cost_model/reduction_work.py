"""
Models the work of reductions over the columns of tiles.

Each thread reduces its own elements of a row first. Then the lanes that share the row exchange what
they have, in as many steps as the logarithm of their number: of a short row that is most of it.
"""

import numpy as np

from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.fitted import LANE_EXCHANGE, ONE_BY_ONE
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.resources import Resources
from mirage_mlir.search.cost_model.tile_bytes import VECTOR, powers_of_two_at_least
from mirage_mlir.search.cost_model.tiling import item_bytes
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.saturation.hypergraph import Edge


def reduction_work(resources: Resources, edge: Edge) -> Array | float:
    """The instructions for each element that is reduced."""
    tiling, (operand,), axis = resources.tiling, edge.operands, edge.axis
    assert axis is not None
    *rows, _ = resources.positions.axes[operand]
    if axis in rows[1:] and not resources.matmuls:
        above = tiling.extent(present(tuple(rows[: rows.index(axis)])))
        # The lanes of one warp have all that is reduced, or it goes through shared memory.
        lanes, terms = resources.threads / powers_of_two_at_least(above), tiling.extent([axis])
        odd = (terms != powers_of_two_at_least(terms)) & (tiling.mesh.iterations <= 1)
        alone = odd | (lanes > WARP_THREADS)
        return np.where((above > 1) & alone, ONE_BY_ONE, 1.0)
    read = [tensor for tensor in tiling.program.inputs if axis in tensor.axes]
    is_along = axis == resources.positions.axes[operand][-1]
    is_along = is_along and all(axis == tensor.axes[-1] for tensor in read)
    if not is_along or resources.matmuls:
        return 1.0
    columns = tiling.extent([axis])
    item = min((item_bytes(tensor.element_type) for tensor in read), default=VECTOR)
    run = np.gcd(columns.astype(np.int64), VECTOR // item)
    lanes = powers_of_two_at_least(np.ceil(columns / run))
    exchanged = LANE_EXCHANGE * np.log2(lanes) * lanes / columns
    return np.where(lanes <= WARP_THREADS, 1.0 + exchanged, 1.0)
