"""Entries on disk: found again, and a miss where they are damaged."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mirage_mlir.driver.cache import Cache, Key, cache_folder

KEY = Key("func.func @f() ...", "NVIDIA H200", {"target": "H200", "top_k": 8})


def test_an_entry_is_found_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "made" / "here")
    assert cache.get(KEY) is None
    cache.put(KEY, {"x": [1, 2]})
    assert cache.get(KEY) == {"x": [1, 2]}


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, program="func.func @g() ..."),
        replace(KEY, device="NVIDIA H100"),
        replace(KEY, options={"target": "H200", "top_k": 9}),
    ],
)
def test_what_a_result_depends_on(tmp_path: Path, other: Key) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, {"x": 1})
    assert cache.get(other) is None


def test_another_version_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path).put(KEY, {"x": 1})
    monkeypatch.setattr("mirage_mlir.driver.cache.code_version", lambda: "99")
    assert Cache(tmp_path).get(KEY) is None


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b'{"sha256": "0", "entry": {"x": 1}}',
        b'"x"',
        b"[" * 100_000,
        b'{"entry": {"x": ' + b"9" * 5000 + b"}}",
    ],
)
def test_a_damaged_entry_is_none(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, {"x": 1})
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage)
    assert cache.get(KEY) is None
    cache.put(KEY, {"x": 2})
    assert cache.get(KEY) == {"x": 2}


def test_an_entry_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirage_mlir.driver.cache.MOST_BYTES", 2**20)
    cache = Cache(tmp_path)
    cache.put(KEY, {"x": "y" * 2**20})
    assert not list(tmp_path.iterdir())
    cache.put(KEY, {"x": 1})
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.symlink_to("/dev/zero")
    assert cache.get(KEY) is None


def test_a_changed_entry_is_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, {"x": "one"})
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text().replace("one", "two"))
    assert cache.get(KEY) is None


def test_many_writers_at_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    entries = [{"x": "y" * 10_000 + str(number)} for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cache.put, [KEY] * len(entries), entries))
    assert cache.get(KEY) in entries
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "folder")
    cache.put(KEY, {"x": 1})
    assert cache.get(KEY) is None


def test_turned_off() -> None:
    Cache(None).put(KEY, {"x": 1})
    assert Cache(None).get(KEY) is None


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIRAGE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "mirage_mlir"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/mirage_mlir")
    monkeypatch.setenv("MIRAGE_CACHE_DIR", "/here")
    assert cache_folder() == Path("/here")
