"""`mirage-reduce`: the command line, and how a program is found interesting."""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.source import parse_program, text_of
from mirage_mlir.interruption import deferred, requested
from mirage_mlir.progress import Progress
from mirage_mlir.tool.files import InputError, Output, read_source
from mirage_mlir.tool.reduction import Reduction, size
from mirage_mlir.tool.run import BAD_COMMAND_LINE, BAD_INPUT, SUCCESS
from mirage_mlir.tool.usage import OneLineParser, UsageError

TOOL = "mirage-reduce"

Predicate = Callable[[Path], bool]
"""Whether the program in a file is interesting."""


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog=TOOL,
        usage=f"{TOOL} (--test=SCRIPT | --interesting=REGEX) [options] FILE",
        description="Make a program smaller as long as it fails as it did: as long as a script\n"
        "exits with 0, or as mirage-opt prints what an expression matches.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", metavar="FILE", help="the program (-: stdin)")
    add(
        "-o", dest="output", default="-", metavar="FILE", help="where to write it (default: stdout)"
    )
    add("--test", metavar="SCRIPT", help="gets the file; exits with 0 where it is interesting")
    add("--interesting", metavar="REGEX", help="searched in stdout and stderr of mirage-opt")
    add("--pipeline", metavar="PASSES", help="with --interesting: what mirage-opt -p runs")
    add("--args", default="", help="with --interesting: further arguments of mirage-opt")
    add("--timeout", type=float, default=300, metavar="SECONDS", help="of one test (default: 300)")
    add("--version", action="store_true", help="show the version and exit")
    return parser


def _ended(words: Sequence[str], seconds: float) -> "subprocess.CompletedProcess[bytes] | None":
    """What a command came to; None where it took longer."""
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise UsageError(f"cannot run '{words[0]}': {error.strerror}") from error


def _predicate(given: argparse.Namespace) -> Predicate:
    """What the command line says is interesting; raises `UsageError`."""
    if (given.test is None) == (given.interesting is None):
        raise UsageError("one of --test=SCRIPT and --interesting=REGEX says what to look for")
    if given.timeout <= 0:
        raise UsageError(f"--timeout takes seconds above 0, not {given.timeout:g}")
    if given.test is not None:
        if given.pipeline or given.args:
            raise UsageError("--pipeline and --args are for --interesting")
        return lambda path: _succeeds([str(Path(given.test).resolve()), str(path)], given.timeout)
    try:
        pattern = re.compile(given.interesting.encode())
        further = shlex.split(given.args)
    except (re.error, ValueError) as error:
        raise UsageError(f"--interesting or --args: {error}") from error
    passes = ["-p", given.pipeline] if given.pipeline else []
    words = [sys.executable, "-m", "mirage_mlir.opt_main", *passes, *further]
    return lambda path: _prints([*words, str(path)], pattern, given.timeout)


def _succeeds(words: Sequence[str], seconds: float) -> bool:
    ended = _ended(words, seconds)
    return ended is not None and ended.returncode == 0


def _prints(words: Sequence[str], pattern: re.Pattern[bytes], seconds: float) -> bool:
    ended = _ended(words, seconds)
    return ended is not None and pattern.search(ended.stdout) is not None


def _reduced(text: str, name: str, predicate: Predicate) -> Reduction:
    """A small program; raises `InputError` where the one that is given is not interesting."""
    with TemporaryDirectory() as folder, deferred(), Progress().shown():
        path = Path(folder) / "reduced.mlir"

        def is_interesting(candidate: str) -> bool:
            path.write_text(candidate, encoding="utf-8")
            lines = reduction.text.count("\n")
            Progress.say(f"reducing: {lines} lines left, {reduction.tests} tests")
            return predicate(path)

        reduction = Reduction(text, is_interesting, requested)
        if not is_interesting(text) and not requested():
            raise InputError(f"{name}: error: the program is not interesting: nothing to reduce")
        reduction.run()
    return reduction


def _run(words: Sequence[str]) -> int:
    given = _parser().parse_args(words)
    predicate = _predicate(given)
    output = Output(given.output)
    source = read_source(given.input)
    text = text_of(parse_program(source.text, source.name))
    reduction = _reduced(text, source.name, predicate)
    output.write(reduction.text.encode())
    output.keep()
    stopped = "stopped by Ctrl-C, best so far: " if requested() else ""
    sys.stderr.write(
        f"{TOOL}: {stopped}{size(text)} operations, now {size(reduction.text)}, "
        f"{reduction.tests} tests\n"
    )
    return SUCCESS


def reduce(words: Sequence[str]) -> int:
    """Run `mirage-reduce` with the arguments `words`; the exit code."""
    try:
        return _run(words)
    except UsageError as error:
        sys.stderr.write(f"{TOOL}: error: {error}\n")
        return BAD_COMMAND_LINE
    except InputError as error:
        sys.stderr.write(f"{error}\n".replace("mirage-opt:", f"{TOOL}:", 1))
    except DiagnosticException as error:
        for each in getattr(error, "diagnostics", (error,)):
            sys.stderr.write(f"{each}\n")
    except OSError as error:
        sys.stderr.write(f"{TOOL}: error: {error}\n")
    return BAD_INPUT
