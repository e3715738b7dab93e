"""How the tensor of a load is packed: stored again, one tile after the other."""

from mirage_mlir.decisions.multicast import partial_copy
from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects import threadblock
from mirage_mlir.passes.analysis.buffers import cuts, shared_layout, tiles_along
from mirage_mlir.passes.analysis.tensor_loads import map_of
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.targets.tensor_map import TensorMap, tensor_map


def packing_of(op: threadblock.LoadOp) -> Packing | None:
    """
    How the tensor of a load by tensor copies is packed.

    None where elements repeat (stride 0), or where panels are not adjacent in shared memory.
    """
    view, boxes = view_of(op.source), map_of(op)
    assert boxes is not None, "assign-layouts asks first"
    tile = threadblock.shape_of(op.result)
    loops = [cuts(op, dim)[1] for dim in range(len(tile))]
    by_grid = [dim for dim, cut in enumerate(loops) if not cut]
    by_loop = sorted((dim for dim, cut in enumerate(loops) if cut), key=loops.__getitem__)
    run_dim, panel = boxes.axes[0], boxes.box[0]
    layout = shared_layout(op.result)
    packing = Packing(
        view.offset,
        tuple(view.shape),
        tuple(view.strides),
        tuple(tile),
        tuple(tiles_along(op, dim) for dim in range(len(tile))),
        (*by_grid, *by_loop),
        run_dim,
        panel,
    )
    repeated = any(n > 1 and s == 0 for n, s in zip(view.shape, view.strides, strict=True))
    apart = layout.size != packing.tile_lines * panel
    packed = packed_boxes(packing, boxes)
    if repeated or apart or packed is None:
        return None
    if op.multicast is not None:
        shared = partial_copy(packed, packed_tile(packing), op.sharing_blocks)
        return None if shared is None else packing
    return packing


def packed_tile(packing: Packing) -> tuple[int, int]:
    """The lines of a tile of a packed tensor, and the length of a line."""
    return packing.tile_lines, packing.panel


def packed_boxes(packing: Packing, plain: TensorMap) -> TensorMap | None:
    """The tensor map of a packed copy, where `plain` is that of the tensor itself."""
    shape, tile = (packing.lines, packing.panel), packed_tile(packing)
    return tensor_map(shape, (packing.panel, 1), 0, tile, plain.element, 1, plain.swizzle)
