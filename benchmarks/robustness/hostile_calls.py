"""Calls of the Python functions with arguments of any kind."""

import inspect
from random import Random
from typing import Any

import numpy as np
from hostile_case import Case
from xdsl.utils.exceptions import DiagnosticException

import mirage_mlir as mi

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 3.5, float("nan"), float("inf"), 10**23, 10**400, 1j),
    *("", "x", "sm_80", "H200", "tanh", "f16", b"f16", (), (4, 8), [4, 8], (0, -1), (8, 4, 2)),
    *((1,) * 202, (10**18,), ("4", 8), [[4]], {}, {"a": 1}, object, np.ones(3), np.float32(2)),
    *(np.int64(1), mi.float16, mi.float32, "float16", "bfloat16", "float64", np.float16),
)

OPTIONS = (
    *("target", "time_limit", "max_kernels", "jobs", "compile_for", "profile", "top_k", "cache"),
    *("f32", "pack", "time_limt", "verbose", "Target"),
)

REFUSED = (TypeError, ValueError, OSError, mi.CudaError, DiagnosticException)


def call_case(random: Random) -> Case:
    """Some operators with arguments of any kind, then a search with options of any kind."""
    seed = random.getrandbits(64)
    return Case(call=lambda folder: call(Random(seed)))


def call(random: Random) -> int:
    """Do it: 1 where the last of the calls is refused."""
    graph: Any = mi.new_kernel_graph()
    tensors: list[Any] = [graph.new_input((4, 8)), graph.new_input((8, 4), constant=True)]
    for _ in range(random.randint(1, 5)):
        try:
            made = _operator(random, graph, tensors)
        except REFUSED:
            continue
        tensors += [made] if isinstance(made, mi.Tensor) else []
    options = {random.choice(OPTIONS): random.choice(VALUES) for _ in range(random.randint(0, 2))}
    try:
        graph.mark_output(tensors[-1])
        kernel = graph.superoptimize(**{"time_limit": 1, "compile_for": ["sm_80"], **options})
        kernel(*(np.ones(spec.shape, np.float16) for spec in kernel.artifact.inputs))
    except REFUSED:
        return 1
    return 0


def _operator(random: Random, graph: Any, tensors: list[Any]) -> Any:
    methods = [name for name in dir(graph) if not name.startswith("_")]
    name = random.choice([each for each in methods if each not in ("superoptimize", "name")])
    method = getattr(graph, name)
    arguments: list[Any] = []
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY or random.random() < 0.1:
            continue
        likely = tensors if parameter.name in ("x", "lhs", "rhs", "weight", "bias") else VALUES
        arguments.append(random.choice(likely if random.random() < 0.9 else VALUES))
    if random.random() < 0.2:
        return method(*arguments, **{random.choice(("eps", "dim", "name")): random.choice(VALUES)})
    return method(*arguments)
