"""Ctrl-C ends a search, not the program; a second one ends that."""

import signal
import threading

import pytest

from mirage_mlir import interruption
from mirage_mlir.effort import Effort


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_first_is_a_wish() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruption.deferred():
        limits = Effort().limits()
        assert not limits.expired()
        press()
        assert interruption.requested()
        assert limits.expired()
        assert limits.reason == "the interrupt"
    assert signal.getsignal(signal.SIGINT) is before


def test_second_interrupts() -> None:
    with interruption.deferred():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_every_block_starts_anew() -> None:
    with interruption.deferred():
        press()
    with interruption.deferred():
        assert not interruption.requested()


def test_nothing_is_left_behind() -> None:
    """What is searched later, outside of any block, is searched to its end."""
    with interruption.deferred():
        press()
    assert not Effort().limits().expired()


def test_inner_blocks_belong_to_the_outermost() -> None:
    with interruption.deferred():
        with interruption.deferred():
            press()
        assert interruption.requested()


def test_other_threads_handle_no_signals() -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            with interruption.deferred():
                pass
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []
