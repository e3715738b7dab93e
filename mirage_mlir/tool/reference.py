"""
What passes and output formats are for, and what their options mean, read from their classes.

The docstring of the class is its description, the string below each field that of the option.
"""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from types import NoneType
from typing import Any, get_type_hints

from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.hints import isa

from mirage_mlir.outputs import TARGETS, load_target
from mirage_mlir.pass_options import alternatives, describe, option_names
from mirage_mlir.passes import PASSES, PIPELINES, load_pass, load_pipeline


@dataclass(frozen=True)
class OptionReference:
    """One option of a pass or of an output format."""

    name: str
    """As the command line spells it."""
    type: str
    """What may be written behind `=`."""
    default: str | None
    """As the command line would spell it; None for an option that must be given."""
    meaning: str
    """Its docstring, paragraphs parted by an empty line."""


@dataclass(frozen=True)
class Reference:
    """A pass or an output format."""

    name: str
    summary: str
    """The first line of the docstring."""
    description: str
    """What follows it."""
    options: tuple[OptionReference, ...]


def pass_references() -> Iterator[Reference]:
    """All passes of the project, in the order of their table."""
    return (reference_of(load_pass(name)) for name in PASSES)


def pipeline_references() -> Iterator[Reference]:
    """All pipelines of the project, in the order of their table."""
    return (reference_of(load_pipeline(name)) for name in PIPELINES)


def target_references() -> Iterator[Reference]:
    """All output formats of the project, in the order of their table."""
    return (reference_of(load_target(name)) for name in TARGETS)


def reference_of(convertible: type[ArgSpecConvertible]) -> Reference:
    """What the class of a pass or of an output format says about itself."""
    summary, _, description = inspect.cleandoc(convertible.__doc__ or "").partition("\n")
    hints, meanings = get_type_hints(convertible), field_docstrings(convertible)
    accepted = [each for each in fields(convertible) if each.init]
    options = [
        OptionReference(
            name,
            describe_type(hints[each.name]),
            _default(each.default),
            meanings.get(each.name, ""),
        )
        for name, each in zip(option_names(convertible), accepted, strict=True)
    ]
    return Reference(convertible.name, summary, description.strip(), tuple(options))


def describe_type(hint: Any) -> str:
    """What a user may write for an option of the type `hint`."""
    return " or ".join(describe(each) for each in alternatives(hint) if each is not NoneType)


def _default(value: object) -> str | None:
    """The default of a dataclass's field as the command line spells it."""
    if value is MISSING:
        return None
    if isa(value, tuple[str, ...]):
        return ",".join(value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def field_docstrings(fielded: type) -> dict[str, str]:
    """The strings below the fields of a class and of those it inherits from; Python drops them."""
    found: dict[str, str] = {}
    for owner in reversed(fielded.__mro__):
        if not vars(owner).get("__annotations__"):
            continue
        (definition,) = ast.parse(inspect.getsource(owner)).body
        assert isinstance(definition, ast.ClassDef)
        for statement, below in zip(definition.body, definition.body[1:], strict=False):
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[statement.target.id] = inspect.cleandoc(below.value.value)
    return found
