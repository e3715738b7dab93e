"""Plans whose kernels share launches: which kernels fit each other, and what each is alone."""

from functools import cache
from math import prod

import pytest

from mirage_mlir.search.cost_model.joint_launch import common_of, time_of
from mirage_mlir.search.multi_kernel.joint_launches import (
    fitting_each_other,
    joint_seconds,
    side_by_side,
)
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan, PlanKernel
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program_cuts import Source
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

ALL_THREE = 16e-6
"""Seconds: about what a product of 4096 and two of 1024 columns take together."""


@cache
def product(columns: int) -> list[PlanKernel]:
    """A product of 16 rows in all its kernels, the fastest first, up to what all three take."""
    b = ProgramBuilder()
    b.output(b.matmul(b.input((16, 4096)), b.input((4096, columns))))
    program = resolve(b)
    graphs = search(program, H200, Limits(varied=True), SearchReport(), ALL_THREE)
    return [PlanKernel(program, graph, (Source(0), Source(1))) for graph in graphs]


def plan_of(*kernels: PlanKernel) -> KernelPlan:
    return KernelPlan(kernels, tuple(Source(0, number) for number in range(len(kernels))))


@pytest.fixture(scope="module")
def wide_and_narrow() -> list[list[PlanKernel]]:
    return [product(4096), product(1024), product(1024)]


def test_kernels_that_fit_each_other(wide_and_narrow: list[list[PlanKernel]]) -> None:
    """The fastest alone have blocks of different kinds; others share one launch, and are faster."""
    alone = plan_of(*(kernels[0] for kernels in wide_and_narrow))
    assert len({common_of(each.graph, H200) for each in alone.kernels}) > 1
    assert side_by_side(alone, H200) == [(0, 1, 2)]
    best, *others = fitting_each_other(alone, wide_and_narrow, H200)
    assert len({common_of(each.graph, H200) for each in best.kernels}) == 1
    assert joint_seconds(best, H200) < joint_seconds(alone, H200)
    assert best.seconds > alone.seconds, "alone they are slower"
    times = [joint_seconds(each, H200) for each in (best, *others)]
    assert times == sorted(times)


def test_blocks_that_end_together(wide_and_narrow: list[list[PlanKernel]]) -> None:
    """Few blocks of a narrow product take much longer alone, and no longer than the wide one's."""
    alone = plan_of(*(kernels[0] for kernels in wide_and_narrow))
    found = fitting_each_other(alone, wide_and_narrow, H200)
    works = [[time_of(each.graph, H200).work for each in plan.kernels] for plan in found]
    even = [plan for plan, some in zip(found, works, strict=True) if max(some) <= 1.1 * min(some)]
    assert even
    wide, *narrow = even[0].kernels
    assert all(prod(each.graph.blocks) * 4 == prod(wide.graph.blocks) for each in narrow)
    assert all(
        each.graph.seconds > 2 * kernels[0].graph.seconds
        for each, kernels in zip(narrow, wide_and_narrow[1:], strict=True)
    )


def test_kernels_that_read_each_other_share_nothing() -> None:
    """The second reads the result of the first."""
    first, second = product(4096)[0], product(4096)[0]
    second = PlanKernel(second.program, second.graph, (Source(0, kernel=0), Source(1)))
    chain = plan_of(first, second)
    assert side_by_side(chain, H200) == []
    assert fitting_each_other(chain, [product(4096), product(4096)], H200) == []
    assert joint_seconds(chain, H200) == pytest.approx(chain.seconds)
