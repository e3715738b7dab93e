"""Programs in MLIR files as cases: all functions of all files, in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path

from kernels.case import Bar, Case, Given
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.constant_inputs import is_constant_input
from mirage_mlir.dialects.kernel import MatmulOp
from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.interpreters.operators import element_type_of, shape_of

NO_BAR = Bar(None, None)
"""Nothing is asked of these."""

SEPARATOR = "::"
"""Between a file and the function in it."""


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Those that are named, and all `.mlir` files in folders that are."""
    for path in paths:
        yield from sorted(path.rglob("*.mlir")) if path.is_dir() else [path]


def cases_in(paths: Sequence[Path]) -> tuple[list[Case], list[str]]:
    """The cases in files and folders, and what is wrong with files that cannot be read."""
    found: list[Case] = []
    problems: list[str] = []
    for path in files_in(paths):
        try:
            found += _cases(path.resolve())
        except (OSError, UnicodeDecodeError, DiagnosticException) as error:
            problems.append(f"{path}: {error}")
    return found, problems


def case_at(place: str) -> Case:
    """The case whose `file` is `place`."""
    path, _, _ = place.rpartition(SEPARATOR)
    return next(case for case in _cases(Path(path)) if case.file == place)


@cache
def _cases(path: Path) -> tuple[Case, ...]:
    text = path.read_text(encoding="utf-8")
    return tuple(_case(path, function) for function in functions(parse_program(text, path.name)))


def _case(path: Path, function: FuncOp) -> Case:
    name = function.sym_name.data
    label = "" if name == path.stem else name
    return replace(case_of(function, path.stem), label=label, file=f"{path}{SEPARATOR}{name}")


def case_of(function: FuncOp, program: str) -> Case:
    """A function of operators as a case."""
    arguments, returned = function.body.block.args, function.get_return_op()
    results = () if returned is None else tuple(returned.operands)
    types = [element_type_of(value.type) for value in (*arguments, *results)]
    return Case(
        program,
        "",
        next(dtype for dtype in ("bf16", "f16", "f32") if dtype in types),
        tuple(
            _given(value, constant=is_constant_input(function, number))
            for number, value in enumerate(arguments)
        ),
        tuple(map(shape_of, results)),
        _flops(function),
        NO_BAR,
        text_of(alone(function)),
        tuple(element_type_of(value.type) for value in results),
    )


def _given(value: SSAValue, *, constant: bool) -> Given:
    """An input; weights are scaled by their depth, as where candidates are checked."""
    shape = shape_of(value)
    spread = shape[-2] ** -0.5 if constant and len(shape) > 1 else 1.0
    return Given(shape, spread, 0.0, constant, element_type_of(value.type))


def _flops(function: FuncOp) -> float:
    """Operations of all products."""
    products = [op for op in function.walk() if isinstance(op, MatmulOp)]
    return sum(2 * prod(shape_of(op.result)) * shape_of(op.lhs)[-1] for op in products)
