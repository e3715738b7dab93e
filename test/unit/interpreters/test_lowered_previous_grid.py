"""Kernels that start before the previous grid has ended: loads that no wait orders are found."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import pytest
from hand_kernels import device, faults, kernel, load, store, thread, times
from kernel_kinds import KINDS
from lowered_edits import (
    INVARIANT,
    MOVED_DOWN,
    MOVED_UP,
    NOALIAS,
    NOALIAS_NOTE,
    REMOVED,
    Edit,
    argument_of,
    edits_of,
    function_around,
)
from lowered_kernels import lower
from sampling import sampled
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import DictionaryAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.dialects.interface import interface_of
from mirage_mlir.dialects.launch import KernelLaunch, launch_of, workspace_of
from mirage_mlir.interpreters.gpu_simulator import Checker, random_inputs, run_kernels
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.codegen.kernel_function import KernelFunction, shared_memory_symbol

READONLY_NOTE = "llvm.readonly"

LATE = "which no wait for that grid orders"


def faults_of(kernels: gpu.ModuleOp) -> list[str]:
    checker = Checker(keep_going=True)
    run_kernels(kernels, random_inputs(kernels), checker=checker)
    return [str(fault) for fault in checker.faults]


# What LLVM makes `ld.global.nc` of


def copy_after_wait(x: SSAValue, y: SSAValue, *, invariant: bool) -> None:
    """A kernel that reads what the previous grid writes after a wait for it."""
    place = times(thread(), 4)
    nvvm_hopper.GridDependencyOp("wait")
    value = load(device(x, place))
    if invariant:
        assert isinstance(value.owner, llvm.LoadOp)
        value.owner.attributes["invariant"] = UnitAttr()
    store(value, device(y, place))


def copies(*notes: str, invariant: bool, constant: bool = False) -> gpu.ModuleOp:
    return kernel(
        partial(copy_after_wait, invariant=invariant),
        ["32xf32"],
        ["32xf32"],
        notes=[notes, [NOALIAS_NOTE]],
        follows=True,
        constants=[0] if constant else [],
    )


@pytest.mark.parametrize(
    ("noalias", "readonly", "invariant"), list(product([False, True], repeat=3))
)
def test_what_becomes_a_load_that_no_wait_orders(
    *, noalias: bool, readonly: bool, invariant: bool
) -> None:
    """The PTX has such a load just where the interpreter finds a fault."""
    notes = [NOALIAS_NOTE] * noalias + [READONLY_NOTE] * readonly
    kernels = copies(*notes, invariant=invariant)
    found = faults_of(kernels)
    function = kernels.body.block.first_op
    assert function is not None
    function.attributes["nvvm.kernel"] = UnitAttr()
    kernels.body.block.insert_op_before(shared_memory_symbol(), function)
    ptx = to_ptx(kernels, "sm_90a")
    assert ("ld.global.nc" in ptx) == bool(found) == (noalias or invariant)
    assert all(LATE in each for each in found)


def test_constants_may_be_loaded_at_any_time() -> None:
    assert faults(copies(NOALIAS_NOTE, invariant=True, constant=True)) == []


# Kernels that the lowering makes


def lowered(name: str, target: str = "H200") -> gpu.ModuleOp:
    return lower(KINDS[name].module(), target=target)


def functions_of(kernels: gpu.ModuleOp) -> list[llvm.FuncOp]:
    return [op for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp)]


def memory_of(function: llvm.FuncOp, argument: int) -> str:
    """What the launch plan calls the memory that an argument points to."""
    return plan_of(function).arguments[argument]


def plan_of(function: llvm.FuncOp) -> KernelLaunch:
    launch = launch_of(function)
    assert launch is not None
    return launch


def may_change(kernels: gpu.ModuleOp, function: llvm.FuncOp, memory: str) -> bool:
    """Whether a grid that may run beside a kernel writes some memory."""
    kind, _, number = memory.partition(":")
    if kind == "input":
        interface = interface_of(kernels)
        assert interface is not None
        # Those behind the first start when it has waited.
        is_given = function is not functions_of(kernels)[0]
        is_given |= int(number) in interface.constants.get_values()
        return plan_of(function).starts_early and not is_given
    # Parts of sums in scratch are written by the kernel itself.
    workspace = workspace_of(kernels)
    assert workspace is not None
    return plan_of(function).starts_early or workspace.counter_bytes > 0


def is_wrong(kernels: gpu.ModuleOp, op: Operation, description: str) -> bool:
    """Whether an edit lets loads read what changes."""
    if isinstance(op, llvm.LoadOp):
        argument = argument_of(op.ptr)
    else:
        argument = int(description.split()[-1].rstrip(")"))
    function = function_around(op)
    return may_change(kernels, function, memory_of(function, argument))


def edited(kernels: gpu.ModuleOp, *kinds: str) -> Iterator[tuple[Operation, str, gpu.ModuleOp]]:
    """Operations, what is done to them, and the kernels in which it was done."""
    for number, op in enumerate(kernels.walk()):
        for description, edit in edits_of(op):
            if description.startswith(kinds):
                yield op, description, with_edit(kernels, number, edit)


def with_edit(kernels: gpu.ModuleOp, number: int, edit: Edit) -> gpu.ModuleOp:
    mutant = kernels.clone()
    edit(list(mutant.walk())[number])
    return mutant


@pytest.mark.parametrize(
    ("name", "target"),
    sampled(
        [
            ("chain_of_kernels", "H200"),
            ("chain_of_kernels", "A100"),
            ("views_between", "H200"),
            ("attention_two_kernels_ragged", "H200"),
            ("attention_two_kernels_ragged", "A100"),
            ("softmax", "H200"),
            ("packed", "H200"),
            ("split_k", "A100"),
        ],
        2,
    ),
)
def test_loads_that_take_memory_not_to_change(name: str, target: str) -> None:
    """Each load, and each tensor, on its own."""
    kernels = lowered(name, target)
    assert faults_of(kernels) == []
    for op, description, mutant in edited(kernels, INVARIANT, NOALIAS):
        found = faults_of(mutant)
        assert bool(found) == is_wrong(kernels, op, description), (op, description, found)


PRODUCERS = {"attention_two_kernels_ragged": 1}
"""Waits that may be left out: warps that compute learn from the producer that it has waited."""


@pytest.mark.parametrize(
    ("name", "edit"),
    sampled(
        [
            ("chain_of_kernels", REMOVED),
            ("chain_of_kernels", MOVED_DOWN),
            ("views_between", REMOVED),
            ("views_between", MOVED_DOWN),
            ("softmax", REMOVED),
            ("attention_two_kernels_ragged", REMOVED),
            ("attention_two_kernels_ragged", MOVED_DOWN),
            ("softmax", MOVED_DOWN),
        ],
        3,
    ),
)
def test_waits_that_come_too_late(name: str, edit: str) -> None:
    """Loads, asynchronous copies and tensor copies before the wait, and stores."""
    kernels = lowered(name)
    harmless = 0
    for op, description, mutant in edited(kernels, edit):
        if isinstance(op, nvvm_hopper.GridDependencyOp):
            found = faults_of(mutant)
            harmless += not found
            assert all("access what the previous grid may still use" in each for each in found)
            assert description == edit
    assert harmless == PRODUCERS.get(name, 0)


def test_a_first_kernel_that_lets_the_next_start_too_early() -> None:
    """Others read inputs before they wait: the first one must have waited for who writes them."""
    kernels = lowered("chain_of_kernels")
    ((_, _, mutant),) = edited(kernels, MOVED_UP)
    found = faults_of(mutant)
    assert found
    assert not any("f_kernel_0" in each for each in found)


def assume_all(self: KernelFunction, root: SSAValue) -> DictionaryAttr:
    """What the lowering once let LLVM assume of every pointer, whoever writes what is read."""
    known = {NOALIAS_NOTE: UnitAttr()}
    if root in {view_of(value).root for value in self.graph.inputs}:
        known[READONLY_NOTE] = UnitAttr()
    return DictionaryAttr(known)


@pytest.mark.parametrize(
    "name", sampled(["chain_of_kernels", "views_between", "layer_norm", "softmax_primes"], 2)
)
def test_all_pointers_without_alias(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an H200 most calls of such kernels were wrong."""
    monkeypatch.setattr(KernelFunction, "argument_attributes", assume_all)
    assert any(LATE in each for each in faults_of(lowered(name)))
    assert faults_of(lowered(name, "A100")) == []
