"""What the passes of a search wrote into a module, as offers with their reports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.candidate import candidate_of, kept_programs, unmark
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.source import alone, compiler_context
from mirage_mlir.effort import Effort
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.passes.partition_program import PartitionProgramPass
from mirage_mlir.passes.superoptimize import SuperoptimizePass
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.structures import spread


def offers_in(module: ModuleOp, reports: Sequence[SearchReport]) -> dict[str, list[Offer]]:
    """
    The candidates in a module, by the function that they are for, the best first.

    Args:
        module: as `superoptimize` left it.
        reports: on the candidates of each function, in their order.
    """
    found: dict[str, list[Offer]] = {}
    for candidates in kept_programs(module).values():
        name = candidates[0].sym_name.data
        about = [report for report in reports if report.function == name]
        # There are none for what was known before the search.
        if about:
            pairs = zip(candidates, about, strict=True)
            found[name] = [_offer(name, candidate, report) for candidate, report in pairs]
    return found


def _offer(name: str, candidate: func.FuncOp, report: SearchReport) -> Offer:
    about = candidate_of(candidate)
    pairs = [] if about is None else list(about.pairs)
    function = candidate.clone()
    unmark(function)
    function.sym_name = StringAttr(name)
    return Offer(function, report.alone, report, pairs=pairs)


def with_cuts(
    reports: Sequence[SearchReport], cuts: Mapping[str, SearchReport]
) -> Sequence[SearchReport]:
    """Reports that count, too, what `partition-program` searched for the same functions."""
    for report in reports:
        if report.function in cuts:
            report.add(cuts[report.function])
    return reports


def offers(function: func.FuncOp, target: str, effort: Effort) -> Iterator[Offer]:
    """The graphs found for `target`, best first; it searches when the first is asked for."""
    check(function)
    module = alone(function)
    pipeline = SuperoptimizePipeline(
        target=target,
        time_limit=effort.time_limit,
        top_k=effort.candidates,
        max_kernels=effort.max_kernels,
        jobs=effort.jobs,
        verify_budget=effort.verify_budget,
    )
    cuts: list[SearchReport] = []
    reports: list[SearchReport] = []
    for each in pipeline.search_passes():
        match each:
            case PartitionProgramPass():
                each.cut(module, cuts.append)
            case SuperoptimizePass():
                each.search(module, reports.append)
            case _:
                each.apply(compiler_context(), module)
    with_cuts(reports, {cut.function: cut for cut in cuts})
    named = [replace(report, target=target) for report in reports]
    name = function.sym_name.data
    # Of a function that has graphs alone nothing is searched.
    itself = Offer(function.clone(), True, SearchReport(name, target, alone=True))
    yield from offers_in(module, named).get(name, [itself])


def to_time(found: Iterable[Offer], count: int) -> list[Offer]:
    """At most `count` offers of those that were found, the best in the model first, to be timed."""
    return spread(
        found,
        count,
        lambda offer: offer.search.structure,
        lambda offer: offer.search.modelled,
        lambda offer: tiling_of(offer.function),
    )


def tiling_of(function: func.FuncOp) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """The blocks and iterations of the kernels with a loop, in any order; of all without one."""
    graphs = [op for op in function.walk() if isinstance(op, kernel.GraphDefinedOp)]
    looped = [each for each in graphs if each.loop_sizes] or graphs
    return tuple(sorted((tuple(each.grid_sizes), tuple(each.loop_sizes)) for each in looped))
