"""A line on a terminal that says what a long compile is doing."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from math import inf, isfinite
from time import perf_counter
from typing import ClassVar, TextIO

PATIENCE = 2.0
"""Seconds before the line appears: most compiles are done by then, and say nothing."""

PERIOD = 0.5
"""Seconds between two updates."""


class Progress:
    """
    Says on `stream`, while it is a terminal and the work takes long, what is being done.

    Without a stream that is standard error.

    The line is written over itself and removed at the end; nothing is written to a file or pipe.
    Of several that are shown at once, one inside the other, the outermost has the line. One that is
    `quiet` has none.
    """

    _shown: ClassVar["Progress | None"] = None
    """The one that has the line now."""

    def __init__(
        self, stream: TextIO | None = None, patience: float = PATIENCE, *, quiet: bool = False
    ) -> None:
        self._stream = stream or sys.stderr
        self._patience = patience
        self._quiet = quiet
        self._doing = ""
        self._best = inf
        self._done = threading.Event()

    def now(self, doing: str) -> None:
        """From here on the line says `doing`."""
        line = Progress._shown or self
        line._doing, line._best = doing, inf

    @contextmanager
    def shown(self) -> Generator["Progress"]:
        """Show the line during this `with` block."""
        if self._quiet or Progress._shown is not None or not self._stream.isatty():
            yield self
            return
        writer = threading.Thread(target=self._write, daemon=True)
        Progress._shown = self
        writer.start()
        try:
            yield self
        finally:
            Progress._shown = None
            self._done.set()
            writer.join()

    def _write(self) -> None:
        start = perf_counter()
        if self._done.wait(self._patience):
            return
        while True:
            best = f", best so far {self._best * 1e6:.1f} us" if isfinite(self._best) else ""
            text = f"mirage: {self._doing}{best} ({perf_counter() - start:.0f} s)"
            # Back to the first column, the text, and the rest of the line erased.
            self._stream.write(f"\r{text}\x1b[K")
            self._stream.flush()
            if self._done.wait(PERIOD):
                self._stream.write("\r\x1b[K")
                self._stream.flush()
                return

    @classmethod
    def found(cls, seconds: float) -> None:
        """Say that what is done now has found kernels that take so long in the model."""
        if cls._shown is not None:
            cls._shown._best = min(cls._shown._best, seconds)

    @classmethod
    def say(cls, doing: str) -> None:
        """From here on the line that is shown, if there is one, says `doing`."""
        if cls._shown is not None:
            cls._shown.now(doing)
