"""
FlashInfer's attention as peers, where it is installed.

Decode: one token of each sequence, keys in pages, what is to be split is planned before. Whole
sequences: its kernels for Ampere (`fa2`, which split the keys where queries are few) and those for
Hopper (`fa3`, made of FlashAttention-3's template).
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from peers.peer import Call, Inputs, Peer, Setting

PAGE = 64
"""Tokens of a page of the cache: all of its kernels have it."""

SCRATCH = 256 << 20
"""Bytes for parts of sums: twice what its documentation recommends."""

BACKENDS = ("fa2", "fa3")


def installed() -> bool:
    """Whether there is FlashInfer."""
    return find_spec("flashinfer") is not None


# Whole sequences


def whole_sequences(scale: float | None = None) -> Mapping[str, Callable[[], Call]]:
    """What makes a function as `scaled_dot_product_attention` is one, by the name of the peer."""
    if not installed():
        return {}
    return {f"flashinfer_{backend}": partial(_sequences, backend, scale) for backend in BACKENDS}


def _sequences(backend: str, own_scale: float | None) -> Call:
    flashinfer: Any = import_module("flashinfer")

    def call(
        q: Any, k: Any, v: Any, *, scale: float | None = own_scale, attn_mask: Any = None
    ) -> Any:
        if attn_mask is not None:
            raise ValueError("FlashInfer adds no mask of numbers")
        heads = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (q, k, v))
        # Tokens come first. Its kernels read any strides, but elements of a head lie side by side.
        tokens = [
            (each if each.stride(-1) == 1 else each.contiguous()).transpose(0, 1) for each in heads
        ]
        out = flashinfer.single_prefill_with_kv_cache(*tokens, sm_scale=scale, backend=backend)
        return out.transpose(0, 1).view(q.shape)

    return call


# Decode


def decode_peers() -> list[Peer]:
    """q [B, Hq, 1, D], k and v [B, Hkv, S, D], scaled by the width."""
    if not installed():
        return []
    planned: Mapping[str, Mapping[str, Any]] = {
        "flashinfer_fa2": {"backend": "fa2", "use_tensor_cores": True},
        "flashinfer_fa3": {"backend": "fa3", "use_tensor_cores": True},
        "flashinfer_threads": {"use_tensor_cores": False},
    }
    peers = [Peer(name, partial(_planned, options), as_pages) for name, options in planned.items()]
    return [*peers, Peer("flashinfer_xqa", _xqa, as_pages)]


def as_pages(q: Any, k: Any, v: Any) -> Inputs:
    """q [B, Hq, D], and pages [B * S / PAGE, PAGE, Hkv, D]."""
    pages = (t.transpose(1, 2).reshape(-1, PAGE, t.shape[1], t.shape[3]) for t in (k, v))
    return q[:, :, 0].contiguous(), *(page.contiguous() for page in pages)


def _planned(options: Mapping[str, Any], setting: Setting) -> Call:
    """Keys are split as FlashInfer plans it, once: all calls are of one shape."""
    torch = setting.torch
    flashinfer: Any = import_module("flashinfer")
    q, keys, _ = setting.sets[0]
    batch, heads, width = q.shape
    count = keys.shape[0] // batch
    kind: dict[str, Any] = {"dtype": torch.int32, "device": q.device}
    starts, indices = torch.arange(batch + 1, **kind) * count, torch.arange(batch * count, **kind)
    scratch = torch.empty(SCRATCH, dtype=torch.uint8, device=q.device)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(scratch, "NHD", **options)
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
