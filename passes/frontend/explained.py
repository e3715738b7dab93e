"""Explanations of plans: the terms of the cost model for each kernel, and which candidates lost."""

from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.passes.frontend.plan import Plan, PlannedKernel
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.multi_kernel.explanation import (
    Contest,
    Explanation,
    KernelExplanation,
    explain_kernel,
    runners_up,
)
from mirage_mlir.search.program.program_cuts import Source
from mirage_mlir.targets.target import Target

SHOWN = 4
"""Runners-up that are kept of each choice: the next ones differ in tile sizes alone, mostly."""


def explained(
    plan: Plan, launched: Sequence[PlannedKernel], others: Sequence[Plan], target: Target
) -> Explanation:
    """
    Why a plan was taken.

    Args:
        plan: what was taken.
        launched: its kernels in the order in which they run.
        others: the other plans for the whole function, the fastest first.
        target: the GPU.
    """
    contests = [_contest(planned) for planned in launched if planned.rivals]
    # Without operators to search, as where all are in graphs already, there is nothing to compare.
    if others and plan.seconds:
        made = [each for planned in launched for each in _made(planned)]
        rivals = [(each.seconds, each.structure, _as_in(made, each)) for each in others[:SHOWN]]
        lost = runners_up([graph for _, graph in made], plan.seconds, rivals)
        contests.insert(0, Contest(1 + len(others), lost))
    kernels: list[KernelExplanation | None] = []
    for planned in launched:
        kernels += _kernels(planned, target, len(kernels))
    return Explanation(
        kernels=tuple(kernels),
        seconds=plan.seconds,
        contests=tuple(contests),
    )


def _contest(planned: PlannedKernel) -> Contest:
    rivals = [(each.seconds, each.structure, _graphs(each)) for each in planned.rivals]
    lost = runners_up(_graphs(planned), planned.seconds, rivals[:SHOWN])
    return Contest(1 + len(rivals), lost)


def _made(planned: PlannedKernel) -> list[tuple[tuple[SSAValue, ...], BlockGraph]]:
    """The kernels of a part of a plan, each with the values of the function that it makes."""
    if planned.plan is None:
        return []
    results = list(zip(planned.results, planned.plan.results, strict=False))
    if len(planned.results) != len(planned.plan.results):
        # Some values are joined from several results: kernels make parts of them.
        results = []
    return [
        (tuple(value for value, source in results if source.kernel == number), kernel.graph)
        for number, kernel in enumerate(planned.plan.kernels)
    ]


def _as_in(
    made: Sequence[tuple[tuple[SSAValue, ...], BlockGraph]], other: Plan
) -> list[BlockGraph]:
    """The kernels of another plan, in the order of those that make the same values in `made`."""
    places = {values: place for place, (values, _) in enumerate(made) if values}
    found = [each for planned in other.kernels for each in _made(planned)]
    return [graph for _, graph in sorted(found, key=lambda each: places.get(each[0], len(made)))]


def _graphs(planned: PlannedKernel) -> list[BlockGraph]:
    return [] if planned.plan is None else [kernel.graph for kernel in planned.plan.kernels]


def _kernels(
    planned: PlannedKernel, target: Target, first: int
) -> Iterator[KernelExplanation | None]:
    """
    The kernels of a part of a plan in order; None for those that only copy.

    `first` is the number of its first kernel among those of the function.
    """

    def name(source: Source) -> str:
        if source.kernel is not None:
            return f"result {source.number} of kernel {first + source.kernel}"
        return value_name(planned.arguments[source.number])

    kernels = () if planned.plan is None else planned.plan.kernels
    yield from (explain_kernel(kernel, target, name) for kernel in kernels)
    yield from (None for _ in range(planned.count - len(kernels)))


def value_name(value: SSAValue) -> str:
    """What a program calls a value; an operator's name stands for a result without one."""
    if value.name_hint:
        return f"%{value.name_hint}"
    if isinstance(value, BlockArgument):
        return f"%arg{value.index}"
    return f"the result of {value.owner.name}" if isinstance(value.owner, Operation) else "a tensor"
