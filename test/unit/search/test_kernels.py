"""Plans of several kernels: which are found, and that they hang together."""

import subprocess
import sys
from functools import cache
from math import prod
from pathlib import Path
from time import perf_counter

import pytest
from sampling import sampled
from search_programs import attention, gated_mlp, normalised, rmsnorm_linear, stable_softmax

from mirage_mlir.search.cost_model.bounds import least_seconds
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan, in_one_kernel, with_plan_for
from mirage_mlir.search.multi_kernel.kernels import Planner, search_kernels
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind
from mirage_mlir.search.program.program_cuts import Source, cuts
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200


def mlp() -> ProgramBuilder:
    """LLaMA-3-8B's, for 8 tokens."""
    b = ProgramBuilder()
    x, gate, up = b.input((8, 4096)), b.input((4096, 14336)), b.input((4096, 14336))
    down = b.input((14336, 4096))
    silu = b.function(Function("silu"), b.matmul(x, gate))
    b.output(b.matmul(b.binary(Kind.MUL, silu, b.matmul(x, up)), down))
    return b


def residual() -> ProgramBuilder:
    """A sum and its norm through a linear layer, both returned."""
    b = ProgramBuilder()
    x, r, w = b.input((8, 4096)), b.input((8, 4096)), b.input((4096, 6144))
    h = b.binary(Kind.ADD, x, r)
    b.output(h)
    b.output(b.matmul(normalised(b, h), w))
    return b


def long_rows() -> ProgramBuilder:
    b = ProgramBuilder()
    b.output(stable_softmax(b, b.input((4, 200_000), "f32")), "f32")
    return b


def chain() -> ProgramBuilder:
    """Two matrices and few columns, the matrices first; in bf16 either order will do."""
    b = ProgramBuilder()
    a, c, x = (b.input(shape, "bf16") for shape in ((4096, 4096), (4096, 4096), (4096, 8)))
    b.output(b.matmul(b.matmul(a, c, "bf16"), x, "bf16"), "bf16")
    return b


PROGRAMS = {
    "attention": attention,
    "gated_mlp": gated_mlp,
    "mlp": mlp,
    "residual": residual,
    "long_rows": long_rows,
    "rmsnorm_linear": rmsnorm_linear,
    "chain": chain,
}


@cache
def found(name: str, max_kernels: int = 4) -> list[KernelPlan]:
    limits = Limits(max_kernels=max_kernels)
    return search_kernels(resolve(PROGRAMS[name]()), H200, limits, SearchReport())


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_plans_hang_together(name: str) -> None:
    """Sorted by time; each kernel reads arguments of the program and what came before it."""
    program = resolve(PROGRAMS[name]())
    arguments = {tensor.argument for tensor in program.inputs}
    plans = found(name)
    assert plans
    assert [plan.seconds for plan in plans] == sorted(plan.seconds for plan in plans)
    for plan in plans:
        assert plan.seconds >= least_seconds(program, H200)
        for number, kernel in enumerate(plan.kernels):
            assert {t.argument for t in kernel.program.inputs} == set(range(len(kernel.arguments)))
            for source in kernel.arguments:
                if source.kernel is None:
                    assert source.number in arguments
                else:
                    assert source.kernel < number
                    outputs = plan.kernels[source.kernel].program.outputs
                    assert source.number < len(outputs)
        assert len(plan.results) == len(program.outputs)


def test_split_context() -> None:
    """Sums of parts and their maxima, then a kernel that puts them together."""
    first, second = found("attention")[0].kernels
    assert [output.shift for output in first.program.outputs] == [None, None, 0]
    (axis,) = first.program.open_sums
    parts = first.graph.counts[axis]
    assert parts > 1
    assert [source.kernel for source in second.arguments] == [0, 0, 0]
    # The parts come first in each of the tensors that are read.
    for tensor in second.program.inputs:
        assert second.program.shape(tensor.axes)[0] == parts
    products = [op.kind for op in second.graph.operations if op.kind is Kind.MATMUL]
    assert not products


def test_other_numbers_of_partial_sums_are_kept() -> None:
    """They take little more in the model, and less on some GPU."""
    limits = Limits(max_kernels=2, candidates=17)
    plans = search_kernels(resolve(attention()), H200, limits, SearchReport())
    firsts = [plan.kernels[0] for plan in plans if plan.kernels[0].program.open_sums]
    counts = {first.graph.counts[axis] for first in firsts for axis in first.program.open_sums}
    assert len(counts) > 1


def test_one_kernel_where_it_is_best() -> None:
    assert len(found("rmsnorm_linear")[0].kernels) == 1
    assert len(found("gated_mlp")[0].kernels) == 1


def test_mlp() -> None:
    """Gate and way up in one kernel; the way down, perhaps in parts, after it."""
    first, *others = found("mlp")[0].kernels
    assert [op.kind for op in first.graph.operations].count(Kind.MATMUL) == 2
    assert first.program.outputs[0].element_type == "f16"
    assert 1 <= len(others) <= 2
    assert sum(op.kind is Kind.MATMUL for k in others for op in k.graph.operations) == 1


def test_order_of_products() -> None:
    """The few columns first: no kernel reads or makes the product of the matrices."""
    best = found("chain")[0]
    operations = [op for kernel in best.kernels for op in kernel.graph.operations]
    assert sum(op.kind is Kind.MATMUL for op in operations) == 2
    # Each product is a kernel, or two where its sum is in parts.
    assert 2 <= len(best.kernels) <= 4
    for kernel in best.kernels:
        (output,) = kernel.program.outputs
        assert prod(kernel.program.shape(output.axes)) == 8 * 4096


def test_two_results() -> None:
    """The norm is part of one of two kernels: it has none of its own."""
    plan = found("residual")[0]
    assert len(plan.kernels) == 2
    assert plan.results[0].kernel == 0
    assert plan.results[1].kernel == 1


def test_a_plan_for_one_kernel_of_several() -> None:
    """Where two kernels stand for one, later ones read what these store."""
    program = resolve(mlp())
    plan = next(plan for plan in found("mlp") if len(plan.kernels) > 1)
    own = plan.kernels[0]
    both = with_plan_for(plan, 0, KernelPlan((own, own), (Source(0, kernel=1),)))
    assert both.kernels[:2] == (own, own)
    assert [kernel.program for kernel in both.kernels[2:]] == [
        kernel.program for kernel in plan.kernels[1:]
    ]
    for before, after in zip(plan.kernels[1:], both.kernels[2:], strict=True):
        for old, new in zip(before.arguments, after.arguments, strict=True):
            assert new == (old if old.kernel is None else Source(old.number, old.kernel + 1))
    assert both.results == (Source(0, kernel=len(both.kernels) - 1),) * len(program.outputs)


def test_a_slow_kernel_of_several_is_planned_anew() -> None:
    """A matmul beside a sum of the rows that it reads has narrow tiles: it gets its own kernel."""
    b = ProgramBuilder()
    x, g = b.input((2048, 1024)), b.input((2048, 1536))
    b.output(b.matmul(b.transpose(x, (1, 0)), g))
    b.output(b.reduce(Kind.REDUCE_SUM, g, (0,)))
    program = resolve(b)
    planner = Planner(program, H200, Limits(), SearchReport())
    together = in_one_kernel(program, planner.whole(program)[0])
    plan = KernelPlan((*together.kernels, *together.kernels), together.results)
    better = next(planner.cut_again(plan))
    assert len(better.kernels) == 3
    assert better.seconds < plan.seconds - together.seconds / 3
    assert {source.kernel for source in better.results} == {0, 1}


def test_rows_that_no_block_holds() -> None:
    """Each row is walked by a first kernel, and normalised by a second."""
    plans = found("long_rows")
    assert any(len(plan.kernels) == 2 for plan in plans)
    assert all(2 <= len(plan.kernels) <= 4 for plan in plans)


@pytest.mark.parametrize("max_kernels", [1, 2])
def test_no_more_kernels_than_allowed(max_kernels: int) -> None:
    plans = found("mlp", max_kernels)
    assert all(len(plan.kernels) <= max_kernels for plan in plans)
    assert bool(plans) == (max_kernels > 1)


def test_bound_of_parts() -> None:
    """Parts move what they store twice: no cut has a lower bound below the whole program's."""
    program = resolve(mlp())
    whole = least_seconds(program, H200)
    for cut in cuts(program):
        parts = (cut.first.program, cut.second.program)
        assert sum(least_seconds(part, H200) for part in parts) > whole


def test_time_limit() -> None:
    """What was found by then is returned, and the report says what was not looked at."""
    report = SearchReport()
    assert search_kernels(resolve(mlp()), H200, Limits(perf_counter() - 1), report) == []
    assert "plans of several kernels after the time limit" in report.cut


SCRIPT = """
from test_kernels import PROGRAMS
from mirage_mlir.targets.target import H200
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.multi_kernel.kernels import search_kernels
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.report import SearchReport
for name in ("attention", "long_rows"):
    program, limits = resolve(PROGRAMS[name]()), Limits(max_kernels=2)
    print(name, search_kernels(program, H200, limits, SearchReport()))
"""


def test_the_same_for_every_hash_seed() -> None:
    here = Path(__file__)
    places = (here.parents[2] / "support", here.parents[3], here.parent)
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONPATH": ":".join(map(str, places)), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0]
    assert len(set(outputs)) == 1
