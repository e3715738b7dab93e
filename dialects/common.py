"""What the dialects `kernel`, `threadblock` and `thread` share: types, constraints, syntax."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    f32,
    i64,
)
from xdsl.irdl import AnyOf, IRDLOperation, eq
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from mirage_mlir.graph.partition import REPLICATED

FloatType = Float16Type | BFloat16Type | Float32Type
"""The element types of tensors and tiles."""

FloatConstr = AnyOf[FloatType]((eq(Float16Type()), eq(BFloat16Type()), eq(Float32Type())))

I64ArrayConstr = DenseArrayBase.constr(i64)

I64AttrConstr = IntegerAttr[I64].constr(eq(i64))

F32 = FloatAttr[Float32Type]
"""A scalar parameter."""


def i64_array(values: Sequence[int]) -> DenseArrayBase[I64]:
    """The attribute `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, values)


def i64_attr(value: int) -> IntegerAttr[I64]:
    """The attribute `value : i64`."""
    return IntegerAttr(value, i64)


def f32_attr(value: float) -> F32:
    """The attribute `value : f32`."""
    return FloatAttr(value, f32)


@irdl_custom_directive
class DimMap(CustomDirective):
    """
    The tensor dimension that each grid axis or loop cuts, `_` for none: `[1, _]`.

    Stored as `array<i64: 1, -1>`; an empty map is not printed.
    """

    dims: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Read `[1, _]`; `-1` is read as `_` too."""

        def parse_dim() -> int:
            if parser.parse_optional_keyword("_") is not None:
                return REPLICATED
            return parser.parse_integer()

        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_dim)
        self.dims.set(state, i64_array(dims))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Write `[1, _]`."""
        state.print_whitespace(printer)
        dims = self.dims.get(op)
        assert isa(dims, DenseArrayBase[I64])
        with printer.in_square_brackets():
            printer.print_list(
                dims.get_values(),
                lambda dim: printer.print_string("_" if dim == REPLICATED else str(dim)),
            )

    def is_present(self, op: IRDLOperation) -> bool:
        """Whether the map has an entry."""
        dims = self.dims.get(op)
        assert isa(dims, DenseArrayBase[I64])
        return bool(dims.get_values())

    def is_anchorable(self) -> bool:
        """The directive may decide whether an optional group is printed."""
        return True

    def set_empty(self, state: ParsingState) -> None:
        """The map of a group that is left out."""
        self.dims.set(state, i64_array(()))
