"""Kernels that share a launch are right in each of many calls without a pause."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from gpu_runs import chip_here

import mirage_mlir as mi

CALLS = 40
"""Of a CUDA graph, each on inputs of its own and with results of its own."""

REPLAYS = 25

Formula = Callable[[Any, Sequence[Any]], Sequence[Any]]


def normalized(torch: Any, x: Any, g: Any) -> Any:
    """RMSNorm in float64."""
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5) * g


def projections(rows: int, depth: int, columns: Sequence[int]) -> tuple[Any, Formula]:
    """RMSNorm, and products of different widths in one launch."""
    graph = mi.new_kernel_graph("projections")
    x = graph.new_input(dims=(rows, depth), name="x")
    g = graph.new_input(dims=(depth,), name="g", constant=True)
    y = graph.rms_norm(x, g)
    for number, width in enumerate(columns):
        w = graph.new_input(dims=(depth, width), name=f"w{number}", constant=True)
        graph.mark_output(graph.matmul(y, w))

    def formula(torch: Any, given: Sequence[Any]) -> Sequence[Any]:
        x, g, *weights = given
        y = normalized(torch, x, g)
        return [y @ w for w in weights]

    return graph, formula


def diamond(rows: int, depth: int) -> tuple[Any, Formula]:
    """Two products, and one of both: it waits for both."""
    graph = mi.new_kernel_graph("diamond")
    x = graph.new_input(dims=(rows, depth), name="x")
    a = graph.new_input(dims=(depth, depth), name="a", constant=True)
    b = graph.new_input(dims=(depth, rows), name="b", constant=True)
    first = graph.softmax(graph.matmul(x, a), dim=1)
    second = graph.softmax(graph.matmul(x, b), dim=1)
    graph.mark_output(graph.matmul(second, first))
    graph.mark_output(second)

    def formula(torch: Any, given: Sequence[Any]) -> Sequence[Any]:
        x, a, b = given
        second = torch.softmax(x @ b, dim=1)
        return [second @ torch.softmax(x @ a, dim=1), second]

    return graph, formula


def apart(rows: int, depth: int) -> tuple[Any, Formula]:
    """Products that share no input: the first kernel of a call waits for the call before."""
    graph = mi.new_kernel_graph("apart")
    for number in range(3):
        x = graph.new_input(dims=(rows, depth), name=f"x{number}")
        w = graph.new_input(dims=(depth, 64 << number), name=f"w{number}")
        graph.mark_output(graph.matmul(graph.silu(x), w))

    def formula(torch: Any, given: Sequence[Any]) -> Sequence[Any]:
        silu = torch.nn.functional.silu
        return [silu(x) @ w for x, w in zip(given[::2], given[1::2], strict=True)]

    return graph, formula


PROGRAMS: dict[str, Callable[[], tuple[Any, Formula]]] = {
    "qkv": lambda: projections(16, 4096, (4096, 1024, 1024)),
    "one row": lambda: projections(1, 2048, (2048, 512, 512)),
    "ragged": lambda: projections(5, 1000, (200, 72, 328)),
    "diamond": lambda: diamond(64, 512),
    "apart": lambda: apart(32, 1024),
}


def random_inputs(torch: Any, kernel: mi.CompiledKernel) -> list[Any]:
    """Fresh normal inputs; matrices are scaled so that their products are of order 1."""
    generator = torch.Generator("cuda")
    generator.seed()
    made: list[Any] = []
    for number, kind in enumerate(kernel.artifact.inputs):
        tensor = torch.randn(tuple(kind.shape), device="cuda", generator=generator)
        scale = kind.shape[0] ** -0.5 if number and len(kind.shape) > 1 else 1.0
        made.append((tensor * scale).half())
    return made


def is_close(output: Any, wanted: Any) -> bool:
    """Within what f16 rounds."""
    distance = (output.double() - wanted).norm() / wanted.norm()
    return bool(distance.item() < 4e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_in_a_graph(torch: Any, name: str) -> None:
    """No block sees what another one writes, or another call."""
    graph, formula = PROGRAMS[name]()
    kernel = graph.superoptimize(compile_for=[chip_here()])
    fixed = random_inputs(torch, kernel)
    constant = [each.name in ("g", "a", "b") or "w" in each.name for each in kernel.artifact.inputs]
    given = [
        [old if same else new for old, new, same in zip(fixed, fresh, constant, strict=True)]
        for fresh in (random_inputs(torch, kernel) for _ in range(CALLS))
    ]
    wanted = [formula(torch, [each.double() for each in inputs]) for inputs in given]
    kernel(*given[0])
    captured = torch.cuda.CUDAGraph()
    # Frameworks that earlier tests loaded into this process have threads that use the GPU.
    with torch.cuda.graph(captured, capture_error_mode="thread_local"):
        outputs = [kernel(*inputs) for inputs in given]
    for _ in range(REPLAYS):
        for each in outputs:
            for output in each:
                output.fill_(float("nan"))
        captured.replay()
        torch.cuda.synchronize()
        for found, right in zip(outputs, wanted, strict=True):
            assert all(is_close(a, b) for a, b in zip(found, right, strict=True))
