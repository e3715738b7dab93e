# pyright: basic
"""Models that others wrote, small and with random weights, by the backend against torch itself."""

from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")
transformers: Any = package("transformers")

from mirage_mlir.frameworks.backend.entry import Backend  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "programs_run"),
    pytest.mark.filterwarnings("ignore", "error:kernels of a part"),
]

F = torch.nn.functional

PROMPT, STEPS = 6, 2
"""Tokens before decoding begins, and tokens that are decoded."""

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 50,
    "max_position_embeddings": 16,
}

TOLERANCE = 2e-2
"""Relative, of logits in bf16."""


def compiled(function: Any) -> tuple[Callable[..., Any], Backend]:
    backend = Backend({"rest": "eager", "effort": "quick"})
    return torch.compile(function, backend=backend, dynamic=False), backend


def close(found: Any, wanted: Any, tolerance: float = TOLERANCE) -> bool:
    return bool(torch.dist(found.double(), wanted.double()) <= tolerance * wanted.double().norm())


def decoded(model: Any, step: Callable[..., Any]) -> list[Any]:
    """The logits after each token, with a static cache; the prompt is always by torch."""
    generator = torch.Generator().manual_seed(1)
    cache = transformers.StaticCache(config=model.config, max_cache_len=PROMPT + STEPS)
    tokens = torch.randint(0, SIZES["vocab_size"], (2, PROMPT + STEPS), generator=generator)
    places = torch.arange(PROMPT + STEPS)
    kept = {"past_key_values": cache, "use_cache": True}
    model(input_ids=tokens[:, :PROMPT], cache_position=places[:PROMPT], **kept)
    found = []
    for number in range(PROMPT, PROMPT + STEPS):
        at = places[number : number + 1]
        given = {"input_ids": tokens[:, number : number + 1], "position_ids": at[None]}
        found.append(step(cache_position=at, **given, **kept).logits)
    return found


def with_adapters(model: Any) -> Any:
    """With small products beside two of its weights, which change what it computes."""
    peft: Any = package("peft")
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    return peft.get_peft_model(model, config)


@pytest.mark.parametrize("name", ["Llama", "Qwen3", "LoRA"])
def test_decoding(name: str) -> None:
    """Token by token: keys and values are written by torch, between parts by kernels."""
    kind = "Llama" if name == "LoRA" else name
    config = getattr(transformers, f"{kind}Config")(**SIZES)
    model = getattr(transformers, f"{kind}ForCausalLM")(config)
    model = (with_adapters(model) if name == "LoRA" else model).eval().to(torch.bfloat16)
    call, backend = compiled(model)
    with torch.no_grad():
        pairs = zip(decoded(model, call), decoded(model, model), strict=True)
        assert all(close(found, wanted) for found, wanted in pairs)
    assert backend.explanation.taken >= 4
    taken = " ".join(" ".join(part.operators) for part in backend.explanation.parts if part.taken)
    assert "scaled_dot_product" in taken
    assert "index_put is no operator of the kernel dialect" in backend.explanation.outside


def test_lora() -> None:
    """A model with adapters beside its weights, the whole prompt at once, and its gradients."""
    model = with_adapters(transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))).eval()
    tokens = torch.randint(0, SIZES["vocab_size"], (1, PROMPT))
    call, backend = compiled(lambda tokens: model(input_ids=tokens, use_cache=False).logits)
    with torch.no_grad():
        assert close(call(tokens), model(input_ids=tokens, use_cache=False).logits, 1e-4)
    assert (taken := backend.explanation.taken) >= 3
    trained = [each for each in model.parameters() if each.requires_grad]
    assert len(trained) == 4  # two for each of two projections of one layer
    direction = torch.randn(1, PROMPT, SIZES["vocab_size"])
    found, wanted = (
        torch.autograd.grad((logits * direction).sum(), trained)
        for logits in (call(tokens), model(input_ids=tokens, use_cache=False).logits)
    )
    assert all(close(one, two, 1e-4) for one, two in zip(found, wanted, strict=True))
    assert backend.explanation.taken >= 2 * taken


def test_parts_of_a_tensor() -> None:
    """Queries and keys of one product, as GPT-2 has them; the last part is what is left over."""

    def scores(x: Any, w: Any) -> Any:
        first, second, rest = torch.ops.aten.split.Tensor(x @ w, 3, -1)
        return F.softmax(first @ second.mT, -1) * rest.sum()

    x, w = torch.randn(4, 8), torch.randn(8, 8)
    call, backend = compiled(scores)
    with torch.inference_mode():
        assert close(call(x, w), scores(x, w), 1e-4)
    assert backend.explanation.outside == {}
    assert backend.explanation.taken > 0


def test_training_a_layer() -> None:
    """Attention's sums of exponentials are kept for the backward pass: that stays with torch."""
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    x = torch.randn(2, 5, 16, requires_grad=True)
    call, backend = compiled(layer)
    direction = torch.randn(2, 5, 16)
    tensors = [x, *layer.parameters()]
    found = torch.autograd.grad((call(x) * direction).sum(), tensors)
    wanted = torch.autograd.grad((layer(x) * direction).sum(), tensors)
    # The gradient of a bias that softmax does not see is 0.
    pairs = zip(found, wanted, strict=True)
    assert all(torch.allclose(one, two, rtol=1e-3, atol=1e-5) for one, two in pairs)
    assert backend.explanation.taken >= 4


def test_a_block_of_ngpt() -> None:
    """Normalised weights and states: norms on both sides of each product."""

    class Block(torch.nn.Module):
        def __init__(self, size: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.qkv = torch.nn.Linear(size, 3 * size, bias=False)
            self.out = torch.nn.Linear(size, size, bias=False)
            self.up = torch.nn.Linear(size, 4 * size, bias=False)
            self.down = torch.nn.Linear(2 * size, size, bias=False)
            self.scale = torch.nn.Parameter(torch.rand(heads, 1, size // heads))
            self.alpha = torch.nn.ParameterList([torch.rand(size), torch.rand(size)])

        def step(self, x: Any, y: Any, number: int) -> Any:
            return F.normalize(x + self.alpha[number].abs() * (F.normalize(y, dim=-1) - x), dim=-1)

        def forward(self, x: Any) -> Any:
            parts = self.qkv(x).chunk(3, -1)
            q, k, v = (each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in parts)
            q, k = (F.normalize(each, dim=-1) * self.scale for each in (q, k))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=4.0)
            x = self.step(x, self.out(y.transpose(1, 2).flatten(2)), 0)
            u, v = self.up(x).chunk(2, -1)
            return self.step(x, self.down(u * F.silu(v)), 1)

    block = Block(32, 2)
    x = F.normalize(torch.randn(2, 5, 32), dim=-1)
    call, backend = compiled(block)
    with torch.no_grad():
        assert close(call(x), block(x), 1e-4)
    assert backend.explanation.taken == 2  # attention, and all of the gated MLP
