"""One run of `mirage-opt`, from the command line to the exit code."""

import json
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

from mirage_mlir.diagnostics import collect_remarks, shortened
from mirage_mlir.outputs.base import BinaryTarget, FilesTarget
from mirage_mlir.pass_options import OptionError, in_order, instantiate
from mirage_mlir.passes import load_pipeline
from mirage_mlir.progress import Progress
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.tool.available import about_unknown, available
from mirage_mlir.tool.command_line import CommandLine, parse_command_line
from mirage_mlir.tool.compilation import (
    Compilation,
    InternalError,
    Rejected,
    apply_pass,
    rejections,
)
from mirage_mlir.tool.excerpt import ExcerptWriter
from mirage_mlir.tool.expected_diagnostics import ExpectedDiagnostics
from mirage_mlir.tool.files import SPLIT_LINE, Chunk, InputError, Output, read_source
from mirage_mlir.tool.usage import UsageError

if TYPE_CHECKING:
    from mirage_mlir.driver.session import Profiling, Session

SUCCESS, BAD_INPUT, BAD_COMMAND_LINE, OUR_FAULT = range(4)
"""The exit codes."""


def _say(lines: Iterable[object]) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _compilation(command: CommandLine, universe: Universe) -> Compilation:
    """The passes and the target of `command`; raises `UsageError` for those that do not exist."""
    context = Context(allow_unregistered=command.allow_unregistered_dialect)
    for name, dialect in universe.all_dialects.items():
        context.register_dialect(name, dialect)
    passes: list[ModulePass] = []
    for request, is_pipeline in in_order(command.passes):
        if request.name not in universe.all_passes:
            hint = about_unknown(request.name, universe.all_passes)
            raise UsageError(f"unknown pass '{request.name}'{hint}; --help lists them")
        if is_pipeline:
            passes += instantiate(load_pipeline(request.name), request).passes()
        else:
            passes.append(instantiate(universe.all_passes[request.name](), request))
    if command.target.name not in universe.all_targets:
        known = ", ".join(sorted(universe.all_targets))
        hint = about_unknown(command.target.name, universe.all_targets)
        raise UsageError(f"unknown target '{command.target.name}'{hint}; there are {known}")
    target = instantiate(universe.all_targets[command.target.name](), command.target)
    _check_output(command, target)
    return Compilation(command, context, passes, target)


def _check_output(command: CommandLine, target: Target) -> None:
    """What `target` makes can go where `command` says; raises `UsageError`."""
    if isinstance(target, FilesTarget):
        if command.artifacts is None:
            raise UsageError(f"-t {target.name} makes files: name their folder, --artifacts=DIR")
        if command.output != "-":
            raise UsageError(f"-t {target.name} makes files in --artifacts=DIR; -o has no meaning")
    if isinstance(target, BinaryTarget):
        if command.split_input_file:
            raise UsageError(f"--split-input-file has no meaning for -t {target.name}")
        if command.output == "-" and sys.stdout.isatty():
            raise UsageError(f"-t {target.name} is binary: name a file with -o")


@dataclass(frozen=True)
class _Run:
    command: CommandLine
    compilation: Compilation
    output: Output
    session: "Session | None"

    def run(self) -> int:
        """Compile every chunk, even after one was rejected; the exit code."""
        source = read_source(self.command.input)
        do = self.check if self.command.verify_diagnostics else self.compile
        writer = ExcerptWriter(source.name, source.text)
        rejected = 0
        for index, chunk in enumerate(source.chunks(self.command.split_input_file)):
            if index > 0:
                self.output.write(SPLIT_LINE.encode())
            rejected += not do(source.name, chunk, writer)
        if rejected:
            return BAD_INPUT
        self.output.keep()
        return SUCCESS

    def compile(self, name: str, chunk: Chunk, writer: ExcerptWriter) -> bool:
        """Compile `chunk` and print what there is to say about it; whether it was accepted."""
        with collect_remarks(details=self.command.verbose) as remarks:

            def print_remarks() -> None:
                _say(writer.lines(remarks))
                remarks.clear()

            try:
                self.translate(name, chunk, print_remarks)
            except Rejected as rejected:
                print_remarks()
                _say(writer.lines(rejected.diagnostics))
                return False
            finally:
                print_remarks()
        return True

    def check(self, name: str, chunk: Chunk, writer: ExcerptWriter) -> bool:
        """Compile `chunk`; whether what there is to say about it is what its comments expect."""
        expected = ExpectedDiagnostics.of(name, chunk.text, chunk.first_line)
        with collect_remarks(details=self.command.verbose) as remarks:
            try:
                self.translate(name, chunk, lambda: None)
            except Rejected as rejected:
                remarks += rejected.diagnostics
        expected.see(remarks)
        _say(writer.lines(verdict := expected.verdict()))
        return not verdict

    def translate(self, name: str, chunk: Chunk, print_remarks: Callable[[], None]) -> None:
        """Parse, run the passes, write the result; raises `Rejected`."""
        module = self.compilation.parse(chunk.in_place, name)
        passes = self.compilation.passes
        run = None if self.session is None else self.session.start(module, passes)
        with Progress().shown():
            self.compilation.run_passes(
                module, name, apply_pass if run is None else run.apply, print_remarks
            )
        self.output.write(self.compilation.emit(module, name))
        if run is not None:
            with rejections("mirage-opt", name):
                report = run.finish(module)
            print_remarks()
            _say([report] if report else [])


def _profiling(command: CommandLine, opened: ExitStack) -> "Profiling | None":
    """What times candidates, where that is asked for; raises `UsageError`."""
    if not command.profile:
        return None
    from mirage_mlir.driver.cache import open_cache
    from mirage_mlir.driver.ray_executor import RayError
    from mirage_mlir.driver.session import Profiling
    from mirage_mlir.driver.workers import parse_workers, workforce

    try:
        if command.cache:
            open_cache()
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        workers = opened.enter_context(workforce(parse_workers(command.workers)))
    except (RayError, ValueError) as error:
        raise UsageError(f"--workers: {error}") from error
    return Profiling(workers, spread=command.workers is not None, cache=command.cache)


def _check_explanations(files: Mapping[str, str | None], output: str) -> None:
    """Each can be written, and nothing else is written there; raises `UsageError`."""
    taken = {} if output == "-" else {Path(output).resolve(): "-o"}
    for option, path in files.items():
        if path is None:
            continue
        if path == "-":
            raise UsageError(f"{option} takes the name of a file, not '-'")
        if not Path(path).parent.is_dir():
            raise UsageError(f"{option}={path}: there is no such folder")
        if Path(path).is_dir():
            raise UsageError(f"{option}={path}: it is a folder")
        if (other := taken.setdefault(Path(path).resolve(), option)) != option:
            raise UsageError(f"{option}={path}: {other} is written there")


def _session(command: CommandLine, opened: ExitStack) -> "Session | None":
    """What reports, writes artifacts and times, when the command line asks for one of them."""
    files = {"--explain-json": command.explain_json, "--explain-html": command.explain_html}
    explains = command.explain or any(path is not None for path in files.values())
    compiles = command.report or explains or command.profile or command.artifacts is not None
    if command.pack and not compiles:
        raise UsageError(
            "--pack is for --report, --artifacts and --profile; for -t write {pack=true}"
        )
    if not compiles and command.search_stats is None and command.verify_report is None:
        return None
    _check_explanations(files, command.output)
    # Imported here: it brings the search and the lowering, which few runs need.
    from mirage_mlir.driver.session import Session

    profiling = _profiling(command, opened)
    try:
        return Session(
            report=command.report,
            explain=command.explain,
            explain_json=None if command.explain_json is None else Path(command.explain_json),
            explain_html=None if command.explain_html is None else Path(command.explain_html),
            artifacts=None if command.artifacts is None else Path(command.artifacts),
            verbose=command.verbose,
            profiling=profiling,
            pack=command.pack,
            c_source=command.target.name == "c",
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"--artifacts={command.artifacts}: {error}") from error


def _run(words: Sequence[str]) -> int:
    universe = available()
    command = parse_command_line(words, universe)
    compilation = _compilation(command, universe)
    with ExitStack() as written:
        session = _session(command, written)
        if session is not None:
            written.enter_context(_written(command.search_stats, session.search_stats))
            written.enter_context(_written(command.verify_report, session.verify_report))
        return _Run(command, compilation, Output(command.output), session).run()


@contextmanager
def _written(path: str | None, fields: Callable[[], dict[str, object]]) -> Generator[None]:
    """Write `fields` to `path` as JSON after this `with` block, also of a failed run."""
    if path is None:
        yield
        return
    # Opened first: a search is not made in vain.
    output = Output(path)
    try:
        yield
    finally:
        output.write(f"{json.dumps(fields(), indent=2)}\n".encode())
        output.keep()


def run(words: Sequence[str], tool: str = "mirage-opt") -> int:
    """
    Run `mirage-opt` with the arguments `words`; the exit code. Only `--debug` shows a trace.

    `tool` is what errors call it.
    """
    try:
        return _run(words)
    except (UsageError, OptionError) as error:
        _say([shortened(f"{tool}: error: {error}")])
        return BAD_COMMAND_LINE
    except InputError as error:
        _say([str(error).replace("mirage-opt:", f"{tool}:", 1)])
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except (OSError, CudaError) as error:
        _say([f"{tool}: error: {error}"])
        return BAD_INPUT
    except MemoryError:
        _say([f"{tool}: error: the program needs more memory than there is"])
        return BAD_INPUT
    except Exception as error:
        if "--debug" in words:
            traceback.print_exc()
        kind = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
        text = shortened(" ".join(f"{kind}{error}".split()))
        _say([f"{tool}: internal error: {text}; --debug shows where"])
        return OUR_FAULT
