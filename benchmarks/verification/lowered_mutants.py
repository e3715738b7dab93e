"""
Campaign: lowered kernels that lack one barrier, wait or stage; the interpreter finds it.

    python benchmarks/verification/lowered_mutants.py [--output NAME]

Every operation that orders memory accesses is taken out of every kernel once, and every wait lets
the copies, or products, of one stage more be under way. Waits at transaction barriers take the
other parity; these barriers are made for one arrival more and one less, and expect 16 bytes more
and less; boxes go one line further. Loads from device memory, and pointers, say that nothing else
writes there; waits for the previous grid come last, and the first kernel lets the second one start
first of all. A mutant counts as found when running it without a GPU
reports a fault or gives another result. Those that are not found are listed. They are harmless: the
barrier behind a loop whose last iteration read other buffers than those that are used again (it is
there for other numbers of iterations); the end of a group of copies or products that becomes one
with the next, for which the same operation waits, and a wait that the next one includes; barriers
of buffers that no later iteration fills again, with what arrives there; the barrier of a warp's
lanes where only the tensor core has read; fences of proxies where nothing new was written, or no
copy follows; loads of inputs by kernels behind the first, which start when what writes inputs has
ended; waits for the previous grid by threads that learn from a producer that it has waited; and
early starts of kernels that read nothing before they wait.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from all_programs import say, write
from attention_cases import Heads, observed_attention, split_attention
from lowered_edits import NOT_FOUND, outcomes
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
from lowering_tiles import chain, softmax, transposes, views_between
from xdsl.dialects.builtin import ModuleOp

SMALL = Linear(5, 20, 7, 0, 8, 0)

HEADS = Heads(heads=1, queries=16, keys=96, depth=16, rows=16, step=32)

TILES = Linear(64, 256, 64, 64, 64, 64)
"""What tensor copies fetch and warpgroups multiply."""


class Case(NamedTuple):
    """A program, and the buffers that its loop takes turns in; None for what the pass chooses."""

    make: Callable[[], ModuleOp]
    stages: int | None = None


PROGRAMS = {
    "attention": Case(lambda: attention(16, 16, 16)),
    "biased linear": Case(lambda: biased_linear(Linear(3, 100, 50, 16, 32, 32))),
    "chain of kernels": Case(lambda: chain(5, 9, 20, "f16")),
    "copied attention": Case(lambda: observed_attention(Heads(1, 64, 256, 64, 64, 64)), 2),
    "copied gated mlp": Case(lambda: gated_mlp(TILES), 2),
    "copied lora": Case(lambda: lora(TILES, 16), 3),
    "copied rmsnorm linear": Case(lambda: rmsnorm_linear(Linear(16, 512, 64, 16, 64, 64)), 3),
    "copied rmsnorm linear in f32": Case(
        lambda: rmsnorm_linear(Linear(16, 256, 64, 16, 32, 64, "f32")), 2
    ),
    "copied split linear": Case(
        lambda: split_linear(Linear(64, 512, 64, 64, 64, 64), 2, more=True), 2
    ),
    "gated mlp": Case(lambda: gated_mlp(Linear(3, 100, 50, 16, 32, 32))),
    "invariant tiles": Case(lambda: invariant_tiles(SMALL)),
    "lora": Case(lambda: lora(Linear(16, 96, 32, 16, 32, 16), 16)),
    "observed attention": Case(lambda: observed_attention(HEADS)),
    "reduced": Case(lambda: reduced_linear(Linear(16, 128, 16, 0, 64, 0), [1], "max", "sum")),
    "rmsnorm linear": Case(lambda: rmsnorm_linear(Linear(16, 192, 96, 16, 64, 48))),
    "softmax": Case(lambda: softmax(2, 1000, 1)),
    "split attention": Case(lambda: split_attention(HEADS._replace(blocks=2))),
    "split linear": Case(lambda: split_linear(Linear(16, 128, 32, 16, 16, 16), 4, more=True)),
    "transposed linear": Case(
        lambda: transposed_linear(Linear(16, 32, 16, 0, 16, 0), computed=True, views=False)
    ),
    "transposes": Case(lambda: transposes(16, 16, (16, 16), "f16")),
    "views between kernels": Case(views_between),
}


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="lowered_mutants", help="name of the report")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    by_edit: dict[str, Counter[str]] = {}
    not_found: list[str] = []
    for name, case in PROGRAMS.items():
        module = case.make()
        kernels = lower(module, case.stages)
        for description, outcome in outcomes(kernels, draw(function_of(module))):
            counts[outcome] += 1
            by_edit.setdefault(description, Counter())[outcome] += 1
            if outcome == NOT_FOUND:
                not_found.append(f"{name}: {description}")
        say([name, dict(counts)])
        write(
            options.output,
            {
                "mutants": sum(counts.values()),
                "outcomes": dict(sorted(counts.items())),
                "edits": {edit: dict(found) for edit, found in sorted(by_edit.items())},
                "not_found": not_found,
            },
        )


if __name__ == "__main__":
    main()
