"""Artifacts as files with other members, for tests of how they are read."""

import hashlib
import io
import zipfile
from collections.abc import Mapping


def members(data: bytes) -> dict[str, bytes]:
    """What the members of a zip hold."""
    source = zipfile.ZipFile(io.BytesIO(data))
    return {name: source.read(name) for name in source.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of `files`, with a checksum that fits the manifest."""
    checksum = hashlib.sha256(files["manifest.json"]).hexdigest().encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**files, "manifest.sha256": checksum}.items():
            archive.writestr(name, data)
    return buffer.getvalue()
