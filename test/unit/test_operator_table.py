"""The table of operators is whole, and every part that must know an operator knows all of them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields

import numpy as np
import pytest
from operators import OPERATORS
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import mirage_mlir as mi
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.bases import BinaryBase, UnaryBase
from mirage_mlir.driver.source import functions
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.float_domain import FloatDomain
from mirage_mlir.interpreters.forms import prove
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.operators.elementwise import Binary, Unary
from mirage_mlir.operators.table import ROWS
from mirage_mlir.passes.patterns.scalar import OPERATIONS, RULES
from mirage_mlir.passes.search.from_ir import UnsupportedError, read_piece

GRAPH_ONLY = {"kernel.graph_defined"}
"""No operator: it holds some."""

UNFUSED: set[str] = {"kernel.constant"}
"""Operators that no search takes into a kernel: they have one of their own."""


def mnemonic(op: type[Operation]) -> str:
    return op.name.partition(".")[2]


@pytest.mark.parametrize("name", ROWS)
def test_row_has_all_columns(name: str) -> None:
    row = ROWS[name]
    assert row.name == name
    empty = [each.name for each in fields(row) if getattr(row, each.name) in (None, "")]
    assert empty in ([], ["source"])


@pytest.mark.parametrize("kind", [Unary, Binary])
def test_a_row_without_a_column_is_refused(kind: type[Unary | Binary]) -> None:
    given = {each.name: getattr(ROWS["tanh"], each.name) for each in fields(ROWS["tanh"])}
    for column in given:
        rest = {name: value for name, value in given.items() if name != column}
        with pytest.raises(TypeError, match=column):
            kind(**rest)


@pytest.mark.parametrize("dialect", [kernel.Kernel, threadblock.Threadblock], ids=str)
def test_dialects_have_the_operators_of_the_table(dialect: object) -> None:
    assert dialect in (kernel.Kernel, threadblock.Threadblock)
    ops = (
        kernel.Kernel.operations if dialect is kernel.Kernel else threadblock.Threadblock.operations
    )
    found = {mnemonic(op): op for op in ops if issubclass(op, UnaryBase | BinaryBase)}
    missing = {"no row": sorted(found.keys() - ROWS), "no operation": sorted(ROWS - found.keys())}
    assert missing == {"no row": [], "no operation": []}
    for name, op in found.items():
        assert issubclass(op, BinaryBase) == isinstance(ROWS[name], Binary), name
        properties = set(op.get_irdl_definition().properties)
        assert properties == {parameter.name for parameter in ROWS[name].parameters}, name


def test_threads_have_code_for_every_row() -> None:
    assert {mnemonic(op) for op in RULES} - {"constant", "broadcast"} == set(ROWS)
    for name, make in OPERATIONS.items():
        assert isinstance(make, type)
        assert issubclass(make, Operation)
        assert make.name == name


@pytest.mark.parametrize("name", ROWS)
def test_python_has_a_method_for_every_row(name: str) -> None:
    method = getattr(mi.KernelGraph, name)
    assert method.__doc__
    if name != "cast":
        first = ("lhs", "rhs") if isinstance(ROWS[name], Binary) else ("x",)
        parameters = [parameter.name for parameter in ROWS[name].parameters]
        assert list(inspect.signature(method).parameters) == ["self", *first, *parameters]


def test_labels_are_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator that tests know nothing of is not taken for an elementwise one."""
    graph = mi.new_kernel_graph("one")
    graph.mark_output(graph.tanh(graph.new_input(dims=(8, 4))))
    (function,) = functions(graph.to_module())
    assert find_slabs(function, function)
    monkeypatch.delitem(ROWS, "tanh")
    assert not find_slabs(function, function)


# Whatever an operator is, each of these must know it.


def _meaning(function: FuncOp) -> str | None:
    """What random tests and floating-point references compute."""
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    shapes = [kernel.shape_of(argument) for argument in function.args]
    arguments = [
        interpreter.domain.literal(np.full((1, *shape), 0.5, np.float64)) for shape in shapes
    ]
    try:
        interpreter.run(function, arguments)
    except NotInterpretable as error:
        return str(error)
    return None


def _normal_form(function: FuncOp) -> str | None:
    """What proofs go by."""
    found = prove(function, function.clone())
    return None if found.proved else str(found)


def _search(function: FuncOp) -> str | None:
    """What kernels are searched for."""
    ops = [op for op in function.body.block.ops if op.results and op.name not in UNFUSED]
    try:
        read_piece(ops, [ops[-1].results[0]])
    except UnsupportedError as error:
        # Some views are not expressed at some places: that is no gap in what is known of them.
        return str(error) if "is not searched for" in str(error) else None
    return None


PLACES: dict[str, Callable[[FuncOp], str | None]] = {
    "meaning": _meaning,
    "normal form": _normal_form,
    "search": _search,
}


def _programs() -> Iterator[tuple[str, FuncOp]]:
    """For each operator the smallest program with it."""
    found: dict[str, tuple[int, FuncOp]] = {}
    for operator in OPERATORS:
        (function,) = functions(operator.graph("f32").to_module())
        names = {op.name for op in function.body.block.ops if op.name.startswith("kernel.")}
        for name in names:
            if name not in found or len(names) < found[name][0]:
                found[name] = len(names), function
    return ((name, function) for name, (_, function) in sorted(found.items()))


def test_every_part_knows_every_operator() -> None:
    """Lists what is missing where, for a new operator of the kernel dialect."""
    programs = dict(_programs())
    missing = {
        f"{name} has no {place}": reason
        for name, function in programs.items()
        for place, check in PLACES.items()
        if (reason := check(function)) is not None
    }
    for op in kernel.Kernel.operations:
        if op.name not in GRAPH_ONLY and op.name not in programs:
            missing[f"{op.name} has no test program"] = "test/support/operators.py"
        if op.name not in GRAPH_ONLY and not hasattr(mi.KernelGraph, mnemonic(op)):
            missing[f"{op.name} has no method in Python"] = "mirage_mlir/api"
    assert missing == {}
