"""Pairs by number: a program and another way to write it, right or with one wrong index map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import oracle
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.driver.source import text_of
from program_pairs.attention import Attention
from program_pairs.draws import REAL, Draw, Scale
from program_pairs.linear import GatedMlp, Linear, Lora, NormLinear
from program_pairs.mutations import KINDS
from program_pairs.program import Program
from program_pairs.rows import LayerNorm, Maximum, Reduction
from program_pairs.simple import Elementwise, Rotary, Views
from program_pairs.softmax import LogSumExp, Softmax
from program_pairs.views import View, after, operand
from program_pairs.writer import Build, Ops, function, shape_of

FAMILIES: tuple[type[Program], ...] = (
    Views,
    Views,
    Elementwise,
    Rotary,
    Linear,
    Linear,
    Lora,
    GatedMlp,
    NormLinear,
    Reduction,
    Maximum,
    LayerNorm,
    Softmax,
    LogSumExp,
    Attention,
    Attention,
)
"""Of programs; some twice, because they have more ways to go wrong."""

SEED = 1
"""Of the oracle's inputs."""

ATTEMPTS = 200
"""Draws until one has a place for a kind of mutation that float64 sees."""

ATTEMPTS_OF_FAMILY = 6
"""Of one family in a row; the next one then."""

GRAPHS_ONLY = ("load map of another axis", "store map permuted")
"""Mutations of maps that only uGraphs have."""

OF_SQUARES = (*GRAPHS_ONLY, "transposed", "another dimension")
"""Mutations that need several dimensions of one size."""


class NoPair(Exception):
    """A number for which nothing suitable was drawn."""


@dataclass(frozen=True)
class Pair:
    """Two functions of one signature."""

    number: int
    kind: str
    """What is wrong, or how the candidate is written."""
    family: str
    form: str
    """What the candidate is: "kernel" or "ugraph"."""
    size: int
    """Of the dimension that is wrong, or the largest."""
    description: str
    reference: FuncOp
    candidate: FuncOp

    @cached_property
    def text(self) -> str:
        """Both functions as a module."""
        return text_of(ModuleOp([self.reference.clone(), self.candidate.clone()]))


@dataclass(frozen=True)
class _Base:
    """A program in its two ways."""

    family: str
    way: str
    reference: FuncOp
    candidate: FuncOp


def _base(draw: Draw, family: type[Program], form: str, *, other: bool) -> _Base:
    """A program; with `other` the candidate is written in another way wherever there is one."""
    program = family(draw)
    least = 1 if isinstance(program, Views) else 0
    operands = [operand(draw, shape, draw.random.choice([least, 1, 2])) for shape in program.shapes]
    of_result = after(draw, program.result) if draw.chance(0.5) else (_same, _same)
    shapes = [shape for view in operands for shape in view.shapes]
    if form == "ugraph":
        core, way = program.graph, "ugraph"
    elif other or draw.chance(0.5):
        core = draw.random.choice(program.rewrites())
        way = getattr(core, "__name__", "")
    else:
        core, way = program.plain, "as it is"
    again = draw.chance(0.7 if other else 0.3)
    rounds_alike = form == "ugraph" or way == "as it is"
    kind = draw.random.choice([f16, bf16, f32]) if rounds_alike else f32
    builds = _whole(operands, program.plain, of_result[0], again=False)
    reference = function("reference", shapes, kind, builds)
    builds = _whole(operands, core, of_result[int(again)], again=again)
    candidate = function("candidate", shapes, kind, builds)
    return _Base(family.__name__, way, reference, candidate)


def _same(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
    return values[0]


def _whole(operands: Sequence[View], core: Build, last: Build, *, again: bool) -> Build:
    """Views of the arguments, the program, a view of its result."""

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        given: list[SSAValue] = []
        used = 0
        for view in operands:
            part = values[used : used + len(view.shapes)]
            given.append((view.again if again else view.build)(ops, part))
            used += len(view.shapes)
        return last(ops, [core(ops, given)])

    return build


def _is_valid(function: FuncOp) -> bool:
    try:
        function.verify()
    except VerifyException:
        return False
    return True


def _values(function: FuncOp) -> dict[SSAValue, NDArray[np.float64]]:
    """What the oracle computes on the inputs by which it tells functions apart."""
    return oracle.values_of(function, oracle.draw(function, SEED))


def wrong_pair(number: int, scale: Scale = REAL) -> Pair:
    """
    Pair `number` of those whose candidate has one wrong index map, as float64 sees.

    Raises:
        NoPair: none was found.
    """
    kind = list(KINDS)[number % len(KINDS)]
    form = "ugraph" if kind in GRAPHS_ONLY or number // len(KINDS) % 2 else "kernel"
    form = "kernel" if kind == "another dimension" else form
    families = Draw(f"families {number}").random.sample(FAMILIES, len(FAMILIES))
    for attempt in range(ATTEMPTS):
        square = kind in OF_SQUARES
        draw = Draw(f"wrong {number} {attempt}", scale, square=square)
        family = families[attempt // ATTEMPTS_OF_FAMILY % len(families)]
        base = _base(draw, family, form, other=False)
        mutant = base.candidate.clone()
        change = KINDS[kind](mutant, draw, partial(_values, mutant))
        if change is None or not _is_valid(mutant):
            continue
        if mutant.function_type != base.reference.function_type:
            continue
        if oracle.differ(base.reference, mutant, SEED):
            text = f"{change.description} ({base.way})"
            return Pair(number, kind, base.family, form, change.size, text, base.reference, mutant)
    raise NoPair(f"pair {number}: no {kind} in a {form}")


def valid_pair(number: int, scale: Scale = REAL) -> Pair:
    """Pair `number` of those that are equal, which the oracle confirms."""
    form = "ugraph" if number % 2 else "kernel"
    draw = Draw(f"valid {number}", scale)
    base = _base(draw, draw.random.choice(FAMILIES), form, other=True)
    size = max(max(shape_of(argument)) for argument in base.reference.body.block.args)
    return Pair(number, base.way, base.family, form, size, "", base.reference, base.candidate)
