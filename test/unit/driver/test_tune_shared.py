"""Tuning with a Redis server that is killed, stopped or started anew in the middle of a run."""

import signal
import threading
import time
from collections.abc import Callable, Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from redis_process import RedisProcess
from simulated_gpus import LOG, SECONDS
from tuned_programs import answers, readings, tuned, tuning_process, wait_until

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver import shared_cache
from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.shared_cache import Server, SharedCache

pytest.importorskip("redis")
pytest.importorskip("fakeredis")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    monkeypatch.setenv(SECONDS, "0.2")
    return tmp_path / "log"


@pytest.fixture
def server() -> Generator[RedisProcess]:
    process = RedisProcess()
    yield process
    process.kill()


def when_one_was_read(log: Path, what: Callable[[], None]) -> threading.Thread:
    """Do something in the middle of a run."""

    def wait() -> None:
        wait_until(lambda: log.exists() and len(readings(log)) > 0)
        what()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_is_lost(
    tmp_path: Path, log: Path, server: RedisProcess, how: signal.Signals
) -> None:
    """One remark; all is read once, and the folder has it for the next run."""
    cache = SharedCache(tmp_path / "here", Server(server.address))
    losing = when_one_was_read(log, lambda: server.process.send_signal(how))
    with collect_remarks() as remarks:
        results = tuned(cache)
    losing.join()
    assert [each.problem for each in results] == ["", ""]
    assert len(readings(log)) == 6
    assert set(readings(log).values()) == {1}
    (said,) = map(str, remarks)
    assert said.startswith(f"mirage: remark: the cache at {server.address} does not answer, ")
    log.unlink()
    again = tuned(SharedCache(tmp_path / "here", Server(server.address)))
    assert answers(again) == answers(results) == answers(tuned(Cache(tmp_path / "here")))
    assert not log.exists()
    if how is signal.SIGSTOP:
        server.process.send_signal(signal.SIGCONT)


def test_a_server_that_comes_back(
    tmp_path: Path, log: Path, server: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty: it gets what was found meanwhile, and another machine takes the results from it."""
    monkeypatch.setattr(shared_cache, "SILENCE", 0.1)

    def restart() -> None:
        server.kill()
        time.sleep(0.3)
        server.start()

    restarting = when_one_was_read(log, restart)
    results = tuned(SharedCache(tmp_path / "here", Server(server.address)), count=3)
    restarting.join()
    assert [each.problem for each in results] == ["", "", ""]
    assert set(readings(log).values()) == {1}
    log.unlink()
    there = tuned(SharedCache(tmp_path / "there", Server(server.address)), count=3)
    assert answers(there) == answers(results)
    assert not log.exists()


def test_two_processes(tmp_path: Path, log: Path, server: RedisProcess) -> None:
    """Both go on when the server is killed; the locks of their folder are left."""
    both = [tuning_process(tmp_path / "cache", server.address) for _ in range(2)]
    losing = when_one_was_read(log, server.kill)
    assert [each.communicate()[0] for each in both] == ["2\n", "2\n"]
    losing.join()
    assert len(readings(log)) == 6
    assert set(readings(log).values()) == {1}


def test_two_machines(tmp_path: Path, log: Path, server: RedisProcess) -> None:
    """Without a common folder the server's locks are enough; each program is tuned by one."""
    both = [tuning_process(tmp_path / name, server.address) for name in ("here", "there")]
    assert [each.communicate()[0] for each in both] == ["2\n", "2\n"]
    assert len(readings(log)) == 6
    assert set(readings(log).values()) == {1}


def free_locks(server: RedisProcess) -> None:
    """All of them, as if they had expired."""
    redis: Any = import_module("redis")
    client = redis.Redis.from_url(server.address)
    held = client.keys(f"{shared_cache.LOCKS}*")
    assert held
    client.delete(*held)


def test_a_machine_that_is_killed(tmp_path: Path, log: Path, server: RedisProcess) -> None:
    """What it had read is known to another machine, which waits until the lock is free."""
    killed = tuning_process(tmp_path / "here", server.address)
    wait_until(lambda: log.exists() and len(readings(log)) > 1)
    killed.kill()
    killed.communicate()
    # Nobody waits in a test until they expire.
    freed = threading.Timer(1.0, free_locks, [server])
    freed.start()
    results = tuned(SharedCache(tmp_path / "there", Server(server.address)))
    freed.join()
    assert [each.problem for each in results] == ["", ""]
    counts = readings(log)
    assert len(counts) == 6
    # The one that was being remembered when the signal came may be read once more.
    assert sum(counts.values()) <= 7
