"""Names of tensors as parameters of C, and texts as its comments."""

import re
from collections.abc import Sequence

_NOT_IN_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_]+")


def parameters(prefix: str, names: Sequence[str]) -> list[str]:
    """
    Parameters of a function for tensors called `names`.

    The prefix keeps them apart from the keywords and macros of C and C++.
    """
    found: list[str] = []
    for name in names:
        plain = f"{prefix}_{_NOT_IN_IDENTIFIERS.sub('_', name)}"
        number = 0
        while (candidate := f"{plain}_{number}" if number else plain) in found:
            number += 1
        found.append(candidate)
    return found


def comment(text: str) -> str:
    """`text` for a comment: one line of ASCII, which neither ends it nor starts another."""
    plain = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return plain.replace("/", "|").replace("??", "? ?")
