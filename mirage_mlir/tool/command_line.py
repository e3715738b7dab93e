"""The command line of `mirage-opt`, read into one value."""

import argparse
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.universe import Universe

from mirage_mlir.pass_options import Request, in_order
from mirage_mlir.passes import PIPELINES, VERIFICATION
from mirage_mlir.tool.available import about_unknown
from mirage_mlir.tool.help import describe_available
from mirage_mlir.tool.pipeline import parse_flag, parse_pass_pipeline, parse_xdsl_passes
from mirage_mlir.tool.usage import OneLineParser, UsageError

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
    workers: str | None
    pack: bool
    cache: bool
    report: bool
    explain: bool
    explain_json: str | None
    explain_html: str | None
    verbose: bool
    split_input_file: bool
    verify_diagnostics: bool
    print_ir_after_all: bool
    print_op_generic: bool
    print_debuginfo: bool
    allow_unregistered_dialect: bool
    implicit_module: bool


def _make_parser(epilog: str) -> OneLineParser:
    parser = OneLineParser(
        prog="mirage-opt",
        usage="mirage-opt [--PASS[=OPTIONS]]... [options] [FILE]",
        description=(
            "The mirage_mlir compiler: passes over MLIR programs, and their output.\n"
            "mirage-opt --superoptimize --report --artifacts=DIR FILE finds, verifies and\n"
            "compiles the fastest kernels for a program."
        ),
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    text = parser.add_argument
    text("input", nargs="?", default="-", metavar="FILE", help="the program (default: -, stdin)")
    text(
        "-o",
        dest="output",
        default="-",
        metavar="FILE",
        help="write the result to FILE (default: -, standard output)",
    )
    text("-t", "--target", default="mlir", help="output format, see below (default: mlir)")
    text("--report", action="store_true", help="say on stderr what was searched and proved")
    text("--explain", action="store_true", help="say on stderr why each kernel was chosen")
    text("--explain-json", metavar="FILE", help="write why each kernel was chosen to FILE, as JSON")
    text("--explain-html", metavar="FILE", help="write the same to FILE as a page for a browser")
    text("--artifacts", metavar="DIR", help="write PTX, cubins and artifacts into DIR")
    text("--verify-report", metavar="FILE", help="write what verification proved to FILE, as JSON")
    text("--search-stats", metavar="FILE", help="write what each search did to FILE, as JSON")
    text(
        "--profile",
        action="store_true",
        help="time the candidates that superoptimize keeps on this GPU, take the fastest",
    )
    text(
        "--workers",
        metavar="N|ray[://HOST:PORT]",
        help="with --profile: search, compile and time in so many processes, or in a Ray cluster "
        "(default: search here, time on all GPUs of this machine)",
    )
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
        help="what random tests of a result may take; above it normal forms have to prove it "
        "(default: that of superoptimize and verify-equivalence, below)",
    )
    text("--no-cache", action="store_true", help="forget what was found by timing, keep nothing")
    text("-v", "--verbose", action="store_true", help="show detailed remarks, and times of passes")
    text("--debug", action="store_true", help="show the Python trace of an internal error")
    text("--version", action="store_true", help="show the version and exit")
    _add_pass_options(parser)
    _add_mlir_options(parser)
    return parser


def _add_pass_options(parser: OneLineParser) -> None:
    group = parser.add_argument_group("passes run in the order given; besides --NAME as below")
    # All three append to one list, which keeps their order.
    order: dict[str, Any] = {"dest": "passes", "action": "append", "default": []}
    group.add_argument(PASS_FLAG, type=_parse_pass_flag, help=argparse.SUPPRESS, **order)
    group.add_argument(
        "-p",
        "--passes",
        type=parse_xdsl_passes,
        metavar="PASSES",
        help="passes as xdsl-opt takes them: a,b{option=1},c",
        **order,
    )
    group.add_argument(
        "--pass-pipeline",
        type=parse_pass_pipeline,
        metavar="PIPELINE",
        help="passes as mlir-opt takes them: builtin.module(a,b{option=1}); excludes all others",
    )


def _add_mlir_options(parser: OneLineParser) -> None:
    flag = parser.add_argument_group("as in mlir-opt; all off by default").add_argument
    flag(
        "--split-input-file",
        action="store_true",
        help="compile the programs between lines '// -----' one by one",
    )
    flag(
        "--verify-diagnostics",
        action="store_true",
        help="check diagnostics against comments 'expected-error @+1 {{...}}'",
    )
    flag(
        "--print-ir-after-all",
        "--mlir-print-ir-after-all",
        action="store_true",
        help="print the program to stderr after each pass",
    )
    flag(
        "--print-op-generic",
        "--mlir-print-op-generic",
        action="store_true",
        help="print operations in the generic form (for MLIR's own tools: -t irdl-generic)",
    )
    flag(
        "--print-debuginfo",
        "--mlir-print-debuginfo",
        action="store_true",
        help="print where each operation comes from: loc(...)",
    )
    flag(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept operations of dialects that mirage-opt does not know",
    )
    flag(
        "--no-implicit-module",
        action="store_true",
        help="reject input that is not one module (without it operations get one around them)",
    )


def _parse_pass_flag(text: str) -> list[Request]:
    name, equals, options = text.partition("=")
    return [parse_flag(name, options if equals else None)]


def _normalize(words: Sequence[str], passes: Container[str], options: Sequence[str]) -> list[str]:
    """`words` with two dashes before each long option, as LLVM reads one, and pass flags marked."""
    result: list[str] = []
    for index, word in enumerate(words):
        if word == "--":
            return [*result, *words[index:]]
        name = word.lstrip("-").partition("=")[0]
        if word.startswith("-") and name in passes:
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
    given: list[Request] = []
    allowed = budgeted = False
    for request, is_pipeline in in_order(requests):
        further: dict[str, tuple[str, ...]] = {}
        verifies = request.name == VERIFICATION
        if allow_unverified and (is_pipeline or (verifies and "reference" not in request.options)):
            further["allow_unverified"] = ("true",)
            allowed = True
        if budget is not None and (verifies or request.name in PIPELINES):
            further["budget" if verifies else "verify_budget"] = (str(budget),)
            budgeted = True
        given.append(Request(request.name, {**further, **request.options}))
    if allow_unverified and not allowed:
        raise UsageError("--allow-unverified is for --superoptimize")
    if budget is not None and not budgeted:
        raise UsageError("--verify-budget is for --superoptimize and --verify-equivalence")
    return tuple(given)


def parse_command_line(words: Sequence[str], available: Universe) -> CommandLine:
    """
    Read `words`, which name passes of `available`; `--help` prints the help and exits.

    Raises `UsageError`.
    """
    wants_help = "-h" in words or "--help" in words
    parser = _make_parser(describe_available(available) if wants_help else "")
    options = [name for action in parser._actions for name in action.option_strings]
    arguments, unknown = parser.parse_known_args(_normalize(words, available.all_passes, options))
    if unknown:
        flags = [*options, *(f"--{name}" for name in available.all_passes)]
        hint = about_unknown(unknown[0].partition("=")[0], flags)
        raise UsageError(f"unknown argument '{unknown[0]}'{hint}")
    if arguments.pass_pipeline is not None and arguments.passes:
        raise UsageError("--pass-pipeline and other options that name passes exclude each other")
    if arguments.workers is not None and not arguments.profile:
        raise UsageError("--workers is for --profile")
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
        explain_html=arguments.explain_html,
        search_stats=arguments.search_stats,
        verify_report=arguments.verify_report,
        profile=arguments.profile,
        workers=arguments.workers,
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
