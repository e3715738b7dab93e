"""The progress line: only on terminals, only for long work, gone at the end."""

import io
import time

from mirage_mlir.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_short_work_says_nothing() -> None:
    stream = Terminal()
    with Progress(stream).shown() as progress:
        progress.now("searching")
    assert stream.getvalue() == ""


def test_long_work_says_what_it_does() -> None:
    stream = Terminal()
    with Progress(stream, patience=0.01).shown() as progress:
        progress.now("searching")
        deadline = time.monotonic() + 5
        while "searching" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "\rmirage: searching (" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_best_so_far() -> None:
    """Of what is done now: another phase has found nothing yet."""
    stream = Terminal()
    with Progress(stream, patience=0.01).shown() as progress:
        progress.now("searching")
        for seconds in (3e-5, 1.25e-5, 2e-5):
            Progress.found(seconds)
        deadline = time.monotonic() + 5
        while "best" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        progress.now("verifying")
        while "verifying (" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "\rmirage: searching, best so far 12.5 us (" in stream.getvalue()
    assert "\rmirage: verifying (" in stream.getvalue()


def test_quiet() -> None:
    stream = Terminal()
    with Progress(stream, patience=0, quiet=True).shown() as progress:
        progress.now("searching")
        Progress.found(1e-5)
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_files_get_nothing() -> None:
    stream = io.StringIO()
    with Progress(stream, patience=0).shown() as progress:
        progress.now("searching")
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_errors_pass_through_and_remove_the_line() -> None:
    stream = Terminal()
    caught = ""
    try:
        with Progress(stream, patience=0).shown() as progress:
            progress.now("searching")
            time.sleep(0.05)
            raise ValueError("no")
    except ValueError as error:
        caught = str(error)
    assert caught == "no"
    assert stream.getvalue().endswith("\r\x1b[K")
