"""The peers of each program, and compiling them before they are timed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

import gpu
from kernels.case import Case
from kernels.programs import case_named
from peers import attention_libraries
from peers.attention import BACKENDS, decode_peers, one_call, paper_peers
from peers.from_program import has_attention, torch_text
from peers.linear import LINEAR_PEERS
from peers.peer import EAGER, Call, Inputs, Peer, Setting, prepared
from peers.rows import rmsnorm_peers, triton_ntrans
from peers.side_by_side import together, with_joined
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program

COMPILED = "compile"
"""The name of torch.compile among the peers."""


def function_of(case: Case, *, wide: bool = False, attention: Call | None = None) -> Call:
    """
    A case as a torch function, which a program from a file is made into.

    With `wide` it computes in the element type of its inputs. With `attention`, which takes what
    `scaled_dot_product_attention` takes, attention is one call of it.
    """
    from peers.torch_programs import PROGRAMS

    if not isinstance(case.build, str):
        return PROGRAMS[case.program]
    (function,) = functions(parse_program(case.build, case.program))
    return defined(torch_text(function, wide=wide, sdpa=attention is not None), attention)


def defined(text: str, attention: Call | None = None) -> Call:
    """The function that `torch_text` wrote."""
    from peers.torch_programs import functional, torch

    names: dict[str, Any] = {"torch": torch, "functional": functional, "attention": attention}
    exec(text, names)
    return names["program"]


def eager(case: Case) -> Callable[[Setting], Call]:
    """PyTorch, operator by operator."""

    def build(setting: Setting) -> Call:
        return function_of(case)

    return build


def fused(case: Case, make: Callable[[], Call]) -> Callable[[Setting], Call]:
    """PyTorch, with one call for softmax and both products."""

    def build(setting: Setting) -> Call:
        return function_of(case, attention=make())

    return build


def joined_products(function: FuncOp) -> list[Peer]:
    """PyTorch, with products of one input as one product, where there are such."""
    twin, groups = together(function)
    if not groups:
        return []

    def build(setting: Setting) -> Call:
        return defined(torch_text(twin, views=True))

    def prepare(*inputs: Any) -> Inputs:
        return with_joined(groups, inputs)

    return [Peer("side_by_side", build, prepare)]


def sdpa() -> Call:
    """PyTorch's attention."""
    from peers.torch_programs import functional

    return functional.scaled_dot_product_attention


def compiled(case: Case) -> Callable[[Setting], Call]:
    """torch.compile with the most tuning that a CUDA graph allows."""

    def build(setting: Setting) -> Call:
        torch = setting.torch
        torch._dynamo.reset()
        mode = "max-autotune-no-cudagraphs"
        call = torch.compile(function_of(case), dynamic=False, fullgraph=True, mode=mode)
        call(*setting.sets[0])
        return call

    return build


def own_peers(case: Case) -> list[Peer]:
    """Those that exist for some programs only."""
    if isinstance(case.build, str):
        (function,) = functions(parse_program(case.build, case.program))
        if not has_attention(function):
            return joined_products(function)
        calls = {
            "sdpa": sdpa,
            "sdpa_cudnn": partial(one_call, BACKENDS["sdpa_cudnn"]),
            **attention_libraries.whole_sequences(),
        }
        return [Peer(name, fused(case, make)) for name, make in calls.items()]
    if case.program in LINEAR_PEERS:
        return LINEAR_PEERS[case.program]
    match program := case.program:
        case "ntrans":
            return [Peer("triton_fused", triton_ntrans, slow_to_build=True)]
        case "rmsnorm":
            return rmsnorm_peers()
        case "gqa_llama70b":
            return decode_peers(case.inputs[0].shape[0])
        case "gqa_paper" | "mha_paper" | "mqa_paper" | "qknorm_gqa":
            return paper_peers(normed=program == "qknorm_gqa")
        case _:
            return []


def peers_of(case: Case) -> list[Peer]:
    """All of them."""
    return [
        Peer(EAGER, eager(case)),
        Peer(COMPILED, compiled(case), slow_to_build=True),
        *own_peers(case),
    ]


def random_inputs(torch: Any, case: Case) -> Inputs:
    """Fresh random inputs on the GPU."""
    return [
        torch.empty(
            given.shape, dtype=dtype_of(torch, given.dtype or case.dtype), device="cuda"
        ).normal_(given.mean, given.spread)
        for given in case.inputs
    ]


def dtype_of(torch: Any, name: str) -> Any:
    """An element type as torch has it."""
    return {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[name]


# Compiling, in other processes


def use_caches() -> None:
    """Let all processes share what Inductor and Triton compiled."""
    folder = Path(gettempdir()) / "mirage-benchmarks"
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ.setdefault(name, str(folder / name.lower()))


def compile_peers(task: tuple[str, bool]) -> list[str]:
    """
    Compile the peers of a case, so that it is done when they are timed; returns problems.

    The task is the key of the case, and whether torch.compile is among its peers.
    """
    key, with_compile = task
    case = case_named(key)
    torch = gpu.torch_module()
    _tune_one_at_a_time()
    problems: list[str] = []
    inputs = random_inputs(torch, case)
    for peer in peers_of(case):
        if peer.slow_to_build and (with_compile or peer.name != COMPILED):
            try:
                peer.build(Setting(torch, prepared(peer, [inputs]), compile_only=True))
            # It is said when the peer is timed; here it must not end the process.
            except Exception as error:
                problems.append(f"{case.name} {peer.name}: {str(error)[:200]}")
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
