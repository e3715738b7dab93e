"""Names that users choose, as names of machine code and of files."""

import re
from hashlib import sha256

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
"""What LLVM, PTX and ptxas all take for a name: LLVM ends the process at others."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What C takes for a name, but for its keywords."""

_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.$+-]*")
"""No path, hidden file or option of a command."""

_LONGEST = 128
"""Characters of a name that is kept: file systems take 255 bytes, with a suffix."""

_KEPT = 32
"""Characters of a name that stay readable before its hash."""


def is_symbol(name: str) -> bool:
    """Whether machine code may have the symbol `name`."""
    return _SYMBOL.fullmatch(name) is not None


def symbol(name: str) -> str:
    """A symbol for machine code: `name` where that is one, or one that no other name has."""
    return name if is_symbol(name) and len(name) <= _LONGEST else _mangled(name)


def identifier(name: str) -> str:
    """Part of an identifier of C: `name` where that is one, or one that no other name has."""
    fits = _IDENTIFIER.fullmatch(name) is not None and len(name) <= _LONGEST
    return name if fits else _mangled(name)


def file_stem(name: str) -> str:
    """A file's name without its suffix: `name` where that is one, or one that no other name has."""
    fits = _FILE.fullmatch(name) is not None and len(name) <= _LONGEST
    return name if fits else _mangled(name)


def _mangled(name: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9]+", "_", name)[:_KEPT].strip("_")
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return "_".join(filter(None, ("m", readable, digest)))
