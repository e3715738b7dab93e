"""How deep the brackets of a program are nested, before a parser that calls itself reads it."""

import re

DEEPEST = 500
"""Levels. Upstream's parser calls itself for each and has 8 MB of stack: at 20,000 it ends the
process with a fault. What people and compilers write has less than 50, and xDSL's own parser, in
Python, ends at about as many as these."""

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|=>|<=|>=|[\[({<>})\]]')
"""Strings, comments and arrows have brackets that are none."""


TOO_DEEP = "nested too deep"
"""What is said of such a program."""


def too_deep(text: str) -> tuple[int, int] | None:
    """Line and column where brackets are nested too deep for a parser; None if they nowhere are."""
    depth = 0
    for token in _TOKENS.finditer(text):
        if token[0] in "[({<":
            depth += 1
            if depth > DEEPEST:
                start = token.start()
                return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        elif token[0] in "])}>":
            depth = max(depth - 1, 0)
    return None
