"""What `mirage-opt --report --artifacts=DIR` does besides running passes."""

from contextlib import ExitStack
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, functions, text_of
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.passes.superoptimize import SuperoptimizePass, collect_reports
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.search.report import SearchReport


class Session:
    """
    One run of `mirage-opt` on one program.

    What `superoptimize` found is verified and compiled right after that pass; where it cannot be
    used the next best takes its place in the module, so that what is printed is what runs.
    """

    def __init__(self, *, report: bool, artifacts: str | None, verbose: bool) -> None:
        """Raises `OSError` when the folder for artifacts cannot be made."""
        self._report = report
        self._verbose = verbose
        self._folder = None if artifacts is None else Path(artifacts)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        self._program = ModuleOp([])
        self._passes: list[tuple[str, float]] = []
        self._results: dict[str, Superoptimized] = {}
        self._reports = ExitStack()
        self._searches: list[SearchReport] = []

    def begin(self, module: ModuleOp) -> None:
        """Remember the program as it was written, which verification compares with."""
        self._program = module.clone()
        self._passes = []
        self._results = {}
        self._reports.close()
        self._searches = self._reports.enter_context(collect_reports())

    def after_pass(self, done: ModulePass, module: ModuleOp, seconds: float) -> None:
        """Note the time; after `superoptimize`, settle on graphs that can be used."""
        self._passes.append((done.name, seconds))
        if isinstance(done, SuperoptimizePass):
            options = Options(target=done.target, time_limit=done.time_limit)
            searches = {search.function: search for search in self._searches}
            for function in functions(module):
                # Further candidates, under names of their own, were not searched for.
                if (search := searches.get(function.sym_name.data)) is not None:
                    self._settle(function, Offer(function.clone(), search.alone, search), options)

    def _settle(self, function: func.FuncOp, offer: Offer, options: Options) -> None:
        name = function.sym_name.data
        result = superoptimize_function(self._program, name, options, offer)
        self._results[name] = result
        if result.function is not offer.function:
            Rewriter.replace_op(function, result.function.clone())

    def finish(self, context: Context, module: ModuleOp) -> str | None:
        """
        Compile what has not been compiled yet, write the artifacts; the report if one is wanted.

        Raises:
            DiagnosticException: a function cannot be compiled.
            OSError: a file cannot be written.
        """
        self._reports.close()
        parts: list[str] = []
        for function in functions(module):
            artifact, compiled = self._compiled(function, module)
            parts.append(artifact.report)
            if self._folder is not None:
                parts += self._write(self._folder, artifact, compiled)
        if self._verbose:
            times = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self._passes)
            parts.append(f"seconds by pass: {times}\n")
        return "".join(parts).rstrip("\n") if self._report else None

    def _compiled(
        self, function: func.FuncOp, module: ModuleOp
    ) -> tuple[Artifact, tuple[CompiledFunction, ...]]:
        result = self._results.get(function.sym_name.data)
        if result is not None and text_of(alone(function)) == text_of(alone(result.function)):
            return result.artifact, result.compiled
        # A later pass changed it, or none searched: it is compiled as it stands.
        return compile_as_written(module, function.sym_name.data)

    def _write(
        self, folder: Path, artifact: Artifact, compiled: tuple[CompiledFunction, ...]
    ) -> list[str]:
        files = {f"{artifact.name}.mirage": artifact.to_bytes()}
        for one in compiled:
            stem = f"{artifact.name}.{one.code.target}"
            files |= {f"{stem}.ptx": one.ptx.encode(), f"{stem}.cubin": one.code.cubin}
        for name, data in files.items():
            write_whole(folder / name, data)
        return [f"  wrote {folder / name}\n" for name in files]
