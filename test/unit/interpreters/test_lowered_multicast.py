"""Blocks of a cluster that copy tiles to each other: right kernels run, wrong ones are found."""

from collections.abc import Callable

import pytest
from lowered_edits import LEARNT, NOT_FOUND, outcomes
from lowered_kernels import check, draw, function_of, graphs_of, lower
from lowering_cases import Linear, rmsnorm_linear
from sampling import sampled
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, ModuleOp, i32, i64
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.interpreters.gpu_simulator import FaultKind, KernelFault, run_kernels

SMALL = Linear(128, 256, 64, 64, 32, 32)


def in_clusters(case: Linear, cluster: tuple[int, ...]) -> ModuleOp:
    """RMSNorm and a matmul; the grid has columns along its first axis, rows along its second."""
    module = rmsnorm_linear(case)
    for graph in graphs_of(module):
        graph.cluster = DenseArrayBase.from_list(i64, cluster)
    return module


def multicasts(kernels: gpu.ModuleOp) -> list[nvvm_hopper.CpAsyncBulkTensorLoadOp]:
    """The copies to several blocks."""
    copies = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp)]
    return [op for op in copies if op.multicast_mask is not None]


CASES = {
    "rows share the left side": (SMALL, (2, 1), 1),
    "columns share the right side": (SMALL, (1, 2), 1),
    "both": (SMALL, (2, 2), 2),
    "four blocks": (Linear(64, 256, 128, 64, 32, 32), (4, 1), 1),
    "ragged": (Linear(100, 232, 56, 64, 32, 32), (2, 2), 2),
    "warpgroups": (Linear(128, 512, 128, 64, 64, 128), (1, 2), 1),
    # Nobody waits for a buffer that is not used again.
    "few iterations": (Linear(128, 64, 64, 64, 32, 32), (2, 2), 2),
}


@pytest.mark.parametrize("name", sampled(list(CASES), 2))
def test_values(name: str) -> None:
    case, cluster, count = CASES[name]
    kernels = check(in_clusters(case, cluster), stages=2)
    iterations = case.iterations > 2
    assert len(multicasts(kernels)) == (count if iterations else 0)


def test_mutants() -> None:
    """Each is found: by a fault, or by what it computes."""
    module = in_clusters(Linear(128, 192, 32, 64, 32, 32), (1, 2))
    kernels = lower(module, stages=2)
    found = list(outcomes(kernels, draw(function_of(module))))
    assert len(found) > 30
    assert [edit for edit, outcome in found if outcome == NOT_FOUND] == LEARNT


def leave_early(kernels: gpu.ModuleOp) -> None:
    """The producer does not wait for the last arrivals."""
    waits = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.MBarrierWaitParityOp)]
    (last,) = [op for op in waits if not in_loop_with_copies(op) and not before_matmuls(op)]
    last.detach()
    last.erase()


def in_loop_with_copies(op: Operation) -> bool:
    """Whether copies are started in the same loop."""
    loop = op.parent_op()
    assert loop is not None
    return any(isinstance(each, nvvm_hopper.CpAsyncBulkTensorLoadOp) for each in loop.walk())


def before_matmuls(op: Operation) -> bool:
    """Whether a thread arrives in the same loop, which has read what it waited for."""
    loop = op.parent_op()
    assert loop is not None
    return any(isinstance(each, nvvm_hopper.MBarrierArriveOp) for each in loop.walk())


def copy_to_one(kernels: gpu.ModuleOp) -> None:
    """A part reaches its own block only."""
    (copy,) = multicasts(kernels)
    give_mask(copy, 1)


def copy_to_nobody(kernels: gpu.ModuleOp) -> None:
    """A part goes to a block that there is not."""
    (copy,) = multicasts(kernels)
    give_mask(copy, 5)


def give_mask(copy: nvvm_hopper.CpAsyncBulkTensorLoadOp, mask: int) -> None:
    """Let a copy have another mask."""
    constant = arith.ConstantOp(IntegerAttr(mask, IntegerType(16)))
    block = copy.parent
    assert block is not None
    block.insert_op_before(constant, copy)
    assert copy.multicast_mask is not None
    copy.operands[list(copy.operands).index(copy.multicast_mask)] = constant.result


def arrive_at_home(kernels: gpu.ModuleOp) -> None:
    """Threads tell their own block twice that they have read, and the other never."""
    arrivals = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.MBarrierArriveOp)]
    for address in [op.addr.owner for op in arrivals]:
        assert isinstance(address, nvvm_hopper.MapClusterAddressOp)
        rank = nvvm_hopper.ClusterBlockRankOp()
        block = address.parent
        assert block is not None
        block.insert_op_before(rank, address)
        address.operands[1] = rank.res


def release_for_few(kernels: gpu.ModuleOp) -> None:
    """Barriers that take the arrivals of the own block only."""
    for op in [op for op in kernels.walk() if isinstance(op, nvvm_hopper.MBarrierInitOp)][2:]:
        block = op.parent
        assert block is not None
        half = arith.ConstantOp(IntegerAttr(4, i32))
        block.insert_op_before(half, op)
        op.operands[1] = half.result


EDITS: dict[str, tuple[Callable[[gpu.ModuleOp], None], FaultKind]] = {
    "leaves before others arrive": (leave_early, FaultKind.RACE),
    "copies to one block": (copy_to_one, FaultKind.DEADLOCK),
    "copies to no block": (copy_to_nobody, FaultKind.OUT_OF_BOUNDS),
    "tells the other block nothing": (arrive_at_home, FaultKind.INCOMPLETE),
    "waits for half of the arrivals": (release_for_few, FaultKind.DEADLOCK),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits(name: str) -> None:
    module = in_clusters(Linear(128, 192, 32, 64, 32, 32), (1, 2))
    kernels = lower(module, stages=2)
    edit, kind = EDITS[name]
    edit(kernels)
    with pytest.raises(KernelFault) as caught:
        run_kernels(kernels, draw(function_of(module)))
    assert caught.value.kind == kind
