"""Names for the programs of parts, which say what they do: profilers show them as kernels'."""

import re

from mirage_mlir.api.graph import KernelGraph

LONGEST = 40
"""Characters of a name. Kernels add a number; profilers cut columns at about twice that."""

_DIALECT = "kernel."

_SILENT = {
    *("constant", "iota", "cast", "scale", "broadcast", "repeat", "repeat_interleave"),
    *("reshape", "transpose", "slice"),
}
"""Operators that nobody would name a part by: they move, convert or scale."""

_SHORTER = {"matmul": "mm", "reduce_max": "max", "reduce_mean": "mean", "reduce_sum": "sum"}

_SPELLED_OUT = {
    "square mean add rsqrt mul mul": "rms_norm",
    "square mean add rsqrt mul": "rms_norm",
    "max sub exp sum div": "softmax",
    "neg exp add div": "silu",
    "mul neg concat mul add": "rope",
}
"""What frameworks write where these are meant. Nothing but names depends on it."""

_REPEATED = re.compile(r"\b(\w+)( \1\b)+")


def name_of_part(graph: KernelGraph) -> str:
    """What a program does, by its operators in order: an identifier, equal for equal programs."""
    names = [op.name for op in graph.to_module().walk() if op.name.startswith(_DIALECT)]
    words = [name.removeprefix(_DIALECT) for name in names]
    text = " ".join(_SHORTER.get(word, word) for word in words if word not in _SILENT)
    for spelled, short in _SPELLED_OUT.items():
        text = re.sub(rf"\b{spelled}\b", short, text)
    text = _REPEATED.sub(r"\1", text)
    if len(text) > LONGEST:
        text = text[: LONGEST + 1].rpartition(" ")[0]
    return text.replace(" ", "_") or "part"
