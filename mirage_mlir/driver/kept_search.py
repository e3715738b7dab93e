"""
What a search for candidates to time gave, as an entry of the cache and back.

It is kept as soon as it is there, so that a run that is ended does not search again: with the same
program, target and effort a search gives the same on every machine.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.cache import Key
from mirage_mlir.driver.kept import SAME_RESULT
from mirage_mlir.driver.remembered import NAMES, function_read
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.driver.tune_tasks import OfferText, Task
from mirage_mlir.driver.typed_json import read_as
from mirage_mlir.search.report import SearchReport


@dataclass(frozen=True)
class _Candidate:
    """An offer before anything was timed."""

    function: str
    alone: bool
    search: SearchReport
    pairs: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class _Candidates:
    found: tuple[_Candidate, ...]
    """The best in the model first."""


def search_key(task: Task) -> Key:
    """What a search depends on: no GPU."""
    effort = asdict(task.options.effort())
    asked = {name: value for name, value in effort.items() if name not in SAME_RESULT}
    return Key(task.program, "", {"search": {"target": task.options.target, **asked}})


def is_final(found: Sequence[OfferText]) -> bool:
    """Whether nothing cut the search short."""
    return not any(each.search.stopped for each in found)


def search_written(found: Sequence[OfferText]) -> dict[str, object]:
    """Candidates as JSON has them."""
    return asdict(
        _Candidates(
            tuple(
                _Candidate(
                    each.function,
                    each.alone,
                    each.search,
                    tuple(tuple((one, other) for one, other in part) for part in each.pairs),
                )
                for each in found
            )
        )
    )


def search_read(task: Task, written: object) -> list[OfferText] | None:
    """
    What `search_written` wrote for a task; None where it is anything else.

    Nothing is believed: what is taken of it is compared with the program.
    """
    try:
        kept = read_as(_Candidates, written, NAMES).found
        reference = function_named(parse_program(task.program, task.name), task.name)
        for each in kept:
            function_read(each.function, reference)
    except (DiagnosticException, ValueError):
        return None
    found = [OfferText(e.function, e.alone, e.search, pairs=e.pairs) for e in kept]
    return found or None
