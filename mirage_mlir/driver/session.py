"""What `mirage-opt --report --artifacts=DIR --profile` does besides running passes."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.target import resolve_target
from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.explain import ChosenFunction, as_json
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import Machine, Profiler, this_machine
from mirage_mlir.driver.source import alone, function_named, functions, text_of
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.equivalence import EquivalenceReport, Verdict
from mirage_mlir.equivalence.collected import collect_comparisons
from mirage_mlir.equivalence.comparison_report import Comparison
from mirage_mlir.graph.target import DEFAULT_TARGET, target_named
from mirage_mlir.names import file_stem
from mirage_mlir.passes.search.check import is_compiled
from mirage_mlir.passes.search.precision import ask_for
from mirage_mlir.passes.superoptimize import SuperoptimizePass, collect_reports, use_known
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.search.report import SearchReport


@dataclass(frozen=True)
class Profiling:
    """How candidates are timed."""

    machine: Callable[[str], Machine] = this_machine
    """The GPU for what was searched for a target."""
    cache: bool = True
    """Whether what was found is kept on disk."""


class Session:
    """
    One run of `mirage-opt` on one program.

    What `superoptimize` found is verified and compiled right after that pass; where it cannot be
    used the next best takes its place in the module, so that what is printed is what runs. With
    `profiling` it is the fastest of the candidates that `superoptimize` kept; with `pack` kernels
    read packed copies of constant inputs.
    """

    def __init__(
        self,
        *,
        report: bool,
        explain: bool = False,
        explain_json: str | None = None,
        artifacts: str | None,
        verbose: bool,
        profiling: Profiling | None = None,
        pack: bool = False,
    ) -> None:
        """Raises `OSError` when the folder for artifacts cannot be made."""
        self._report, self._explain = report, explain
        self._explain_json = None if explain_json is None else Path(explain_json)
        self._explained: dict[str, Mapping[str, ChosenFunction]] = {}
        self._verbose = verbose
        self._profiling = profiling
        self._pack = pack
        self._folder = None if artifacts is None else Path(artifacts)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        self._program = ModuleOp([])
        self._passes: list[tuple[str, float]] = []
        self._results: dict[str, Superoptimized] = {}
        self._reports = ExitStack()
        self._searches: list[SearchReport] = []
        self._comparisons: list[Comparison] = []
        self._remembered: dict[str, dict[str, Offer]] = {}

    def begin(self, module: ModuleOp) -> None:
        """Remember the program as it was written, which verification compares with."""
        self._program = module.clone()
        self._passes = []
        self._results = {}
        self._reports.close()
        self._remembered = {}
        self._searches = self._reports.enter_context(collect_reports())
        self._comparisons = self._reports.enter_context(collect_comparisons())
        if self._profiling is not None:
            self._reports.enter_context(use_known(self._known))

    def after_pass(self, done: ModulePass, module: ModuleOp, seconds: float) -> None:
        """Note the time; after `superoptimize`, settle on graphs that can be used."""
        self._passes.append((done.name, seconds))
        if isinstance(done, SuperoptimizePass):
            ask_for(done.f32, self._program)
            # The pass has noted the target that it took.
            target = resolve_target(module, done.target, done.name)
            self._settle_all(self._options(replace(done, target=target.name)), module)

    def _options(self, done: SuperoptimizePass) -> Options:
        profiling = self._profiling
        return Options(
            target=done.target or DEFAULT_TARGET,
            time_limit=done.time_limit,
            max_kernels=done.max_kernels,
            jobs=done.jobs,
            profile=profiling is not None,
            top_k=done.top_k,
            cache=profiling is not None and profiling.cache,
            allow_unverified=done.allow_unverified,
            verify_budget=done.verify_budget,
            f32=done.f32,
            pack=self._pack,
        )

    def _settle_all(self, options: Options, module: ModuleOp) -> None:
        searches = {search.function: search for search in self._searches}
        for function in functions(module):
            name = function.sym_name.data
            # Further candidates, under names of their own, were not searched for.
            if name in self._remembered:
                self._settle(function, options, self._remembered[name])
            elif (search := searches.get(name)) is not None:
                proved = self._proved(name)
                offer = Offer(function.clone(), search.alone, search, compared=proved)
                if self._profiling is None:
                    self._settle(function, options, {target_named(options.target).chip: offer})
                else:
                    self._settle_by_time(function, options, offer, module)

    def _proved(self, name: str) -> Callable[[func.FuncOp], EquivalenceReport] | None:
        """What the pass proved of its result, if that is the program as it was written."""
        found = self._all_proved(name)
        return found[0] if found else None

    def _all_proved(self, name: str) -> list[Callable[[func.FuncOp], EquivalenceReport]]:
        """The same for all results that it kept, in their order."""
        if len(self._passes) > 1:
            return []
        return [
            lambda reference, report=one.report: report
            for one in self._comparisons
            if one.reference == name and one.report.verdict is Verdict.EQUAL
        ]

    def _settle(self, function: func.FuncOp, options: Options, known: Mapping[str, Offer]) -> None:
        name = function.sym_name.data
        self._put(function, superoptimize_function(self._program, name, options, known))

    def _settle_by_time(
        self, function: func.FuncOp, options: Options, best: Offer, module: ModuleOp
    ) -> None:
        """Time all candidates for a function; the fastest takes its place, the others go."""
        name = function.sym_name.data
        others = [
            other
            for other in functions(module)
            if other.sym_name.data.startswith(f"{name}__candidate_")
        ]
        offers = [best, *(_offer_of(other, name, best.search) for other in others)]
        proofs = self._all_proved(name)
        offers[: len(proofs)] = [
            replace(offer, compared=proof) for offer, proof in zip(offers, proofs, strict=False)
        ]
        self._put(function, self._profiler(options).settle(self._program, name, offers))
        for other in others:
            Rewriter.erase_op(other)

    def _put(self, function: func.FuncOp, result: Superoptimized) -> None:
        """Note a result, and put its graph in the place of `function`."""
        self._results[function.sym_name.data] = result
        if text_of(alone(function)) != text_of(alone(result.function)):
            Rewriter.replace_op(function, result.function.clone())

    def _profiler(self, options: Options) -> Profiler:
        assert self._profiling is not None
        return Profiler(self._profiling.machine(options.target), options)

    def _known(self, search: SuperoptimizePass, function: func.FuncOp) -> func.FuncOp | None:
        """What was found by timing before, so that there is nothing to search."""
        name, options = function.sym_name.data, self._options(search)
        ask_for(options.f32, self._program)
        profiler = self._profiler(options)
        offers = profiler.remembered(function_named(self._program, name))
        if profiler.chip not in offers:
            return None
        self._remembered[name] = offers
        return offers[profiler.chip].function.clone()

    def finish(self, context: Context, module: ModuleOp) -> str | None:
        """
        Compile what has not been compiled yet, write the artifacts; the report if one is wanted.

        Raises:
            DiagnosticException: a function cannot be compiled.
            OSError: a file cannot be written.
        """
        self._reports.close()
        parts: list[str] = []
        for function in filter(is_compiled, functions(module)):
            artifact, compiled = self._compiled(function, module)
            parts += [artifact.report] * self._report
            parts += [artifact.explanation] * self._explain
            self._explained |= self._explanation_of(artifact)
            if self._folder is not None:
                parts += self._write(self._folder, artifact, compiled)
        if self._verbose:
            times = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self._passes)
            parts += [f"seconds by pass: {times}\n"] * self._report
        if self._explain_json is not None:
            text = json.dumps(as_json(self._explained), indent=2)
            write_whole(self._explain_json, f"{text}\n".encode())
        return "".join(parts).rstrip("\n") if self._report or self._explain else None

    def _explanation_of(self, artifact: Artifact) -> dict[str, Mapping[str, ChosenFunction]]:
        """Why the kernels of an artifact were chosen, by chip, where a search chose them."""
        found = self._results.get(artifact.name)
        if found is None or found.artifact is not artifact:
            return {}
        return {artifact.name: found.explanations}

    def _compiled(
        self, function: func.FuncOp, module: ModuleOp
    ) -> tuple[Artifact, tuple[CompiledFunction, ...]]:
        result = self._results.get(function.sym_name.data)
        if result is not None and text_of(alone(function)) == text_of(alone(result.function)):
            return result.artifact, result.compiled
        # A later pass changed it, or none searched: it is compiled as it stands.
        return compile_as_written(module, function.sym_name.data, pack=self._pack)

    def _write(
        self, folder: Path, artifact: Artifact, compiled: tuple[CompiledFunction, ...]
    ) -> list[str]:
        name = file_stem(artifact.name)
        files = {f"{name}.mirage": artifact.to_bytes()}
        for one in compiled:
            stem = f"{name}.{one.code.target}"
            files |= {f"{stem}.ptx": one.ptx.encode(), f"{stem}.cubin": one.code.cubin}
        for name, data in files.items():
            write_whole(folder / name, data)
        return [f"  wrote {folder / name}\n" for name in files]


def _offer_of(candidate: func.FuncOp, name: str, search: SearchReport) -> Offer:
    """A further candidate, as `superoptimize` marks it, for the function `name`."""
    cost = candidate.attributes["mirage.cost"]
    assert isinstance(cost, FloatAttr)
    function = candidate.clone()
    function.sym_name = StringAttr(name)
    for attribute in ("mirage.cost", "mirage.rank"):
        del function.attributes[attribute]
    kernels = sum(isinstance(op, GraphDefinedOp) for op in function.walk())
    report = replace(
        search, modelled=cost.value.data, structure="", kernels=kernels, explanation=None
    )
    return Offer(function, False, report)
