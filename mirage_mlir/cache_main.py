"""The command `mirage-cache`: what is kept on disk of compiles, and by timing."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mirage_mlir.driver.cache import ARTIFACT, Cache, cache_bytes, open_cache
from mirage_mlir.runtime.files import write_whole


@dataclass(frozen=True)
class CacheEntry:
    """A file of the cache."""

    key: str
    kind: str
    """`artifact` or `timings`."""
    program: str
    """The name of the function; empty where the file does not say."""
    bytes: int
    used: str
    """When it was last used or written, in UTC."""


def entry_of(path: Path) -> CacheEntry:
    """What is known of a file."""
    state = path.stat()
    used = datetime.fromtimestamp(state.st_mtime, UTC).isoformat(timespec="seconds")
    kind = "artifact" if path.suffix == ARTIFACT else "timings"
    return CacheEntry(path.stem, kind, _program(path), state.st_size, used)


def _program(path: Path) -> str:
    from mirage_mlir.runtime.artifact import Artifact, ArtifactError

    if path.suffix != ARTIFACT:
        return ""
    try:
        return Artifact.from_bytes(path.read_bytes()).name
    except (OSError, ArtifactError):
        return "(damaged)"


def list_entries(cache: Cache, *, as_json: bool) -> None:
    """Print all entries, those used last first."""
    entries = sorted(map(entry_of, cache.files()), key=lambda each: each.used, reverse=True)
    if as_json:
        print(json.dumps([asdict(each) for each in entries], indent=1))
        return
    for each in entries:
        print(f"{each.key[:12]}  {each.kind:8}  {each.bytes:>9}  {each.used}  {each.program}")


def print_statistics(cache: Cache, *, as_json: bool) -> None:
    """Print where the entries are, how many, and how large."""
    files = list(cache.files())
    total = sum(path.stat().st_size for path in files)
    artifacts = sum(path.suffix == ARTIFACT for path in files)
    fields = {
        "folder": None if cache.folder is None else os.fspath(cache.folder),
        "artifacts": artifacts,
        "timings": len(files) - artifacts,
        "bytes": total,
        "most_bytes": cache_bytes(),
    }
    if as_json:
        print(json.dumps(fields, indent=1))
    else:
        print("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in fields.items()))


def clear(cache: Cache, keys: Sequence[str], days: float | None) -> None:
    """Remove entries: those whose keys begin with one of `keys`, or that were not used for days."""
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    removed = 0
    for path in list(cache.files()):
        used = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        chosen = not keys or any(path.stem.startswith(key) for key in keys)
        if chosen and (before is None or used < before):
            path.unlink(missing_ok=True)
            removed += 1
    print(f"removed {removed} {'entry' if removed == 1 else 'entries'}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mirage-cache",
        description="What is kept on disk of compiles, so that the next of a program takes none.",
        epilog="The folder is MIRAGE_CACHE_DIR, by default mirage_mlir in XDG_CACHE_HOME or "
        "~/.cache; MIRAGE_CACHE_DIR=off keeps nothing. MIRAGE_CACHE_BYTES bounds its size. "
        "MIRAGE_CACHE=redis://HOST:PORT names a server that is shared: export and import use it, "
        "the other commands are about the folder.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("list", "all entries, those used last first"),
        ("stats", "where they are, how many, and how large"),
    ):
        commands.add_parser(name, help=text).add_argument("--json", action="store_true")
    removal = commands.add_parser("clear", help="remove entries")
    removal.add_argument("keys", nargs="*", help="how the keys begin of those to remove")
    removal.add_argument("--older-than", type=float, metavar="DAYS", help="not used for so long")
    text = "write entries, by default all, with those of the server, into one file"
    export = commands.add_parser("export", help=text)
    export.add_argument("file", metavar="FILE")
    export.add_argument("keys", nargs="*", help="how the keys begin of those to write")
    reading = commands.add_parser("import", help="put the entries of such a file into the cache")
    reading.add_argument("file", metavar="FILE")
    return parser


def export_file(cache: Cache, file: Path, keys: Sequence[str]) -> None:
    """Write entries into a file; raises `OSError`, and `ValueError` where keys match none."""
    from mirage_mlir.driver.exchange import exported

    made = exported(cache, keys)
    for name in made.damaged:
        print(f"mirage-cache: warning: left out {name}: it is damaged", file=sys.stderr)
    write_whole(file, made.data)
    count = "1 entry" if made.entries == 1 else f"{made.entries} entries"
    print(f"wrote {file}: {count}, {len(made.data)} bytes")


def import_file(cache: Cache, file: Path) -> None:
    """Read entries from a file; raises `OSError`, `ArtifactError`."""
    from mirage_mlir.driver.exchange import imported
    from mirage_mlir.runtime.archive import read_whole

    if not cache.keeps:
        raise OSError("the cache is turned off")
    new, known = imported(cache, read_whole(file))
    print(f"{new} new, {known} known")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 where the folder cannot be used."""
    given = _parser().parse_args(arguments)
    from mirage_mlir.diagnostics import collect_remarks
    from mirage_mlir.runtime.manifest import ArtifactError

    with collect_remarks() as remarks:
        try:
            _run(given)
        except (OSError, ValueError, ArtifactError) as error:
            print(f"mirage-cache: error: {error}", file=sys.stderr)
            return 1
        finally:
            for each in remarks:
                print(each, file=sys.stderr)
    return 0


def _run(given: argparse.Namespace) -> None:
    cache = open_cache()
    match given.command:
        case "list":
            list_entries(cache, as_json=given.json)
        case "stats":
            print_statistics(cache, as_json=given.json)
        case "export":
            export_file(cache, Path(given.file), given.keys)
        case "import":
            import_file(cache, Path(given.file))
        case _:
            clear(cache, given.keys, given.older_than)
