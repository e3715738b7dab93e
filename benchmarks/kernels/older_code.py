"""
Code for an older instruction set, timed on the GPU that is there: ours, and Triton's.

Both are generated as for a GPU of that set, and only then assembled for this one. ptxas takes PTX
for `sm_80` for any later GPU, as the driver does where it loads the text, one candidate after the
other. Triton, told so by TRITON_OVERRIDE_ARCH, runs its passes for that set, and writes PTX and
machine code for this GPU (`add_stages` of its backend, in 3.6 and 3.7). PyTorch's kernels, and
those of its libraries, stay code for this GPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import geometric_mean
from typing import Any

from kernels.lines import behind, is_ours
from peers.peer import EAGER, Peer

from mirage_mlir.bridge.ptxas import assemble
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.timer import Job, compile_candidate
from mirage_mlir.runtime.present_gpu import present_target
from mirage_mlir.targets.target import SUPPORTED, target_named

PORTABLE = tuple(name for name in SUPPORTED if target_named(name).chip == name and name[-1] != "a")
"""Instruction sets that later GPUs have, too; those that end in `a` are of one generation alone."""

ARCH_VARIABLE = "TRITON_OVERRIDE_ARCH"

Compiler = Callable[[Job], CompiledFunction]


def compiler(code: str | None) -> Compiler:
    """What compiles candidates: for their target, or as `code` for the GPU that is here."""
    if code is None:
        return compile_candidate
    return partial(compile_for, target_named(present_target()).chip)


def compile_for(chip: str, job: Job) -> CompiledFunction:
    """A candidate as code for its target, assembled for a later `chip`."""
    made = compile_candidate(job)
    cubin = assemble(made.ptx, chip)
    resources = {name: getattr(cubin, name) for name in made.code.resources}
    code = replace(made.code, target=chip, cubin=cubin.data, resources=resources)
    return replace(made, code=code, assembled=cubin)


def generate_by_triton(code: str) -> None:
    """Let Triton generate `code`, in this process and in those that it starts."""
    os.environ[ARCH_VARIABLE] = code.replace("_", "")


def major_for_triton(torch: Any) -> int:
    """The first part of the compute capability that Triton generates code for."""
    if arch := os.environ.get(ARCH_VARIABLE):
        return int(arch.removeprefix("sm")) // 10
    return torch.cuda.get_device_capability(0)[0]


def is_peer(peer: Peer) -> bool:
    """Whether something is timed beside such code: eager PyTorch, and what Triton compiles here."""
    return peer.name == EAGER or peer.slow_to_build


def what_ran(code: str | None, device: str) -> str:
    """What a table is of."""
    return device if code is None else f"{code} code on {device}"


def means(code: str | None, rows: Sequence[Mapping[str, Any]]) -> str:
    """A line that says how such code stands to Triton's and to eager PyTorch; empty for other."""
    if code is None:
        return ""
    sides: tuple[tuple[str, Callable[[str], bool]], ...] = (
        (f"the fastest {code} code of Triton", lambda name: name != EAGER),
        ("eager PyTorch", lambda name: name == EAGER),
    )
    found = [f"{mean_over(rows, wanted)} of {name}" for name, wanted in sides]
    return f"{code} code, geometric means: {', '.join(found)}\n"


def mean_over(rows: Sequence[Mapping[str, Any]], wanted: Callable[[str], bool]) -> str:
    """Our time over that of the fastest wanted peer: the mean, and of how many cases."""
    ratios: list[float] = []
    for row in rows:
        times: Mapping[str, float] = row["microseconds"]
        ours = behind(times)
        others = [time for name, time in times.items() if not is_ours(name) and wanted(name)]
        if ours is not None and others:
            ratios.append(ours / min(others))
    return f"{geometric_mean(ratios):.3f} ({len(ratios)} cases)" if ratios else "nothing"
