"""Models by `torch.compile(backend="mirage")` in CUDA graphs, their own and torch's."""

from collections.abc import Callable
from typing import Any

import pytest
from rounded_values import close

COLUMNS, HEADS, CHANNELS, POSITIONS = 1024, 4, 64, 256


def weights_of(torch: Any) -> list[Any]:
    """A gain, the weights of queries, keys and values, and of what follows attention."""
    half = {"device": "cuda", "dtype": torch.bfloat16}
    shapes = [*[(HEADS * CHANNELS, COLUMNS)] * 3, (COLUMNS, HEADS * CHANNELS)]
    made = [torch.randn(shape, **half) / shape[1] ** 0.5 for shape in shapes]
    return [torch.rand(COLUMNS, **half) + 0.5, *made]


def caches_of(torch: Any, batch: int, **kind: Any) -> list[Any]:
    """Keys and values that were written before."""
    return [torch.randn(batch, HEADS, POSITIONS, CHANNELS, **kind) for _ in range(2)]


def step_of(torch: Any, weights: list[Any]) -> Callable[..., Any]:
    """A decode step: keys and values are written at a position that a tensor holds."""
    functional = torch.nn.functional
    gain, *products, last = weights

    def step(x: Any, at: Any, keys: Any, values: Any) -> Any:
        normal = functional.rms_norm(x, (COLUMNS,), gain, 1e-5)
        heads = (functional.linear(normal, each) for each in products)
        q, k, v = (each.view(len(x), HEADS, 1, CHANNELS) for each in heads)
        keys.index_copy_(2, at, k)
        values.index_copy_(2, at, v)
        seen = (torch.arange(POSITIONS, device="cuda") <= at)[None, None, None]
        made = functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
        return x + functional.linear(made.reshape(len(x), HEADS * CHANNELS), last)

    return step


def test_a_decode_step_is_captured(torch: Any) -> None:
    """Replays read new tokens and positions, and write where these say."""
    from mirage_mlir.frameworks.backend.entry import Backend

    half = {"device": "cuda", "dtype": torch.bfloat16}
    weights = weights_of(torch)
    exact = step_of(torch, [each.double() for each in weights])
    backend = Backend({"effort": "quick", "profile": False})
    step = torch.compile(step_of(torch, weights), backend=backend, dynamic=False)
    x, at = torch.randn(2, COLUMNS, **half), torch.tensor([7], device="cuda")
    caches = caches_of(torch, 2, **half)
    wanted_caches = [each.double() for each in caches]
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step(x, at, *(each.clone() for each in caches))
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = step(x, at, *caches)
        assert backend.explanation.taken
        for position in (7, 8, 200):
            x.normal_()
            at.fill_(position)
            found.fill_(float("nan"))
            graph.replay()
            assert close(found, exact(x.double(), at, *wanted_caches), "bfloat16")
            for one, other in zip(caches, wanted_caches, strict=True):
                assert close(one, other, "bfloat16")


@pytest.mark.parametrize("trains", [False, True], ids=["inference", "training"])
def test_torch_captures_parts(torch: Any, trains: bool) -> None:
    """`mode="reduce-overhead"`: what torch replays calls our kernels and its own, in one graph."""
    from mirage_mlir.frameworks.backend.entry import Backend

    half = {"device": "cuda", "dtype": torch.bfloat16}
    model = torch.nn.Sequential(
        torch.nn.RMSNorm(COLUMNS, **half),
        torch.nn.Linear(COLUMNS, 512, bias=False, **half),
        torch.nn.SiLU(),
        torch.nn.Linear(512, COLUMNS, bias=False, **half),
    ).requires_grad_(trains)
    backend = Backend({"effort": "quick", "profile": False, "mode": "reduce-overhead"})
    compiled = torch.compile(model, backend=backend, dynamic=False)
    exact = [each.detach().double().requires_grad_(trains) for each in model.parameters()]

    def by_torch(x: Any) -> Any:
        gain, first, second = exact
        functional = torch.nn.functional
        normal = functional.rms_norm(x.double(), (COLUMNS,), gain, torch.finfo(torch.bfloat16).eps)
        return functional.linear(functional.silu(functional.linear(normal, first)), second)

    def call(x: Any, by: Any, given: Any, weights: list[Any]) -> list[Any]:
        """The result, and the gradients of weights."""
        made = by(x)
        gradients = torch.autograd.grad(made, weights, given.to(made.dtype)) if trains else ()
        return [each.detach().clone() for each in (made, *gradients)]

    def compared() -> None:
        x, given = torch.randn(8, COLUMNS, **half), torch.randn(8, COLUMNS, **half)
        torch.compiler.cudagraph_mark_step_begin()
        found = call(x, compiled, given, list(model.parameters()))
        for one, other in zip(found, call(x, by_torch, given, exact), strict=True):
            assert close(one, other, "bfloat16")

    # The first call warms up, the second records, others replay.
    for _ in range(4):
        compared()
    assert backend.explanation.taken
    x = torch.randn(8, COLUMNS, **half)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        torch.compiler.cudagraph_mark_step_begin()
        compiled(x)
        torch.cuda.synchronize()
    names = [event.name for event in profile.events()]
    assert sum("GraphLaunch" in name for name in names) == 1, names
    # Of what copies x to where the graph reads it.
    assert sum("LaunchKernel" in name for name in names) <= 1, names
