"""
Campaign: lowered kernels that lack one barrier, wait or stage; the interpreter finds it.

    python benchmarks/verification/lowered_mutants.py [--output NAME]

Every operation that orders memory accesses is taken out of every kernel once, and every wait lets
the copies of one stage more be under way. A mutant counts as found when running it without a GPU
reports a fault or gives another result. Those that are not found are listed. They are harmless: the
barrier behind a loop whose last turn read other buffers than those that are used again (it is there
for other numbers of turns), and the end of a group of copies that becomes one with the next, for
which the same operation waits.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from all_programs import say, write
from attention_cases import Heads, observed_attention, split_attention
from lowered_kernels import draw, function_of, lower
from lowering_cases import (
    Linear,
    attention,
    biased_linear,
    gated_mlp,
    invariant_tiles,
    lora,
    reduced_linear,
    rmsnorm_linear,
    split_linear,
    transposed_linear,
)
from lowering_tiles import softmax, transposes
from xdsl.dialects import gpu
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.lowered import KernelFault, run_kernels

ORDERING = (
    "nvvm.bar.warp.sync",
    "nvvm.barrier",
    "nvvm.cluster.arrive",
    "nvvm.cluster.wait",
    "nvvm.cp.async.commit.group",
    "nvvm.cp.async.wait.group",
    "nvvm.fence.mbarrier.init",
    "nvvm.fence.proxy",
    "nvvm.mbarrier.arrive",
    "nvvm.mbarrier.arrive.expect_tx",
    "nvvm.mbarrier.init",
)
"""Operations without results that order accesses to memory."""

SMALL = Linear(5, 20, 7, 0, 8, 0)

HEADS = Heads(heads=1, queries=16, keys=96, depth=16, rows=16, step=32)

PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    "attention": lambda: attention(16, 16, 16),
    "biased linear": lambda: biased_linear(Linear(3, 100, 50, 16, 32, 32)),
    "gated mlp": lambda: gated_mlp(Linear(3, 100, 50, 16, 32, 32)),
    "invariant tiles": lambda: invariant_tiles(SMALL),
    "lora": lambda: lora(Linear(16, 96, 32, 16, 32, 16), 16),
    "observed attention": lambda: observed_attention(HEADS),
    "reduced": lambda: reduced_linear(Linear(16, 128, 16, 0, 64, 0), [1], "max", "sum"),
    "rmsnorm linear": lambda: rmsnorm_linear(Linear(16, 192, 96, 16, 64, 48)),
    "softmax": lambda: softmax(2, 1000, 1),
    "split attention": lambda: split_attention(HEADS._replace(blocks=2)),
    "split linear": lambda: split_linear(Linear(16, 128, 32, 16, 16, 16), 4, more=True),
    "transposed linear": lambda: transposed_linear(
        Linear(16, 32, 16, 0, 16, 0), computed=True, views=False
    ),
    "transposes": lambda: transposes(16, 16, (16, 16), "f16"),
}


def mutants(kernels: gpu.ModuleOp) -> Iterator[tuple[str, gpu.ModuleOp]]:
    """Each with one edit."""
    for number, op in enumerate(kernels.walk()):
        if op.name in ORDERING and not op.results:
            yield f"{op.name} removed", _edited(kernels, number, _remove)
        if isinstance(op, nvvm.CpAsyncWaitGroupOp):
            yield f"{op.name} waits for one stage less", _edited(kernels, number, _wait_less)


def _edited(kernels: gpu.ModuleOp, number: int, edit: Callable[[Operation], None]) -> gpu.ModuleOp:
    mutant = kernels.clone()
    edit(list(mutant.walk())[number])
    return mutant


def _remove(op: Operation) -> None:
    op.detach()
    op.erase()


def _wait_less(op: Operation) -> None:
    assert isinstance(op, nvvm.CpAsyncWaitGroupOp)
    op.n = IntegerAttr(op.n.value.data + 1, i32)


def _outcome(kernels: gpu.ModuleOp, inputs: list[AnyArray], wanted: list[AnyArray]) -> str:
    """How a mutant is found, or that it is not."""
    try:
        results = run_kernels(kernels, inputs)
    except KernelFault as fault:
        return fault.kind.value
    same = all(np.array_equal(a, b) for a, b in zip(results, wanted, strict=True))
    return "not found" if same else "another result"


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="lowered_mutants", help="name of the report")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    by_edit: dict[str, Counter[str]] = {}
    not_found: list[str] = []
    for name, make in PROGRAMS.items():
        module = make()
        kernels = lower(module)
        inputs: list[AnyArray] = list(draw(function_of(module)))
        wanted = run_kernels(kernels, inputs)
        for description, mutant in mutants(kernels):
            outcome = _outcome(mutant, inputs, wanted)
            outcomes[outcome] += 1
            by_edit.setdefault(description, Counter())[outcome] += 1
            if outcome == "not found":
                not_found.append(f"{name}: {description}")
        say([name, dict(outcomes)])
        write(
            options.output,
            {
                "mutants": sum(outcomes.values()),
                "outcomes": dict(sorted(outcomes.items())),
                "edits": {edit: dict(found) for edit, found in sorted(by_edit.items())},
                "not_found": not_found,
            },
        )


if __name__ == "__main__":
    main()
