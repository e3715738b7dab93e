"""
linalg, and arith on tensors, in the forms that upstream's bindings read, as the generic form.

There each operation says what it does with elements, and along which loops: a named one as well.
"""

import re

from xdsl.utils.exceptions import ParseError

from mirage_mlir.bridge import bindings, stablehlo_text
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity
from mirage_mlir.parsing import SCALARS_ALONE

_CUSTOM_FORM = re.compile(
    r"^\s*(?:%[^=\n]+=\s*)?"
    rf"(?:linalg\.\w|(?:{'|'.join(map(re.escape, SCALARS_ALONE))})\b.*\b(?:tensor|vector)<)",
    re.MULTILINE,
)
"""An operation whose name has no quotes, and which xDSL does not read in this form."""

_LOCATED = re.compile(r'\bloc\("((?:[^"\\]|\\.)*)":(\d+):(\d+)\)')
"""A plain place in the generic form."""

_OURS = re.compile(r"\b(?:kernel|threadblock|thread)\.\w")
"""What upstream cannot read."""


def in_generic_form(text: str, name: str) -> str:
    """
    `text` as it is, or in the generic form where it has linalg or StableHLO in another.

    Text with linalg that upstream cannot read, as next to dialects of ours, stays as it is.

    Raises:
        PassFailure: it is no valid module, and has StableHLO, or nothing but what upstream knows;
            or jaxlib is not installed.
    """
    text = stablehlo_text.in_generic_form(text, name)
    if _CUSTOM_FORM.search(text) is None:
        return text
    try:
        return stablehlo_text.with_plain_places(bindings.generic_form(text), name)
    except bindings.MissingBindingsError:
        return text
    except bindings.BindingsError as error:
        if error.place is None or _OURS.search(text):
            return text
        place = name, *error.place[1:]
        raise PassFailure(Diagnostic(Severity.ERROR, str(error), *place)) from error


def upstream_form(text: str, name: str) -> str | None:
    """The generic form of a program that upstream may read where xDSL does not."""
    if _OURS.search(text):
        return None
    try:
        return stablehlo_text.with_plain_places(bindings.generic_form(text), name)
    except (bindings.MissingBindingsError, bindings.BindingsError):
        return None


def place_of(error: ParseError, given: str) -> tuple[str, int, int]:
    """
    File, line and column of an error in `given`, which may have been found in its generic form.

    There the place of an operation stands behind it; the first one that follows is that of the
    operation, or of one in its regions.
    """
    read = error.span.input
    text = read.content
    if text == given or isinstance(text, bytes):
        return error.span.get_location()
    if (found := _LOCATED.search(text, error.span.start)) is None:
        return read.name, 0, 0
    return found[1], int(found[2]), int(found[3])
