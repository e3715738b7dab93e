"""Reference pages of passes, of GPUs and of the Python interface."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from reference_operations import ROOT, as_markdown, parsing_context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import mirage_mlir
from mirage_mlir.api.graph import SearchOptions
from mirage_mlir.passes import PASSES, PIPELINES, load_pass, load_pipeline
from mirage_mlir.targets.target import GPUS, Target
from mirage_mlir.tool.reference import OptionReference, field_docstrings, reference_of

MOST_LINES = 60
"""Of an example; a longer one hides what it shows."""


def tests_of(name: str) -> list[Path]:
    """The lit tests that are named after a pass."""
    folder = ROOT / "test" / "passes"
    return sorted({*folder.glob(f"{name}.mlir"), *folder.glob(f"{name}-*.mlir")})


def lit_example(name: str) -> tuple[str, str] | None:
    """
    The first function in the lit test of a pass, before and after it.

    None where the test runs other passes too, or an option, or what comes out fills a page.
    """
    path = ROOT / "test" / "passes" / f"{name}.mlir"
    text = path.read_text() if path.exists() else ""
    split = "(--split-input-file )?"
    if not re.match(rf"// RUN: mirage-opt %s {split}--{name} {split}\| filecheck %s", text):
        return None
    program = Parser(parsing_context(), text.partition("// -----")[0]).parse_module()
    function = next(op for op in program.ops if isinstance(op, FuncOp))
    function.detach()
    alone = ModuleOp([function])
    before = str(function)
    load_pass(name)().apply(parsing_context(), alone)
    after = "\n".join(str(op) for op in alone.ops)
    return (before, after) if after.count("\n") < MOST_LINES else None


def pipeline_section(name: str) -> str:
    """One pipeline: meaning, options."""
    return _section(f"## Pipeline `--{name}`", load_pipeline(name), None)


def pass_section(name: str) -> str:
    """One pass: meaning, program before and after, options, tests."""
    section = _section(f"## `--{name}`", load_pass(name), lit_example(name))
    if tests := tests_of(name):
        names = ", ".join(f"`{path.relative_to(ROOT)}`" for path in tests)
        section += f"\nTests: {names}.\n"
    return section


def _section(title: str, pass_class: type[ModulePass], example: tuple[str, str] | None) -> str:
    lines = [title, "", as_markdown(pass_class.__doc__ or ""), ""]
    if example is not None:
        before, after = (["```mlir", *text.splitlines(), "```"] for text in example)
        lines += ["A function of its test, before:", "", *before, "", "and after:", "", *after, ""]
    if options := reference_of(pass_class).options:
        lines += ["| option | default | meaning |", "| --- | --- | --- |"]
        lines += [
            f"| `{each.name}` | {_default(each)} | {' '.join(each.meaning.split())} |"
            for each in options
        ]
        lines.append("")
    return "\n".join(lines)


def _default(option: OptionReference) -> str:
    return "required" if option.default is None else f"`{option.default}`"


def passes_page() -> str:
    """The page of all passes, in the order in which the compiler runs them, pipelines first."""
    head = (
        "# Passes\n\nEach pass is a flag of `mirage-opt`; flags run in the order in which they are "
        "given. Options are words behind `=`: "
        '`mirage-opt --superoptimize="target=A100 top-k=4" f.mlir`, or in braces in a pipeline: '
        "`-p 'superoptimize{target=A100 top-k=4}'`. The name of a pipeline stands for its passes."
    )
    sections = [*map(pipeline_section, PIPELINES), *map(pass_section, PASSES)]
    return "\n\n".join([head, *sections])


def gpus_page() -> str:
    """The page of the GPUs that kernels are made for: one row for each number, and its meaning."""
    meanings = field_docstrings(Target)
    about = as_markdown(import_module(Target.__module__).__doc__ or "")
    lines = ["# GPUs", "", "`target` is one of these GPUs, or an instruction set.", "", about, ""]
    lines += [f"| number | {' | '.join(GPUS)} | meaning |", "| --- " * (len(GPUS) + 2) + "|"]
    for each in fields(Target):
        found: list[object] = [getattr(gpu, each.name) for gpu in GPUS.values()]
        values = [f"{value:g}" if isinstance(value, float) else f"{value}" for value in found]
        meaning = " ".join(meanings.get(each.name, "").split())
        lines.append(f"| `{each.name}` | {' | '.join(values)} | {meaning} |")
    return "\n".join(lines)


def python_page() -> str:
    """The page of what `import mirage_mlir as mi` gives."""
    sections = ["# The Python interface", "`import mirage_mlir as mi` gives these names."]
    for name in mirage_mlir.__all__:
        sections.append(_python_section(f"mi.{name}", getattr(mirage_mlir, name)))
    options = field_docstrings(SearchOptions).items()
    sections.append("## Options of a search")
    sections.append("\n".join(f"* `{name}`: {' '.join(text.split())}" for name, text in options))
    return "\n\n".join(sections)


def _python_section(name: str, value: object) -> str:
    lines = [f"## `{name}`"]
    if inspect.isfunction(value):
        lines.append(f"```python\n{name}{inspect.signature(value)}\n```")
    if inspect.isfunction(value) or inspect.isclass(value):
        lines.append(as_markdown(value.__doc__ or "", "text"))
    else:
        lines.append(f"The element type `{value}`.")
    if inspect.isclass(value):
        rows = list(_methods(value))
        lines.append("\n".join(rows))
    return "\n\n".join(lines)


def _methods(owner: type) -> Iterator[str]:
    """The public methods of a class, one a line."""
    for name, member in vars(owner).items():
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)
        if inspect.isfunction(function):
            call = "" if isinstance(member, property) else "(...)"
            text = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0]
            yield f"* `{name}{call}`: {' '.join(text.split())}"
