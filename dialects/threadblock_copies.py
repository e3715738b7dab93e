"""The loads and stores of the `threadblock` dialect: tiles come from tensors, and go to results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import HasParent, MemoryWriteEffect, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import (
    DimMap,
    FloatConstr,
    I64ArrayConstr,
    i64_array,
    i64_parameter,
    string_parameter,
)
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.threadblock_bases import TileConstr
from mirage_mlir.dialects.threadblock_indices import IotaOp
from mirage_mlir.shapes.tile_extents import REPLICATED

TENSOR_COPY = "tensor"
"""The `copy` of a load by TMA."""

ASYNC_COPY = "async"
"""That of a load by `cp.async` of all threads."""

THREAD_COPY = "threads"
"""That of a load by all threads, through their registers."""

REALIGNED_COPY = "realigned"
"""That of the same in aligned pieces of 16 bytes, which threads shift into place."""

WINDOW_COPY = "window"
"""That of a load by `cp.async` of the aligned pieces of 16 bytes in which the tile lies."""

EVICT_FIRST, EVICT_LAST = EVICTION_PRIORITIES = ("evict_first", "evict_last")
"""When L2 evicts the lines of a load or a store (PTX, `.level::eviction_priority`)."""

COPIES = (TENSOR_COPY, ASYNC_COPY, THREAD_COPY, REALIGNED_COPY, WINDOW_COPY)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """
    The tile of `source` that this block, in this iteration, works on.

    `grid_map` and `loop_map` have the dimension that each grid axis and each loop cuts, -1 (`_` in
    the text) for none. A grid axis and a loop may cut the same dimension: the loop cuts the block's
    part, or, in a graph that is cyclic, the blocks take turns with the tiles. A tile with a loop
    map of `_` alone is loaded once, before the loop.

    The lowering decides how it is copied: with `copy = "tensor"` one thread starts tensor copies,
    box by box; with "async" and "threads" all threads copy pieces, by `cp.async` or through
    registers; with "realigned" they load pieces that are aligned in memory, and shift them to where
    the tile has them; with "window" they copy such pieces by `cp.async`, and the tile, one line,
    starts in its buffer where it does in the first; without `copy` the tile is read in place.
    `eviction_priority` says whether L2 evicts the lines before others ("evict_first") or after
    others ("evict_last"). Each of `multicast` blocks of a cluster copies a part to all of them. A
    load that is `packed` reads a packed copy of its tensor.
    """

    name = "threadblock.load"

    source = operand_def(TensorType.constr(FloatConstr))
    grid_map = prop_def(I64ArrayConstr)
    loop_map = prop_def(I64ArrayConstr, default_value=i64_array(()))
    copy = opt_prop_def(string_parameter("copy", TENSOR_COPY))
    eviction_priority = opt_prop_def(string_parameter("eviction_priority", EVICT_FIRST))
    multicast = opt_prop_def(i64_parameter("multicast"))
    packed = opt_prop_def(UnitAttr)
    result = result_def(TileConstr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure(), HasParent(GraphDefinedOp))
    custom_directives = (DimMap,)
    assembly_format = (
        "$source `grid_map` custom<DimMap>($grid_map) (`loop_map` custom<DimMap>($loop_map)^)? "
        "attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        source: SSAValue,
        grid_map: Sequence[int],
        loop_map: Sequence[int],
        result_type: Attribute,
    ):
        super().__init__(
            operands=[source],
            properties={"grid_map": i64_array(grid_map), "loop_map": i64_array(loop_map)},
            result_types=[result_type],
        )

    def verify_(self) -> None:
        block = self.parent_block()
        if block is None or self.source not in block.args:
            raise invalid(self, "loads from a value that is no argument of its graph")
        self._verify_copy()

    def _verify_copy(self) -> None:
        if self.copy is not None and self.copy.data not in COPIES:
            known = ", ".join(f'"{copy}"' for copy in COPIES)
            raise invalid(self, f'has copy "{self.copy.data}", which is none of {known}')
        if self.multicast is not None and self.sharing_blocks < 2:
            raise invalid(
                self, f"has multicast by {self.sharing_blocks} blocks: at least 2 share a tile"
            )
        if self.eviction_priority is not None:
            verify_eviction_priority(self, self.eviction_priority)
            if self.copy is not None and not self.is_tensor_copy:
                raise invalid(self, "has eviction_priority, which copies of threads do not take")
        for name in ("multicast", "packed"):
            if name in self.properties and not self.is_tensor_copy:
                raise invalid(self, f'is {name}, which takes copy = "{TENSOR_COPY}"')

    @property
    def is_tensor_copy(self) -> bool:
        """Whether tensor copies fetch the tile."""
        return self.copy is not None and self.copy.data == TENSOR_COPY

    @property
    def is_async_copy(self) -> bool:
        """Whether threads copy the tile by `cp.async`."""
        return self.copy is not None and self.copy.data == ASYNC_COPY

    @property
    def is_realigned_copy(self) -> bool:
        """Whether threads shift aligned pieces of the tile into place."""
        return self.copy is not None and self.copy.data == REALIGNED_COPY

    @property
    def is_window_copy(self) -> bool:
        """Whether threads copy the aligned pieces in which the tile lies."""
        return self.copy is not None and self.copy.data == WINDOW_COPY

    @property
    def sharing_blocks(self) -> int:
        """The blocks of a cluster of which each copies a part of the tile to all; 1 without."""
        return 1 if self.multicast is None else self.multicast.value.data


@irdl_op_definition
class StoreOp(IRDLOperation):
    """
    Write a tile to a result of the graph: store number i writes result i.

    `grid_map` has the dimension of the result along which each grid axis places its blocks, -1
    (`_` in the text) for none: all blocks of that axis then hold the same tile. With `loop_map` a
    tile of the loop is stored in every iteration; the maps place tiles as those of a load cut them.
    Stores of the loop come before those of what is there after it. `eviction_priority` says whether
    L2 evicts the lines before others ("evict_first") or after others ("evict_last").
    """

    name = "threadblock.store"

    tile = operand_def(TileConstr)
    grid_map = prop_def(I64ArrayConstr)
    loop_map = prop_def(I64ArrayConstr, default_value=i64_array(()))
    eviction_priority = opt_prop_def(string_parameter("eviction_priority", EVICT_LAST))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect(), HasParent(GraphDefinedOp))
    custom_directives = (DimMap,)
    assembly_format = (
        "$tile `grid_map` custom<DimMap>($grid_map) (`loop_map` custom<DimMap>($loop_map)^)? "
        "attr-dict `:` type($tile)"
    )

    def __init__(self, tile: SSAValue, grid_map: Sequence[int], loop_map: Sequence[int] = ()):
        super().__init__(
            operands=[tile],
            properties={"grid_map": i64_array(grid_map), "loop_map": i64_array(loop_map)},
        )

    def verify_(self) -> None:
        if self.eviction_priority is not None:
            verify_eviction_priority(self, self.eviction_priority)

    @property
    def in_loop(self) -> bool:
        """Whether every iteration stores a tile."""
        return bool(self.loop_map.get_values())


def verify_eviction_priority(op: LoadOp | StoreOp, priority: StringAttr) -> None:
    """Fail on one that is not known."""
    if priority.data not in EVICTION_PRIORITIES:
        known = ", ".join(f'"{each}"' for each in EVICTION_PRIORITIES)
        raise invalid(op, f'has eviction_priority "{priority.data}", which is none of {known}')


def is_cut_twice(op: LoadOp | IotaOp | StoreOp) -> bool:
    """Whether a grid axis and a loop cut the same dimension of the tensor."""
    return bool({*op.grid_map.get_values()} & {*op.loop_map.get_values()} - {REPLICATED})
