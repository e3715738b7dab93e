"""
The line of the program below a diagnostic about it, with a caret, as mlir-opt and clang print it.

    f.mlir:2:8: error: 'kernel.matmul' op contracts lhs dim 1 (size 64) with rhs dim 0 (size 32)
      %y = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<32x8xf16>) -> tensor<16x8xf16>
           ^
"""

import unicodedata
from collections.abc import Iterable, Iterator

from mirage_mlir.diagnostics import Diagnostic

LONGEST = 120
"""Characters of a line that are shown: as much as most windows have beside each other."""

TAB = 8
"""Columns of a terminal from one tab stop to the next."""


class ExcerptWriter:
    """Diagnostics about one input as text, each with the line that it is about."""

    def __init__(self, file: str, text: str):
        self._file = file
        # As the parser counts lines: other characters may end a line elsewhere.
        self._lines = text.split("\n")
        self._shown: tuple[int, int] | None = None

    def lines(self, diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
        """
        What to print.

        Of several diagnostics in a row about one place (an error and its note, remarks about a
        function) only the first shows it.
        """
        for diagnostic in diagnostics:
            yield str(diagnostic)
            place = diagnostic.line, diagnostic.column
            known = diagnostic.file == self._file and 0 < diagnostic.line <= len(self._lines)
            if known and place != self._shown:
                yield from excerpt(self._lines[diagnostic.line - 1], diagnostic.column)
            self._shown = place if known else None


def excerpt(line: str, column: int) -> list[str]:
    """
    A line of source and one with a caret below its character number `column`, from 1.

    A long line is cut on both sides of the caret; tabs are spaces, and what a terminal would take
    for a command is a question mark.
    """
    line = line.rstrip()
    if not line or not 0 < column <= len(line) + 1:
        return [_shown(line)] if line and len(line) <= LONGEST else []
    start = max(0, min(column - 1 - LONGEST // 2, len(line) - LONGEST))
    before, behind = line[start : column - 1], line[column - 1 : start + LONGEST]
    left = "..." if start else ""
    right = "..." if start + LONGEST < len(line) else ""
    shown = left + _shown(before + behind) + right
    return [shown, " " * (len(left) + _columns(_shown(before))) + "^"]


def _shown(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text.expandtabs(TAB))


def _columns(text: str) -> int:
    """How wide a terminal shows `text`."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)
