"""
Zip files with a few members, read without trusting them.

Nothing is inflated before the sizes that the file declares were looked at, and no member becomes
larger than it declares.
"""

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from mirage_mlir.runtime.manifest import ArtifactError

MOST_MEMBERS = 64
"""Members of one file: two for each target, and four."""

MOST_BYTES = 2**28
"""Of a file, and of all its members together: 2000 kernels for two targets have a fifth of that."""

# What zipfile raises on damage, by what is damaged: directory, compression method, encryption flag,
# offsets, compressed data, names.
_DAMAGE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    OverflowError,
    ValueError,
    struct.error,
    zlib.error,
)


def packed(members: Mapping[str, bytes]) -> bytes:
    """A zip file of `members`; the same members are the same bytes whenever they are packed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(_entry(name), data)
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    # The earliest time that zip can say, not the clock: saving twice gives the same bytes.
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def unpacked(data: bytes, most_members: int = MOST_MEMBERS) -> dict[str, bytes]:
    """The members of a zip file; raises `ArtifactError` where it is damaged or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(archive.infolist(), most_members)
            return {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except ArtifactError:
        raise
    except _DAMAGE as error:
        raise ArtifactError(f"it is not a whole zip file ({error})") from error


def _check_sizes(entries: list[zipfile.ZipInfo], most_members: int) -> None:
    if len(entries) > most_members:
        raise ArtifactError(f"it has {len(entries)} members, more than {most_members}")
    if len({entry.filename for entry in entries}) != len(entries):
        raise ArtifactError("it has several members of one name")
    if (total := sum(entry.file_size for entry in entries)) > MOST_BYTES:
        raise ArtifactError(f"its members are {total} bytes, more than {MOST_BYTES}")
    for entry in entries:
        # The other methods need memory that the sizes do not tell.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            method = entry.compress_type
            raise ArtifactError(f"its member {entry.filename} is compressed by method {method}")


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """
    What the file at `path` holds.

    Raises:
        OSError: it cannot be read.
        ArtifactError: it is larger than any artifact.
    """
    with Path(path).open("rb") as file:
        # Devices and pipes have no size to look at.
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ArtifactError(f"it has more than {MOST_BYTES} bytes")
    return data
