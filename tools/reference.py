"""
The reference pages of the documents, made from the code while mkdocs runs (a hook of mkdocs.yml).

Nothing that is made here is kept in the repository, so nothing can disagree with the code.
"""

import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

# mkdocs loads this file by its path.
sys.path.insert(0, str(Path(__file__).parent))

from reference_operations import dialect_page
from reference_passes import gpus_page, passes_page, python_page

from mirage_mlir.dialects import DIALECTS
from mirage_mlir.opt_main import main


def command_line_page() -> str:
    """The page with what `mirage-opt --help` prints."""
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        main(["--help"])
    return f"# `mirage-opt`\n\n```text\n{printed.getvalue().rstrip()}\n```"


def pages() -> dict[str, str]:
    """Path below `docs/` to text, for each page of the reference."""
    dialects = {f"reference/{name}.md": dialect_page(name) for name in DIALECTS}
    return {
        **dialects,
        "reference/passes.md": passes_page(),
        "reference/gpus.md": gpus_page(),
        "reference/command-line.md": command_line_page(),
        "reference/python.md": python_page(),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference to what mkdocs builds."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text + "\n"))
    return files
