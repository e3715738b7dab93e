"""
The programs in PyTorch: what runs eagerly, what is compiled, and, on float64 inputs, what is right.

torch is not a dependency of the project and is untyped here.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

from kernels.case import EPS

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Function = Callable[..., Any]


def rms(x: Any, gain: Any = None) -> Any:
    """RMSNorm over the last dimension."""
    return functional.rms_norm(x, (x.shape[-1],), gain, EPS)


def rmsnorm_linear(x: Any, w: Any) -> Any:
    """A norm, then a product."""
    return rms(x) @ w


def matmul(x: Any, w: Any) -> Any:
    """A product alone."""
    return x @ w


def add_rmsnorm_linear(x: Any, residual: Any, gain: Any, w: Any) -> Any:
    """The sum is a result, too."""
    summed = x + residual
    return summed, rms(summed, gain) @ w


def layernorm_linear(x: Any, gain: Any, bias: Any, w: Any) -> Any:
    """LayerNorm, then a product."""
    return functional.layer_norm(x, (x.shape[-1],), gain, bias, EPS) @ w


def linear_bias_gelu(x: Any, w: Any, bias: Any) -> Any:
    """A linear layer and its activation."""
    return functional.gelu(x @ w + bias, approximate="tanh")


def gated_mlp(x: Any, w1: Any, w3: Any) -> Any:
    """The gated half of an MLP."""
    return functional.silu(x @ w1) * (x @ w3)


def lora(x: Any, w: Any, a: Any, b: Any) -> Any:
    """A linear layer and its low-rank adapter."""
    return x @ w + (x @ a) @ b


def attention(q: Any, k: Any, v: Any) -> Any:
    """q [B, M, D], k [B, D, S], v [B, S, D]."""
    return torch.matmul(torch.softmax(torch.matmul(q, k), -1), v)


def qknorm_attention(q: Any, k: Any, v: Any) -> Any:
    """The same with q and v normalized."""
    return attention(rms(q), k, rms(v))


def grouped_decode(q: Any, k: Any, v: Any) -> Any:
    """q [B, Hq, 1, D], k and v [B, Hkv, S, D]: the heads of a group are the rows of a product."""
    batch, heads, _, width = k.shape
    grouped = q.reshape(batch, heads, -1, width)
    scores = torch.matmul(grouped, k.transpose(-1, -2)) * width**-0.5
    return torch.matmul(torch.softmax(scores, -1), v).reshape(q.shape)


def ntrans(h: Any, x: Any, alpha: Any) -> Any:
    """nGPT's residual."""
    return rms(x + alpha * (rms(h) + x))


def tuple_of(results: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return cast(tuple[Any, ...], results) if isinstance(results, tuple) else (results,)


PROGRAMS: Mapping[str, Function] = {
    "rmsnorm_linear": rmsnorm_linear,
    "matmul": matmul,
    "add_rmsnorm_linear": add_rmsnorm_linear,
    "layernorm_linear": layernorm_linear,
    "linear_bias_gelu": linear_bias_gelu,
    "gated_mlp": gated_mlp,
    "lora": lora,
    "gqa_paper": attention,
    "mha_paper": attention,
    "mqa_paper": attention,
    "qknorm_gqa": qknorm_attention,
    "gqa_llama70b": grouped_decode,
    "ntrans": ntrans,
    "rmsnorm": rms,
}
"""By the name of the program."""
