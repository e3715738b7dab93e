"""
What was found by timing, kept on disk: one small JSON file for each program, GPU and option.

Several processes may write at once: a file appears whole or not at all, and the last one stays. A
file that cannot be read or is damaged counts as none. The folder is MIRAGE_CACHE_DIR, or
`mirage_mlir` in XDG_CACHE_HOME, or in `~/.cache`; it may be deleted at any time.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from mirage_mlir import __version__
from mirage_mlir.runtime.files import write_whole

FORMAT = 1
"""Raised when entries of before must not be used any more."""

MOST_BYTES = 2**26
"""Of an entry: 2000 kernels in text have a tenth of that."""

FOLDER_VARIABLE = "MIRAGE_CACHE_DIR"


def cache_folder() -> Path:
    """Where entries are kept."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mirage_mlir"


@dataclass(frozen=True)
class Key:
    """What a result depends on."""

    program: str
    """Its text, which has all types."""
    device: str
    """The name of the GPU on which kernels were timed."""
    options: Mapping[str, object]
    """Target, chips, and how far was searched."""

    def digest(self) -> str:
        """The name of the entry's file."""
        fields = {**asdict(self), "format": FORMAT, "version": __version__}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Cache:
    """Entries in a folder; without one nothing is kept."""

    folder: Path | None

    def _path(self, key: Key) -> Path | None:
        return None if self.folder is None else self.folder / f"{key.digest()}.json"

    def get(self, key: Key) -> dict[str, object] | None:
        """The entry of `key`; None where there is none, or no whole one."""
        path = self._path(key)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                text = file.read(MOST_BYTES + 1)
            return None if len(text) > MOST_BYTES else _checked(json.loads(text))
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: Key, entry: Mapping[str, object]) -> None:
        """Keep an entry; where the folder cannot be written nothing is kept."""
        path = self._path(key)
        if path is None:
            return
        data = json.dumps({"sha256": _digest(entry), "entry": entry}, indent=1)
        if len(data) > MOST_BYTES:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data.encode())
        except OSError:
            # A cache is a convenience: the result is there without it.
            return


def _checked(wrapped: object) -> dict[str, object] | None:
    """The entry in what a file holds; None where its checksum is another."""
    if not isinstance(wrapped, dict):
        return None
    members = cast(dict[str, object], wrapped)
    entry = members.get("entry")
    if not isinstance(entry, dict):
        return None
    fields = cast(dict[str, object], entry)
    return fields if members.get("sha256") == _digest(fields) else None


def _digest(entry: object) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
