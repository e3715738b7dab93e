"""`mirage-opt`: the command line of the compiler."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool: 0 when all went well, 1 bad input, 2 bad command line, 3 our own error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    # Imported here, so that `--version` answers without the compiler.
    from mirage_mlir.tool.run import run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
