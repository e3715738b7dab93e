"""One program on its way through the passes of `mirage-opt`, and what is compiled of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.c_source.source import c_files
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects.candidate import kept_programs
from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.cache import Cache, open_cache
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.executor import Executor
from mirage_mlir.driver.explain import ChosenFunction, as_json
from mirage_mlir.driver.explain_page import explanation_page
from mirage_mlir.driver.offers import offers_in, with_cuts
from mirage_mlir.driver.optimize import as_asked, optimize, remembered
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, function_named, functions, text_of
from mirage_mlir.driver.superoptimize import Superoptimized
from mirage_mlir.equivalence import Verdict
from mirage_mlir.interruption import deferred
from mirage_mlir.names import file_stem
from mirage_mlir.passes import MAKE_PROGRAMS
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.frontend.inline import inline_pieces
from mirage_mlir.passes.frontend.kept import functions_to_search
from mirage_mlir.passes.partition_program import PartitionProgramPass
from mirage_mlir.passes.superoptimize import SuperoptimizePass
from mirage_mlir.passes.verify_equivalence import (
    Verified,
    VerifyEquivalencePass,
    remove_program,
)
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import DEFAULT_TARGET, target_named

if TYPE_CHECKING:
    from mirage_mlir.driver.session import Session


class ProgramRun:
    """
    Applies passes to a program; its kernels are compiled where the session is asked for them.

    What `superoptimize` finds is compiled right away; where it cannot be used the next best takes
    its place in the module, so that what is printed is what runs.
    """

    def __init__(
        self, session: "Session", program: ModuleOp, passes: Sequence[ModulePass] = ()
    ) -> None:
        self._session = session
        self._program = program
        """As it was written or a pass wrote it, which verification compares with."""
        self._to_come = list(passes)
        self._passes: list[tuple[str, float]] = []
        """The passes so far, and the seconds that each took."""
        self._cuts: dict[str, SearchReport] = {}
        """What `partition-program` searched, by function."""
        self._search: SuperoptimizePass | None = None
        self._offers: dict[str, list[Offer]] = {}
        """All that `superoptimize` found, the best first, by function."""
        self._taken: dict[str, dict[str, Offer]] = {}
        """What was chosen by timing, by function and chip, where the workers searched, too."""
        self._as_written: set[str] = set()
        """Functions that were searched as they were written: no other pass came before."""
        self._results: dict[str, Superoptimized] = {}

    def apply(self, each: ModulePass, context: Context, module: ModuleOp) -> None:
        """
        Apply a pass.

        Raises:
            DiagnosticException: it fails, or what `superoptimize` found cannot be compiled.
        """
        start = perf_counter()
        if each in self._to_come:
            self._to_come.remove(each)
        match each:
            case PartitionProgramPass():
                each.cut(module, self._note_cut)
            case SuperoptimizePass():
                self._searched(each.settled(module), module)
            case VerifyEquivalencePass():
                self._verified(each, module)
            case _:
                each.apply(context, module)
        if each.name in MAKE_PROGRAMS:
            self._program = module.clone()
        self._passes.append((each.name, perf_counter() - start))

    # superoptimize

    def _note_cut(self, report: SearchReport) -> None:
        self._cuts[report.function] = report

    def _searched(self, search: SuperoptimizePass, module: ModuleOp) -> None:
        """Do what the pass does; timing may know a result, which needs no search."""
        self._search = search
        verification = self._next_verification()
        options = self._options(search, verification)
        executor = self._executor(options)
        reports: list[SearchReport] = []

        def known(function: FuncOp) -> FuncOp | None:
            name = function.sym_name.data
            if name in self._taken:
                return self._taken[name][target_named(options.target).chip].function
            return remembered(self._program, name, options, executor)

        # An interrupt ends the tuning of all and the search for those that are left.
        with deferred():
            self._taken = self._tuned(options, module)
            search.search(module, reports.append, known)
        self._offers = offers_in(module, with_cuts(reports, self._cuts))
        for program, candidates in kept_programs(module).items():
            name = candidates[0].sym_name.data
            if name not in self._offers:
                continue
            self._session.searches.append(self._offers[name][0].search)
            if self._session.compiles and self._is_as_written(module, program, name, options):
                self._as_written.add(name)
            else:
                # Pairs speak of values of another program.
                self._offers[name] = [replace(offer, pairs=()) for offer in self._offers[name]]

    def _next_verification(self) -> VerifyEquivalencePass:
        """The pass that is going to verify what a search finds."""
        to_come = (each for each in self._to_come if isinstance(each, VerifyEquivalencePass))
        return next((e for e in to_come if e.reference is None), VerifyEquivalencePass())

    def _is_as_written(self, module: ModuleOp, kept: str, name: str, options: Options) -> bool:
        """Whether the program that was kept is the one that the user wrote, but for its name."""
        written = function_named(as_asked(self._program, options), name)
        copy = function_named(module, kept).clone()
        copy.properties, copy.attributes = dict(written.properties), dict(written.attributes)
        return text_of(alone(copy)) == text_of(alone(written))

    def _verified(self, verification: VerifyEquivalencePass, module: ModuleOp) -> None:
        """Do what the pass does, and compile what is kept; with timing, what is the fastest."""
        if verification.reference is not None or self._search is None:
            verification.verify(module, self._session.comparisons.append)
            return
        options = self._options(self._search, verification)
        if options.profile:
            self._compile_fastest(options, module)
            return
        searches = self._session.searches
        found = verification.verify(module, self._session.comparisons.append)
        for name, verified in found.items():
            if name in self._offers:
                same = name in self._as_written
                offers = _with_reports(self._offers[name], verified, as_written=same)
                place = searches.index(self._offers[name][0].search)
                searches[place] = offers[0].search
                self._offers[name] = offers
        if self._session.compiles:
            self._compile_found(options, module)

    def _options(self, search: SuperoptimizePass, verification: VerifyEquivalencePass) -> Options:
        profiling = self._session.profiling
        return Options(
            target=search.target or DEFAULT_TARGET,
            time_limit=search.time_limit,
            max_kernels=search.max_kernels,
            jobs=search.jobs,
            profile=profiling is not None,
            top_k=search.top_k,
            cache=profiling is not None and profiling.cache,
            allow_unverified=verification.allow_unverified,
            verify_budget=verification.budget,
            f32=search.f32,
            pack=self._session.pack,
        )

    def _executor(self, options: Options) -> Executor | None:
        """What times candidates."""
        profiling = self._session.profiling
        return None if profiling is None else profiling.workforce.executor(options.target)

    def _tuned(self, options: Options, module: ModuleOp) -> dict[str, dict[str, Offer]]:
        """What the workers find for all functions at once, where they are to search, too."""
        profiling, executor = self._session.profiling, self._executor(options)
        if profiling is None or executor is None or not profiling.spread:
            return {}
        # Imported here: most runs time nothing.
        from mirage_mlir.driver.tune import Tuner, task_of

        program = as_asked(self._program, options)
        written = {function.sym_name.data for function in functions(program)}
        names = [each.sym_name.data for each in functions_to_search(module)]
        tasks = [task_of(program, name, options) for name in names if name in written]
        cache = open_cache() if options.cache else Cache(None)
        chip = target_named(options.target).chip
        taken: dict[str, dict[str, Offer]] = {}
        for tuned in Tuner(executor, cache).tune(tasks):
            # One that failed is searched here, which says where it is wrong.
            if tuned.settled is not None:
                texts = {**tuned.settled.others, chip: tuned.settled.taken}
                taken[tuned.name] = {name: text.offer() for name, text in texts.items()}
                self._session.searches.append(tuned.settled.taken.search)
                self._session.comparisons.extend(tuned.settled.comparisons)
        return taken

    def _compile_found(self, options: Options, module: ModuleOp) -> None:
        """Compile what was found for the functions that `module` still has."""
        for function in functions(module):
            name = function.sym_name.data
            # Further candidates, under names of their own, were not searched for.
            if name in self._offers:
                result = optimize(self._program, name, options, found=self._offers[name])
                self._results[name] = result
                if text_of(alone(function)) != text_of(alone(result.function)):
                    Rewriter.replace_op(function, result.function.clone())

    def _compile_fastest(self, options: Options, module: ModuleOp) -> None:
        """Time candidates, and put the fastest that is verified in their place."""
        executor = self._executor(options)
        note = self._session.comparisons.append
        for program, candidates in kept_programs(module).items():
            name = candidates[0].sym_name.data
            found = self._offers.get(name, ())
            taken = self._taken.get(name)
            result = optimize(self._program, name, options, executor, found, note, taken)
            self._results[name] = result
            for each in candidates[1:]:
                Rewriter.erase_op(each)
            remove_program(function_named(module, program))
            Rewriter.replace_op(candidates[0], result.function.clone())
        inline_pieces(module)

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
        wanted = list(filter(is_compiled, functions(module)))
        if session.c_source and not wanted:
            fail(module, "holds no kernels to write as C", note="--superoptimize makes them")
        for function in wanted:
            artifact, compiled = self._compiled(function, module)
            parts += [artifact.report] * session.report
            parts += [artifact.explanation] * session.explain
            session.add_explanations(self._explanation_of(artifact))
            if session.artifacts is not None:
                more = c_files(artifact) if session.c_source else {}
                parts += _write(session.artifacts, artifact, compiled, more)
        if session.verbose:
            times = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self._passes)
            parts += [f"seconds by pass: {times}\n"] * session.report
        if session.explain_json is not None:
            text = json.dumps(as_json(session.explained), indent=2)
            write_whole(session.explain_json, f"{text}\n".encode())
        if session.explain_html is not None:
            write_whole(session.explain_html, explanation_page(session.explained).encode())
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


def _with_reports(offers: Sequence[Offer], verified: Verified, *, as_written: bool) -> list[Offer]:
    """
    Offers with what verification says of them, those that it took before all others.

    They are not compared again if that was with the program as it was written.
    """
    known = {rank: report for rank, report in zip(verified.ranks, verified.reports, strict=True)}
    noted: list[Offer] = []
    for rank in (*verified.ranks, *(n for n in range(len(offers)) if n not in known)):
        offer, report = offers[rank], known.get(rank)
        if report is None:
            noted.append(offer)
            continue
        phases = {**offer.search.phases, "verification": report.seconds}
        search = replace(offer.search, verification=report.headline, rejected=rank, phases=phases)
        settled = as_written and report.verdict is Verdict.EQUAL
        noted.append(replace(offer, search=search, known=report if settled else None))
    return noted


def _write(
    folder: Path,
    artifact: Artifact,
    compiled: tuple[CompiledFunction, ...],
    more: Mapping[str, str],
) -> list[str]:
    """Write all files of one function, with those of `more`; a line on each."""
    name = file_stem(artifact.name)
    files = {f"{name}.mirage": artifact.to_bytes()}
    files |= {other: text.encode() for other, text in more.items()}
    for one in compiled:
        stem = f"{name}.{one.code.target}"
        files |= {f"{stem}.ptx": one.ptx.encode(), f"{stem}.cubin": one.code.cubin}
    for name, data in files.items():
        write_whole(folder / name, data)
    return [f"  wrote {folder / name}\n" for name in files]
