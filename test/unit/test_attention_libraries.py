"""Libraries as peers: layouts, pages and scales, their functions as the documentation says."""

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
from peers import attention_libraries
from peers.attention import as_cache, paper_peers
from peers.peer import Peer, Setting, prepared
from peers.table import own_peers
from peers.torch_programs import attention, grouped_decode

WORKLOADS = Path(__file__).parents[1] / "workloads"

assert_close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-5)


def prefill(q: Any, k: Any, v: Any, *, sm_scale: float, backend: str, causal: bool = False) -> Any:
    """q [tokens, heads, D], k and v the same, elements of a head side by side."""
    assert backend in ("fa2", "fa3")
    assert {tensor.stride(-1) for tensor in (q, k, v)} == {1}
    scores = torch.einsum("mhd,nhd->hmn", q, k) * sm_scale
    if causal:
        scores = scores + torch.full_like(scores, -torch.inf).triu(1)
    return torch.einsum("hmn,nhd->mhd", scores.softmax(-1), v).contiguous()


def flash_attention(q: Any, k: Any, v: Any, *, softmax_scale: float, causal: bool = False) -> Any:
    """[sequences, tokens, heads, D]; the second result is not for users."""
    found = [
        prefill(*each, sm_scale=softmax_scale, backend="fa3", causal=causal)
        for each in zip(q, k, v, strict=True)
    ]
    return torch.stack(found), None


def single(q: Any, k: Any, v: Any, *, use_tensor_cores: bool) -> Any:
    """One token, q [Hq, D], k and v [tokens, Hkv, D], scaled by the width."""
    assert use_tensor_cores
    k, v = (each.repeat_interleave(q.shape[0] // each.shape[1], 1) for each in (k, v))
    return prefill(q[None], k, v, sm_scale=q.shape[-1] ** -0.5, backend="fa2")[0]


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
        assert options == {"use_tensor_cores": True, "backend": "fa2"}

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
    functions: dict[str, dict[str, Any]] = {
        "flashinfer": {
            "single_prefill_with_kv_cache": prefill,
            "single_decode_with_kv_cache": single,
            "BatchDecodeWithPagedKVCacheWrapper": Wrapper,
        },
        "flashinfer.decode": {"xqa_batch_decode_with_kv_cache": xqa},
        "flash_attn": {"__path__": []},
        "flash_attn.cute": {"flash_attn_func": flash_attention},
    }
    for name, content in functions.items():
        module = ModuleType(name)
        module.__dict__.update(content, __spec__=ModuleSpec(name, None))
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(attention_libraries, "SCRATCH", 16)


def result(peer: Peer, *inputs: Any) -> Any:
    (ready,) = prepared(peer, [inputs])
    return peer.build(Setting(torch, [ready]))(*ready)


LIBRARIES = ["flashinfer_fa2", "flashinfer_fa3", "flash_attention_4"]


def libraries(peers: list[Peer]) -> list[Peer]:
    return [peer for peer in peers if peer.name.startswith("flash")]


def test_only_where_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("flashinfer", "flash_attn"):
        monkeypatch.setitem(sys.modules, name, None)
    assert attention_libraries.decode_peers(1) == []
    assert attention_libraries.whole_sequences() == {}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("sequences", "count"), [(1, 3), (8, 2)])
def test_decode(sequences: int, count: int) -> None:
    q, *cache = (
        torch.randn(sequences, *shape) for shape in ((8, 1, 16), (4, 256, 16), (4, 256, 16))
    )
    peers = libraries(own_peers(case_named(f"gqa_llama70b b{sequences}_s1024 f16")))
    assert len(peers) == count
    for peer in peers:
        assert_close(result(peer, q, *cache), grouped_decode(q, *cache))


@pytest.mark.usefixtures("installed")
def test_attention_of_the_paper() -> None:
    q, k, v = torch.randn(3, 5, 16), torch.randn(3, 16, 32), torch.randn(3, 32, 16)
    peers = libraries(paper_peers(normed=False))
    assert [(peer.name, peer.prepare) for peer in peers] == [(name, as_cache) for name in LIBRARIES]
    for peer in peers:
        assert_close(result(peer, q, k, v), attention(q, k, v))


@pytest.mark.usefixtures("installed")
def test_programs_in_files() -> None:
    (case,) = cases_in([WORKLOADS / "attention.mlir"])[0]
    inputs = [torch.randn(given.shape, dtype=torch.float32) * 0.3 for given in case.inputs]
    peers = own_peers(case)
    assert [peer.name for peer in peers] == ["sdpa", "sdpa_cudnn", *LIBRARIES]
    wanted = attention(*inputs)
    for peer in libraries(peers):
        assert_close(result(peer, *inputs), wanted)


@pytest.mark.usefixtures("installed")
def test_a_mask_is_refused() -> None:
    q = torch.randn(1, 2, 4, 16)
    for make in attention_libraries.whole_sequences().values():
        with pytest.raises(ValueError, match="mask"):
            make()(q, q, q, attn_mask=torch.zeros(4, 4), scale=1.0)
