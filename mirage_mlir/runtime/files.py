"""Writing files so that a reader sees the whole file or none."""

import os
import threading
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """
    Write `data` to `path`: the file appears whole, under its name, or not at all.

    An existing file is replaced at once, so that a process that reads it meanwhile sees the old or
    the new one.

    Raises:
        OSError: the folder does not exist or cannot be written.
    """
    target = Path(path)
    # Beside the target: renaming is atomic within one file system only.
    writer = f"{os.getpid()}-{threading.get_ident()}"
    part = target.with_name(f".{target.name}.{writer}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        if error.errno is None:
            raise
        # With the name that the caller knows, not ours for half of it.
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        part.unlink(missing_ok=True)
