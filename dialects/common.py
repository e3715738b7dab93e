"""What the dialects `kernel`, `threadblock` and `thread` share: types, constraints, syntax."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    I64,
    BFloat16Type,
    DenseArrayBase,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute, AttributeCovT
from xdsl.irdl import (
    AnyOf,
    IRDLOperation,
    MessageConstraint,
    VarConstraint,
    VerificationContext,
    eq,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.float_formats import FORMATS
from mirage_mlir.hints import isa
from mirage_mlir.shapes.tile_extents import REPLICATED

FloatType = Float16Type | BFloat16Type | Float32Type
"""The element types of tensors and tiles that operators compute with."""

StoredType = FloatType | Float8E4M3FNType | Float8E5M2Type
"""The element types of tensors; those of 8 bits can only be cast."""


@dataclass(frozen=True, init=False)
class ElementTypeConstraint(AnyOf[FloatType]):
    """One of the element types."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Name the types in the error."""
        if isinstance(attr, FloatType):
            return
        message = f"has elements of type {attr}, which is not f16, bf16 or f32"
        if isinstance(attr, StoredType):
            message += "; kernel.cast makes one of these of it"
        raise VerifyException(message)


@dataclass(frozen=True, init=False)
class StoredTypeConstraint(AnyOf[StoredType]):
    """One of the element types of tensors."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Name the types in the error."""
        if not isinstance(attr, StoredType):
            known = ", ".join(FORMATS)
            raise VerifyException(f"has elements of type {attr}, which is none of {known}")


@dataclass(frozen=True)
class SameElementType(VarConstraint[FloatType]):
    """One element type for all operands and results that share the constraint."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Name both types in the error."""
        known = constraint_context.get_variable(self.name)
        if known is not None and known != attr:
            raise VerifyException(f"mixes elements of types {known} and {attr}: cast some of them")
        super().verify(attr, constraint_context)


FloatConstr = ElementTypeConstraint((eq(Float16Type()), eq(BFloat16Type()), eq(Float32Type())))

StoredConstr = StoredTypeConstraint(
    (
        *(eq(Float16Type()), eq(BFloat16Type()), eq(Float32Type())),
        *(eq(Float8E4M3FNType()), eq(Float8E5M2Type())),
    )
)

ELEMENT_TYPE = SameElementType("T", FloatConstr)
"""The element type of an operator that has only one."""

I64ArrayConstr = DenseArrayBase.constr(i64)
"""For attributes with a syntax of their own, `grid [4]`: xDSL knows it from this constraint."""

F32 = FloatAttr[Float32Type]


@dataclass(frozen=True, init=False)
class ParameterConstraint(MessageConstraint[AttributeCovT]):
    """What an attribute of an operator must be; `message` shows how one writes it."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Say what is there in the error, and not what xDSL's own constraints say."""
        try:
            self.constr.verify(attr, constraint_context)
        except VerifyException as error:
            raise VerifyException(f"takes `{self.message}`, not {attr}") from error


def f32_parameter(name: str) -> ParameterConstraint[F32]:
    """The attribute `name` is an f32."""
    return ParameterConstraint(F32, f"{name} = 2.0 : f32")


def i64_parameter(name: str) -> ParameterConstraint[IntegerAttr[I64]]:
    """The attribute `name` is an i64."""
    return ParameterConstraint(IntegerAttr[I64].constr(eq(i64)), f"{name} = 1 : i64")


def i64_array_parameter(name: str) -> ParameterConstraint[DenseArrayBase[I64]]:
    """The attribute `name` is an array of i64."""
    return ParameterConstraint(I64ArrayConstr, f"{name} = array<i64: 1, 2>")


def string_parameter(name: str, example: str) -> ParameterConstraint[StringAttr]:
    """The attribute `name` is a string."""
    return ParameterConstraint(StringAttr, f'{name} = "{example}"')


def i64_array(values: Sequence[int]) -> DenseArrayBase[I64]:
    """The attribute `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, values)


def i64_attr(value: int) -> IntegerAttr[I64]:
    """The attribute `value : i64`."""
    return IntegerAttr(value, i64)


def f32_attr(value: float) -> F32:
    """The attribute `value : f32`; a `ValueError` where no finite f32 is near a finite number."""
    try:
        return FloatAttr(value, f32)
    except OverflowError as error:
        raise ValueError(f"{value} is out of the range of f32") from error


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


def byte_width(element: Attribute) -> int:
    """Bytes of one element of a float type."""
    return FORMATS[element.name].bytes
