"""FlashInfer as a peer: layouts, pages and scales, its functions as their documentation says."""

import sys
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from kernels.programs import case_named
from kernels.workload_files import cases_in
from peers import flashinfer_attention
from peers.attention import as_cache, paper_peers
from peers.peer import Peer, Setting, prepared
from peers.table import own_peers
from peers.torch_programs import attention, grouped_decode

WORKLOADS = Path(__file__).parents[1] / "workloads"

assert_close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-5)


def prefill(q: Any, k: Any, v: Any, *, sm_scale: float, backend: str) -> Any:
    """q [tokens, heads, D], k and v the same, elements of a head side by side."""
    assert backend in ("fa2", "fa3")
    assert {tensor.stride(-1) for tensor in (q, k, v)} == {1}
    scores = torch.einsum("mhd,nhd->hmn", q, k) * sm_scale
    return torch.einsum("hmn,nhd->mhd", scores.softmax(-1), v).contiguous()


def of_pages(q: Any, pages: Any, tables: Any, length: int, scale: float) -> Any:
    """One token of one sequence: q [Hq, D], pages [.., page, Hkv, D]."""
    k, v = (each[tables.long()].flatten(0, 1)[:length] for each in pages)
    k, v = (each.repeat_interleave(q.shape[0] // each.shape[1], 1) for each in (k, v))
    return prefill(q[None], k, v, sm_scale=scale, backend="fa2")[0]


class Wrapper:
    """What is planned is kept, and used in `run`."""

    def __init__(self, scratch: Any, layout: str, **options: Any) -> None:
        assert layout == "NHD"
        assert scratch.dtype == torch.uint8
        assert set(options) <= {"backend", "use_tensor_cores"}

    def plan(self, *given: Any, sm_scale: float, q_data_type: Any, kv_data_type: Any) -> None:
        self.starts, self.indices, self.last, *sizes = given
        self.sizes, self.scale, self.types = tuple(sizes), sm_scale, (q_data_type, kv_data_type)

    def run(self, q: Any, pages: Any) -> Any:
        size, heads, width = pages[0].shape[1:]
        assert self.sizes == (q.shape[1], heads, width, size)
        assert self.types == (q.dtype, pages[0].dtype)
        lengths = (self.starts.diff() - 1) * size + self.last
        bounds = zip(self.starts[:-1], self.starts[1:], strict=True)
        tables = [self.indices[start:end] for start, end in bounds]
        return torch.stack(
            [
                of_pages(*(one, pages, table, length, self.scale))
                for one, table, length in zip(q, tables, lengths.tolist(), strict=True)
            ]
        )


def xqa(
    q: Any, pages: Any, scratch: Any, tables: Any, lengths: Any, longest: int, scale: float
) -> Any:
    assert not scratch.any()
    assert lengths.dtype == torch.uint32
    assert max(lengths.tolist()) == longest
    return torch.stack(
        [
            of_pages(*(one, pages, table, length, scale))
            for one, table, length in zip(q, tables, lengths.tolist(), strict=True)
        ]
    )


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    package, decode = ModuleType("flashinfer"), ModuleType("flashinfer.decode")
    package.__spec__ = ModuleSpec("flashinfer", None)
    contents = {"single_prefill_with_kv_cache": prefill}
    package.__dict__.update(contents, BatchDecodeWithPagedKVCacheWrapper=Wrapper)
    decode.__dict__["xqa_batch_decode_with_kv_cache"] = xqa
    monkeypatch.setitem(sys.modules, "flashinfer", package)
    monkeypatch.setitem(sys.modules, "flashinfer.decode", decode)
    monkeypatch.setattr(flashinfer_attention, "SCRATCH", 16)


def result(peer: Peer, *inputs: Any) -> Any:
    (ready,) = prepared(peer, [inputs])
    return peer.build(Setting(torch, [ready]))(*ready)


def flashinfers(peers: list[Peer]) -> list[Peer]:
    return [peer for peer in peers if peer.name.startswith("flashinfer")]


def test_only_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flashinfer", None)
    assert flashinfer_attention.decode_peers() == []
    assert flashinfer_attention.whole_sequences() == {}


@pytest.mark.usefixtures("installed")
def test_decode() -> None:
    q, k, v = torch.randn(2, 8, 1, 16), torch.randn(2, 4, 256, 16), torch.randn(2, 4, 256, 16)
    peers = flashinfers(own_peers(case_named("gqa_llama70b b8_s1024 f16")))
    assert len(peers) == 4
    for peer in peers:
        assert_close(result(peer, q, k, v), grouped_decode(q, k, v))


@pytest.mark.usefixtures("installed")
def test_attention_of_the_paper() -> None:
    q, k, v = torch.randn(3, 5, 16), torch.randn(3, 16, 32), torch.randn(3, 32, 16)
    peers = flashinfers(paper_peers(normed=False))
    assert [peer.prepare for peer in peers] == [as_cache] * 2
    for peer in peers:
        assert_close(result(peer, q, k, v), attention(q, k, v))


@pytest.mark.usefixtures("installed")
def test_programs_in_files() -> None:
    (case,) = cases_in([WORKLOADS / "attention.mlir"])[0]
    inputs = [torch.randn(given.shape, dtype=torch.float32) * 0.3 for given in case.inputs]
    peers = {peer.name: peer for peer in own_peers(case)}
    assert list(peers) == ["sdpa", "sdpa_cudnn", "flashinfer_fa2", "flashinfer_fa3"]
    # cuDNN needs a GPU.
    del peers["sdpa_cudnn"]
    wanted = attention(*inputs)
    for peer in peers.values():
        assert_close(result(peer, *inputs), wanted)


@pytest.mark.usefixtures("installed")
def test_a_mask_is_refused() -> None:
    (call, *_) = (make() for make in flashinfer_attention.whole_sequences().values())
    q = torch.randn(1, 2, 4, 16)
    with pytest.raises(ValueError, match="mask"):
        call(q, q, q, attn_mask=torch.zeros(4, 4), scale=1.0)
