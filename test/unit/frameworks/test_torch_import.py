# pyright: basic
"""Programs of torch in the kernel dialect: interpreted in float64, they are torch's own."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optional_packages import package
from torch_imports import agrees, imported, interpreted, same

import mirage_mlir as mi

Torch = Any

FUNCTIONS: dict[str, Callable[[Torch, Any], Any]] = {
    "numbers": lambda torch, x: 1 - (x + 1 + 2 * x - x / 3),
    "alpha": lambda torch, x: torch.add(x, x.exp(), alpha=3) + torch.sub(x, 2, alpha=2),
    "powers": lambda torch, x: x**3 + x.abs() ** 0.5 + x**-1 + x**2 + x**1,
    "functions": lambda torch, x: x.exp() + x.abs().log() + x.sigmoid() + x.relu() + x.tanh(),
    "roots": lambda torch, x: (x * x + 1).sqrt() + (x * x + 1).rsqrt() + (x * x + 1).reciprocal(),
    "silu": lambda torch, x: torch.nn.functional.silu(x) - (-x) + x.erf(),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "gelu_tanh": lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
    "clamp": lambda torch, x: x.clamp(-1, 1) + x.clamp(min=0) + x.clamp_max(0.5),
    "activations": lambda torch, x: (
        torch.nn.functional.relu6(x)
        + torch.nn.functional.leaky_relu(x)
        + torch.nn.functional.hardswish(x)
    ),
    "rounding": lambda torch, x: (x * 2).floor() + (x * 4).ceil() * (x * 8).round(),
    "extrema": lambda torch, x: torch.maximum(x, x * 2) - torch.minimum(x, -x),
    "sums": lambda torch, x: x.sum(-1) + x.mean(1) + x.sum() + x.mean() + x.sum((0, 1)),
    "reductions": lambda torch, x: x.amax(1) + x.amin(1) + x.max() + x.min() + x.max(1).values,
    "variances": lambda torch, x: x.var(1) + x.std(1, unbiased=False) + x.var(),
    "variance_and_mean": lambda torch, x: torch.stack(torch.var_mean(x, 1, keepdim=True)),
    "norms": lambda torch, x: x.norm(dim=1) + x.norm(p=1, dim=1) + x.logsumexp(1),
    "normalize": lambda torch, x: torch.nn.functional.normalize(x, dim=-1),
    "softmax": lambda torch, x: x.softmax(-1) + x.softmax(0) + x.log_softmax(-1),
    "layer_norm": lambda torch, x: (
        torch.nn.functional.layer_norm(x, (8,), x[0], x[1])
        + torch.nn.functional.layer_norm(x, (4, 8))
        + torch.nn.functional.layer_norm(x, (8,), None, x[1])
    ),
    "rms_norm": lambda torch, x: (
        torch.nn.functional.rms_norm(x, (8,), x[0], 1e-3)
        + torch.nn.functional.rms_norm(x, (4, 8), eps=1e-2)
    ),
    "cumsum": lambda torch, x: x.cumsum(1),
    "views": lambda torch, x: x.view(2, 2, 8).permute(1, 0, 2).reshape(4, 8).t()[1:5, ::2],
    "shapes": lambda torch, x: x.unsqueeze(0).squeeze(0).flatten().unflatten(0, (8, 4)).mT,
    "expand": lambda torch, x: x[:, None].expand(4, 3, 8) + x[-1],
    "parts": lambda torch, x: x.split(3, 1)[2].sum() + x.chunk(2, 0)[1] + torch.unbind(x, 0)[1],
    "concat": lambda torch, x: torch.cat([x, x * 2], -1) + torch.stack([x, x], 1).view(4, 16),
    "repeat": lambda torch, x: x.repeat(2, 1, 3) + x.repeat_interleave(3, 1),
    "pad": lambda torch, x: torch.nn.functional.pad(x, (1, -2, 0, 1), value=3.0) * 2,
    "where": lambda torch, x: torch.where(x > 0.5, x, 0 * x) + x.masked_fill(x < 0, 7.0),
    "masks": lambda torch, x: torch.where(~((x < 0) & (x > -1)) | (x >= 2), 1.0, x),
    "logic": lambda torch, x: torch.logical_not(x) * x + torch.logical_xor(x > 0, x > 1),
    "any_and_all": lambda torch, x: x * (x > 1).any(-1, keepdim=True) * (x > -9).all(),
    "causal": lambda torch, x: (
        (x @ x.T).masked_fill(torch.ones(4, 4).tril() == 0, float("-inf")).softmax(-1)
    ),
    "added_mask": lambda torch, x: ((x @ x.T) + torch.full((4, 4), float("-inf")).triu(1)).softmax(
        -1
    ),
    "indices": lambda torch, x: x * torch.arange(8) + 2 * torch.arange(4)[:, None],
    "steps": lambda torch, x: x * torch.arange(1, 9) + torch.arange(8, 0, -1),
    "filled": lambda torch, x: x + torch.zeros(8) + torch.full((4, 1), 2.0) + torch.ones_like(x),
    "products": lambda torch, x: x @ x.T @ x + torch.addmm(x, x, x.T @ x, beta=0.5, alpha=2),
    "linear": lambda torch, x: torch.nn.functional.linear(x, torch.cat([x, x]), x.flatten()[:8]),
    "vectors": lambda torch, x: x @ x[0] + x[:, 0] @ x @ x[0] + torch.dot(x[0], x[1]),
    "einsum": lambda torch, x: torch.einsum("ab,cb->ac", x, x) + torch.einsum("ab,ab->a", x, x),
    "outer": lambda torch, x: torch.outer(x[0], x[1]) + torch.einsum("a,b->ab", x[0], x[1]),
    "batches": lambda torch, x: x.view(2, 2, 8) @ x.view(1, 4, 8).mT,
    "gated": lambda torch, x: torch.nn.functional.glu(x),
    "hyperbolic": lambda torch, x: x.sinh() + x.cosh() + (1e-4 * x).sinh() * 1e4 + x.tan(),
    "signs": lambda torch, x: x.sign() + (x * 0).sign() + (3 * x).trunc() + (3 * x).frac(),
    "hypotenuse": lambda torch, x: x.hypot(2 * x) + torch.hypot(x * 0, x * 0),
    "logarithms": lambda torch, x: x.logaddexp(9 * x) + x.logaddexp2(-x) + x.exp2(),
    "roll": lambda torch, x: x.roll((1, -3), (0, -1)) + x.roll(5) + x.roll(0, 0),
    "flip": lambda torch, x: x.flip((0, -1)),
    "reflected": lambda torch, x: torch.nn.functional.pad(x, (3, 2), mode="reflect"),
    "replicated": lambda torch, x: torch.nn.functional.pad(
        x[None, None], (1, -2, 0, 1), mode="replicate"
    ),
    "listed": lambda torch, x: x[:, [0, 2, 4, -1]] + x[[3, 1, 1, 0]][:, torch.arange(4) * 2],
    "limits": lambda torch, x: torch.clamp_max(x, 0.5) + torch.clamp_min(x, x[0]),
    "added_products": lambda torch, x: torch.addcmul(x, x, x[0], value=0.5),
    "one_assigned": lambda torch, x: (
        x.select_scatter(x[0], 0, 2) + x.select_scatter(x[:, 1], 1, -1)
    ),
    "some_assigned": lambda torch, x: (
        x.slice_scatter(x[:, 4:], 1, 1, None, 2) + x.slice_scatter(x[:2], 0, 0, 4, 2)
    ),
    "selected": lambda torch, x: x.index_select(-1, torch.tensor([5, 5, 0, 1])).sin(),
}


@pytest.mark.parametrize("group", range(5))
def test_functions(group: int) -> None:
    """Several in one program: an export takes longer than what it exports."""
    torch = package("torch")
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(3))
    names = [*FUNCTIONS][group::5]

    def program(x: Any) -> list[Any]:
        return [FUNCTIONS[name](torch, x) for name in names]

    wanted = program(x.double())
    found = interpreted(program, x)
    assert [name for name, *pair in zip(names, found, wanted, strict=True) if not same(*pair)] == []


def in_place(x: Any) -> list[Any]:
    y = x * 2
    y[:, 0] = 1
    y[1] += 2
    y.mul_(3).relu_()
    y[:, 2:4] = x[:, :2]
    return [y]


def test_changes_of_what_the_function_made() -> None:
    assert agrees(in_place, package("torch").randn(4, 8))


@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_random_programs(data: st.DataObject) -> None:
    """Each step takes any of the values before, all of which have one shape."""
    torch = package("torch")
    steps: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + 2 * b,
        "mul": lambda a, b: a * b.sigmoid(),
        "div": lambda a, b: a / (1 + b * b),
        "matmul": lambda a, b: a @ b.mT @ a / 8,
        "softmax": lambda a, b: a.softmax(-1) - b.tanh(),
        "norm": lambda a, b: torch.nn.functional.layer_norm(a, (6,)) * b.mean(-1, keepdim=True),
        "where": lambda a, b: torch.where(a > b, a, 0.5),
        "moved": lambda a, b: torch.cat([a[:, :, 3:], b[:, :, :3]], -1),
        "turned": lambda a, b: a.permute(1, 0, 2).reshape(2, 3, 6) + b.amax(1, keepdim=True),
        "clamped": lambda a, b: torch.maximum(a, b).clamp(-2, 2),
        "cast": lambda a, b: a.to(a.dtype) - b.var(-1, keepdim=True),
    }
    count = data.draw(st.integers(4, 10))
    chosen = [
        (
            data.draw(st.sampled_from(sorted(steps))),
            data.draw(st.integers(0, place + 1)),
            data.draw(st.integers(0, place + 1)),
        )
        for place in range(count)
    ]

    def program(x: Any, y: Any) -> Any:
        values = [x, y]
        for name, left, right in chosen:
            values.append(steps[name](values[left], values[right]))
        return values[-1], values[-2] * 1.5

    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    assert agrees(program, *(torch.randn(2, 3, 6, generator=generator) for _ in range(2)))


DTYPES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5}


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_of_groups(dtype: str) -> None:
    """Against torch in float64, with the rounding of a GPU."""
    torch = package("torch")
    generator = torch.Generator().manual_seed(1)
    kind = getattr(torch, dtype)
    q, k, v = (
        torch.randn(2, heads, rows, 8, generator=generator).to(kind)
        for heads, rows in ((4, 6), (2, 5), (2, 5))
    )
    mask = torch.rand(2, 4, 6, 5, generator=generator) > 0.3
    mask[..., 0] = True

    def attention(q: Any, k: Any, v: Any, mask: Any) -> list[Any]:
        options: list[dict[str, Any]] = [
            {},
            {"is_causal": True},
            {"attn_mask": mask[0, 0]},
            {"attn_mask": mask},
            {"attn_mask": mask[:, :1].to(q.dtype)},
            {"attn_mask": mask.to(q.dtype)},
            {"scale": 0.3},
        ]
        function = torch.nn.functional.scaled_dot_product_attention
        shared = [function(q, k, v, enable_gqa=True, **each) for each in options]
        return [*shared, function(q[:, :2], k, v, is_causal=True)]

    found = interpreted(attention, q, k, v, mask, exact=False)
    wanted = attention(q.double(), k.double(), v.double(), mask)
    for made, each in zip(found, wanted, strict=True):
        assert torch.dist(torch.from_numpy(made).double(), each) <= DTYPES[dtype] * each.norm()


def test_types_are_promoted_as_torch_does() -> None:
    torch = package("torch")
    half, brain = torch.randn(4, 8).half(), torch.randn(4, 8).bfloat16()

    def mixed(a: Any, b: Any) -> Any:
        return a + b, a * 1e5 / 1e5, (a + 0.3) - 0.3, a.float().mean(-1).to(a.dtype), a > 0.3

    call, _, _ = imported(mixed, half, brain)
    assert [result.dtype for result in call.results] == [each.dtype for each in mixed(half, brain)]
    found = interpreted(mixed, half, brain, exact=False)
    for made, wanted in zip(found, mixed(half, brain), strict=True):
        assert torch.allclose(torch.from_numpy(made).float(), wanted.float(), rtol=1e-3, atol=1e-3)


def test_large_indices_keep_their_values() -> None:
    """Beyond what f16 counts to they are made in f32."""
    torch = package("torch")
    x = torch.zeros(1, 4096).half()

    def last(x: Any) -> Any:
        return torch.where(torch.arange(4096) == 4095, x + 1, x)

    def all_of_them(x: Any) -> Any:
        return x + torch.arange(-2048, 2048, dtype=x.dtype)

    (found,) = interpreted(last, x, exact=False)
    assert found.sum() == found[0, -1] == 1
    (found,) = interpreted(all_of_them, x, exact=False)
    assert torch.equal(torch.from_numpy(found).half(), all_of_them(x))


def of_line(function: Callable[..., Any], *args: Any) -> str:
    """The error about the second line of a function, without the file's name."""
    with pytest.raises(mi.UnsupportedOperation) as caught:
        imported(function, *args)
    file, line, _, said = str(caught.value).split(":", 3)
    assert file == __file__
    assert int(line) == function.__code__.co_firstlineno + 1
    return said


def arc(x: Any) -> Any:
    return x.atan()


def embedding(ids: Any, x: Any) -> Any:
    return package("torch").nn.functional.embedding(ids, x)


def double(x: Any) -> Any:
    return x.double() * 2


def dropout(x: Any) -> Any:
    return package("torch").nn.functional.dropout(x, 0.5)


def counted(x: Any) -> Any:
    return (x > 0).sum(-1)


def branch(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def changed(x: Any) -> Any:
    return x.add_(1) * 2


def rounded(x: Any) -> Any:
    return x // 2


def infinite(x: Any) -> Any:
    return x + float("inf")


def without_infinity(x: Any) -> Any:
    return package("torch").where(x.isinf(), 0.0, x)


def finite(x: Any) -> Any:
    return x * x.isfinite()


def turned(x: Any) -> Any:
    return x.reshape(2, 16).flip(1)


def indexed(x: Any) -> Any:
    return x[[0, 1], [2, 3]]


def shuffled(x: Any) -> Any:
    return x[package("torch").randperm(4)]


def transformed(x: Any) -> Any:
    return x + package("torch").func.grad(lambda y: (y * y).sum())(x)


def differentiated(x: Any) -> Any:
    return package("torch").autograd.grad(x.sum(), x)[0]


REFUSED = {
    arc: "aten.atan.default is no operator of the kernel dialect; of these there are sin, cos",
    double: "element type torch.float64 is not supported; supported are float16",
    dropout: "no random numbers: call eval()",
    counted: "aten.sum.dim_IntList on integers is not supported",
    branch: "the function decides by the values of tensors",
    changed: "'x' is changed in place, which a kernel does not do: return the new value",
    rounded: "aten.div.Tensor_mode is no operator of the kernel dialect",
    infinite: "aten.add.Tensor: operand is a finite number, not inf",
    without_infinity: "aten.isinf.default is no operator of the kernel dialect; kernels compute",
    finite: "aten.isfinite.default is no operator of the kernel dialect; kernels compute with num",
    turned: "aten.flip.default: elements are taken from 16 places of dimension 1",
    indexed: "aten.index.Tensor: indices along several dimensions are not supported",
    shuffled: "aten.index.Tensor: indices from tensors are for torch",
    transformed: "the function asks for a gradient itself (torch.func.grad",
    differentiated: "the function asks for a gradient itself (torch.func.grad",
}


@pytest.mark.parametrize("function", REFUSED)
def test_refusals(function: Callable[..., Any]) -> None:
    assert REFUSED[function] in of_line(function, package("torch").randn(4, 8))


def test_integers_are_refused_by_name() -> None:
    torch = package("torch")
    said = of_line(embedding, torch.tensor([0, 1]), torch.randn(4, 8))
    assert "input 'ids' has element type torch.int64, for aten.embedding.default" in said


def test_expansions_and_factors_that_change_nothing() -> None:
    """Elementwise operators broadcast, and nothing is multiplied by 1."""
    functional = package("torch").nn.functional
    _, _, op = imported(
        lambda x: functional.normalize(x) + functional.softplus(x) + functional.elu(x),
        package("torch").randn(4, 8),
    )
    names = {each.name for each in op.body.block.ops}
    assert not names & {"kernel.broadcast", "kernel.scale"}


def test_errors_of_the_program_name_the_users_line() -> None:
    """What is found wrong after the import, too."""
    torch = package("torch")
    _, _, op = imported(lambda x: x.exp() @ x.T, torch.randn(4, 8))
    locations = {str(each.location) for each in op.body.block.ops if each.name == "kernel.exp"}
    assert len(locations) == 1
    assert f"{__file__}" in locations.pop()
