"""Cases whose weights lie as `nn.Linear` has them, [out, in], beside those with [in, out]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernels.case import Bar, Case, Given
from kernels.lines import behind

import mirage_mlir as mi
from mirage_mlir.driver.source import text_of

OUT_IN = "_out_in"
"""Ends the labels of such cases."""

MOST_OVER = 1.02
"""Of the time with [in, out] that a kernel may take where its weights are [out, in]."""


def is_weight(given: Given) -> bool:
    """Whether an input is a matrix that products read."""
    return given.constant and len(given.shape) == 2


def with_out_in(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases, each that has weights followed by the one whose weights are [out, in]."""
    for case in cases:
        yield case
        if not case.file and any(map(is_weight, case.inputs)):
            yield out_in(case)


def out_in(case: Case) -> Case:
    """A case with weights [out, in]: PyTorch's peers read them as they lie, too."""
    assert not isinstance(case.build, str), "a program from a file says how its weights lie"
    graph = mi.new_kernel_graph(case.program)
    given = tuple(
        replace(each, shape=each.shape[::-1]) if is_weight(each) else each for each in case.inputs
    )
    tensors = [
        graph.new_input(dims=each.shape, dtype=case.dtype, constant=each.constant) for each in given
    ]
    read = [
        graph.transpose(tensor) if is_weight(each) else tensor
        for each, tensor in zip(given, tensors, strict=True)
    ]
    graph.mark_output(*case.build(graph, read))
    return replace(
        case,
        label=f"{case.label}{OUT_IN}",
        inputs=given,
        bar=Bar(None, None),
        build=text_of(graph.to_module()),
    )


def over_in_out(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The time of each case with weights [out, in] as a part of that with [in, out], by label."""
    times = {
        (row["program"], row["label"], row["dtype"]): behind(row["microseconds"]) for row in rows
    }
    found: dict[str, float] = {}
    for (program, label, dtype), time in times.items():
        other = times.get((program, label.removesuffix(OUT_IN), dtype))
        if label.endswith(OUT_IN) and time is not None and other is not None:
            found[f"{program} {label} {dtype}"] = time / other
    return found


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Lines that say how [out, in] stands; empty where nothing was timed both ways."""
    found = over_in_out(rows)
    if not found:
        return ""
    lines = [f"{name:42}{ratio:6.2f} of [in, out]" for name, ratio in found.items()]
    within = sum(ratio <= MOST_OVER for ratio in found.values())
    lines.append(f"{within} of {len(found)} with [out, in] within {MOST_OVER} of [in, out]")
    return "\n".join(lines)
