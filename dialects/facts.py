"""
Attributes with named fields, which carry decisions of passes; all have one grammar.

    <threads = 128, stages = 4, cluster_reduction>

A field that is left out has its default. In IRDL, and for tools that know only MLIR's own
attributes, such an attribute is a dictionary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.hints import isa
from mirage_mlir.suggestions import suggestion

Value = int | bool | str | tuple[int | str, ...]
"""A number, a flag, a text, or a list of numbers or of texts."""


@dataclass(frozen=True)
class Facts:
    """The base of classes whose fields are `Value`s with defaults."""

    def verify(self) -> None:
        """Raise `VerifyException` for values that contradict each other."""


F = TypeVar("F", bound=Facts)


def _to_attribute(value: Value) -> Attribute:
    if isinstance(value, bool):
        return UnitAttr()
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, str):
        return StringAttr(value)
    if texts := [StringAttr(each) for each in value if isinstance(each, str)]:
        return ArrayAttr(texts)
    return DenseArrayBase.from_list(i64, [each for each in value if isinstance(each, int)])


def _to_value(name: str, attribute: Attribute, default: Value) -> Value:
    match attribute:
        case UnitAttr() if isinstance(default, bool):
            return True
        case IntegerAttr() if type(default) is int:
            return attribute.value.data
        case StringAttr() if isinstance(default, str):
            return attribute.data
        case _ if isinstance(default, tuple) and isa(attribute, DenseArrayBase[I64]):
            return tuple(attribute.get_values())
        case _ if isinstance(default, tuple) and isa(attribute, ArrayAttr[StringAttr]):
            return tuple(text.data for text in attribute)
        case _:
            raise VerifyException(f"{name} has no value like {attribute}")


def to_dictionary(facts: Facts) -> DictionaryAttr:
    """The fields that differ from their defaults."""
    values = {each.name: getattr(facts, each.name) for each in fields(facts)}
    defaults = type(facts)()
    decided = {name: value for name, value in values.items() if value != getattr(defaults, name)}
    return DictionaryAttr({name: _to_attribute(value) for name, value in decided.items()})


def to_facts(kind: type[F], entries: Mapping[str, Attribute]) -> F:
    """Raise `VerifyException` for names and values that `kind` does not have."""
    defaults = kind()
    known: dict[str, Value] = {each.name: getattr(defaults, each.name) for each in fields(kind)}
    values: dict[str, Any] = {}
    for name, attribute in entries.items():
        if name not in known:
            raise VerifyException(f"there is no '{name}'{suggestion(name, known)}")
        values[name] = _to_value(name, attribute, known[name])
    return kind(**values)


def parse_facts(parser: AttrParser, kind: type[Facts]) -> Sequence[Attribute]:
    """Read `<threads = 128, stages = 4, cluster_reduction>`, or MLIR's own `<{...}>`."""

    def optional_entry() -> tuple[str, Attribute] | None:
        if (name := parser.parse_optional_identifier()) is None:
            return None
        if parser.parse_optional_punctuation("=") is None:
            return name, UnitAttr()
        values = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: parser.parse_optional_str_literal() or parser.parse_integer(),
        )
        if values is not None:
            return name, _to_attribute(tuple(values))
        if (text := parser.parse_optional_str_literal()) is not None:
            return name, StringAttr(text)
        if (value := parser.parse_integer()) == getattr(kind(), name, None):
            parser.raise_error(f"'{name}' is left out rather than {value}")
        return name, _to_attribute(value)

    def entry() -> tuple[str, Attribute]:
        return optional_entry() or parser.raise_error("expected a name")

    with parser.in_angle_brackets():
        # The plain form, which is how tools that know us only through IRDL print it.
        if plain := parser.parse_optional_dictionary_attr_dict():
            return [DictionaryAttr(plain)]
        entries = parser.parse_optional_undelimited_comma_separated_list(optional_entry, entry)
    names = [name for name, _ in entries or ()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        parser.raise_error(f"'{twice[0]}' is given twice")
    return [DictionaryAttr(dict(entries or ()))]


def print_facts(printer: Printer, facts: Facts) -> None:
    """Write the fields that differ from their defaults, as `parse_facts` reads them."""
    texts: list[str] = []
    for each in fields(facts):
        value: Value = getattr(facts, each.name)
        if value == each.default:
            continue
        written = as_list(value) if isinstance(value, tuple) else as_text(value)
        texts.append(each.name if value is True else f"{each.name} = {written}")
    with printer.in_angle_brackets():
        printer.print_string(", ".join(texts))


def as_text(value: int | str) -> str:
    """`1`, or `"a"`."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def as_list(values: Sequence[int | str]) -> str:
    """`[1, 2]`, or `["a", "b"]`."""
    return f"[{', '.join(map(as_text, values))}]"


# Without it `facts` is no field of the classes below, all of whose attributes would then be equal.
@dataclass(frozen=True, init=False)
class FactsAttr(ParametrizedAttribute):
    """An attribute that carries an instance of `KIND`."""

    facts: DictionaryAttr

    KIND: ClassVar[type[Facts]]

    @classmethod
    def of(cls, facts: Facts) -> Self:
        """The attribute that carries `facts`, which are of its `KIND`."""
        return cls.new([to_dictionary(facts)])

    def verify(self) -> None:
        to_facts(self.KIND, self.facts.data).verify()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return parse_facts(parser, cls.KIND)

    def print_parameters(self, printer: Printer) -> None:
        print_facts(printer, to_facts(self.KIND, self.facts.data))
