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


def test_an_error_has_the_name_that_was_given(tmp_path: Path) -> None:
    """That of half a file says nothing to users."""
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*/none/f'$"):
        write_whole(tmp_path / "none" / "f", b"")
    with pytest.raises(IsADirectoryError, match=f"Is a directory: '{tmp_path}'$"):
        write_whole(tmp_path, b"")
    assert list(tmp_path.iterdir()) == []
