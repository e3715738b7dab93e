"""The syntax of layouts: named fields, modes and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

Numbers = DenseArrayBase[I64]
"""A step `[rows, columns]`, or a mode `[size, rows, columns]`."""

Reader = Callable[[AttrParser], Attribute]

SIDES = ("rows", "columns")
PARTIAL = "partial"


def numbers(values: Iterable[int]) -> Numbers:
    return DenseArrayBase.from_list(i64, list(values))


def values(numbers: Numbers) -> list[int]:
    return [int(value) for value in numbers.get_values()]


def number(value: int) -> IntegerAttr[I64]:
    return IntegerAttr(value, i64)


def _parse_integer(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False)


def parse_number(parser: AttrParser) -> IntegerAttr[I64]:
    return number(_parse_integer(parser))


def _parse_list(parser: AttrParser) -> list[int]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_integer(parser)
    )


def parse_numbers(parser: AttrParser) -> Numbers:
    return numbers(_parse_list(parser))


def _parse_step(parser: AttrParser) -> list[int]:
    at = parser.pos
    step = _parse_list(parser)
    if len(step) != len(SIDES):
        parser.raise_error(f"a step has rows and columns, not {len(step)} numbers", at)
    return step


def parse_bits(parser: AttrParser) -> ArrayAttr[Numbers]:
    """Steps of the bits of an index; `partial` is a bit along which sums are in parts."""

    def bit() -> Numbers:
        return numbers([] if parser.parse_optional_keyword(PARTIAL) else _parse_step(parser))

    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, bit))


def parse_modes(parser: AttrParser) -> ArrayAttr[Numbers]:
    """Parse modes; steps that double form one mode, whose size is a power of two."""
    modes: list[list[int]] = []
    open_ended = False

    def mode() -> None:
        nonlocal open_ended
        size = parser.parse_optional_integer(allow_boolean=False)
        if size is not None:
            parser.parse_punctuation(":")
        step = _parse_step(parser)
        if size is None and open_ended and step == _behind(modes[-1]):
            modes[-1][0] *= 2
        else:
            modes.append([2 if size is None else size, *step])
        open_ended = size is None

    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, mode)
    return ArrayAttr(map(numbers, modes))


def _behind(mode: Sequence[int]) -> list[int]:
    """The step from one pass over `mode` to the next."""
    size, *step = mode
    return [size * each for each in step]


def print_modes(modes: Iterable[Numbers]) -> str:
    told: list[str] = []
    before: list[int] | None = None
    for mode in map(values, modes):
        size, *step = mode
        if size < 2 or size & (size - 1) or (before is not None and _behind(before) == step):
            told.append(f"{size}:{step}")
            before = None
        else:
            told += [f"{[k * each for each in step]}" for k in _powers(size)]
            before = mode
    return f"[{', '.join(told)}]"


def _powers(size: int) -> Iterable[int]:
    return (1 << bit for bit in range(size.bit_length() - 1))


def print_bits(bits: Iterable[Numbers]) -> str:
    return f"[{', '.join(str(values(bit)) if len(bit) else PARTIAL for bit in bits)}]"


def print_fields(printer: Printer, fields: Mapping[str, str | None]) -> None:
    told = [f"{name} = {value}" for name, value in fields.items() if value is not None]
    printer.print_string(f"<{{{', '.join(told)}}}>")


def parse_parameters(
    parser: AttrParser, readers: Mapping[str, Reader], defaults: Mapping[str, Attribute]
) -> Sequence[Attribute]:
    """
    The parameters, in the order of `readers`, from named fields of which some have `defaults`.

    Also reads the plain form, which is how tools that know us only through IRDL print it.
    """
    found: dict[str, Attribute] = {}

    def field() -> None:
        at = parser.pos
        name = parser.parse_identifier()
        if name not in readers:
            parser.raise_error(f"a layout has no field '{name}', only {', '.join(readers)}", at)
        if name in found:
            parser.raise_error(f"field '{name}' is given twice", at)
        parser.parse_punctuation("=")
        found[name] = readers[name](parser)

    with parser.in_angle_brackets():
        at = parser.pos
        named = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, field)
        if named is None:
            return parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parser.parse_attribute, "fields of a layout"
            )
        for name in readers:
            if name not in found and name not in defaults:
                parser.raise_error(f"the layout does not say its '{name}'", at)
    return [found[name] if name in found else defaults[name] for name in readers]
