"""Each pass has a FileCheck test of its name: it runs the pass alone, and checks what it says."""

import inspect
import re
from pathlib import Path

import pytest

from mirage_mlir.passes import PASSES, load_pass

FOLDER = Path(__file__).parents[2] / "passes"

NOT_ALONE = {"check-lowered-kernels": "what it runs are lowered kernels, which no one writes"}
"""Passes that are tested behind others, with the reason."""


def shown(name: str, title: str) -> str:
    """The program below `title` in the docstring of a pass."""
    text = inspect.getdoc(load_pass(name)) or ""
    found = re.search(rf"^{title}\b.*:\n((?:    .*\n|\n(?=    ))+)", text + "\n", re.MULTILINE)
    return found[1] if found else ""


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.mlir").read_text(encoding="utf-8")


def operations(text: str) -> set[str]:
    """The names of operations, but for those in attributes and comments."""
    lines = [line.partition("//")[0] for line in text.splitlines()]
    return {
        match
        for line in lines
        for match in re.findall(r"(?<![#!@\w.])(?:kernel|threadblock|thread)\.[a-z_]+", line)
        if not re.search(rf"{re.escape(match)} *=", line)
    }


@pytest.mark.parametrize("name", PASSES)
def test_a_docstring_shows_the_program_before_and_after(name: str) -> None:
    titles = re.findall(r"^(Input|Output)\b", inspect.getdoc(load_pass(name)) or "", re.MULTILINE)
    assert set(titles) == {"Input", "Output"}


@pytest.mark.parametrize("name", sorted(PASSES.keys() - NOT_ALONE.keys()))
def test_a_pass_is_run_alone(name: str) -> None:
    """The first command of its test has no pass before it."""
    command = next(line for line in text_of(name).splitlines() if "RUN:" in line)
    flags = re.findall(r"--([a-z-]+)", command.partition("|")[0])
    assert [flag for flag in flags if flag in PASSES] == [name]
    assert "-p " not in command
    assert "filecheck" in command or "--verify-diagnostics" in command


@pytest.mark.parametrize("name", PASSES)
def test_what_a_docstring_shows_is_checked(name: str) -> None:
    """Each operation of the program behind the pass is in a line of checks."""
    checks = "\n".join(
        line
        for path in sorted(FOLDER.glob(f"{name}*.mlir"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"// [A-Z0-9-]+: ", line)
    )
    assert [each for each in operations(shown(name, "Output")) if each not in checks] == []
