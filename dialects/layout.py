"""
Layouts of tiles: attributes that the lowering adds to operations of the threadblock dialect.

    #acc = #threadblock.registers<{register = [[0, 1], [8, 0]],
                                   lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>
    #x = #threadblock.shared<{shape = [16, 256], order = [1, 0], swizzle = 128, element_bits = 16}>

`assign-layouts` puts these attributes on the operations that make tiles, and inserts
`threadblock.convert_layout`. The attributes are those of `layout_attributes`; when threads
synchronize is in `pipeline`.
"""

from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.layout_attributes import (
    GlobalAttr,
    IndicesAttr,
    RegistersAttr,
    SharedAttr,
)
from mirage_mlir.dialects.schedule import SharedBuffer, SharedBufferAttr
from mirage_mlir.layouts.layout import as_matrix

LAYOUT = "layout"
"""Name of the attribute; an operation that makes a tile has one."""

BUFFER = "buffer"
"""Name of the attribute on operations whose tile is in shared memory."""

Layout = RegistersAttr | SharedAttr | GlobalAttr | IndicesAttr

LAYOUTS = (RegistersAttr, SharedAttr, GlobalAttr, IndicesAttr)


def layout_of(value: SSAValue) -> Layout | None:
    """The layout of a tile, None before `assign-layouts`."""
    if not isinstance(owner := value.owner, Operation):
        return None
    layout = owner.attributes.get(LAYOUT)
    return layout if isinstance(layout, LAYOUTS) else None


def set_layout(op: Operation, layout: Layout) -> None:
    """Set the layout of the result of `op`."""
    attribute: Attribute = layout
    op.attributes[LAYOUT] = attribute


def verify_layout(op: Operation) -> None:
    """Raises `InvalidOperation` where `op` has something else as its layout."""
    layout = op.attributes.get(LAYOUT)
    if layout is not None and not isinstance(layout, LAYOUTS):
        kinds = ", ".join(f"#{kind.name}" for kind in LAYOUTS)
        raise invalid(op, f"has a layout that is none of {kinds}")


def shared_buffer(op: Operation) -> SharedBuffer:
    """The buffer of the tile of `op` in shared memory, as far as it is decided."""
    attribute = op.attributes.get(BUFFER)
    return attribute.buffer if isinstance(attribute, SharedBufferAttr) else SharedBuffer()


def set_shared_buffer(op: Operation, buffer: SharedBuffer) -> None:
    """Set the buffer of the tile of `op`; one without decisions is not written."""
    attribute: Attribute = SharedBufferAttr.of(buffer)
    op.attributes[BUFFER] = attribute
    if buffer == SharedBuffer():
        del op.attributes[BUFFER]


def verify_buffer(op: Operation) -> None:
    """Raises `InvalidOperation` where `op` has an invalid buffer, or no tile in shared memory."""
    if (found := op.attributes.get(BUFFER)) is None:
        return
    if not isinstance(found, SharedBufferAttr):
        raise invalid(op, f"has a buffer that is no #{SharedBufferAttr.name}")
    if not isinstance(op.attributes.get(LAYOUT), SharedAttr):
        raise invalid(op, "has a buffer, but its layout is not in shared memory")


def verify_room(load: Operation, shape: tuple[int, ...]) -> None:
    """Raises `InvalidOperation` where the layout of a load is too small for its tile."""
    if not isinstance(layout := load.attributes.get(LAYOUT), SharedAttr):
        return
    (rows, columns), room = as_matrix(shape), layout.layout.room
    if rows > room[0] or columns > room[1]:
        tile = f"makes a tile of {rows} rows and {columns} columns"
        raise invalid(load, f"{tile}, but its layout has memory for {room[0]} and {room[1]}")


def verify_batched(op: Operation, batched: DenseArrayBase[I64] | None) -> None:
    """Raises `InvalidOperation` where `batched` is no group of matmuls with a line of a buffer."""
    if batched is not None:
        place = batched.get_values()
        if len(place) != 2 or min(place) < 0:
            raise invalid(op, f"is batched as {list(place)}, not by a group and its first line")


@irdl_op_definition
class ConvertLayoutOp(IRDLOperation):
    """
    A copy of a tile in the layout of the `layout` attribute.

    Partial sums of the blocks of a cluster may be `relative` to row maxima of their blocks; readers
    rescale them to the largest of these. With `batched` the tile lies in the shared buffer of a
    batch of matmuls, from a line on. What is `delivered` goes to all blocks of the cluster: each
    writes it as the copy with its own number into the shared memory of every one.
    """

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "threadblock.convert_layout"

    input = operand_def(T)
    maxima = opt_operand_def()
    batched = opt_prop_def(DenseArrayBase.constr(i64))
    delivered = opt_prop_def(UnitAttr)
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$input (`relative` $maxima^ `:` type($maxima))? attr-dict `:` type($input)"

    def __init__(self, input: SSAValue, maxima: SSAValue | None = None):
        super().__init__(operands=[input, maxima], result_types=[input.type])

    def verify_(self) -> None:
        verify_batched(self, self.batched)
