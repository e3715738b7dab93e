"""`mirage-opt`: the command line of the compiler."""

import os
import sys
from collections.abc import Callable, Sequence

from mirage_mlir.garbage import process_of_ours, seldom_collected

INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


def _version(name: str) -> str:
    from importlib.metadata import version

    from mirage_mlir import __version__

    return f"{name} {__version__} (xDSL {version('xdsl')})\n"


def _run(words: Sequence[str]) -> int:
    # Imported here, so that --version answers without the compiler.
    from mirage_mlir.tool.run import run

    return run(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool: 0 when all went well, 1 bad input, 2 bad command line, 3 our own error."""
    return run_command("mirage-opt", _run, arguments)


def run_command(
    name: str, run: Callable[[Sequence[str]], int], arguments: Sequence[str] | None
) -> int:
    """
    The exit code of the tool `name`, also where it is interrupted or nobody reads what it prints.

    Args:
        name: what `--version` calls it.
        run: carries out the words of a command line.
        arguments: these words; if not given, those of this process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    # Python has no stream at all where the caller closed one (`>&-`).
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    try:
        try:
            if "--version" in words:
                sys.stdout.write(_version(name))
                return 0
            if arguments is not None:
                with seldom_collected():
                    return run(words)
            from mirage_mlir.bridge.bindings import own_process

            own_process()
            with process_of_ours():
                return run(words)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on (`| head`): leave, and let the flush at exit write to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


if __name__ == "__main__":
    sys.exit(main())
