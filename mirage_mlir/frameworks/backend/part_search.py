"""A search for the kernels of a part, as processes do it: they import no torch."""

from dataclasses import dataclass
from time import perf_counter

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.kept import compiled
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import parse_program


@dataclass(frozen=True)
class PartTask:
    """A program as text, so that a process can have it."""

    text: str
    name: str
    options: Options


@dataclass(frozen=True)
class PartAnswer:
    """The bytes of an artifact, or why there is none; and the seconds that it took."""

    artifact: bytes | None
    why: str
    seconds: float


def searched(task: PartTask) -> PartAnswer:
    """What is found for a program."""
    start = perf_counter()
    try:
        made = compiled(parse_program(task.text, task.name), task.name, task.options)
    except DiagnosticException as error:
        return PartAnswer(None, _first_line(error), perf_counter() - start)
    except Exception as error:  # A model runs all the same where ours is at fault.
        why = f"internal error: {type(error).__name__}: {_first_line(error)}"
        return PartAnswer(None, why, perf_counter() - start)
    return PartAnswer(made.to_bytes(), "", perf_counter() - start)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
