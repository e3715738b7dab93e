"""Lines of the user's program, noted while it is traced."""

import inspect
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

LINE = "mirage_mlir_line"
"""The name of the note in the meta data of a node."""

_OTHERS = tuple(
    f"{Path(str(import_module(name).__file__)).parent}/" for name in ("torch", "mirage_mlir")
)


def users_line() -> tuple[str, int, int]:
    """File, line and column of the innermost call outside of torch and of this package."""
    frame = inspect.currentframe()
    # What torch makes of text has no file: "<string>".
    while frame is not None and frame.f_code.co_filename.startswith((*_OTHERS, "<")):
        frame = frame.f_back
    if frame is None:
        return "", 0, 0
    # One entry per instruction, and an instruction takes two bytes.
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    return frame.f_code.co_filename, positions[0] or frame.f_lineno, (positions[2] or 0) + 1


def location_of(node: Any) -> LocationAttr:
    """The line that a node of an FX graph is from; that of a user where it is an input."""
    for each in (node, *node.users):
        notes: dict[str, tuple[str, int, int]] = each.meta.get("custom") or {}
        file, line, column = notes.get(LINE, ("", 0, 0))
        if file:
            return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
    return UNKNOWN_LOC
