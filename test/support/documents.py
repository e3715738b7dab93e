"""
Code blocks of Markdown pages, and what running them means.

* `mlir`: `mirage-opt` accepts it.
* `python`: it runs; the blocks of a page share their variables.
* `console`: each command behind `$ ` runs, `mirage-opt ...` or `python FILE` in this process, or
  `cc ...` or `sh ...`; what follows it, if anything, is what it prints, `...` being any text.

Other languages are not run. A comment in the line before a block says what is special about it:
`<!-- fragment -->` (no whole program, not run), `<!-- gpu -->` (runs where there is one),
`<!-- needs: PACKAGE -->` (runs where that is installed), `<!-- file: NAME -->` (what later blocks
of the page read by that name); `;` is between two.
"""

import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

from mirage_mlir import opt_main, translate_main

TOOLS = {"mirage-opt": opt_main.main, "mirage-translate": translate_main.main}

BLOCK = re.compile(
    r"(?:^<!-- (?P<marks>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    page: Path
    line: int
    language: str
    marks: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The code blocks of `page`, in their order."""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        yield Block(
            page, line, found["language"], tuple((found["marks"] or "").split("; ")), found["text"]
        )


def run_page(page: Path, *, has_gpu: bool) -> int:
    """Run the blocks of `page` in the current folder; the number of blocks that ran."""
    variables: dict[str, object] = {"__name__": "page"}
    count = 0
    for block in blocks(page):
        for mark in block.marks:
            if mark.startswith("file: "):
                Path(mark.removeprefix("file: ")).write_text(block.text)
        needed = [mark for mark in block.marks if mark.startswith("needs: ")]
        missing = any(find_spec(mark.removeprefix("needs: ")) is None for mark in needed)
        if "fragment" in block.marks or missing or ("gpu" in block.marks and not has_gpu):
            continue
        count += _run(block, variables)
    return count


def _run(block: Block, variables: dict[str, object]) -> bool:
    """Run one block; whether its language is one that is run."""
    match block.language:
        case "mlir":
            Path("block.mlir").write_text(block.text)
            _check(block, "mirage-opt --allow-unregistered-dialect block.mlir", "")
        case "python":
            with redirect_stdout(StringIO()):
                exec(compile("\n" * block.line + block.text, block.page, "exec"), variables)
        case "console":
            for found in COMMAND.finditer(block.text):
                _check(block, found["command"], found["printed"])
        case _:
            return False
    return True


def _check(block: Block, command: str, expected: str) -> None:
    """Run `command`, which prints `expected`; it fails only where an error is expected."""
    code, printed = _call(command)
    fails = ": error: " in expected
    if code and not fails:
        raise AssertionError(f"{block.place}: `{command}` exits with {code}:\n{printed}")
    if not code and fails:
        raise AssertionError(f"{block.place}: `{command}` should fail, and prints\n{printed}")
    if expected and not _matches(expected, printed):
        raise AssertionError(f"{block.place}: `{command}` prints\n{printed}\nnot\n{expected}")


def _matches(expected: str, printed: str) -> bool:
    """Whether the words are the same, `...` being any text or none."""
    pieces = [re.escape(" ".join(piece.split())) for piece in expected.split("...")]
    return re.fullmatch(".*".join(pieces), " ".join(printed.split())) is not None


def _call(command: str) -> tuple[int, str]:
    """Exit code and output of a command, which runs in this process."""
    program, *words = shlex.split(command)
    written = BytesIO()
    # The compiler writes machine code to the bytes below.
    output = TextIOWrapper(written, "utf-8", write_through=True)
    with redirect_stdout(output), redirect_stderr(output):
        if program in TOOLS:
            return TOOLS[program](words), written.getvalue().decode()
        if program in ("cc", "sh"):
            result = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            return result.returncode, result.stdout + result.stderr
        assert program == "python", f"neither a tool of ours, python, cc nor sh: {command}"
        known, sys.argv = sys.argv, words
        try:
            runpy.run_path(words[0], run_name="__main__")
        finally:
            sys.argv = known
    return 0, written.getvalue().decode()
