"""Candidates timed on a GPU in host memory: the fastest that is right is taken, and remembered."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from fake_stopwatch import CHEAPEST, make_faulty, make_sound
from xdsl.dialects import func
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver import machine as machines
from mirage_mlir.driver import timer
from mirage_mlir.driver.bench import Bench, Reading, Subject, Trial
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.machine import Machine
from mirage_mlir.driver.optimize import optimize
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import Profiler
from mirage_mlir.driver.session import Profiling, Session
from mirage_mlir.driver.source import compiler_context, functions, parse_program, text_of
from mirage_mlir.driver.workers import Workforce
from mirage_mlir.lanes import Lane
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.search.report import SearchReport
from mirage_mlir.worker import Worker, WorkerError

TYPE = "tensor<16x1024xf32>"

REFERENCE = f"""
func.func @f(%x: {TYPE}) -> {TYPE} {{
  %y = kernel.scale %x {{factor = 2.0 : f32}} : ({TYPE}) -> {TYPE}
  func.return %y : {TYPE}
}}
"""

NORM = f"""
func.func @f(%x: {TYPE}, %z: {TYPE}) -> {TYPE} {{
  %y = kernel.rms_norm %x {{eps = 1.0e-05 : f32}} : ({TYPE}) -> {TYPE}
  %o = kernel.add %y, %z : ({TYPE}, {TYPE}) -> {TYPE}
  func.return %o : {TYPE}
}}
"""
"""A program with several candidates."""

UNCOMPILABLE = REFERENCE


class Here(BenchProcess):
    """A bench in this process."""

    def read(self, trial: Trial, replays: int) -> Reading:
        return self._bench.read(trial, replays)

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        return self._bench.compare(trials, rounds, replays)

    @cached_property
    def _bench(self) -> Bench:
        return Bench(self._subject, self._make())


class HereLane:
    """Calls functions in this process."""

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise WorkerError(str(error)) from error

    def restart(self) -> None:
        pass

    def close(self) -> None:
        pass


class OneProcess(Machine):
    """A machine without other processes, which take seconds to start."""

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        return Here(subject, self.make)

    def lane(self) -> Lane:
        return HereLane()


MACHINE = OneProcess("a GPU of our own", make_sound, jobs=1)

OPTIONS = Options(chips=("sm_90a",), profile=True)


def scale(factor: float, blocks: int) -> str:
    """A graph that multiplies by `factor`; on the fake clock fewer blocks are faster."""
    tile = f"!threadblock.tile<{16 // blocks}x1024xf32>"
    return f"""
func.func @f(%x: {TYPE}) -> {TYPE} {{
  %y = kernel.graph_defined ins(%x) grid [{blocks}] {{
  ^bb0(%a: {TYPE}):
    %t = threadblock.load %a grid_map [0] : ({TYPE}) -> {tile}
    %d = threadblock.scale %t {{factor = {factor} : f32}} : ({tile}) -> {tile}
    threadblock.store %d grid_map [0] : {tile}
  }} : ({TYPE}) -> {TYPE}
  func.return %y : {TYPE}
}}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(folder))
    return folder


def function_of(text: str) -> func.FuncOp:
    """The one function of a program."""
    return functions(parse_program(text, "f.mlir"))[0]


def offers_of(texts: Sequence[str]) -> list[Offer]:
    """Candidates in the order of the model."""
    return [
        Offer(function_of(text), False, SearchReport("f", structure=f"offer {number}"))
        for number, text in enumerate(texts)
    ]


def results_in(cache: Path) -> list[dict[str, Any]]:
    """The entries on whole programs; others are on single candidates."""
    entries = [json.loads(path.read_text())["entry"] for path in cache.glob("*.json")]
    return [entry for entry in entries if "offers" in entry]


def test_the_fastest_is_taken() -> None:
    profiler = Profiler(MACHINE, OPTIONS)
    best = profiler.fastest(function_of(REFERENCE), offers_of([scale(2.0, b) for b in (8, 2, 4)]))
    assert best.search.structure == "offer 1"
    times = [one.microseconds for one in profiler.results[0].candidates]
    assert times == [pytest.approx(CHEAPEST + blocks) for blocks in (8, 2, 4)]
    assert "3 candidates, 3 right" in best.timing[0]
    assert "12.00 us" in best.timing[2]
    assert best.timing[2].endswith(" taken")


def test_which_are_timed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fastest that are near each other, and what the model puts first, however slow it is."""
    texts = [scale(2.0, blocks) for blocks in (16, 8, 4, 2, 1)]

    def again(count: int) -> list[bool]:
        monkeypatch.setattr(timer, "FINALISTS", count)
        profiler = Profiler(MACHINE, OPTIONS)
        profiler.fastest(function_of(REFERENCE), offers_of(texts))
        return [one.compared for one in profiler.results[0].candidates]

    assert again(timer.FINALISTS) == [True, False, False, True, True]
    assert again(1) == [True, False, False, False, True]


def test_one_that_is_far_ahead_is_timed_once() -> None:
    profiler = Profiler(MACHINE, OPTIONS)
    profiler.fastest(function_of(REFERENCE), offers_of([scale(2.0, 1), scale(2.0, 8)]))
    assert not any(one.compared for one in profiler.results[0].candidates)


def test_what_is_wrong_is_passed_over() -> None:
    """Also what is wrong by less than a run on the GPU shows."""
    texts = [UNCOMPILABLE, scale(3.0, 1), scale(2.000001, 2), scale(2.0, 4)]
    profiler = Profiler(MACHINE, OPTIONS)
    best = profiler.fastest(function_of(REFERENCE), offers_of(texts))
    assert best.search.structure == "offer 3"
    first, second, third, _ = profiler.results[0].candidates
    assert "'kernel.scale' op" in first.problem
    assert "is wrong on the GPU: error 5.0e-01" in second.problem
    assert "verification: not equal" in third.problem


def test_kernels_that_go_wrong_on_the_gpu() -> None:
    machine = Machine("a GPU of our own", make_faulty, jobs=1, patience=3.0)
    profiler = Profiler(machine, OPTIONS)
    texts = [scale(2.0, blocks) for blocks in (1, 2, 4, 8, 16)]
    best = profiler.fastest(function_of(REFERENCE), offers_of(texts))
    assert best.search.structure == "offer 4"
    problems = [one.problem for one in profiler.results[0].candidates]
    for problem, part in zip(
        problems,
        ["ended the process", "not done after 3 seconds", "ILLEGAL_ADDRESS", "error nan", ""],
        strict=True,
    ):
        assert part in problem


def test_none_is_right() -> None:
    with pytest.raises(DiagnosticException, match="no candidate that is right") as caught:
        Profiler(MACHINE, OPTIONS).fastest(function_of(REFERENCE), offers_of([scale(3.0, 1)]))
    assert "is wrong on the GPU" in "".join(caught.value.__notes__)


def test_it_is_remembered(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_program(NORM, "f.mlir")
    options = replace(OPTIONS, top_k=2)
    first = optimize(module, "f", options, MACHINE)
    assert "timed on a GPU of our own: 2 candidates" in first.artifact.report
    (entry,) = results_in(cache)
    assert len(entry["candidates"]) == 2
    monkeypatch.setattr("mirage_mlir.driver.optimize.offers", None)
    second = optimize(module, "f", options, MACHINE)
    assert second.artifact.targets == first.artifact.targets
    assert "timed on a GPU of our own: 2 candidates" in second.artifact.report
    with pytest.raises(TypeError):
        optimize(module, "f", replace(options, cache=False), MACHINE)


def test_an_entry_that_cannot_be_read_is_none(cache: Path) -> None:
    profiler = Profiler(MACHINE, OPTIONS)
    reference = function_of(REFERENCE)
    profiler.cache.put(profiler.key(reference), {"offers": {"sm_90a": {"function": "junk"}}})
    assert len(list(cache.iterdir())) == 1
    assert profiler.remembered(reference) == {}


def run_session(session: Session) -> tuple[str, str]:
    """What is printed, and the report."""
    module = parse_program(NORM, "f.mlir")
    search = SuperoptimizePipeline(top_k=2)
    with collect_remarks():
        started = session.start(module, search.passes())
        for each in search.passes():
            started.apply(each, compiler_context(), module)
        report = started.finish(module)
    assert report is not None
    return text_of(module), report


def session_of(*, spread: bool = False) -> Session:
    """A run of mirage-opt with --profile, and --workers."""
    profiling = Profiling(Workforce(lambda target: MACHINE), spread=spread)
    return Session(report=True, profiling=profiling)


def test_the_tool(cache: Path) -> None:
    first, report = run_session(session_of())
    assert first.count("func.func") == 1
    assert "__candidate_" not in first
    assert "2 candidates, 2 right" in report
    assert len(results_in(cache)) == 1
    second, report = run_session(session_of())
    assert second == first
    assert "2 candidates, 2 right" in report


def test_the_workers_search(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a cache; the pass does not search again."""
    first, report = run_session(session_of(spread=True))
    assert first.count("func.func") == 1
    assert "2 candidates, 2 right" in report
    monkeypatch.setattr("mirage_mlir.passes.superoptimize.candidates", None)
    again, report = run_session(session_of(spread=True))
    assert again == first
    assert len(results_in(cache)) == 1


def test_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise CudaError("there is no usable CUDA driver on this machine")

    monkeypatch.setattr(machines, "CudaDriver", missing)
    with pytest.raises(CudaError, match="profiling needs a GPU: there is no usable CUDA driver"):
        optimize(parse_program(REFERENCE, "f.mlir"), "f", OPTIONS)
