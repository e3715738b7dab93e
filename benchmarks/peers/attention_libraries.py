"""
FlashInfer's and FlashAttention's attention as peers, where they are installed.

Whole sequences: FlashInfer's kernels for Ampere (`fa2`, which split the keys where queries are few)
and for Hopper (`fa3`, made of FlashAttention-3's template), and FlashAttention-4, whose kernels for
Hopper are FlashAttention-3's in another language. Decode: FlashInfer's, one token of each sequence,
keys in pages; what is to be split is planned before.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from peers.peer import Call, Inputs, Peer, Setting

PACKAGES = ("flashinfer-python", "flash-attn-4")
"""What their versions are asked by."""

PAGE = 64
"""Tokens of a page of the cache: all of FlashInfer's kernels have it."""

SCRATCH = 256 << 20
"""Bytes for parts of sums: twice what FlashInfer's documentation recommends."""

BACKENDS = ("fa2", "fa3")
"""FlashInfer's, for whole sequences."""


def installed(package: str, module: str = "") -> bool:
    """Whether there is a package, and in it a module."""
    return find_spec(package) is not None and (
        not module or find_spec(f"{package}.{module}") is not None
    )


# Whole sequences


def whole_sequences(scale: float | None = None) -> dict[str, Callable[[], Call]]:
    """What makes a function as `scaled_dot_product_attention` is one, by the name of the peer."""
    found: dict[str, Callable[[], Call]] = {}
    if installed("flashinfer"):
        for backend in BACKENDS:
            found[f"flashinfer_{backend}"] = partial(_flashinfer, backend, scale)
    if installed("flash_attn", "cute"):
        found["flash_attention_4"] = partial(_flash_attention, scale)
    return found


def _flashinfer(backend: str, own_scale: float | None) -> Call:
    flashinfer: Any = import_module("flashinfer")

    def call(
        q: Any,
        k: Any,
        v: Any,
        attn_mask: Any = None,
        scale: float | None = own_scale,
        is_causal: bool = False,
    ) -> Any:
        # Tokens come first.
        tokens = [heads.transpose(0, 1) for heads in _heads(q, k, v, attn_mask)]
        out = flashinfer.single_prefill_with_kv_cache(
            *tokens, sm_scale=scale, backend=backend, causal=is_causal
        )
        return out.transpose(0, 1).view(q.shape)

    return call


def _flash_attention(own_scale: float | None) -> Call:
    flash_attention: Any = import_module("flash_attn.cute")

    def call(
        q: Any,
        k: Any,
        v: Any,
        attn_mask: Any = None,
        scale: float | None = own_scale,
        is_causal: bool = False,
    ) -> Any:
        # As many sequences as heads, of one head each.
        ones = [heads.unsqueeze(2) for heads in _heads(q, k, v, attn_mask)]
        out, _ = flash_attention.flash_attn_func(*ones, softmax_scale=scale, causal=is_causal)
        return out.view(q.shape)

    return call


def _heads(q: Any, k: Any, v: Any, attn_mask: Any) -> list[Any]:
    """[heads, tokens, D], elements of a head side by side: other strides these libraries read."""
    if attn_mask is not None:
        raise ValueError("neither library adds a mask of numbers")
    heads = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (q, k, v))
    return [each if each.stride(-1) == 1 else each.contiguous() for each in heads]


# Decode


def decode_peers(sequences: int) -> list[Peer]:
    """q [B, Hq, 1, D], k and v [B, Hkv, S, D], scaled by the width."""
    if not installed("flashinfer"):
        return []
    one = [Peer("flashinfer_single", _single, as_pages)] if sequences == 1 else []
    return [
        *one,
        Peer("flashinfer_fa2", _planned, as_pages),
        Peer("flashinfer_xqa", _xqa, as_pages),
    ]


def as_pages(q: Any, k: Any, v: Any) -> Inputs:
    """q [B, Hq, D], and pages [B * S / PAGE, PAGE, Hkv, D]."""
    pages = (t.transpose(1, 2).reshape(-1, PAGE, t.shape[1], t.shape[3]) for t in (k, v))
    return q[:, :, 0].contiguous(), *(page.contiguous() for page in pages)


def _single(setting: Setting) -> Call:
    """One sequence, whose pages lie one behind the other: it splits keys by a rule of its own."""
    flashinfer: Any = import_module("flashinfer")

    def call(q: Any, k: Any, v: Any) -> Any:
        tokens = (pages.flatten(0, 1) for pages in (k, v))
        out = flashinfer.single_decode_with_kv_cache(q[0], *tokens, use_tensor_cores=True)
        return out[None, :, None]

    return call


def _planned(setting: Setting) -> Call:
    """Keys are split as FlashInfer plans it, once: all calls are of one shape."""
    torch = setting.torch
    flashinfer: Any = import_module("flashinfer")
    q, keys, _ = setting.sets[0]
    batch, heads, width = q.shape
    count = keys.shape[0] // batch
    kind: dict[str, Any] = {"dtype": torch.int32, "device": q.device}
    starts, indices = torch.arange(batch + 1, **kind) * count, torch.arange(batch * count, **kind)
    scratch = torch.empty(SCRATCH, dtype=torch.uint8, device=q.device)
    # Its own choice, too: `fa3` splits no keys.
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        scratch, "NHD", use_tensor_cores=True, backend="fa2"
    )
    wrapper.plan(
        *(starts, indices, torch.full((batch,), PAGE, **kind)),
        *(heads, keys.shape[2], width, PAGE),
        q_data_type=q.dtype,
        kv_data_type=keys.dtype,
        sm_scale=width**-0.5,
    )

    def call(q: Any, k: Any, v: Any) -> Any:
        return wrapper.run(q, (k, v)).unsqueeze(2)

    return call


def _xqa(setting: Setting) -> Call:
    """TensorRT-LLM's decode kernel, which FlashInfer has for Hopper."""
    torch = setting.torch
    decode: Any = import_module("flashinfer.decode")
    q, keys, _ = setting.sets[0]
    batch, _, width = q.shape
    count = keys.shape[0] // batch
    tables = torch.arange(batch * count, dtype=torch.int32, device=q.device).view(batch, count)
    lengths = torch.full((batch,), count * PAGE, dtype=torch.int32, device=q.device)
    # It counts in there, and leaves zeros.
    scratch = torch.zeros(SCRATCH, dtype=torch.uint8, device=q.device)
    shared = (scratch, tables, lengths.view(torch.uint32), count * PAGE, width**-0.5)

    def call(q: Any, k: Any, v: Any) -> Any:
        return decode.xqa_batch_decode_with_kv_cache(q, (k, v), *shared).unsqueeze(2)

    return call
