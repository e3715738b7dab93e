"""
Programs of the kernel dialect as PyTorch: one call for each operator, as a user would write them.

The function is made as Python text, so that torch.compile sees ordinary code:

    def program(a0, a1):
        v0 = functional.rms_norm(a0, (4096,), None, 1e-05)
        v1 = torch.matmul(v0, a1)
        return v1

With `wide` it computes in the element type of its inputs: what is right, on float64. With `sdpa` a
softmax between two products becomes one call of `attention`, which takes what PyTorch's
`scaled_dot_product_attention` takes. A result that would be a view is copied, but with `views`: a
kernel has to write it, too. Masks of indices are made once, in front of the function, as a model
keeps them; where they are those of causal attention, `attention` is told so instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.operators import (
    element_type_of,
    integer,
    integers,
    is_lowest,
    mnemonic,
    number,
    shape_of,
)

DTYPES = {"f16": "torch.float16", "bf16": "torch.bfloat16", "f32": "torch.float32"}

SAME_NAME = frozenset(
    "exp log square sqrt rsqrt sigmoid relu tanh neg abs erf expm1 log1p sin cos floor ceil round "
    "add sub mul div matmul".split()
)
"""Operators that torch has a function for under the same name."""

VIEWS = ("transpose", "reshape", "broadcast", "slice", "cast")
"""Operators whose results may share memory with their operand in torch."""

LOW = -1e4
"""What takes the place of masked scores is at most this."""

Texts = Sequence[str]


class NoTorch(Exception):
    """A program has an operation that is not an operator on tensors."""


def torch_text(
    function: FuncOp, *, wide: bool = False, sdpa: bool = False, views: bool = False
) -> str:
    """The definition of a torch function called `program`; raises `NoTorch`."""
    block = function.body.block
    names: dict[SSAValue, str] = {value: f"a{number}" for number, value in enumerate(block.args)}
    needed: set[SSAValue] = set()
    lines: list[str] = []
    once: list[str] = []
    indices = _of_indices(block)
    for number_, op in enumerate(block.ops):
        names.update((result, f"v{number_}") for result in op.results)
    for op in reversed(list(block.ops)):
        if isinstance(op, ReturnOp):
            needed.update(op.operands)
            results = [names[v] if views else _result(v, names) for v in op.operands]
            lines.append("return " + ", ".join(results))
        elif needed.intersection(op.results):
            scores = _scores(op) if sdpa else None
            operands = list(op.operands) if scores is None else scores.operands(op)
            needed.update(operands)
            texts = [names[operand] for operand in operands]
            if (
                scores is not None
                and scores.selects
                and scores.mask
                and scores.mask.owner in indices
            ):
                # A model keeps such a mask as one of conditions.
                once.append(f"{texts[-1]}m = {texts[-1]} != 0")
                texts[-1], scores = f"{texts[-1]}m", replace(scores, selects=False)
            call = _call(op, texts, wide) if scores is None else _attention(op, texts, scores)
            kept = once if op in indices else lines
            kept.append(f"{names[op.results[0]]} = {call}")
    head = f"def program({', '.join(names[value] for value in block.args)}):"
    body = "\n    ".join([head, *reversed(lines)]) + "\n"
    return "\n".join([*reversed(once), body])


def _of_indices(block: Block) -> set[Operation]:
    """The operations that depend on indices, and on no argument."""
    made, found = set[SSAValue](), set[Operation]()
    free = set[SSAValue]()
    for op in block.ops:
        if isinstance(op, kernel.IotaOp) or made.intersection(op.operands):
            if free.union(made).issuperset(op.operands):
                made.update(op.results)
                found.add(op)
        elif free.issuperset(op.operands):
            free.update(op.results)
    # Numbers that they take are made there, too.
    pending = list(found)
    while pending:
        for operand in pending.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in found:
                found.add(owner)
                pending.append(owner)
    return found


def has_attention(function: FuncOp) -> bool:
    """Whether there is a softmax between two products."""
    return any(_scores(op) is not None for op in function.body.block.ops)


def _result(value: SSAValue, names: Mapping[SSAValue, str]) -> str:
    """A returned value, in memory of its own."""
    owner = value.owner
    view = isinstance(owner, Operation) and mnemonic(owner) in VIEWS
    return f"{names[value]}.contiguous()" if view else names[value]


def _call(op: Operation, operands: Texts, wide: bool) -> str:
    """The expression of one operator."""
    name = mnemonic(op)
    if name in SAME_NAME:
        kinds = {element_type_of(value.type) for value in (*op.operands, *op.results)}
        call = f"torch.{name}({', '.join(operands)})"
        return call if len(kinds) == 1 else call + _cast(op, wide)
    if name == "cast":
        return operands[0] + _cast(op, wide)
    if name in ("constant", "iota"):
        kind = "torch.float64" if wide else DTYPES[element_type_of(op.results[0].type)]
        return _constant(op, kind) if name == "constant" else _iota(op, kind)
    if (write := _OPERATORS.get(name)) is not None:
        return write(op, operands)
    raise NoTorch(f"'{op.name}' is no operator on tensors")


def _constant(op: Operation, kind: str) -> str:
    """A tensor of one number."""
    value = -inf if is_lowest(op) else float(number(op, "value"))
    return f'torch.full({shape_of(op.results[0])}, float("{value}"), dtype={kind}, device="cuda")'


def _iota(op: Operation, kind: str) -> str:
    """The index along one dimension."""
    shape, dim = shape_of(op.results[0]), integer(op, "dim")
    along = [size if number == dim else 1 for number, size in enumerate(shape)]
    counted = f'torch.arange({shape[dim]}, dtype={kind}, device="cuda")'
    return f"{counted}.reshape({tuple(along)}).expand({shape})"


def _cast(op: Operation, wide: bool) -> str:
    """What brings a value into the element type of the result."""
    return "" if wide else f".to({DTYPES[element_type_of(op.results[0].type)]})"


# Operators


def _norm(name: str, parameters: int) -> Callable[[Operation, Texts], str]:
    def write(op: Operation, operands: Texts) -> str:
        x, *given = operands
        given += ["None"] * (parameters - len(given))
        shape, eps = shape_of(op.operands[0])[-1:], float(number(op, "eps"))
        return f"functional.{name}({x}, {shape}, {', '.join(given)}, {eps})"

    return write


def _reduction(name: str) -> Callable[[Operation, Texts], str]:
    return lambda op, x: f"torch.{name}({x[0]}, {integers(op, 'dims')}, keepdim=True)"


def _gelu(op: Operation, operands: Texts) -> str:
    approximate = op.properties["approximate"]
    assert isinstance(approximate, StringAttr)
    return f'functional.gelu({operands[0]}, approximate="{approximate.data}")'


def _clamp(op: Operation, operands: Texts) -> str:
    low, high = (float(number(op, name)) for name in ("min", "max"))
    return f"torch.clamp({operands[0]}, {low}, {high})"


def _softcap(op: Operation, operands: Texts) -> str:
    cap = float(number(op, "cap"))
    return f"{cap} * torch.tanh({operands[0]} / {cap})"


def _repeat(op: Operation, operands: Texts) -> str:
    times = [1] * len(shape_of(op.operands[0]))
    times[integer(op, "dim")] = integer(op, "times")
    return f"{operands[0]}.repeat({tuple(times)})"


def _slice(op: Operation, operands: Texts) -> str:
    bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
    parts = [f"{start}:{start + (size - 1) * by + 1}:{by}" for start, size, by in bounds]
    return f"{operands[0]}[{', '.join(parts)}]"


def _compare(op: Operation, operands: Texts) -> str:
    predicate = op.properties["predicate"]
    assert isinstance(predicate, StringAttr)
    return f"torch.{predicate.data}({operands[0]}, {operands[1]}).to({operands[0]}.dtype)"


_OPERATORS: Mapping[str, Callable[[Operation, Texts], str]] = {
    "broadcast": lambda op, x: f"{x[0]}.expand({shape_of(op.results[0])})",
    "clamp": _clamp,
    "compare": _compare,
    "concat": lambda op, x: f"torch.cat([{', '.join(x)}], {integer(op, 'dim')})",
    "cumsum": lambda op, x: f"torch.cumsum({x[0]}, {integer(op, 'dim')})",
    "gelu": _gelu,
    "layer_norm": _norm("layer_norm", 2),
    "max": lambda op, x: f"torch.maximum({x[0]}, {x[1]})",
    "min": lambda op, x: f"torch.minimum({x[0]}, {x[1]})",
    "pow": lambda op, x: f"torch.pow({x[0]}, {float(number(op, 'exponent'))})",
    "reduce_max": _reduction("amax"),
    "reduce_mean": _reduction("mean"),
    "reduce_sum": _reduction("sum"),
    "repeat": _repeat,
    "repeat_interleave": lambda op, x: (
        f"{x[0]}.repeat_interleave({integer(op, 'times')}, {integer(op, 'dim')})"
    ),
    "reshape": lambda op, x: f"{x[0]}.reshape({shape_of(op.results[0])})",
    "rms_norm": _norm("rms_norm", 1),
    "scale": lambda op, x: f"{x[0]} * {float(number(op, 'factor'))}",
    "select": lambda op, x: f"torch.where({x[0]} != 0, {x[1]}, {x[2]})",
    "silu": lambda op, x: f"functional.silu({x[0]})",
    "slice": _slice,
    "softcap": _softcap,
    "softmax": lambda op, x: f"torch.softmax({x[0]}, {integer(op, 'dim')})",
    "transpose": lambda op, x: f"{x[0]}.permute({integers(op, 'permutation')})",
}


# Attention


@dataclass(frozen=True)
class _Scores:
    """What `softmax(scale * query @ keys + mask)` is made of; keys are transposed."""

    query: SSAValue
    keys: SSAValue
    scale: float
    mask: SSAValue | None
    selects: bool = False
    """Whether scores are kept where the mask is not 0, and it is not added."""
    causal: bool = False
    """Whether query i sees the keys up to i."""

    def operands(self, product: Operation) -> list[SSAValue]:
        """What the call takes: query, keys, values, and the mask if there is one."""
        found = [self.query, self.keys, product.operands[1]]
        return found if self.mask is None else [*found, self.mask]


def _scores(op: Operation) -> _Scores | None:
    """What `op`, a product of softmax and values, is made of; None where it is none."""
    if not isinstance(op, kernel.MatmulOp):
        return None
    softmax, rank = _before_casts(op.lhs).owner, len(shape_of(op.lhs))
    if not isinstance(softmax, kernel.SoftmaxOp) or softmax.dim.value.data != rank - 1:
        return None
    scores = _before_casts(softmax.input)
    mask, scale, selects, causal = None, 1.0, False, False
    if isinstance(scores.owner, kernel.AddOp):
        scores, mask = map(_before_casts, scores.owner.operands)
        if isinstance(scores.owner, Block):
            scores, mask = mask, scores
    elif isinstance(scores.owner, kernel.SelectOp) and _is_low(scores.owner.rhs.owner):
        mask, selects = scores.owner.condition, True
        causal = _is_causal(mask)
        mask = None if causal else mask
        scores = _before_casts(scores.owner.lhs)
    if isinstance(scores.owner, kernel.ScaleOp):
        scale = float(number(scores.owner, "factor"))
        scores = _before_casts(scores.owner.input)
    product = scores.owner
    if not isinstance(product, kernel.MatmulOp):
        return None
    leading = {shape_of(value)[:-2] for value in (product.lhs, product.rhs, op.rhs)}
    alike = len({element_type_of(v.type) for v in (*product.operands, *op.operands)}) == 1
    if len(leading) > 1 or rank > 4 or not alike:
        return None
    return _Scores(product.lhs, product.rhs, scale, mask, selects, causal)


def _is_causal(mask: SSAValue) -> bool:
    """Whether a mask is that of as many queries as keys, of which each sees those up to its own."""
    compared = _before_casts(mask).owner
    if not isinstance(compared, kernel.CompareOp) or compared.predicate.data != "ge":
        return False
    shapes = [shape_of(value) for value in compared.operands]
    along = [_is_all_indices(value) for value in compared.operands]
    count = max(shapes[0])
    return all(along) and shapes == [(count, 1), (1, count)]


def _is_all_indices(value: SSAValue) -> bool:
    """Whether a value is the indices from 0 on, in another shape."""
    while isinstance(value.owner, kernel.ReshapeOp):
        value = value.owner.input
    return isinstance(value.owner, kernel.IotaOp) and len(shape_of(value)) == 1


def _before_casts(value: SSAValue) -> SSAValue:
    """What a value is another element type of: attention computes in f32 inside."""
    while isinstance(value.owner, kernel.CastOp):
        value = value.owner.input
    return value


def _is_low(op: Operation | Block) -> bool:
    """Whether all elements are so low a number that its exp is 0 beside that of any score."""
    return isinstance(op, kernel.ConstantOp) and op.value.value.data <= LOW


def _attention(op: Operation, operands: Texts, scores: _Scores) -> str:
    """One call for softmax and both products; its fused kernels take four dimensions."""
    added = 4 - len(shape_of(op.results[0]))
    query, keys, values, *masks = (f"{operand}{'[None]' * added}" for operand in operands)
    mask = f"{masks[0]}{' != 0' if scores.selects else ''}" if masks else None
    causal = "is_causal=True, " if scores.causal else ""
    return (
        f"attention({query}, {keys}.transpose(-1, -2), {values}, "
        f"attn_mask={mask}, {causal}scale={scores.scale}){'[0]' * added}"
    )
