"""One hostile input, and what is drawn again and again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

ItemT = TypeVar("ItemT")

INPUT = "input.mlir"
"""The program of a case, in its folder."""


@dataclass(frozen=True)
class Case:
    """
    What one process does in a folder of its own.

    It runs `mirage-opt` with the arguments `words`, or `call`, whose result is the exit code.
    """

    words: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    call: Callable[[Path], int] | None = None


Maker = Callable[[Random], Case]
"""Makes a case from random numbers; the same numbers make the same case."""


def program_case(text: str | bytes, words: Sequence[str]) -> Case:
    """`mirage-opt` on a program."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Case((INPUT, *words), {INPUT: data})


LOWERING = (
    "--sink-reductions",
    "--fuse-thread-graphs",
    "--split-cross-block-sums",
    "--select-mma",
    "--select-copies",
    "--assign-layouts",
    "--fuse-horizontally",
    "--software-pipeline",
    "--plan-memory",
    "--overlap-launches",
    "--lower-to-nvvm",
)

SEARCH = "--superoptimize=time-limit=1"

PIPELINES: tuple[tuple[str, ...], ...] = (
    (),
    ("--print-op-generic",),
    ("--print-debuginfo", "--split-input-file"),
    ("--verify-diagnostics", "--split-input-file"),
    ("--canonicalize", "--cse"),
    ("--kernel-decompose",),
    ("--algebraic-rewrite",),
    ("--partition-program",),
    ("--partition-program", SEARCH),
    (SEARCH,),
    ("--superoptimize=time-limit=1 target=sm_80 top-k=3", "-v"),
    ("--superoptimize=time-limit=1 max-kernels=1 f32=tf32", "--search-stats=stats.json"),
    (SEARCH, "--report", "--artifacts=."),
    (SEARCH, "--pack", "--report"),
    (SEARCH, "-t", "nvvm"),
    LOWERING,
    *(LOWERING[:count] for count in range(1, len(LOWERING))),
    ("--pack-constants", "--lower-to-nvvm"),
    ("-t", "nvvm"),
    ("-t", "ptx"),
    ("-t", "cubin", "-o", "out.cubin"),
    ("--report",),
    ("--allow-unregistered-dialect", "--no-implicit-module"),
    ("--verify-equivalence=reference=f candidate=g", "--verify-report=report.json"),
)
"""What programs are put through."""


def pipeline(random: Random) -> tuple[str, ...]:
    """One of `PIPELINES`; those that search twice as often as the others."""
    searching = [words for words in PIPELINES if SEARCH in words]
    return random.choice([*PIPELINES, *searching])


def some(random: Random, items: Sequence[ItemT], most: int) -> list[ItemT]:
    """Up to `most` of `items`, at least one, some of them perhaps twice."""
    return [random.choice(items) for _ in range(random.randint(1, most))]
