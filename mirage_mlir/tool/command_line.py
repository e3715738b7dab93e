"""The command line of `mirage-opt`, read into one value."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from xdsl.passes import ModulePass

from mirage_mlir.passes import PASSES
from mirage_mlir.suggestions import suggestion
from mirage_mlir.tool.pass_options import Request, option_names
from mirage_mlir.tool.pipeline import parse_flag, parse_pass_pipeline, parse_xdsl_passes
from mirage_mlir.tool.usage import UsageError

PassTable = Mapping[str, Callable[[], type[ModulePass]]]

PASS_FLAG = "--pass-flag"
"""
What `--NAME=OPTIONS` becomes when NAME is a pass: `--pass-flag=NAME=OPTIONS`.

argparse has no option whose value is optional and comes after `=` only: `--cse file.mlir`
would take the file for the value.
"""


@dataclass(frozen=True)
class CommandLine:
    """What the user asks for."""

    input: str
    output: str
    target: Request
    passes: tuple[Request, ...]
    artifacts: str | None
    search_stats: str | None
    verify_report: str | None
    profile: bool
    pack: bool
    cache: bool
    report: bool
    explain: bool
    explain_json: str | None
    verbose: bool
    split_input_file: bool
    verify_diagnostics: bool
    print_ir_after_all: bool
    print_op_generic: bool
    print_debuginfo: bool
    allow_unregistered_dialect: bool
    implicit_module: bool


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all of ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _make_parser(epilog: str) -> _Parser:
    parser = _Parser(
        prog="mirage-opt",
        description="The mirage_mlir compiler: passes over MLIR programs, and their output.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    text = parser.add_argument
    text("input", nargs="?", default="-", metavar="FILE", help="the program; '-' is stdin")
    text("-o", dest="output", default="-", metavar="FILE", help="write the result to FILE")
    text("-t", "--target", default="mlir", help="output format: mlir, irdl, nvvm, ptx, cubin, ...")
    text("--report", action="store_true", help="say on stderr what was searched and proved")
    text("--explain", action="store_true", help="say on stderr why each kernel was chosen")
    text("--explain-json", metavar="FILE", help="write why each kernel was chosen to FILE, as JSON")
    text("--artifacts", metavar="DIR", help="write PTX, cubins and artifacts into DIR")
    text("--verify-report", metavar="FILE", help="write what verification proved to FILE, as JSON")
    text("--search-stats", metavar="FILE", help="write what each search did to FILE, as JSON")
    text("--profile", action="store_true", help="time candidates on this GPU, take the fastest")
    text("--pack", action="store_true", help="let kernels read packed copies of constant inputs")
    text(
        "--allow-unverified",
        action="store_true",
        help="return the best graph where none is verified; it is marked NOT VERIFIED",
    )
    text(
        "--verify-budget",
        type=float,
        metavar="SECONDS",
        help="what random tests of a result may take; above it normal forms have to prove it",
    )
    text("--no-cache", action="store_true", help="forget what was found by timing, keep nothing")
    text("-v", "--verbose", action="store_true", help="show detailed remarks")
    text("--debug", action="store_true", help="show the Python trace of an internal error")
    text("--version", action="store_true", help="show the version")
    _add_pass_options(parser)
    _add_mlir_options(parser)
    return parser


def _add_pass_options(parser: _Parser) -> None:
    group = parser.add_argument_group("passes, in the order given")
    # All three append to one list, which keeps their order.
    order: dict[str, Any] = {"dest": "passes", "action": "append", "default": []}
    group.add_argument(PASS_FLAG, type=_parse_pass_flag, help=argparse.SUPPRESS, **order)
    group.add_argument(
        "-p", "--passes", type=parse_xdsl_passes, metavar="PASSES", help="a,b{option=1},c", **order
    )
    group.add_argument(
        "--pass-pipeline", type=parse_pass_pipeline, metavar="PIPELINE", help="builtin.module(a,b)"
    )


def _add_mlir_options(parser: _Parser) -> None:
    flag = parser.add_argument_group("as in mlir-opt").add_argument
    flag("--split-input-file", action="store_true", help="programs are parted by '// -----'")
    flag(
        "--verify-diagnostics",
        action="store_true",
        help="check diagnostics against 'expected-error @+1 {{...}}' comments",
    )
    flag(
        "--print-ir-after-all",
        "--mlir-print-ir-after-all",
        action="store_true",
        help="print the program to stderr after each pass",
    )
    flag("--print-op-generic", "--mlir-print-op-generic", action="store_true", help="generic form")
    flag("--print-debuginfo", "--mlir-print-debuginfo", action="store_true", help="with locations")
    flag("--allow-unregistered-dialect", action="store_true", help="accept unknown operations")
    flag("--no-implicit-module", action="store_true", help="the input must be one module")


def _parse_pass_flag(text: str) -> list[Request]:
    name, equals, options = text.partition("=")
    return [parse_flag(name, options if equals else None)]


def _describe_passes(available: PassTable) -> str:
    """The end of the help text: our passes, each with its summary, and the names of xDSL's."""
    lines = ["passes of mirage_mlir:"]
    for name in sorted(PASSES):
        pass_class = available[name]()
        summary = (pass_class.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"  --{name}\n      {summary}")
        if options := option_names(pass_class):
            lines.append(f"      options: {' '.join(options)}")
    others = sorted(name for name in available if name not in PASSES)
    return "\n".join([*lines, "passes of xDSL:", *(f"  --{name}" for name in others)])


def _normalize(words: Sequence[str], available: PassTable, options: Sequence[str]) -> list[str]:
    """`words` with two dashes before each long option, as LLVM reads one, and pass flags marked."""
    result: list[str] = []
    for index, word in enumerate(words):
        if word == "--":
            return [*result, *words[index:]]
        name = word.lstrip("-").partition("=")[0]
        if word.startswith("-") and name in available:
            result.append(f"{PASS_FLAG}={word.lstrip('-')}")
        elif word.startswith("-") and f"--{name}" in options and len(name) > 1:
            result.append(f"--{word.lstrip('-')}")
        else:
            result.append(word)
    return result


def _with_verification(
    requests: Sequence[Request], *, allow_unverified: bool, budget: float | None
) -> tuple[Request, ...]:
    """The passes with what `--allow-unverified` and `--verify-budget` say of them."""
    searches = [request for request in requests if request.name == "superoptimize"]
    comparisons = [request for request in requests if request.name == "verify-equivalence"]
    if allow_unverified and not searches:
        raise UsageError("--allow-unverified is for --superoptimize")
    if budget is not None and not searches + comparisons:
        raise UsageError("--verify-budget is for --superoptimize and --verify-equivalence")
    further: dict[str, dict[str, tuple[str, ...]]] = {"superoptimize": {}, "verify-equivalence": {}}
    if allow_unverified:
        further["superoptimize"]["allow_unverified"] = ("true",)
    if budget is not None:
        further["superoptimize"]["verify_budget"] = (str(budget),)
        further["verify-equivalence"]["budget"] = (str(budget),)
    return tuple(
        Request(request.name, {**further.get(request.name, {}), **request.options})
        for request in requests
    )


def parse_command_line(words: Sequence[str], available: PassTable) -> CommandLine:
    """
    Read `words`, which name passes of `available`; `--help` prints the help and exits.

    Raises `UsageError`.
    """
    wants_help = "-h" in words or "--help" in words
    parser = _make_parser(_describe_passes(available) if wants_help else "")
    options = [name for action in parser._actions for name in action.option_strings]
    arguments, unknown = parser.parse_known_args(_normalize(words, available, options))
    if unknown:
        flags = [*options, *(f"--{name}" for name in available)]
        name = unknown[0].partition("=")[0]
        raise UsageError(f"unknown argument '{unknown[0]}'{suggestion(name, flags)}")
    if arguments.pass_pipeline is not None and arguments.passes:
        raise UsageError("--pass-pipeline and other options that name passes exclude each other")
    (target,) = parse_xdsl_passes(arguments.target)
    groups: list[list[Request]] = [*arguments.passes, arguments.pass_pipeline or []]
    return CommandLine(
        input=arguments.input,
        output=arguments.output,
        target=target,
        passes=_with_verification(
            [request for group in groups for request in group],
            allow_unverified=arguments.allow_unverified,
            budget=arguments.verify_budget,
        ),
        artifacts=arguments.artifacts,
        report=arguments.report,
        explain=arguments.explain,
        explain_json=arguments.explain_json,
        search_stats=arguments.search_stats,
        verify_report=arguments.verify_report,
        profile=arguments.profile,
        pack=arguments.pack,
        cache=not arguments.no_cache,
        verbose=arguments.verbose,
        split_input_file=arguments.split_input_file,
        verify_diagnostics=arguments.verify_diagnostics,
        print_ir_after_all=arguments.print_ir_after_all,
        print_op_generic=arguments.print_op_generic,
        print_debuginfo=arguments.print_debuginfo,
        allow_unregistered_dialect=arguments.allow_unregistered_dialect,
        implicit_module=not arguments.no_implicit_module,
    )
