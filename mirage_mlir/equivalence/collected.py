"""Comparisons that passes make, for whoever wants to know of all of them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from mirage_mlir.equivalence.comparison_report import Comparison, EquivalenceReport

_comparisons: ContextVar[tuple[list[Comparison], ...]] = ContextVar("comparisons", default=())


@contextmanager
def collect_comparisons() -> Generator[list[Comparison]]:
    """The comparisons that passes make in this `with` block, in order, as they are made."""
    found: list[Comparison] = []
    token = _comparisons.set((*_comparisons.get(), found))
    try:
        yield found
    finally:
        _comparisons.reset(token)


def note_comparison(reference: str, candidate: str, report: EquivalenceReport) -> None:
    """Let whoever collects comparisons know of one."""
    for found in _comparisons.get():
        found.append(Comparison(reference, candidate, report))
