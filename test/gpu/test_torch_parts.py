"""Parts of models by `torch.compile(backend="mirage")` on a GPU: timed, masked, as they lie."""

import copy
from typing import Any

import pytest
from rounded_values import close


def test_parts_of_a_model_that_are_timed(torch: Any) -> None:
    """Both ways of a part are measured, and the slower one is left."""
    from mirage_mlir.frameworks.backend.entry import Backend

    half = {"device": "cuda", "dtype": torch.bfloat16}
    model = torch.nn.Sequential(
        torch.nn.RMSNorm(4096, **half), torch.nn.Linear(4096, 1024, bias=False, **half)
    )
    backend = Backend({"profile": True, "effort": "quick"})
    x = torch.randn(8, 4096, **half)
    with torch.no_grad():
        found = torch.compile(model, backend=backend, dynamic=False)(x)
        assert close(found, copy.deepcopy(model).double()(x.double()), "bfloat16")
    (part,) = backend.explanation.parts
    assert "both measured" in part.why
    assert part.seconds is not None
    assert part.without is not None
    # Of 8.4 MB, and a few launches, on any GPU that there is.
    assert 1e-6 < part.seconds < 1e-3
    assert 1e-6 < part.without < 1e-3
    assert part.taken == (part.seconds <= 0.97 * part.without)


def test_a_part_whose_results_lie_transposed_is_timed(torch: Any) -> None:
    """As queries and keys of a prefill, heads in front of tokens."""
    from mirage_mlir.frameworks.backend.entry import mirage

    half = {"device": "cuda", "dtype": torch.bfloat16}
    norm = torch.nn.RMSNorm(512, **half)
    linear = torch.nn.Linear(512, 256, bias=False, **half)

    def heads(x: Any) -> Any:
        made = linear(norm(x)).view(1, 128, 4, 64).transpose(1, 2)
        return made, made * 2.0

    x = torch.randn(1, 128, 512, **half)
    with torch.no_grad():
        options = {"effort": "quick", "profile": True}
        found = torch.compile(heads, backend=mirage, options=options, dynamic=False)(x)
        for one, other in zip(found, heads(x), strict=True):
            assert close(one, other.double(), "bfloat16")


def test_heads_are_read_and_stored_side_by_side(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Candidates that store results otherwise are timed beside those that store them in place."""
    from mirage_mlir.frameworks.backend import graphs
    from mirage_mlir.frameworks.backend.entry import Backend

    # However long they take beside the other tests.
    monkeypatch.setattr(graphs, "LEAST_GAIN", -1e6)

    def heads(x: Any) -> Any:
        return x.view(2, 256, -1, 64).transpose(1, 2)

    def attention(q: Any, k: Any, v: Any) -> Any:
        made = torch.nn.functional.scaled_dot_product_attention(
            heads(q), heads(k), heads(v), is_causal=True, enable_gqa=True
        )
        return made.transpose(1, 2).reshape(2, 256, 512)

    half = {"device": "cuda", "dtype": torch.bfloat16}
    q, k, v = (torch.randn(2, 256, columns, **half) for columns in (512, 128, 128))
    backend = Backend()
    with torch.no_grad():
        found = torch.compile(attention, backend=backend, dynamic=False)(q, k, v)
        wanted = attention(q.double(), k.double(), v.double())
    (part,) = backend.explanation.parts
    assert "measured" in part.why
    assert backend.explanation.taken == 1
    assert close(found, wanted, "bfloat16")


@pytest.mark.parametrize("kind", ["padding", "dense", "adds"])
def test_attention_under_masks(torch: Any, kind: str) -> None:
    """Rows that have keys are those of float64; the others are numbers, as in torch."""
    from mirage_mlir.frameworks.backend.entry import Backend

    half = {"device": "cuda", "dtype": torch.bfloat16}
    q, k, v = (torch.randn(2, 8, 200, 64, **half) for _ in range(3))
    mask = torch.rand(2, 1, 200, 200, device="cuda") > 0.5
    if kind == "padding":
        mask = (torch.arange(200, device="cuda") >= 90)[None, None, None].expand(2, 1, 200, 200)
    else:
        mask[0, 0, 3] = mask[1, 0, 150:] = False
    seen = mask.any(-1, keepdim=True)
    if kind == "adds":
        bias = torch.randn(2, 1, 200, 200, **half)
        mask = bias.masked_fill(~mask, float("-inf"))

    def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
        made = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return made * 1.5

    backend = Backend({"effort": "quick", "profile": False})
    with torch.no_grad():
        found = torch.compile(attention, backend=backend, dynamic=False)(q, k, v, mask)
        wide = mask if mask.dtype == torch.bool else mask.double()
        wanted = attention(q.double(), k.double(), v.double(), wide)
    assert backend.explanation.taken == 1
    assert found.isfinite().all()
    assert close(found * seen, wanted * seen, "bfloat16")


def test_small_kernels_beside_parts_share_launches(torch: Any) -> None:
    """Keys and values that are written, and a counter: as a decode step has them."""
    from mirage_mlir.frameworks.backend.entry import mirage

    half = {"device": "cuda", "dtype": torch.bfloat16}
    norm, linear = (
        torch.nn.RMSNorm(4096, **half),
        torch.nn.Linear(4096, 1024, bias=False, **half),
    )

    def step(x: Any, keys: Any, values: Any, count: Any) -> Any:
        made = linear(norm(x))
        keys.index_copy_(0, count, made)
        values.index_copy_(0, count, made.square())
        mask = torch.where(torch.arange(len(keys), device="cuda") <= count, 1.0, 0.0)
        result = (keys * mask[:, None]).sum(0) + values.sum(0)
        count.add_(1)
        return result

    def state() -> list[Any]:
        caches = [torch.zeros(16, 1024, **half) for _ in range(2)]
        return [*caches, torch.full((1,), 3, device="cuda")]

    x = torch.randn(1, 4096, **half)
    with torch.no_grad():
        compiled = torch.compile(step, backend=mirage, options={"effort": "quick"}, dynamic=False)
        for expected, found in ((state(), state()), (state(), state())):
            wanted = step(x, *expected)
            assert close(compiled(x, *found), wanted.double(), "bfloat16")
            for one, other in zip(found, expected, strict=True):
                assert close(one, other.double(), "bfloat16")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            compiled(x, *found)
            torch.cuda.synchronize()
    launches = [event.name for event in profile.events() if event.name.startswith("triton")]
    # What writes the cache, with the mask; and the sums, with the counter.
    assert len(launches) <= 3, launches


def test_sums_of_rows_and_columns_beside_small_kernels(torch: Any) -> None:
    """Inductor makes both in one kernel, as in a norm's gradient; no kernel ends the columns'."""
    from mirage_mlir.frameworks.backend.small_kernels import few_launches

    def sums(*tensors: Any) -> list[Any]:
        return [each.sum(dim) for each in tensors for dim in (0, 1)]

    tensors = [torch.randn(8192, 1024, device="cuda") for _ in range(2)]
    with few_launches():
        # What another test or process compiled says nothing.
        compiled = torch.compile(sums, dynamic=False, options={"fx_graph_cache": False})
        found = compiled(*tensors)
    for one, other in zip(found, sums(*(each.double() for each in tensors)), strict=True):
        assert close(one, other, "float32")
