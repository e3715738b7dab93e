"""What is to be seen of a file: programs and uGraphs as text, and artifacts."""

from pathlib import Path

from mirage_mlir.driver.options import Options
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.tool.files import Source, read_source
from mirage_mlir.view.source import Seen, seen_in_artifact, seen_in_text

ARTIFACT = ".mirage"


def seen_in_file(
    path: Path,
    options: Options,
    *,
    search: bool,
    only: str | None = None,
    source: Source | None = None,
) -> list[Seen]:
    """
    The functions of a file; `-` is standard input. `source` is its text, if that was read.

    Raises:
        InputError: the file cannot be read as text.
        OSError, ArtifactError: an artifact cannot be read, or is none.
        ValueError: there is no such function.
        DiagnosticException: it is no program, or a search fails.
    """
    if path.suffix == ARTIFACT:
        artifact = Artifact.load(path)
        if only not in (None, artifact.name):
            raise ValueError(f"{path} has no function '{only}'; it has '{artifact.name}'")
        return seen_in_artifact(artifact)
    source = source or read_source(str(path))
    return seen_in_text(source.text, source.name, options, search=search, only=only)
