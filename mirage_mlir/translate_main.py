"""`mirage-translate`: programs of other compilers in, kernels out."""

import sys
from collections.abc import Sequence

from mirage_mlir.opt_main import run_command


def _run(words: Sequence[str]) -> int:
    # Imported here, so that --version answers without the compiler.
    from mirage_mlir.tool.translate import translate

    return translate(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool: 0 when all went well, 1 bad input, 2 bad command line, 3 our own error."""
    return run_command("mirage-translate", _run, arguments)


if __name__ == "__main__":
    sys.exit(main())
