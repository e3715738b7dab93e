"""
linalg in the forms that upstream's bindings read, as the generic form.

There each operation says what it does with elements, and along which loops: a named one as well.
"""

import re

from mirage_mlir.bridge import bindings, stablehlo_text

_CUSTOM_FORM = re.compile(r"^\s*(?:%[^=\n]+=\s*)?linalg\.\w", re.MULTILINE)
"""An operation whose name has no quotes."""


def in_generic_form(text: str, name: str) -> str:
    """
    `text` as it is, or in the generic form where it has linalg or StableHLO in another.

    Text with linalg that upstream cannot read, as next to dialects of ours, stays as it is.

    Raises:
        PassFailure: it has StableHLO and is no valid module, or jaxlib is not installed.
    """
    text = stablehlo_text.in_generic_form(text, name)
    if _CUSTOM_FORM.search(text) is None:
        return text
    try:
        return stablehlo_text.with_plain_places(bindings.generic_form(text), name)
    except (bindings.BindingsError, bindings.MissingBindingsError):
        return text
