"""A cache that several machines share, whose server may be missing, slow, or killed."""

import os
import shutil
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from redis_process import RedisProcess

import mirage_mlir as mi
from mirage_mlir import cache_main
from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver import shared_cache
from mirage_mlir.driver.cache import Cache, Key, open_cache
from mirage_mlir.driver.shared_cache import CacheError, Server, SharedCache

pytest.importorskip("redis")
pytest.importorskip("fakeredis")

KEY = Key("func.func @f() ...", "NVIDIA H200", {"target": "H200"})


@pytest.fixture
def server() -> Generator[RedisProcess]:
    process = RedisProcess()
    yield process
    process.kill()


@pytest.fixture
def servers(server: RedisProcess) -> tuple[Server, Server]:
    """As two processes see one server."""
    return Server(server.address), Server(server.address)


def test_shared(tmp_path: Path, servers: tuple[Server, Server]) -> None:
    """What one machine has found another one has; damage is a miss."""
    one, two = (SharedCache(tmp_path / str(n), server) for n, server in enumerate(servers))
    assert two.get(KEY) is None
    one.put(KEY, {"x": 1})
    assert two.get(KEY) == {"x": 1}
    assert Cache(tmp_path / "1").get(KEY) == {"x": 1}
    assert SharedCache(None, servers[1]).get(KEY) == {"x": 1}
    (name,) = servers[0].names()
    servers[0].put(name, b'{"sha256": "0", "entry": {"x": 2}}', lambda: None)
    assert SharedCache(None, servers[1]).get(KEY) is None
    # What the folder has is whole.
    assert two.get(KEY) == {"x": 1}


def test_locks(
    tmp_path: Path, servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has it; it is renewed, and that of a process which was lost is free after a while."""
    monkeypatch.setattr(shared_cache, "LEASE", 0.3)
    one, two = (SharedCache(tmp_path / str(n), server) for n, server in enumerate(servers))
    with one.try_lock(KEY) as mine:
        assert mine
        time.sleep(0.6)
        with two.try_lock(KEY) as theirs:
            assert not theirs
    with two.try_lock(KEY) as theirs:
        assert theirs
    # Lost: nobody renews it or gives it back.
    assert servers[0].take(KEY.digest(), b"somebody")
    with two.try_lock(KEY) as theirs:
        assert not theirs
    start = time.monotonic()
    with two.locked(KEY):
        assert 0.05 < time.monotonic() - start < 5
        # And what was lost does not take it away.
        assert not servers[0].if_mine(KEY.digest(), b"somebody", lambda pipe: pipe.delete("x"))


def test_a_server_that_is_killed(
    tmp_path: Path, server: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs one remark; what was found meanwhile is sent when it is there again."""
    monkeypatch.setattr(shared_cache, "SILENCE", 0.2)
    cache = SharedCache(tmp_path / "a", Server(server.address))
    other = Key("another", "", {})
    with collect_remarks() as remarks, cache.try_lock(KEY) as mine:
        assert mine
        cache.put(KEY, {"x": 1})
        server.kill()
        cache.put(other, {"x": 2})
        assert cache.get(KEY) == {"x": 1}
        assert cache.get(other) == {"x": 2}
        (said,) = map(str, remarks)
        assert said.startswith(
            f"mirage: remark: the cache at redis://127.0.0.1:{server.port}/0 does not"
        )
        server.start()
        time.sleep(0.3)
        assert cache.get(Key("a third", "", {})) is None
    assert SharedCache(None, Server(server.address)).get(other) == {"x": 2}


def test_a_server_that_is_slow(
    tmp_path: Path, server: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_cache, "PATIENCE", 0.2)
    cache = SharedCache(tmp_path, Server(server.address))
    server.process.send_signal(signal.SIGSTOP)
    start = time.monotonic()
    with collect_remarks() as remarks:
        for number in range(20):
            cache.put(Key(str(number), "", {}), {"x": number})
        with cache.locked(KEY):
            pass
    server.process.send_signal(signal.SIGCONT)
    assert time.monotonic() - start < 2
    assert len(remarks) == 1
    assert len(list(tmp_path.glob("*.json"))) == 20


@pytest.mark.parametrize("address", ["localhost", "http://x", "redis://localhost:port"])
def test_what_is_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_CACHE", address)
    with pytest.raises(CacheError, match=f"MIRAGE_CACHE={address}"):
        open_cache()


def missing(name: str) -> None:
    """No package is installed."""


def test_without_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_cache, "find_spec", missing)
    monkeypatch.setenv("MIRAGE_CACHE", "redis://nowhere.example")
    with pytest.raises(CacheError, match=r"pip install 'mirage_mlir\[redis\]'"):
        open_cache()


def compiled() -> bytes:
    graph = mi.new_kernel_graph("program")
    graph.mark_output(graph.relu(graph.new_input(dims=(4, 8), name="x")))
    return graph.superoptimize(compile_for=["sm_90a"]).artifact.to_bytes()


def test_compiles_are_shared(
    tmp_path: Path, server: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_CACHE", server.address)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "a"))
    made = compiled()
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "b"))
    monkeypatch.setattr("mirage_mlir.driver.kept.optimized", None)
    assert compiled() == made


def test_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exported, imported elsewhere; the same entries are the same file, and damage is refused."""
    monkeypatch.delenv("MIRAGE_CACHE", raising=False)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "a"))
    made = compiled()
    Cache(tmp_path / "a").put(KEY, {"x": 1})
    file = tmp_path / "tuned.zip"
    assert cache_main.main(["export", str(file)]) == 0
    assert cache_main.main(["export", str(tmp_path / "again.zip")]) == 0
    whole = file.read_bytes()
    assert (tmp_path / "again.zip").read_bytes() == whole
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "b"))
    capsys.readouterr()
    assert cache_main.main(["import", str(file)]) == 0
    assert cache_main.main(["import", str(file)]) == 0
    assert capsys.readouterr().out == "2 new, 0 known\n0 new, 2 known\n"
    assert Cache(tmp_path / "b").get(KEY) == {"x": 1}
    monkeypatch.setattr("mirage_mlir.driver.kept.optimized", None)
    assert compiled() == made
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "c"))
    for place in range(0, len(whole), len(whole) // 40):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        # Bytes of zip that say nothing about the entries may be any.
        if cache_main.main(["import", str(file)]) == 1:
            assert "error" in capsys.readouterr().err
            assert not list((tmp_path / "c").glob("*"))
        else:
            shutil.rmtree(tmp_path / "c")
    file.write_bytes(b"junk")
    assert cache_main.main(["import", str(file)]) == 1
    monkeypatch.setenv("MIRAGE_CACHE_DIR", "off")
    assert cache_main.main(["import", str(tmp_path / "again.zip")]) == 1
    assert "turned off" in capsys.readouterr().err
    assert os.path.getsize(tmp_path / "again.zip") == len(whole)


def test_an_import_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MIRAGE_CACHE", raising=False)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "a"))
    Cache(tmp_path / "a").put(KEY, {"x": 1})
    assert cache_main.main(["export", str(tmp_path / "tuned.zip")]) == 0
    (tmp_path / "b").write_text("no folder")
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "b"))
    assert cache_main.main(["import", str(tmp_path / "tuned.zip")]) == 1
    assert f"nothing can be written to the cache in {tmp_path / 'b'}" in capsys.readouterr().err


def test_an_export_without_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has what the folder has, and says so; no secret is shown."""
    monkeypatch.setenv("MIRAGE_CACHE", "redis://me:se/cret@127.0.0.1:1/0?password=hidden")
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "a"))
    assert cache_main.main(["export", str(tmp_path / "tuned.zip")]) in {0, 1}
    said = capsys.readouterr().err
    assert "redis://127.0.0.1:1/0" in said
    assert "cret" not in said
    assert "hidden" not in said
