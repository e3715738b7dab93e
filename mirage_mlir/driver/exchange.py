"""
Entries of a cache as one file, to be committed beside a model, say.

It is a zip with the entries as they lie in the folder, and `contents.json` with their SHA-256:
data and text, nothing that runs when it is read. The same entries are the same bytes.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mirage_mlir.driver.cache import Cache, is_name, is_whole
from mirage_mlir.runtime.archive import packed, unpacked
from mirage_mlir.runtime.manifest import ArtifactError

CONTENTS = "contents.json"

FORMAT, VERSION = "mirage-cache", 1

MOST_ENTRIES = 100_000


@dataclass(frozen=True)
class Export:
    """Entries as one file, and the names of those that are damaged and left out."""

    data: bytes
    entries: int
    damaged: list[str]


def exported(cache: Cache, keys: Sequence[str] = ()) -> Export:
    """
    The entries of a cache as one file.

    Args:
        cache: with its server, where it has one.
        keys: how the keys begin of those that are wanted; all where there are none.

    Raises:
        ValueError: no entry begins with one of `keys`.
    """
    names = sorted(cache.names())
    for key in keys:
        if not any(name.startswith(key) for name in names):
            raise ValueError(f"there is no entry whose key begins with '{key}'")
    entries: dict[str, bytes] = {}
    damaged: list[str] = []
    for name in names:
        if keys and not name.startswith(tuple(keys)):
            continue
        if (data := cache.read(name)) is not None and is_whole(name, data):
            entries[name] = data
        else:
            damaged.append(name)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    contents = {"format": FORMAT, "version": VERSION, "sha256": digests}
    data = packed({CONTENTS: json.dumps(contents, indent=1).encode(), **entries})
    return Export(data, len(entries), damaged)


def imported(cache: Cache, data: bytes) -> tuple[int, int]:
    """
    Put the entries of a file into a cache: how many were new, and how many it had.

    Raises:
        ArtifactError: the file is damaged or something else; nothing was put.
        OSError: the cache keeps nothing.
    """
    entries = _entries(data)
    new = 0
    for name, entry in entries.items():
        known = cache.read(name)
        # What is there stays: it may be newer.
        if known is None or not is_whole(name, known):
            cache.write(name, entry)
            if cache.read(name) is None:
                raise OSError(f"nothing can be written to the cache in {cache.folder}")
            new += 1
    return new, len(entries) - new


def _entries(data: bytes) -> dict[str, bytes]:
    members = unpacked(data, MOST_ENTRIES)
    digests = _digests(members.pop(CONTENTS, b""))
    if digests.keys() != members.keys():
        raise ArtifactError("it has other entries than it says")
    for name, entry in members.items():
        if not is_name(name):
            raise ArtifactError(f"{name!r} is no name of an entry")
        if hashlib.sha256(entry).hexdigest() != digests[name] or not is_whole(name, entry):
            raise ArtifactError(f"its entry {name} is damaged")
    return members


def _digests(contents: bytes) -> dict[str, object]:
    try:
        read: object = json.loads(contents)
    except (ValueError, RecursionError):
        read = None
    fields = cast(dict[str, object], read) if isinstance(read, dict) else {}
    digests = fields.get("sha256")
    if fields.get("format") != FORMAT or not isinstance(digests, dict):
        raise ArtifactError("it was not made by mirage-cache export")
    if fields.get("version") != VERSION:
        raise ArtifactError(f"it has version {fields.get('version')}, not {VERSION}")
    return cast(dict[str, object], digests)
