"""The attributes of StableHLO that JAX's programs have, in upstream's syntax."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase
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


ATTRIBUTES: list[type[Attribute]] = [DirectionAttr, ComparisonAttr, PrecisionAttr, DotAttr]
