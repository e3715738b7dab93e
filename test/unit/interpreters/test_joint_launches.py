"""Kernels that share a launch: each block computes what it would in a launch of its own."""

from collections.abc import Callable, Sequence

import lowering_cases as cases
import pytest
from kernel_kinds import cyclic
from lowered_kernels import check, function_of
from lowering_cases import Linear
from sampling import EVERYTHING
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.launch import launch_of

Build = Callable[[], ModuleOp]


def side_by_side(modules: Sequence[ModuleOp], shared: int = 0) -> ModuleOp:
    """One function of several; the first `shared` arguments are those of all."""
    functions = [function_of(module) for module in modules]
    types = [value.type for value in functions[0].body.block.args[:shared]]
    for function in functions:
        types += [value.type for value in function.body.block.args[shared:]]
    block = Block(arg_types=types)
    free = iter(block.args[shared:])
    results: list[SSAValue] = []
    for function in functions:
        values: dict[SSAValue, SSAValue] = {}
        for number, old in enumerate(function.body.block.args):
            values[old] = block.args[number] if number < shared else next(free)
        for op in function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                results += [values[value] for value in op.operands]
            else:
                block.add_op(op.clone(values))
    block.add_op(func.ReturnOp(*results))
    return ModuleOp([func.FuncOp("f", (types, [each.type for each in results]), Region(block))])


WIDE, NARROW = Linear(16, 256, 192, 16, 32, 64), Linear(16, 128, 64, 16, 32, 64)
RAGGED = Linear(5, 100, 40, 5, 20, 8)

CASES: dict[str, tuple[Sequence[Build], int]] = {
    "tensor copies": ([lambda: cases.plain_linear(WIDE), lambda: cases.plain_linear(NARROW)], 0),
    "the same left side": ([lambda: cases.plain_linear(WIDE)] * 3, 1),
    "threads": ([lambda: cases.plain_linear(RAGGED), lambda: cases.biased_linear(RAGGED)], 0),
    "clusters": (
        [
            lambda: cases.split_linear(WIDE, 2, more=False),
            lambda: cases.split_linear(NARROW, 2, more=False),
        ],
        0,
    ),
    "workspaces": (
        [
            lambda: cases.split_linear(Linear(16, 512, 192, 16, 32, 64), 16, more=False),
            lambda: cases.split_linear(Linear(16, 512, 64, 16, 32, 64), 16, more=False),
        ],
        0,
    ),
    "cyclic": (
        [
            lambda: cyclic(cases.split_linear(WIDE, 2, more=False)),
            lambda: cases.split_linear(NARROW, 2, more=False),
        ],
        0,
    ),
    "two in one": ([lambda: cases.gated_mlp(WIDE), lambda: cases.rmsnorm_linear(NARROW)], 0),
}


def cases_and_targets() -> list[tuple[str, str]]:
    """For both chips; samples: for one of them, in turn."""
    both = [(name, target) for name in CASES for target in ("H200", "A100")]
    return both if EVERYTHING else [each for n, each in enumerate(both) if n % 4 in (0, 3)]


@pytest.mark.parametrize(("name", "target"), cases_and_targets())
def test_values(name: str, target: str) -> None:
    builds, shared = CASES[name]
    module = side_by_side([build() for build in builds], shared)
    kernels = check(module, target=target)
    launches = [each for op in kernels.walk() if (each := launch_of(op)) is not None]
    graphs = [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]
    assert len(launches) < len(graphs)
    assert all(launch.grid[1:] == (1, 1) for launch in launches)


def test_blocks_in_another_order() -> None:
    builds, _ = CASES["workspaces"]
    check(side_by_side([build() for build in builds]), order=3)
