"""What became of the parts of a model: a table, and lines of the log."""

import logging
import os
import sys
from dataclasses import dataclass, field, replace

LOG = logging.getLogger("mirage_mlir.frameworks.backend")
"""`TORCH_LOGS=mirage_mlir.frameworks.backend` shows it as well as `MIRAGE_LOG=1`; torch takes names
of packages only."""


@dataclass(frozen=True)
class PartReport:
    """
    One part of a graph, and what became of it.

    Args:
        operators: their names, in order.
        count: how many parts of the model are alike.
        taken: whether kernels take its place.
        why: why not, or what is promised.
        seconds: modelled, by our kernels; None where none were searched.
        without: modelled, where it is left to inductor.
        search_seconds: what the search and the compile took.
    """

    operators: tuple[str, ...]
    count: int
    taken: bool
    why: str
    seconds: float | None = None
    without: float | None = None
    search_seconds: float = 0.0

    def line(self) -> str:
        """As a row of the table."""
        verdict = "taken" if self.taken else "left"
        times = " ".join(_us(each) for each in (self.seconds, self.without))
        shown = " ".join(self.operators)
        what = shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 3]}..."
        return f"{verdict:5} {self.count:3}x {times} {self.search_seconds:8.1f}  {what}: {self.why}"


INTERPRETED = (
    "note: tensors are in host memory, where kernels are interpreted, hundreds of times slower; "
    "times are those of the GPU that was searched for"
)

MOST_SHOWN = 72
"""Characters of the operators of a part in a line."""


def _us(seconds: float | None) -> str:
    return f"{'-' if seconds is None else f'{seconds * 1e6:.2f}':>9}"


@dataclass
class ModelExplanation:
    """What became of a model: one part of each sort, then what no kernel computes."""

    parts: list[PartReport] = field(default_factory=list[PartReport])
    outside: dict[str, int] = field(default_factory=dict[str, int])
    """Why operators are in no part, and how many they are."""
    interpreted: bool = False
    """Whether kernels run without a GPU, block by block."""

    def add(self, part: PartReport) -> None:
        """One more sort of part."""
        self.parts.append(part)

    def repeat(self, number: int) -> None:
        """One more part of the sort `number`."""
        part = self.parts[number]
        self.parts[number] = replace(part, count=part.count + 1)

    def join(self, other: "ModelExplanation") -> None:
        """Count in what became of another graph."""
        for part in other.parts:
            alike = [replace(known, count=part.count) == part for known in self.parts]
            if True in alike:
                number = alike.index(True)
                count = self.parts[number].count + part.count
                self.parts[number] = replace(part, count=count)
            else:
                self.parts.append(part)
        for why, number in other.outside.items():
            self.outside[why] = self.outside.get(why, 0) + number
        self.interpreted |= other.interpreted

    def copy(self) -> "ModelExplanation":
        """As it is now."""
        return ModelExplanation([*self.parts], {**self.outside}, self.interpreted)

    def since(self, before: "ModelExplanation") -> "ModelExplanation":
        """What was added to it since it was as it was `before`."""
        counts = [part.count for part in before.parts] + [0] * len(self.parts)
        parts = [
            replace(part, count=part.count - count)
            for part, count in zip(self.parts, counts, strict=False)
            if part.count > count
        ]
        outside = {why: n - before.outside.get(why, 0) for why, n in self.outside.items()}
        left = {why: n for why, n in outside.items() if n}
        return ModelExplanation(parts, left, self.interpreted)

    def __str__(self) -> str:
        """As a table; times are modelled, those of the search measured."""
        head = f"{'':5} {'':4} {'ours us':>9} {'else us':>9} {'search s':>8}  part"
        return "\n".join([head, *self.lines()])

    def lines(self) -> list[str]:
        """The rows of the table: of sorts of parts, and what is in no part."""
        left = [f"left {number:4}x {'':28}  {why}" for why, number in self.outside.items()]
        note = [INTERPRETED] if self.interpreted and self.taken else []
        return [*(part.line() for part in self.parts), *left, *note]

    @property
    def taken(self) -> int:
        """How many parts of the model run by our kernels."""
        return sum(part.count for part in self.parts if part.taken)


def say(text: str) -> None:
    """A line of the log."""
    if os.environ.get("MIRAGE_LOG", "0") not in ("", "0") and not LOG.handlers:
        LOG.addHandler(logging.StreamHandler(sys.stderr))
        LOG.setLevel(logging.INFO)
    LOG.info(text)
