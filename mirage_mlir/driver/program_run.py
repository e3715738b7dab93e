"""One program on its way through the passes of `mirage-opt`, and what is compiled of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.explain import ChosenFunction, as_json
from mirage_mlir.driver.optimize import optimize, remembered
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import Machine
from mirage_mlir.driver.source import alone, functions, text_of
from mirage_mlir.driver.superoptimize import Superoptimized
from mirage_mlir.equivalence import Verdict
from mirage_mlir.names import file_stem
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.superoptimize import Candidate, SuperoptimizePass, replacement, rewrite
from mirage_mlir.passes.verify_equivalence import VerifyEquivalencePass
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.targets.target import DEFAULT_TARGET

if TYPE_CHECKING:
    from mirage_mlir.driver.session import Session


class ProgramRun:
    """
    Applies passes to a program; its kernels are compiled where the session is asked for them.

    What `superoptimize` finds is compiled right away; where it cannot be used the next best takes
    its place in the module, so that what is printed is what runs.
    """

    def __init__(self, session: "Session", program: ModuleOp) -> None:
        self._session = session
        self._program = program
        """As it was written, which verification compares with."""
        self._passes: list[tuple[str, float]] = []
        """The passes so far, and the seconds that each took."""
        self._results: dict[str, Superoptimized] = {}

    def apply(self, each: ModulePass, context: Context, module: ModuleOp) -> None:
        """
        Apply a pass.

        Raises:
            DiagnosticException: it fails, or what `superoptimize` found cannot be compiled.
        """
        start = perf_counter()
        found: dict[str, Sequence[Offer]] = {}
        search = each
        match each:
            case SuperoptimizePass():
                search = each.settled(module)
                found = self._search(search, module)
            case VerifyEquivalencePass():
                each.compare(module, self._session.comparisons.append)
            case _:
                each.apply(context, module)
        self._passes.append((each.name, perf_counter() - start))
        if isinstance(search, SuperoptimizePass) and self._session.compiles:
            self._compile_found(self._options(search), module, found)

    # superoptimize

    def _search(self, search: SuperoptimizePass, module: ModuleOp) -> dict[str, Sequence[Offer]]:
        """Do what the pass does; what it found, by function: nothing where timing knew better."""
        found: dict[str, Sequence[Offer]] = {}
        options = self._options(search)

        def search_or_remember(function: FuncOp) -> Sequence[FuncOp]:
            name = function.sym_name.data
            known = remembered(self._program, name, options, self._machine(options))
            if known is not None:
                found[name] = ()
                return [known.clone()]
            kept = search.search(function, self._session.comparisons.append)
            self._session.searches.append(kept[0].report)
            found[name] = [self._offer(candidate) for candidate in kept]
            return replacement(kept[:1] if options.profile else kept)

        rewrite(module, search_or_remember)
        return found

    def _offer(self, candidate: Candidate) -> Offer:
        """A candidate, which is not compared again if that was with the program as written."""
        proof = candidate.proof
        if self._passes or proof is None or proof.verdict is not Verdict.EQUAL:
            return Offer(candidate.function, candidate.alone, candidate.report)
        return Offer(
            candidate.function, candidate.alone, candidate.report, compared=lambda reference: proof
        )

    def _options(self, search: SuperoptimizePass) -> Options:
        profiling = self._session.profiling
        return Options(
            target=search.target or DEFAULT_TARGET,
            time_limit=search.time_limit,
            max_kernels=search.max_kernels,
            jobs=search.jobs,
            profile=profiling is not None,
            top_k=search.top_k,
            cache=profiling is not None and profiling.cache,
            allow_unverified=search.allow_unverified,
            verify_budget=search.verify_budget,
            f32=search.f32,
            pack=self._session.pack,
        )

    def _machine(self, options: Options) -> Machine | None:
        """The GPU that candidates are timed on."""
        profiling = self._session.profiling
        return None if profiling is None else profiling.machine(options.target)

    def _compile_found(
        self, options: Options, module: ModuleOp, found: Mapping[str, Sequence[Offer]]
    ) -> None:
        """Compile what was found for the functions that `module` still has."""
        for function in functions(module):
            name = function.sym_name.data
            # Further candidates, under names of their own, were not searched for.
            if name in found:
                machine = self._machine(options)
                result = optimize(self._program, name, options, machine, found[name])
                self._results[name] = result
                if text_of(alone(function)) != text_of(alone(result.function)):
                    Rewriter.replace_op(function, result.function.clone())

    # The end

    def finish(self, module: ModuleOp) -> str | None:
        """
        Compile what has not been compiled yet, write the artifacts; the report if one is wanted.

        Raises:
            DiagnosticException: a function cannot be compiled.
            OSError: a file cannot be written.
        """
        session = self._session
        if not session.compiles:
            return None
        parts: list[str] = []
        for function in filter(is_compiled, functions(module)):
            artifact, compiled = self._compiled(function, module)
            parts += [artifact.report] * session.report
            parts += [artifact.explanation] * session.explain
            session.explained.update(self._explanation_of(artifact))
            if session.artifacts is not None:
                parts += _write(session.artifacts, artifact, compiled)
        if session.verbose:
            times = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self._passes)
            parts += [f"seconds by pass: {times}\n"] * session.report
        if session.explain_json is not None:
            text = json.dumps(as_json(session.explained), indent=2)
            write_whole(session.explain_json, f"{text}\n".encode())
        return "".join(parts).rstrip("\n") if session.report or session.explain else None

    def _explanation_of(self, artifact: Artifact) -> dict[str, Mapping[str, ChosenFunction]]:
        """Why the kernels of an artifact were chosen, by chip, where a search chose them."""
        found = self._results.get(artifact.name)
        if found is None or found.artifact is not artifact:
            return {}
        return {artifact.name: found.explanations}

    def _compiled(
        self, function: FuncOp, module: ModuleOp
    ) -> tuple[Artifact, tuple[CompiledFunction, ...]]:
        result = self._results.get(function.sym_name.data)
        if result is not None and text_of(alone(function)) == text_of(alone(result.function)):
            return result.artifact, result.compiled
        # A later pass changed it, or none searched: it is compiled as it stands.
        return compile_as_written(module, function.sym_name.data, pack=self._session.pack)


def _write(folder: Path, artifact: Artifact, compiled: tuple[CompiledFunction, ...]) -> list[str]:
    """Write all files of one function; a line on each."""
    name = file_stem(artifact.name)
    files = {f"{name}.mirage": artifact.to_bytes()}
    for one in compiled:
        stem = f"{name}.{one.code.target}"
        files |= {f"{stem}.ptx": one.ptx.encode(), f"{stem}.cubin": one.code.cubin}
    for name, data in files.items():
        write_whole(folder / name, data)
    return [f"  wrote {folder / name}\n" for name in files]
