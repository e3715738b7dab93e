# pyright: basic
"""Graphs with symbolic sizes: what has none of its own is taken, against torch itself."""

from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")
transformers: Any = package("transformers")

from compiled_models import close, normed_linear  # noqa: E402

from mirage_mlir.frameworks.backend.entry import Backend  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "programs_run"),
    pytest.mark.filterwarnings("ignore", "error:kernels of a part"),
]

F = torch.nn.functional

LAYERS = 2

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 50,
    "max_position_embeddings": 16,
}

NOT_FIXED = "sizes are not fixed"


def compiled(function: Any, dynamic: bool | None = None) -> tuple[Any, Backend]:
    """As users compile it: a second size makes a size symbolic."""
    backend = Backend({"rest": "eager"})
    return torch.compile(function, backend=backend, dynamic=dynamic), backend


def llama() -> Any:
    """In f32."""
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))


def checkpointed(function: Any) -> Any:
    """A function that keeps nothing for its backward pass."""
    import torch.utils.checkpoint

    return lambda x: torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)


def test_a_batch_of_any_size_is_left() -> None:
    model = normed_linear()
    call, backend = compiled(model, dynamic=True)
    with torch.no_grad():
        for rows in (3, 5):
            x = torch.randn(rows, 32)
            assert close(call(x), model(x))
    assert backend.explanation.outside.keys() == {NOT_FIXED}
    assert backend.explanation.parts == []


def test_what_follows_a_symbolic_size_is_taken() -> None:
    """A sum over rows of any number is of a fixed size."""
    model = normed_linear()
    call, backend = compiled(lambda x: model(x.sin().sum(0, keepdim=True)))
    with torch.no_grad():
        for rows in (3, 5, 7):
            x = torch.randn(rows, 32)
            torch._dynamo.mark_dynamic(x, 0)
            assert close(call(x), model(x.sin().sum(0, keepdim=True)))
    assert backend.explanation.taken == 1
    assert NOT_FIXED in backend.explanation.outside


def test_a_cache_that_grows() -> None:
    """From the second step on its size is symbolic: attention is left, all around it is taken."""
    model = llama().eval()
    call, backend = compiled(model)
    tokens = torch.randint(0, SIZES["vocab_size"], (1, 8))
    caches = [transformers.DynamicCache(config=model.config) for _ in range(2)]
    with torch.no_grad():
        for cache in caches:
            model(input_ids=tokens[:, :5], past_key_values=cache)
        for number in range(5, 8):
            given = {
                "input_ids": tokens[:, number : number + 1],
                "position_ids": torch.tensor([[number]]),
            }
            start = len(backend.explanation.parts)
            found, wanted = (
                each(**given, past_key_values=cache).logits
                for each, cache in zip((call, model), caches, strict=True)
            )
            assert close(found, wanted)
            if number == 6:
                parts = backend.explanation.parts[start:]
                assert sum(part.count for part in parts if part.taken) >= 2 * LAYERS
    assert NOT_FIXED in backend.explanation.outside


def test_gradient_checkpointing() -> None:
    """The state of random generators, of which attention might draw, has no fixed size."""
    model = llama().train()
    tokens = torch.randint(0, SIZES["vocab_size"], (1, 6))
    given = {"input_ids": tokens, "labels": tokens, "use_cache": False}
    wanted = torch.autograd.grad(model(**given).loss, [*model.parameters()])
    model.gradient_checkpointing_enable()
    call, backend = compiled(model)
    found = torch.autograd.grad(call(**given).loss, [*model.parameters()])
    pairs = zip(found, wanted, strict=True)
    assert all(torch.allclose(one, two, rtol=1e-3, atol=1e-5) for one, two in pairs)
    assert backend.explanation.taken >= 4 * LAYERS


def test_random_numbers_are_drawn_each_time() -> None:
    """Two operators on operators with equal arguments are two."""
    import torch._inductor.config

    model, x = normed_linear(), torch.randn(4, 32)

    def difference(x: Any) -> Any:
        y = model(x)
        return F.dropout(y, 0.5) - F.dropout(y, 0.5)

    call, backend = compiled(checkpointed(difference))
    with torch._inductor.config.patch(fallback_random=True):
        assert call(x).abs().sum() > 0
    assert backend.explanation.taken >= 1


def test_two_sizes_in_one_process() -> None:
    """The second size makes the first one's graph symbolic, of which kernels take nothing."""
    model = normed_linear()
    call, backend = compiled(model)
    with torch.no_grad():
        for rows in (3, 5, 3):
            x = torch.randn(rows, 32)
            assert close(call(x), model(x))
    assert backend.explanation.taken == 1
