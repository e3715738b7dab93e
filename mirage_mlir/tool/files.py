"""What `mirage-opt` reads and writes."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from mirage_mlir.bridge.stablehlo_text import BYTECODE, generic_form
from mirage_mlir.diagnostics import PassFailure
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.tool.usage import UsageError

SPLIT_MARKER = re.compile(r"^[ \t]*// -----(?!-).*$", re.MULTILINE)
"""A line that starts a new chunk, as for mlir-opt."""

SPLIT_LINE = "// -----\n"


class InputError(Exception):
    """An input that cannot be read; exit code 1."""


@dataclass(frozen=True)
class Chunk:
    """A piece of the input that is a program of its own."""

    text: str
    first_line: int
    """How many lines of the file come before it."""

    @property
    def in_place(self) -> str:
        """The text after as many empty lines as make its line numbers those of the file."""
        return "\n" * self.first_line + self.text


@dataclass(frozen=True)
class Source:
    """The input: its name in diagnostics and its text."""

    name: str
    text: str

    def chunks(self, split: bool) -> list[Chunk]:
        """The whole text, or its pieces between the split markers."""
        if not split:
            return [Chunk(self.text, 0)]
        ends = [match.end() for match in SPLIT_MARKER.finditer(self.text)]
        starts = [match.start() for match in SPLIT_MARKER.finditer(self.text)]
        return [
            Chunk(self.text[start:end], self.text.count("\n", 0, start))
            for start, end in zip([0, *ends], [*starts, len(self.text)], strict=True)
        ]


def read_source(path: str) -> Source:
    """Read the file at `path`, standard input for `-`; raises `InputError`."""
    name = "<stdin>" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"mirage-opt: error: cannot open input file '{path}': {error.strerror}"
        ) from error
    if data.startswith(BYTECODE):
        try:
            return Source(name, generic_form(data, name))
        except PassFailure as error:
            raise InputError(str(error)) from error
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(f"{name}:{line}:{column}: error: not UTF-8 text") from error


CANNOT_OPEN = "cannot open output file '{}': {}"


class Output:
    """
    Where the result goes: standard output as it comes, or a file, whole or not at all.

    The file is not touched before `keep`; that it can be written is checked at once, since
    what comes in between may take long.
    """

    def __init__(self, path: str):
        self.path = None if path == "-" else Path(path)
        self.parts: list[bytes] = []
        if self.path is not None:
            self.check_writable(self.path)

    @staticmethod
    def check_writable(path: Path) -> None:
        folder = path.parent
        problem = None
        if path.is_dir():
            problem = "Is a directory"
        elif not folder.is_dir():
            problem = "No such file or directory"
        elif not os.access(path if path.exists() else folder, os.W_OK):
            problem = "Permission denied"
        if problem is not None:
            raise UsageError(CANNOT_OPEN.format(path, problem))

    def write(self, data: bytes) -> None:
        if self.path is not None:
            self.parts.append(data)
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def keep(self) -> None:
        """Make what was written the content of the file."""
        if self.path is None:
            return
        try:
            if self.path.exists() and not self.path.is_file():
                self.path.write_bytes(b"".join(self.parts))  # a device or a pipe
            else:
                write_whole(self.path.resolve(), b"".join(self.parts))
        except FileNotFoundError as error:
            # Some file systems, as /proc, say only then that they take no file.
            raise UsageError(CANNOT_OPEN.format(self.path, error.strerror)) from error
