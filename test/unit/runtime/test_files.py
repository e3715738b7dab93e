"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from mirage_mlir.runtime.files import write_whole


def test_write_and_replace(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_whole(path, b"one")
    write_whole(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def full(_: Path, data: bytes) -> int:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
