"""Lines of source and the caret below them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.diagnostics import LONGEST_MESSAGE, Diagnostic, Severity
from mirage_mlir.tool.excerpt import LONGEST, ExcerptWriter, excerpt


@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        ("  bad", 3, ["  bad", "  ^"]),
        ("  bad\r", 3, ["  bad", "  ^"]),
        ("a\tbad", 3, ["a       bad", "        ^"]),
        ("日本 bad", 4, ["日本 bad", "     ^"]),
        ("e\u0301 bad", 4, ["e\u0301 bad", "  ^"]),
        ("\x1b[31m bad", 7, ["?[31m bad", "      ^"]),
        ("the end", 8, ["the end", "       ^"]),
        ("the end", 9, ["the end"]),
        ("", 1, []),
    ],
)
def test_excerpt(line: str, column: int, shown: list[str]) -> None:
    assert excerpt(line, column) == shown


@given(
    st.integers(0, 4 * LONGEST),
    st.integers(0, 4 * LONGEST),
)
def test_long_lines_are_cut_around_the_caret(before: int, behind: int) -> None:
    shown, caret = excerpt("." * before + "x" + "." * behind, before + 1)
    assert len(shown) <= LONGEST + 6
    assert shown[len(caret) - 1] == "x"


def test_only_lines_of_the_input_are_shown() -> None:
    writer = ExcerptWriter("f.mlir", "first\nsecond\n")
    at = [("f.mlir", 2, 1), ("f.mlir", 2, 1), ("other.mlir", 2, 1), ("f.mlir", 9, 1), ("-", 0, 0)]
    said = [Diagnostic(Severity.ERROR, "wrong", *place) for place in at]
    assert list(writer.lines(said)) == [
        "f.mlir:2:1: error: wrong",
        "second",
        "^",
        "f.mlir:2:1: error: wrong",
        "other.mlir:2:1: error: wrong",
        "f.mlir:9:1: error: wrong",
        "-: error: wrong",
    ]


def test_long_messages_are_cut() -> None:
    text = str(Diagnostic(Severity.ERROR, "start " + "x" * 100_000 + " end"))
    assert len(text) < LONGEST_MESSAGE + 100
    assert text.startswith("-: error: start xxx")
    assert text.endswith("xxx end")
    assert " ... (98010 characters left out) ... " in text
