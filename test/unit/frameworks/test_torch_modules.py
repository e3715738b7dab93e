# pyright: basic
"""Modules as people write them, imported without a change: they compute what torch does."""

import copy

import pytest
from optional_packages import package
from torch_imports import interpreted, same

torch = package("torch")
nn, functional = torch.nn, torch.nn.functional


class LlamaRMSNorm(nn.Module):
    """Of Hugging Face: in f32, but for the weight."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, hidden):
        dtype = hidden.dtype
        hidden = hidden.to(torch.promote_types(dtype, torch.float32))
        variance = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(variance + 1e-6)
        return self.weight * hidden.to(dtype)


class GatedMLP(nn.Module):
    """Of Llama."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up = (nn.Linear(size, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, size, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class LoRALinear(nn.Module):
    """With the dropout of a training run, which eval leaves out."""

    def __init__(self, size: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(size, size)
        self.A, self.B = nn.Linear(size, rank, bias=False), nn.Linear(rank, size, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.base(x) + 2 * self.B(self.A(self.dropout(x)))


class Attention(nn.Module):
    """With rotary embeddings, heads that share keys, and a mask that is a buffer."""

    def __init__(self, size: int, heads: int, groups: int) -> None:
        super().__init__()
        self.heads, self.groups, self.depth = heads, groups, size // heads
        self.q, self.o = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(size, groups * self.depth, bias=False) for _ in range(2))
        angles = torch.outer(torch.arange(16.0), 1e4 ** (-torch.arange(0.0, 1, 2 / self.depth)))
        table = torch.cat([angles, angles], -1)
        self.register_buffer("cos", table.cos())
        self.register_buffer("sin", table.sin())
        self.register_buffer("mask", torch.ones(16, 16, dtype=torch.bool).tril(), persistent=False)

    def rotated(self, x):
        one, other = x.chunk(2, dim=-1)
        return x * self.cos + torch.cat((-other, one), -1) * self.sin

    def forward(self, x):
        batch, length, size = x.shape
        q, k, v = (
            linear(x).view(batch, length, -1, self.depth).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        k = k.repeat_interleave(self.heads // self.groups, dim=1)
        v = v[:, :, None].expand(-1, -1, self.heads // self.groups, -1, -1).flatten(1, 2)
        scores = self.rotated(q) @ self.rotated(k).mT / self.depth**0.5
        scores = scores.masked_fill(~self.mask, torch.finfo(x.dtype).min)
        mixed = scores.softmax(-1) @ v
        return self.o(mixed.transpose(1, 2).contiguous().view(batch, length, size))


class Block(nn.Module):
    """A decoder layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = LlamaRMSNorm(32), LlamaRMSNorm(32)
        self.attention, self.mlp = Attention(32, 4, 2), GatedMLP(32, 48)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


MODULES = {
    "llama_norm_linear": lambda: nn.Sequential(LlamaRMSNorm(32), nn.Linear(32, 16)),
    "gated_mlp": lambda: GatedMLP(32, 48),
    "layer_norm_gelu": lambda: nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 48), nn.GELU()),
    "lora": lambda: LoRALinear(32, 4),
    "block": Block,
    "torch_encoder": lambda: nn.TransformerEncoderLayer(32, 4, 48, batch_first=True),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    torch.manual_seed(0)
    module = MODULES[name]().eval()
    x = torch.randn(2, 16, 32)
    (found,) = interpreted(module, x)
    exact = copy.deepcopy(module).double()
    with torch.no_grad():
        wanted = exact(x.double())
    # The lowest number of f32 is not that of f64: both are 0 behind a softmax.
    assert same(found, wanted)
