"""The table of operators is whole, and every part that must know an operator knows all of them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from operators import OPERATORS, Operator
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import mirage_mlir as mi
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.bases import BinaryBase, SelectBase, UnaryBase
from mirage_mlir.driver.source import functions
from mirage_mlir.equivalence.definedness import undefined_operation
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.equivalence.symbolic.evaluate import outputs
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import Undecided
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.float_domain import FloatDomain
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import runs_over, structure_of
from mirage_mlir.operators.elementwise import Binary, Ternary, Unary
from mirage_mlir.operators.structured import STRUCTURED, Effect, Structured
from mirage_mlir.operators.table import ROWS
from mirage_mlir.passes.frontend.from_ir import UnsupportedError, read_piece
from mirage_mlir.passes.patterns.scalar import OPERATIONS, RULES

GRAPH_ONLY = {"kernel.graph_defined"}
"""No operator: it holds some."""

OPERANDS = {Unary: ("x",), Binary: ("lhs", "rhs"), Ternary: ("condition", "lhs", "rhs")}
"""The names of operands in Python."""

UNFUSED = {
    "kernel.constant",
    "kernel.iota",
    *(f"kernel.{row.name}" for row in STRUCTURED.values() if not row.searched),
}
"""Operators that no search takes into a kernel: they have one of their own, are taken apart, or are
read by those that need them, as indices are."""

NO_SIGN = {
    *(
        "ceil",
        "clamp",
        "compare",
        "cos",
        "erf",
        "expm1",
        "floor",
        "neg",
        "gelu",
        "layer_norm",
        "log",
        "log1p",
        "pow",
        "rms_norm",
        "round",
        "silu",
        "sin",
        "softcap",
        "sub",
        "tanh",
    ),
    # By a negative number.
    "scale",
}
"""Operators of whose sign `equivalence.definedness` knows nothing, even for positive operands."""

NO_SIGN_OF_FORMS = NO_SIGN - {"pow", "rms_norm", "silu"} | {
    "abs",
    "max",
    "min",
    "reduce_max",
    "relu",
    "select",
}
"""Operators of whose sign normal forms know nothing."""


def mnemonic(op: type[Operation]) -> str:
    return op.name.partition(".")[2]


@pytest.mark.parametrize("name", ROWS)
def test_row_has_all_columns(name: str) -> None:
    row = ROWS[name]
    assert row.name == name
    empty = [each.name for each in fields(row) if getattr(row, each.name) in (None, "")]
    assert empty in ([], ["source"])


@pytest.mark.parametrize("kind", [Unary, Binary, Ternary])
def test_a_row_without_a_column_is_refused(kind: type[Unary | Binary | Ternary]) -> None:
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
    found = {mnemonic(op): op for op in ops if issubclass(op, UnaryBase | BinaryBase | SelectBase)}
    missing = {"no row": sorted(found.keys() - ROWS), "no operation": sorted(ROWS - found.keys())}
    assert missing == {"no row": [], "no operation": []}
    for name, op in found.items():
        assert issubclass(op, SelectBase) == isinstance(ROWS[name], Ternary), name
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
        first = OPERANDS[type(ROWS[name])]
        parameters = [parameter.name for parameter in ROWS[name].parameters]
        assert list(inspect.signature(method).parameters) == ["self", *first, *parameters]


def test_every_other_operator_has_a_row() -> None:
    """Formulas are those of the dialect's reference."""
    others = {mnemonic(op): op for op in kernel.Kernel.operations if mnemonic(op) not in ROWS}
    assert STRUCTURED.keys() == others.keys() - {name.partition(".")[2] for name in GRAPH_ONLY}
    for name, row in STRUCTURED.items():
        assert row.name == name
        assert row.formula in (others[name].__doc__ or ""), name


def _alone() -> Iterator[Any]:
    """Programs of one operator that is not elementwise, by their names."""
    for operator in OPERATORS:
        (function,) = functions(operator.graph("f32").to_module())
        (op, *rest) = [op for op in function.body.block.ops if op.results]
        row = structure_of(op)
        if rest or row is None or row.name == "matmul" or row.effect is Effect.MOVES:
            # Indices of the result are other ones.
            continue
        if max(kernel.shape_of(function.args[0])[dim] for dim in runs_over(op, row)) > 1:
            yield pytest.param(function, op, row, id=operator.name)


@pytest.mark.parametrize(("function", "op", "row"), list(_alone()))
def test_rows_name_the_dimensions(function: FuncOp, op: Operation, row: Structured) -> None:
    """An element takes part in results that have its index in all dimensions not run over."""
    shape = kernel.shape_of(function.args[0])
    over = runs_over(op, row)
    place = tuple(size // 2 for size in shape)
    changed = np.argwhere(_output(function, None) != _output(function, place))
    assert len(changed)
    for dim, index in enumerate(place):
        if dim not in over:
            assert set(changed[:, dim]) == {index}
    result = kernel.shape_of(op.results[0])
    if row.effect is not Effect.SELECTS and result == shape:
        assert all(len(set(changed[:, dim])) > 1 or shape[dim] == 1 for dim in over)


def _output(function: FuncOp, place: tuple[int, ...] | None) -> np.ndarray[Any, Any]:
    """The result for random inputs, one element of the first of which is larger at `place`."""
    generator = np.random.default_rng(0)
    inputs = [generator.uniform(0.5, 1, kernel.shape_of(each)) for each in function.args]
    if place is not None:
        inputs[0][place] += 1
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    arguments = [interpreter.domain.literal(each[None]) for each in inputs]
    (result,) = interpreter.run(function, arguments)
    return interpreter.domain.expanded(result)[0]


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
    try:
        _forms(function)
    except Undecided as error:
        return str(error)
    return None


def _search(function: FuncOp) -> str | None:
    """What kernels are searched for."""
    ops = [op for op in function.body.block.ops if op.results and op.name not in UNFUSED]
    if not ops:
        return None
    try:
        read_piece(ops, [ops[-1].results[0]])
    except UnsupportedError as error:
        # Some views are not expressed at some places: that is no gap in what is known of them.
        return str(error) if "is not searched for" in str(error) else None
    return None


def _forms(function: FuncOp) -> list[Symbolic]:
    return outputs(Operators(Tensors(Forms())), function)


def _of_positive(operator: Operator, *, log: bool) -> FuncOp:
    """An operator on exponentials of the inputs, and the logarithm of that."""
    graph = mi.new_kernel_graph("positive")
    inputs = [graph.exp(graph.new_input(dims=shape, dtype="f32")) for shape in operator.shapes]
    result = operator.build(graph, inputs)
    graph.mark_output(graph.log(result) if log else result)
    (function,) = functions(graph.to_module())
    return function


def test_signs_are_known() -> None:
    """Of positive operands, but for the operators that are listed."""
    unknown: set[str] = set()
    unknown_to_forms: set[str] = set()
    seen: set[str] = set()
    for operator in OPERATORS:
        (function,) = functions(operator.graph("f32").to_module())
        names = {mnemonic(type(op)) for op in function.body.block.ops if op.results}
        if len(names) > 1:
            continue
        seen |= names
        if undefined_operation(_of_positive(operator, log=True)) is not None:
            unknown |= names
        forms = Forms()
        found = outputs(Operators(Tensors(forms)), _of_positive(operator, log=False))
        if not all(forms.is_positive(piece.form) for each in found for piece in each.pieces):
            unknown_to_forms |= names
    assert unknown == NO_SIGN
    assert unknown_to_forms == NO_SIGN_OF_FORMS
    assert seen == (ROWS.keys() | STRUCTURED.keys()) - {"constant", "iota"}


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
