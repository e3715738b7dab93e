"""
linalg in the forms that upstream's bindings read, as the generic form.

There each operation says what it does with elements, and along which loops: a named one as well.
"""

import re

from mirage_mlir.bridge import bindings, stablehlo_text
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity

_CUSTOM_FORM = re.compile(r"^\s*(?:%[^=\n]+=\s*)?linalg\.\w", re.MULTILINE)
"""An operation whose name has no quotes."""

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
