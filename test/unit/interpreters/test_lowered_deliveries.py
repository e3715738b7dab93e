"""Blocks of a cluster that write into each other's shared memory."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hand_kernels import device, faults, kernel, load, number, shared, store, thread, times
from hopper_kernels import plus
from xdsl.dialects import arith, gpu
from xdsl.ir import SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.interpreters.gpu_simulator import FaultKind, random_inputs, run_kernels

STARTED, FIRST, SECOND = "started", "first", "second"
"""Barriers of the cluster: before anything is written, of threads that only say that they have
started, or of all that they did; and behind it."""

BEFORE, BEHIND, ENDING = "before", "behind", "ending"
"""What else a block does with the bytes, and that it ends without the second barrier."""


def cluster_barrier() -> None:
    nvvm_hopper.ClusterArriveOp()
    nvvm_hopper.ClusterWaitOp()


def delivery(x: SSAValue, y: SSAValue, *, parts: frozenset[str]) -> None:
    """Each thread of two blocks gives a number to the same thread of the other one."""
    me, rank = thread(), nvvm_hopper.ClusterBlockRankOp().res
    other = arith.SubiOp(number(1), rank).result
    if STARTED in parts:
        nvvm_hopper.ClusterArriveRelaxedOp()
    value = load(device(x, plus(times(rank, 128), times(me, 4))))
    if FIRST in parts:
        cluster_barrier()
    own = shared(times(me, 4))
    if BEFORE in parts:
        store(value, own)
        nvvm.BarrierOp()
    if STARTED in parts:
        nvvm_hopper.ClusterWaitOp()
    store(value, nvvm_hopper.MapClusterAddressOp(own, other).res)
    if BEHIND in parts:
        load(own)
    if ENDING in parts:
        store(value, device(y, plus(times(rank, 128), times(me, 4))))
        return
    if SECOND in parts:
        cluster_barrier()
    else:
        nvvm.BarrierOp()
    store(load(own), device(y, plus(times(rank, 128), times(me, 4))))


def module(*parts: str) -> gpu.ModuleOp:
    body: Callable[[SSAValue, SSAValue], None] = partial(delivery, parts=frozenset(parts))
    return kernel(body, ["2x32xf32"], ["2x32xf32"], smem=128, grid=(2, 1, 1), cluster=(2, 1, 1))


@pytest.mark.parametrize("start", [FIRST, STARTED])
def test_numbers_arrive(start: str) -> None:
    (x,) = inputs = random_inputs(module(start, SECOND))
    (y,) = run_kernels(module(start, SECOND), inputs)
    assert np.array_equal(y, x[::-1])


@pytest.mark.parametrize(
    "parts",
    [
        (SECOND,),
        (FIRST,),
        (FIRST, SECOND, BEFORE),
        (STARTED, SECOND, BEFORE),
        (FIRST, SECOND, BEHIND),
        (FIRST, ENDING),
    ],
    ids=[
        "may not have started",
        "no barrier behind",
        "in use",
        "in use, started",
        "read too soon",
        "ends too soon",
    ],
)
def test_nothing_orders_it(parts: tuple[str, ...]) -> None:
    """From the cluster's barrier before to the one behind the bytes are the writer's."""
    assert set(faults(module(*parts))) == {FaultKind.RACE}
