"""What `mirage-opt` does besides running passes: reports, artifacts, timing, statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.driver.explain import ChosenFunction
from mirage_mlir.driver.program_run import ProgramRun
from mirage_mlir.driver.workers import Workforce
from mirage_mlir.equivalence.comparison_report import Comparison
from mirage_mlir.search.report import SearchReport


@dataclass(frozen=True)
class Profiling:
    """How candidates are timed."""

    workforce: Workforce = field(default_factory=Workforce)
    """What searches, compiles and times."""
    spread: bool = False
    """Whether searches, too, are made by the workers, those for many functions at once."""
    cache: bool = True
    """Whether what was found is kept on disk."""


@dataclass(frozen=True)
class Session:
    """
    One run of `mirage-opt`: what it is asked for, and what its programs have come to so far.

    Raises `OSError` when the folder for artifacts cannot be made.
    """

    report: bool = False
    explain: bool = False
    explain_json: Path | None = None
    """Where to write why kernels were chosen."""
    explain_html: Path | None = None
    """Where to write the same as a page."""
    artifacts: Path | None = None
    """The folder for artifacts, PTX and cubins."""
    verbose: bool = False
    profiling: Profiling | None = None
    """Candidates that `superoptimize` keeps are timed, and the fastest is taken."""
    pack: bool = False
    """Kernels read packed copies of constant inputs."""
    c_source: bool = False
    """Artifacts are written as C, too."""

    searches: list[SearchReport] = field(default_factory=list[SearchReport], init=False)
    comparisons: list[Comparison] = field(default_factory=list[Comparison], init=False)
    """All that passes made, also those that failed."""
    explained: dict[str, Mapping[str, ChosenFunction]] = field(
        default_factory=dict[str, Mapping[str, ChosenFunction]], init=False
    )
    """Why kernels were chosen, by function and chip; of programs of one name all, numbered."""

    def __post_init__(self) -> None:
        if self.artifacts is not None:
            self.artifacts.mkdir(parents=True, exist_ok=True)

    @property
    def compiles(self) -> bool:
        """Whether kernels are compiled: statistics of passes need none."""
        files = (self.explain_json, self.explain_html)
        explains = self.explain or any(path is not None for path in files)
        timed = self.profiling is not None
        return self.report or explains or timed or self.artifacts is not None

    def start(self, program: ModuleOp, passes: Sequence[ModulePass] = ()) -> ProgramRun:
        """A program, as it was written, on its way through `passes`."""
        return ProgramRun(self, program.clone(), passes)

    def add_explanations(self, found: Mapping[str, Mapping[str, ChosenFunction]]) -> None:
        """Note why kernels were chosen; chunks of a file may have functions of one name."""
        for name, chips in found.items():
            key, number = name, 1
            while key in self.explained:
                number += 1
                key = f"{name} ({number})"
            self.explained[key] = chips

    def search_stats(self) -> dict[str, object]:
        """What the searches did, as JSON; the documents say what is there."""
        return {"searches": [report.as_dict() for report in self.searches]}

    def verify_report(self) -> dict[str, object]:
        """What verification proved, as JSON; `EquivalenceReport.fields` says what is there."""
        return {"comparisons": [comparison.fields() for comparison in self.comparisons]}
