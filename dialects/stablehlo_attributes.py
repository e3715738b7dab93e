"""The attributes of StableHLO that JAX's programs have, in upstream's syntax."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from mirage_mlir.dialects.common import i64_array


class Direction(StrEnum):
    """How a comparison compares."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonDirection(StrEnum):
    """As what a comparison takes its operands."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


class Precision(StrEnum):
    """How precisely a product is computed at least."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


@irdl_attr_definition
class DirectionAttr(EnumAttribute[Direction], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<comparison_direction GE>`."""

    name = "stablehlo.comparison_direction"


@irdl_attr_definition
class ComparisonAttr(EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<comparison_type FLOAT>`."""

    name = "stablehlo.comparison_type"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<precision DEFAULT>`."""

    name = "stablehlo.precision"


DOT_FIELDS = tuple(
    f"{side}_{kind}_dimensions" for kind in ("batching", "contracting") for side in ("lhs", "rhs")
)


@irdl_attr_definition
class DotAttr(ParametrizedAttribute):
    """
    Which dimensions of the operands of `stablehlo.dot_general` belong together.

        #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
                       lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>
    """

    name = "stablehlo.dot"

    lhs_batching_dimensions: DenseArrayBase[I64]
    rhs_batching_dimensions: DenseArrayBase[I64]
    lhs_contracting_dimensions: DenseArrayBase[I64]
    rhs_contracting_dimensions: DenseArrayBase[I64]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Those left out are empty."""
        found: dict[str, DenseArrayBase[I64]] = {}

        def parse_field() -> None:
            name = parser.parse_identifier()
            if name not in DOT_FIELDS or name in found:
                parser.raise_error(f"'{name}' is not one of {', '.join(DOT_FIELDS)}, once each")
            parser.parse_punctuation("=")
            dims = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
            )
            found[name] = i64_array(dims)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
        return [found.get(name, i64_array(())) for name in DOT_FIELDS]

    def print_parameters(self, printer: Printer) -> None:
        """Without those that are empty."""
        given = [(name, self.of(name)) for name in DOT_FIELDS if self.of(name)]
        with printer.in_angle_brackets():
            printer.print_list(
                given, lambda each: printer.print_string(f"{each[0]} = {list(each[1])}")
            )

    def of(self, name: str) -> tuple[int, ...]:
        """The dimensions of the field `name`."""
        field = getattr(self, name)
        assert isinstance(field, DenseArrayBase)
        return tuple(field.get_values())


GATHER_FIELDS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)


@irdl_attr_definition
class GatherAttr(ParametrizedAttribute):
    """
    Which dimensions of `stablehlo.gather` are which.

        #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
                          index_vector_dim = 1>
    """

    name = "stablehlo.gather"

    offset_dims: DenseArrayBase[I64]
    collapsed_slice_dims: DenseArrayBase[I64]
    operand_batching_dims: DenseArrayBase[I64]
    start_indices_batching_dims: DenseArrayBase[I64]
    start_index_map: DenseArrayBase[I64]
    index_vector_dim: IntegerAttr[I64]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Those left out are empty, or 0."""
        found: dict[str, tuple[int, ...]] = {}
        known = (*GATHER_FIELDS, "index_vector_dim")

        def parse_number() -> int:
            return parser.parse_integer(allow_boolean=False)

        def parse_field() -> None:
            name = parser.parse_identifier()
            if name not in known or name in found:
                parser.raise_error(f"'{name}' is not one of {', '.join(known)}, once each")
            parser.parse_punctuation("=")
            if name == known[-1]:
                found[name] = (parse_number(),)
            else:
                found[name] = tuple(
                    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_number)
                )

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
        (vector,) = found.get(known[-1], (0,))
        dims = [i64_array(found.get(name, ())) for name in GATHER_FIELDS]
        return [*dims, IntegerAttr(vector, i64)]

    def print_parameters(self, printer: Printer) -> None:
        """Without those that are empty."""
        given = [f"{name} = {list(self.of(name))}" for name in GATHER_FIELDS if self.of(name)]
        given.append(f"index_vector_dim = {self.index_vector_dim.value.data}")
        with printer.in_angle_brackets():
            printer.print_string(", ".join(given))

    def of(self, name: str) -> tuple[int, ...]:
        """The dimensions of the field `name`."""
        field = getattr(self, name)
        assert isinstance(field, DenseArrayBase)
        return tuple(field.get_values())


ATTRIBUTES: list[type[Attribute]] = [
    *(DirectionAttr, ComparisonAttr, PrecisionAttr, DotAttr, GatherAttr),
]
