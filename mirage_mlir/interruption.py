"""Ctrl-C as the wish to stop searching: what was found is kept."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_requested = threading.Event()


def requested() -> bool:
    """Whether the user has pressed Ctrl-C since `deferred` began."""
    return _requested.is_set()


@contextmanager
def deferred() -> Generator[None]:
    """
    During this `with` block the first Ctrl-C only makes `requested` true; the second interrupts.

    Outside the main thread, where Python handles no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(signal.SIGINT) is _request:
        yield
        return
    before = signal.signal(signal.SIGINT, _request)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        # Else a search behind the block, or in a thread, would be cancelled before it began.
        _requested.clear()


def _request(number: int, frame: FrameType | None) -> None:
    if _requested.is_set():
        raise KeyboardInterrupt
    _requested.set()


def listen() -> None:
    """From here on the first Ctrl-C in this process only makes `requested` true."""
    signal.signal(signal.SIGINT, _request)
