"""Products and attention of ATen."""

from math import sqrt
from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import ROWS_ARE_SEEN, FxCall, handles


@handles("mm.default", "bmm.default", "matmul.default")
def matmul(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """The product; a vector is a row on the left, and a column on the right."""
    return _product(call, call.tensor(lhs), call.tensor(rhs))


@handles("mv.default", "dot.default")
def matmul_of_vectors(call: FxCall, lhs: Any, rhs: Any) -> Tensor:
    """The same."""
    return matmul(call, lhs, rhs)


def _product(call: FxCall, left: Tensor, right: Tensor) -> Tensor:
    rows = left if len(left.dims) > 1 else call.graph.reshape(left, (1, *left.dims))
    columns = right if len(right.dims) > 1 else call.graph.reshape(right, (*right.dims, 1))
    made = call.graph.matmul(rows, columns)
    vectors = len(left.dims) == 1 or len(right.dims) == 1
    return call.graph.reshape(made, call.shape) if vectors else made


@handles("linear.default")
def linear(call: FxCall, x: Any, weight: Any, bias: Any = None) -> Tensor:
    """`x @ weight.T + bias`."""
    kept = call.tensor(weight)
    made = _product(
        call, call.tensor(x), call.graph.transpose(kept) if len(kept.dims) > 1 else kept
    )
    return made if bias is None else call.graph.add(made, call.tensor(bias))


@handles("addmm.default", "baddbmm.default", "addmv.default")
def add_matmul(
    call: FxCall, bias: Any, lhs: Any, rhs: Any, beta: float = 1, alpha: float = 1
) -> Tensor:
    """`beta * bias + alpha * lhs @ rhs`."""
    made = call.scaled(_product(call, call.tensor(lhs), call.tensor(rhs)), alpha)
    return made if beta == 0 else call.graph.add(made, call.scaled(call.tensor(bias), beta))


@handles("scaled_dot_product_attention.default")
def attention(
    call: FxCall,
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(scale * query @ key.T + mask) @ value`; heads may share keys and values."""
    if dropout:
        raise ValueError("dropout is not supported: call eval() before")
    graph, q, k, v = call.graph, call.tensor(query), call.tensor(key), call.tensor(value)
    # Scaled before the product, whose sums stay in the range of f16 so.
    q = graph.scale(q, 1 / sqrt(q.dims[-1]) if scale is None else scale)
    heads = q.dims[-3] // k.dims[-3] if enable_gqa else 1
    grouped = heads > 1
    if grouped:
        q, k, v = _groups(call, q, heads), _shared(call, k), _shared(call, v)
    scores = graph.matmul(q, graph.transpose(k))
    if is_causal:
        scores = _below_diagonal(call, scores)
    if mask is not None:
        scores = _masked(call, scores, mask, heads)
    made = graph.matmul(graph.softmax(scores), v)
    return graph.reshape(made, call.shape_of(query)) if grouped else made


@handles("_scaled_dot_product_flash_attention.default")
def flash_attention(
    call: FxCall,
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """Attention; of its results for a backward pass there is none."""
    return _lowered_attention(call, query, key, value, None, dropout, is_causal, scale)


@handles("_scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention_for_cpu(
    call: FxCall,
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """The same with a mask."""
    return _lowered_attention(call, query, key, value, attn_mask, dropout, is_causal, scale)


@handles(
    "_scaled_dot_product_efficient_attention.default", "_scaled_dot_product_cudnn_attention.default"
)
def efficient_attention(
    call: FxCall,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    compute_log_sumexp: bool,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """The same; whether sums of exponentials are wanted does not matter."""
    return _lowered_attention(call, query, key, value, mask, dropout, is_causal, scale)


def _lowered_attention(
    call: FxCall,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    dropout: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    """
    The first result of what torch chose for attention.

    A row that a mask leaves nothing of is zeros there, and NaN here: nothing may read it. One query
    sees itself, so that masks of decoding are safe.
    """
    rows = call.shape_of(query)[-2]
    if mask is not None and rows > 1 and ROWS_ARE_SEEN not in call.node.meta:
        raise ValueError("masks of several queries may leave nothing of a row")
    grouped = call.shape_of(query)[-3] != call.shape_of(key)[-3]
    made = attention(
        call, query, key, value, mask, dropout, is_causal, scale=scale, enable_gqa=grouped
    )
    return made, *([None] * (len(call.node.meta["val"]) - 1))


def _groups(call: FxCall, q: Tensor, heads: int) -> Tensor:
    """The heads of `q` that share keys, as a dimension of their own."""
    *outer, number, rows, depth = q.dims
    return call.graph.reshape(q, (*outer, number // heads, heads, rows, depth))


def _shared(call: FxCall, x: Tensor) -> Tensor:
    *outer, rows, depth = x.dims
    return call.graph.reshape(x, (*outer, 1, rows, depth))


def _below_diagonal(call: FxCall, scores: Tensor) -> Tensor:
    """-inf where the key is after the query."""
    rows, columns = scores.dims[-2:]
    kind = call.index_type(max(rows, columns))
    queries = call.graph.reshape(call.graph.iota((rows,), 0, kind), (rows, 1))
    keys = call.graph.reshape(call.graph.iota((columns,), 0, kind), (1, columns))
    seen = call.graph.compare(queries, keys, "ge")
    seen = seen if seen.dtype is scores.dtype else call.graph.cast(seen, scores.dtype)
    return call.graph.select(seen, scores, float("-inf"))


def _masked(call: FxCall, scores: Tensor, mask: Any, heads: int) -> Tensor:
    made = call.tensor(mask, scores.dtype)
    if heads > 1 and len(made.dims) > 2:
        made = _shared(call, made) if made.dims[-3] == 1 else _groups(call, made, heads)
    if call.is_mask(mask):
        return call.graph.select(made, scores, float("-inf"))
    return call.graph.add(scores, made)
