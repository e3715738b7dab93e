"""What a search did, for people and for statistics files."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage_mlir.search.multi_kernel.explanation import Explanation

COUNTS = (
    "axes",
    "operators",
    "roots",
    "configurations",
    "values",
    "edges",
    "tried",
    "graphs",
    "instantiations",
    "unshifted",
)
"""The fields of a report that count what was searched."""

DIMENSIONS_SHOWN = 8
"""Of the dimensions of kernels, for people; `--explain` has those of every kernel."""

CUTS_SHOWN = 4
"""Of what was left out, for people; large programs are cut short at hundreds of places."""


MOST_REFUSED = 64
"""Refusals that are noted: large programs have graphs refused by the hundred, for few reasons."""


@dataclass
class SearchReport:
    """
    One function's search: what was searched, what was chosen and why, and how long it took.

    Times are in seconds. `modelled` is the cost model's time of the result, `modelled_alone` that
    of the program with each operator as a kernel of its own.
    """

    function: str = ""
    target: str = ""
    axes: int = 0
    operators: int = 0
    roots: int = 0
    """Values whose sub-expressions are looked for: outputs, arguments, denominators."""
    configurations: int = 0
    values: int = 0
    """Over all configurations."""
    edges: int = 0
    tried: int = 0
    """Operations applied to values, most of whose results were no sub-expression."""
    graphs: int = 0
    """Graphs that were costed, different in their products, sums or loads."""
    instantiations: int = 0
    """Graphs times combinations of tile sizes that were costed."""
    unshifted: int = 0
    """Exps from whose arguments no maximum may be subtracted, so that they may overflow."""
    kernels: int = 0
    modelled: float = 0.0
    modelled_alone: float = 0.0
    structure: str = ""
    """Grid and loop of each kernel of the result."""
    alone: bool = False
    """Whether the result has each operator alone."""
    rejected: int = 0
    """Candidates that verification turned down."""
    cut: list[str] = field(default_factory=list[str])
    """What was left out because a limit was reached; empty when the search was exhaustive."""
    refused: list[str] = field(default_factory=list[str])
    """Graphs that were found and cannot be used, and why: the first of them."""
    stopped: str = ""
    """What ended the search before its end: the time limit or the interrupt."""
    verification: str = ""
    """`verified` or `NOT VERIFIED`, and why, in one line."""
    phases: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds spent in each phase."""
    explanation: "Explanation | None" = None
    """Why the candidate was taken; None where it was not searched for now."""

    def of_candidate(
        self, kernels: int, modelled: float, structure: str, *, alone: bool
    ) -> "SearchReport":
        """This report as it is now, on one candidate."""
        return replace(
            self,
            kernels=kernels,
            modelled=modelled,
            structure=structure,
            alone=alone,
            cut=list(self.cut),
            refused=list(self.refused),
            phases=dict(self.phases),
        )

    def add(self, other: "SearchReport") -> None:
        """Count what another search did, too."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cut += [reason for reason in other.cut if reason not in self.cut]
        for reason in other.refused:
            self.refuse(reason)
        for name, seconds in other.phases.items():
            self.phases[name] = self.phases.get(name, 0.0) + seconds

    def refuse(self, reason: str) -> None:
        """Note a graph that was found and cannot be used; each reason once, and not too many."""
        if reason not in self.refused and len(self.refused) < MOST_REFUSED:
            self.refused.append(reason)

    def add_part(self, other: "SearchReport") -> None:
        """Count the search of a part of this program, whose operators and axes are this one's."""
        self.add(replace(other, axes=0, operators=0, roots=0))

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Add the time of this `with` block to the phase `name`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + perf_counter() - start

    def as_dict(self) -> dict[str, object]:
        """All of it, as JSON has it."""
        return asdict(self)

    def lines(self, refusals: int = CUTS_SHOWN) -> list[str]:
        """The report as a person reads it, with so many refusals at most."""
        phases = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in self.phases.items())
        lines = [
            f"search of @{self.function} for {self.target}: {self.operators} operators over "
            f"{self.axes} axes, {self.roots} roots",
            f"  searched: {self.configurations} configurations, {self.values} values "
            f"({self.tried} operations tried), {self.graphs} graphs, "
            f"{self.instantiations} instantiations",
            *self._dimensions(),
            f"  found: {self._found()}",
            f"  modelled: {self.modelled * 1e6:.1f} us; each operator alone "
            f"{self.modelled_alone * 1e6:.1f} us",
        ]
        if self.verification:
            lines.append(f"  {self.verification}")
        if self.rejected:
            lines.append(f"  rejected by verification: {self.rejected} candidates")
        if self.unshifted:
            plural = "" if self.unshifted == 1 else "s"
            lines.append(
                f"  as written: {self.unshifted} exp{plural} of which no maximum may be subtracted"
            )
        if self.refused:
            more = f"; and {len(self.refused) - refusals} more" * (len(self.refused) > refusals)
            lines.append(f"  refused: {'; '.join(self.refused[:refusals])}{more}")
        if self.cut:
            more = f"; and {len(self.cut) - CUTS_SHOWN} more" * (len(self.cut) > CUTS_SHOWN)
            lines.append(f"  cut short: {'; '.join(self.cut[:CUTS_SHOWN])}{more}")
        lines.append(f"  time: {phases}")
        return lines

    def _dimensions(self) -> Iterator[str]:
        """What the letters in the structure stand for."""
        kernels = self.explanation.kernels if self.explanation is not None else ()
        shown: dict[str, None] = {}
        for kernel in kernels:
            for dimension in kernel.dimensions if kernel is not None else ():
                shown.setdefault(str(dimension))
        more = f"; and {len(shown) - DIMENSIONS_SHOWN} more" * (len(shown) > DIMENSIONS_SHOWN)
        if shown:
            yield f"  dimensions: {'; '.join([*shown][:DIMENSIONS_SHOWN])}{more}"

    def _found(self) -> str:
        plural = "" if self.kernels == 1 else "s"
        structure = f", {self.structure}" if self.structure else ""
        return f"{self.kernels} kernel{plural}{structure}"


Searched = Callable[[SearchReport], None]
"""Takes what each search did as it ends: also a pass that fails has made some."""


def not_searched(report: SearchReport) -> None:
    """For those who want a result, and not what was searched."""
