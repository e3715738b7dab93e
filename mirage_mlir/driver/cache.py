"""
What was found, kept on disk: artifacts of whole compiles, and in JSON what was found by timing.

Several processes may write at once: a file appears whole or not at all, and the last one stays. A
file that cannot be read or is damaged counts as none. The folder is MIRAGE_CACHE_DIR, or
`mirage_mlir` in XDG_CACHE_HOME, or in `~/.cache`; "off" stands for none. It may be deleted at any
time. Where its files are larger than MIRAGE_CACHE_BYTES, those go that were not used for longest.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time
from typing import cast

from mirage_mlir import __version__
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.runtime.manifest import ArtifactError

FORMAT = 1
"""Raised when entries of before must not be used any more."""

MOST_BYTES = 2**26
"""Of an entry: 2000 kernels in text have a tenth of that."""

FOLDER_VARIABLE, SIZE_VARIABLE = "MIRAGE_CACHE_DIR", "MIRAGE_CACHE_BYTES"

SERVER_VARIABLE = "MIRAGE_CACHE"
"""Of a server that is shared, see `shared_cache`."""

OFF = "off"

DEFAULT_BYTES = 1 << 30
"""Of all files: some 10,000 artifacts."""

LEFT_BEHIND = 3600.0
"""Seconds after which half a file is that of a process that was killed."""

LOOKS = 64
"""Looks at the whole folder while as much is written as it may hold."""

_written: dict[Path, int] = {}
"""Bytes written by this process since its last look, by folder."""

ARTIFACT, TIMINGS = ".mirage", ".json"
"""How the names of the two kinds of entries end."""

TOOLS = ("xdsl", "numba-cuda-mlir", "nvidia-cuda-nvcc", "z3-solver")
"""The packages that decide, with our own code, what a compile gives."""


def cache_folder() -> Path | None:
    """Where entries are kept; None where nothing is to be."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen == OFF:
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mirage_mlir"


def cache_bytes() -> int:
    """
    The size of all files up to which nothing is removed.

    Raises:
        ValueError: the environment has something else in its place.
    """
    given = os.environ.get(SIZE_VARIABLE, "").strip()
    if given and not given.isdecimal():
        raise ValueError(f"{SIZE_VARIABLE} is a number of bytes, not '{given}'")
    return int(given) if given else DEFAULT_BYTES


@cache
def code_version() -> str:
    """
    What the code is that compiles: versions of packages, and what our own files hold.

    A checkout changes without its version. Times of files would differ from machine to machine.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(__version__.encode())
    for folder in (root, root / "dialects", root / "passes"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in TOOLS:
        digest.update(f"{name} {_installed(name)}".encode())
    return digest.hexdigest()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


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
        fields = {**asdict(self), "format": FORMAT, "version": code_version()}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Cache:
    """Entries in a folder; without one nothing is kept."""

    folder: Path | None

    @property
    def keeps(self) -> bool:
        """Whether it keeps anything."""
        return self.folder is not None

    def files(self) -> Iterator[Path]:
        """All entries of the folder, in the order of their names."""
        if self.folder is not None:
            for ending in (ARTIFACT, TIMINGS):
                yield from sorted(self.folder.glob(f"*{ending}"))

    # Entries as they lie in the folder

    def names(self) -> Iterator[str]:
        """Of all entries: digests of keys, and endings."""
        return (path.name for path in self.files())

    def read(self, name: str) -> bytes | None:
        """What the entry `name` holds; None where there is none, or it cannot be read."""
        if self.folder is None:
            return None
        path = self.folder / name
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            if path.suffix == ARTIFACT:
                os.utime(path)
        except OSError:
            return None
        return data if len(data) <= MOST_BYTES else None

    def write(self, name: str, data: bytes) -> None:
        """Keep an entry; where the folder cannot be written nothing is kept."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, data)
            self._note_written(self.folder, len(data))
        except OSError:
            # A cache is a convenience: the result is there without it.
            return

    # Artifacts

    def artifact(self, key: Key) -> bytes | None:
        """What was kept with `keep`; None where nothing was, or it cannot be read."""
        return self.read(f"{key.digest()}{ARTIFACT}")

    def keep(self, key: Key, artifact: bytes) -> None:
        """Keep an artifact; where the folder cannot be written nothing is kept."""
        if len(artifact) <= MOST_BYTES:
            self.write(f"{key.digest()}{ARTIFACT}", artifact)

    # Locks

    @contextmanager
    def locked(self, key: Key) -> Generator[None]:
        """
        While others who compile the same wait; the lock of a process that ends is free.

        Where the folder cannot be written, or its file system has no locks, nobody waits.
        """
        with self._lock(key, fcntl.LOCK_EX):
            yield

    @contextmanager
    def try_lock(self, key: Key) -> Generator[bool]:
        """The same without waiting: whether nobody else has the lock."""
        with self._lock(key, fcntl.LOCK_EX | fcntl.LOCK_NB) as mine:
            yield mine

    @contextmanager
    def _lock(self, key: Key, how: int) -> Generator[bool]:
        if self.folder is None:
            yield True
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / f"{key.digest()}.lock").open("wb")
        except OSError:
            yield True
            return
        with file:
            mine = True
            try:
                fcntl.flock(file, how)
            except BlockingIOError:
                mine = False
            except OSError:
                pass
            yield mine

    def _note_written(self, folder: Path, count: int) -> None:
        """Look at the whole folder only where it may have grown by much since the last look."""
        _written[folder] = _written.get(folder, cache_bytes()) + count
        if _written[folder] > cache_bytes() // LOOKS:
            _written[folder] = 0
            self._shrink()

    def _shrink(self) -> None:
        """Remove what was not used for longest until the rest is small enough."""
        for part in () if self.folder is None else self.folder.glob(".*.part"):
            if time() - part.stat().st_mtime > LEFT_BEHIND:
                part.unlink(missing_ok=True)
        states = [(path, path.stat()) for path in self.files()]
        excess = sum(state.st_size for _, state in states) - cache_bytes()
        for path, state in sorted(states, key=lambda pair: pair[1].st_mtime_ns):
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= state.st_size

    # What was found by timing

    def get(self, key: Key) -> dict[str, object] | None:
        """The entry of `key`; None where there is none, or no whole one."""
        data = self.read(f"{key.digest()}{TIMINGS}")
        return None if data is None else _entry(data)

    def put(self, key: Key, entry: Mapping[str, object]) -> None:
        """Keep an entry; where the folder cannot be written nothing is kept."""
        data = json.dumps({"sha256": _digest(entry), "entry": entry}, indent=1).encode()
        if self.keeps and len(data) <= MOST_BYTES:
            self.write(f"{key.digest()}{TIMINGS}", data)


def open_cache() -> Cache:
    """
    What the environment names: a folder, and before others a server.

    Raises:
        ValueError: the server is none, or the size is no number; the message says what is wrong.
    """
    # Before anything is searched for.
    cache_bytes()
    address = os.environ.get(SERVER_VARIABLE)
    if not address:
        return Cache(cache_folder())
    # Most have none, and who takes a kernel from the folder loads little.
    from mirage_mlir.driver.shared_cache import SharedCache, server_at

    return SharedCache(cache_folder(), server_at(address))


def is_name(name: str) -> bool:
    """Whether an entry can have that name, which is nowhere else than in the folder."""
    return (
        re.fullmatch(rf"[0-9a-f]{{64}}({re.escape(ARTIFACT)}|{re.escape(TIMINGS)})", name)
        is not None
    )


def is_whole(name: str, data: bytes) -> bool:
    """Whether an entry is what was kept: its digests say so."""
    if name.endswith(TIMINGS):
        return _entry(data) is not None
    try:
        Artifact.from_bytes(data)
    except ArtifactError:
        return False
    return True


def _entry(data: bytes) -> dict[str, object] | None:
    try:
        return _checked(json.loads(data))
    except (ValueError, RecursionError):
        return None


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
