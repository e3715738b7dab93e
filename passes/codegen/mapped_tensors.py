"""Tensor maps: the descriptors by which tensor copies (TMA) read tensors in device memory."""

from dataclasses import dataclass

from xdsl.ir import SSAValue

from mirage_mlir.decisions.multicast import PartialCopy, partial_copy
from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.interface import TensorMapAttr, TensorMapFacts
from mirage_mlir.passes.analysis.buffers import copied_invariant_loads, is_staged
from mirage_mlir.passes.analysis.packing import packed_boxes, packed_tile, packing_of
from mirage_mlir.passes.analysis.tensor_loads import map_of
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.targets.tensor_map import TensorMap


@dataclass(frozen=True)
class MappedTensor:
    """
    A tensor map before it has an address.

    Args:
        root: the tensor.
        offset: the offset of the first element, in bytes.
        boxes: the dimensions, strides and box of the map.
        tile: the shape of the tile that boxes cover together.
        packing: the layout of the packed copy, if the map is of one.
        part: the part that each block copies, if a cluster shares the tile.
    """

    root: SSAValue
    offset: int
    boxes: TensorMap
    tile: tuple[int, ...]
    packing: Packing | None = None
    part: PartialCopy | None = None

    def described(self, name: str) -> TensorMapAttr:
        """The attribute from which a launch encodes the map of the tensor `name`."""
        facts = TensorMapFacts(
            tensor=name,
            dims=self.boxes.dims,
            strides=self.boxes.strides,
            box=self.boxes.box,
            offset=self.offset,
            swizzle=self.boxes.swizzle,
            element=str(kernel.tensor_type(self.root).element_type),
        )
        return TensorMapAttr.of(facts)


def mapped(op: threadblock.LoadOp) -> MappedTensor:
    """The tensor map of a load by tensor copies."""
    view, boxes, tile = view_of(op.source), map_of(op), threadblock.shape_of(op.result)
    assert boxes is not None, "assign-layouts asks first"
    packing = packing_of(op) if op.packed is not None else None
    offset = view.offset * boxes.element
    if packing is not None:
        packed = packed_boxes(packing, boxes)
        assert packed is not None, "it would not be marked"
        boxes, tile, offset = packed, packed_tile(packing), 0
    if op.multicast is None:
        return MappedTensor(view.root, offset, boxes, tile, packing)
    part = partial_copy(boxes, tile, op.sharing_blocks)
    assert part is not None, "it would not be marked"
    return MappedTensor(view.root, offset, part.boxes, tile, packing, part)


def mapped_tensors(graph: kernel.GraphDefinedOp) -> list[MappedTensor]:
    """The tensor maps that a kernel with producers takes, each once."""
    invariant = copied_invariant_loads(graph)
    loads = [op for op in graph.body.block.ops if is_staged(op) or op in invariant]
    return list(dict.fromkeys(mapped(op) for op in loads if isinstance(op, threadblock.LoadOp)))
