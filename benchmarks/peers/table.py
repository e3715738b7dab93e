"""The peers of each program, and compiling them before they are timed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

import gpu
from kernels.programs import Case, case_named
from peers.attention import decode_peers, paper_peers
from peers.linear import fused_lora, split_k
from peers.peer import Call, Inputs, Peer, Setting, prepared
from peers.rows import rmsnorm_peers, triton_ntrans

COMPILED = "compile"
"""The name of torch.compile among the peers."""


def eager(program: str) -> Callable[[Setting], Call]:
    """PyTorch, operator by operator."""

    def build(setting: Setting) -> Call:
        from peers.torch_programs import PROGRAMS

        return PROGRAMS[program]

    return build


def compiled(program: str) -> Callable[[Setting], Call]:
    """torch.compile with the most tuning that a CUDA graph allows."""

    def build(setting: Setting) -> Call:
        from peers.torch_programs import PROGRAMS

        torch = setting.torch
        torch._dynamo.reset()
        mode = "max-autotune-no-cudagraphs"
        call = torch.compile(PROGRAMS[program], dynamic=False, fullgraph=True, mode=mode)
        call(*setting.sets[0])
        return call

    return build


def own_peers(program: str) -> list[Peer]:
    """Those that exist for some programs only."""
    match program:
        case "rmsnorm_linear":
            return [split_k(norm=True)]
        case "matmul":
            return [split_k()]
        case "gated_mlp":
            return [split_k(gate=True)]
        case "lora":
            return [Peer("triton_fused", fused_lora, slow_to_build=True)]
        case "ntrans":
            return [Peer("triton_fused", triton_ntrans, slow_to_build=True)]
        case "rmsnorm":
            return rmsnorm_peers()
        case "gqa_llama70b":
            return decode_peers()
        case "gqa_paper" | "mha_paper" | "mqa_paper" | "qknorm_gqa":
            return paper_peers(normed=program == "qknorm_gqa")
        case _:
            return []


def peers_of(program: str) -> list[Peer]:
    """All of them."""
    return [
        Peer("eager", eager(program)),
        Peer(COMPILED, compiled(program), slow_to_build=True),
        *own_peers(program),
    ]


def random_inputs(torch: Any, case: Case) -> Inputs:
    """Fresh random inputs on the GPU."""
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[case.dtype]
    return [
        torch.empty(given.shape, dtype=dtype, device="cuda").normal_(given.mean, given.spread)
        for given in case.inputs
    ]


# Compiling, in other processes


def use_caches() -> None:
    """Let all processes share what Inductor and Triton compiled."""
    folder = Path(gettempdir()) / "mirage-benchmarks"
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ.setdefault(name, str(folder / name.lower()))


def compile_peers(task: tuple[str, bool]) -> list[str]:
    """
    Compile the peers of a case, so that it is done when they are timed; returns problems.

    The task is the name of the case, and whether torch.compile is among its peers.
    """
    name, with_compile = task
    case = case_named(name)
    torch = gpu.torch_module()
    _tune_one_at_a_time()
    problems: list[str] = []
    inputs = random_inputs(torch, case)
    for peer in peers_of(case.program):
        if peer.slow_to_build and (with_compile or peer.name != COMPILED):
            try:
                peer.build(Setting(torch, prepared(peer, [inputs]), compile_only=True))
            # It is said when the peer is timed; here it must not end the process.
            except Exception as error:
                problems.append(f"{name} {peer.name}: {str(error)[:200]}")
    del inputs
    torch.cuda.empty_cache()
    return problems


@contextmanager
def _alone_on_gpu() -> Generator[None]:
    path = Path(gettempdir()) / "mirage-benchmarks.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _tune_one_at_a_time() -> None:
    """Let Inductor's tuning measure a GPU on which no other process tunes."""
    heuristics: Any = import_module("torch._inductor.runtime.triton_heuristics")
    selection: Any = import_module("torch._inductor.select_algorithm")
    places = (
        (heuristics.CachingAutotuner, "benchmark_all_configs"),
        (selection.AlgorithmSelectorCache, "benchmark_choices"),
    )
    for owner, name in places:
        raw: Any = owner.__dict__[name]
        if (owner, name) in _patched:
            continue
        _patched.append((owner, name))
        if isinstance(raw, classmethod | staticmethod):
            kind: Any = type(cast(object, raw))
            setattr(owner, name, kind(_locked(cast(Any, raw).__func__)))
        else:
            setattr(owner, name, _locked(raw))


_patched: list[tuple[object, str]] = []
"""What `_tune_one_at_a_time` has done in this process."""

_held: list[bool] = []
"""Whether this process has the lock: one of those functions calls the other."""


def _locked(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if _held:
            return function(*arguments, **named)
        with _alone_on_gpu():
            _held.append(True)
            try:
                return function(*arguments, **named)
            finally:
                _held.pop()

    return call
