"""The end of what `mirage-opt --help` prints: passes, output formats, and their options."""

import shutil
import textwrap
from collections.abc import Iterable, Iterator

from xdsl.universe import Universe

from mirage_mlir.outputs import TARGETS
from mirage_mlir.passes import PASSES
from mirage_mlir.tool.available import GENERIC_PASSES, GENERIC_TARGETS
from mirage_mlir.tool.reference import (
    OptionReference,
    Reference,
    pass_references,
    pipeline_references,
    target_references,
)

OPTION_COLUMN = 28
"""Where the meaning of an option starts: behind most names with their types."""

LEAST_WIDTH = 60
"""Of the text, on however narrow a terminal."""

VALUES = {
    "a string": "STRING",
    "an integer": "INTEGER",
    "a number": "NUMBER",
    "true or false": "true|false",
    "a list, each a string": "STRING,...",
    "a list, each an integer": "INTEGER,...",
}
"""A short form of what may be written for an option."""


def describe_available(universe: Universe) -> str:
    """All passes and output formats of `universe`, ours first and with their options."""
    others = [name for name in universe.all_passes if name not in {*PASSES, *GENERIC_PASSES}]
    further = [name for name in universe.all_targets if name not in {*TARGETS, *GENERIC_TARGETS}]
    return "\n".join(
        [
            "pipelines of passes, as --NAME or --NAME='OPTION=VALUE OPTION=VALUE':",
            *(line for each in pipeline_references() for line in _lines(f"--{each.name}", each)),
            "",
            "passes; with --verify-equivalence behind it --superoptimize is the pass:",
            *(line for each in pass_references() for line in _lines(f"--{each.name}", each)),
            "",
            "passes for programs of any dialects:",
            *(line for row in GENERIC_PASSES.items() for line in _row(f"--{row[0]}", row[1])),
            *_names("passes of other packages:", [f"--{name}" for name in others]),
            "",
            "output formats, as -t NAME or -t 'NAME{OPTION=VALUE OPTION=VALUE}':",
            *(line for row in GENERIC_TARGETS.items() for line in _row(*row)),
            *(line for each in target_references() for line in _lines(each.name, each)),
            *_names("output formats of other packages:", further),
        ]
    )


def _lines(name: str, each: Reference) -> Iterator[str]:
    if not each.options:
        yield from _row(name, each.summary)
        return
    yield f"  {name}"
    yield from _wrapped(each.summary, 6)
    for option in each.options:
        yield from _row(f"    {option.name}={_value(option)}", _meaning(option))


def _value(option: OptionReference) -> str:
    return VALUES.get(option.type, option.type.removeprefix("one of ").replace(", ", "|"))


def _meaning(option: OptionReference) -> str:
    """The first paragraph of what an option means, and its default."""
    first = option.meaning.partition("\n\n")[0]
    # With spaces, so that a list can go over several lines.
    value = None if option.default is None else option.default.replace(",", ", ")
    default = "required" if value is None else f"default: {value}"
    return f"{first.removesuffix('.')} ({default})"


def _row(name: str, text: str) -> Iterator[str]:
    """A name, and beside it, or below where it is too long, what it means."""
    lines = _wrapped(text, OPTION_COLUMN)
    if len(name) + 2 < OPTION_COLUMN - 1:
        lines[0] = f"  {name}".ljust(OPTION_COLUMN) + lines[0].lstrip()
        yield from lines
    else:
        yield from [f"  {name}", *lines]


def _wrapped(text: str, indent: int) -> list[str]:
    width = max(shutil.get_terminal_size().columns - 2, LEAST_WIDTH)
    broken = textwrap.wrap(" ".join(text.split()), width - indent, break_on_hyphens=False)
    return [" " * indent + line for line in broken] or [""]


def _names(title: str, names: Iterable[str]) -> list[str]:
    found = sorted(names)
    return ["", title, *(f"  {name}" for name in found)] if found else []
