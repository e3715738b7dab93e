"""`mirage-translate`: programs of other compilers in, kernels out, in one command."""

import argparse
import sys
from collections.abc import Sequence

from mirage_mlir.targets.target import DEFAULT_TARGET
from mirage_mlir.tool.run import BAD_COMMAND_LINE, run
from mirage_mlir.tool.usage import OneLineParser, UsageError

TOOL = "mirage-translate"

IMPORT = ("--convert-stablehlo-to-kernel", "--convert-linalg-to-kernel")
"""Both: a program says itself by its operations which of them it needs."""

RESULTS = {
    "kernel": "the program in the kernel dialect, as it was imported",
    "mlir": "the program, superoptimized",
    "ptx": "PTX of the kernels",
    "cubin": "machine code of the kernels",
    "c": "a header and a source of C with the machine code, in the folder -o DIR",
}


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog=TOOL,
        usage=f"{TOOL} --to=RESULT [options] [FILE]",
        description="Translate a program of StableHLO (text or portable bytecode), linalg or the\n"
        "kernel dialect. It is mirage-opt with the passes that RESULT needs.",
        epilog="results:\n" + "\n".join(f"  {each:8}{said}" for each, said in RESULTS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", metavar="FILE", help="the program (default: -, stdin)")
    add("--to", required=True, choices=[*RESULTS], metavar="RESULT", help="what to make, see below")
    add("-o", dest="output", metavar="FILE|DIR", help="where to write it (default: stdout)")
    add(
        "--target",
        metavar="GPU",
        help=f"what to search for (default: the module's, or {DEFAULT_TARGET})",
    )
    add("--function", metavar="NAME", help="whose kernels --to=ptx or cubin writes, where several")
    add("--parts", action="store_true", help="leave to the host what cannot be converted")
    add("--report", action="store_true", help="say on stderr what was searched and proved")
    add("-v", "--verbose", action="store_true", help="show detailed remarks, and times of passes")
    add("--debug", action="store_true", help="show the Python trace of an internal error")
    add("--version", action="store_true", help="show the version and exit")
    return parser


def words_of(given: argparse.Namespace) -> list[str]:
    """The command line of `mirage-opt` that does it; raises `UsageError`."""
    searches = given.to != "kernel"
    if not searches:
        for option in ("target", "report"):
            if getattr(given, option):
                raise UsageError(f"--{option} is for what is searched, not for --to=kernel")
    stablehlo, linalg = IMPORT
    parts = " parts=true" if given.parts else ""
    words = [f"{stablehlo}=if-any=true{parts}", f"{linalg}=if-any=true"]
    if searches:
        words.append("--superoptimize" + (f"=target={given.target}" if given.target else ""))
    if given.function and given.to not in ("ptx", "cubin"):
        raise UsageError("--function is for --to=ptx and --to=cubin, which write one function")
    chosen = f"{{function={given.function}}}" if given.function else ""
    words += ["-t", "mlir" if given.to in ("kernel", "mlir") else given.to + chosen]
    if given.to == "c":
        if given.output in (None, "-"):
            raise UsageError("--to=c makes files: name their folder, -o DIR")
        words.append(f"--artifacts={given.output}")
    elif given.output is not None:
        words += ["-o", given.output]
    words += [f"--{each}" for each in ("report", "verbose", "debug") if getattr(given, each)]
    return [*words, "--", given.input]


def translate(words: Sequence[str]) -> int:
    """Run `mirage-translate` with the arguments `words`; the exit code, one of mirage-opt's."""
    try:
        return run(words_of(_parser().parse_args(words)), TOOL)
    except UsageError as error:
        sys.stderr.write(f"{TOOL}: error: {error}\n")
        return BAD_COMMAND_LINE
