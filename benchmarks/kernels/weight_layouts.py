"""Cases whose weights lie as `nn.Linear` has them, [out, in], beside those with [in, out]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernels.case import Bar, Case, Given, Tensors
from kernels.lines import behind

import mirage_mlir as mi

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
    build = case.build
    assert not isinstance(build, str), "a program from a file says how its weights lie"
    given = tuple(
        replace(each, shape=each.shape[::-1]) if is_weight(each) else each for each in case.inputs
    )

    def transposed(graph: mi.KernelGraph, tensors: Tensors) -> Tensors:
        pairs = zip(given, tensors, strict=True)
        return build(graph, [graph.transpose(t) if is_weight(each) else t for each, t in pairs])

    label = f"{case.label}{OUT_IN}"
    found = replace(case, label=label, inputs=given, bar=Bar(None, None), build=transposed)
    # As text its peers are made from the operators, as those of programs in files.
    return replace(found, build=found.text())


def named_out_in(name: str, cases: Iterable[Case]) -> Case:
    """The case of that name: one of `cases`, or of these with weights [out, in]."""
    own = name.replace(f"{OUT_IN} ", " ")
    case = next(case for case in cases if case.name == own)
    return case if own == name else out_in(case)


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
    lines.append(f"{within} of {len(found)} with [out, in] within {MOST_OVER} of [in, out]\n")
    return "\n".join(lines)
