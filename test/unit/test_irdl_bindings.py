"""MLIR's Python bindings read our dialects as IRDL, then our programs, with regions too."""

from collections.abc import Generator
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, irdl_op_definition, var_operand_def
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.bridge.bindings import bindings_module
from mirage_mlir.dialects import get_all_dialects, load_dialect
from mirage_mlir.irdl_export import MAX_GROUP, segment_sizes
from mirage_mlir.outputs.irdl import EXPORTED, IrdlGenericTarget, IrdlTarget
from mirage_mlir.parsing import LocatingParser
from mirage_mlir.verification import verify

TEST = Path(__file__).parents[1]

FLAT = TEST / "irdl" / "flat.mlir"

PROGRAMS = [FLAT, TEST / "irdl" / "regions.mlir", *sorted(TEST.glob("ugraphs/*.mlir"))]

WITHOUT_TERMINATOR = ("kernel.graph_defined", "thread.graph")


def new_context() -> Context:
    context = Context()
    for name, dialect in {**XDSL_UNIVERSE.all_dialects, **get_all_dialects()}.items():
        context.register_dialect(name, dialect)
    return context


def parse(text: str, name: str = "program.mlir") -> ModuleOp:
    module = LocatingParser(new_context(), text, name).parse_module()
    verify(module)
    return module


def emit(target: IrdlTarget | IrdlGenericTarget, module: ModuleOp) -> str:
    output = StringIO()
    target.emit(Context(), module, output)
    return output.getvalue()


@pytest.fixture(scope="module")
def ir() -> Generator[ModuleType]:
    """The bindings, in a context that knows our dialects by IRDL."""
    bindings = bindings_module("ir")
    with bindings.Context() as context, bindings.Location.unknown():
        definitions = bindings.Module.parse(emit(IrdlTarget(), ModuleOp([])))
        bindings_module("dialects.irdl").load_dialects(definitions)
        for name in WITHOUT_TERMINATOR:
            assert bindings.NoTerminatorTrait.attach(name)
        context.allow_unregistered_dialects = True
        yield bindings


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_goes_through_the_bindings(path: Path, ir: ModuleType) -> None:
    module = parse(path.read_text(), path.name)
    loaded = ir.Module.parse(emit(IrdlGenericTarget(), module))
    assert loaded.operation.verify()
    back = parse(str(loaded))
    assert back.is_structurally_equivalent(module)


def test_every_kernel_operator_is_in_the_flat_program() -> None:
    used = {op.name for op in parse(FLAT.read_text()).walk()}
    operators = {op.name for op in load_dialect("kernel").operations}
    assert operators - used == {"kernel.graph_defined"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '%x = "test.op"() : () -> i32\n'
            '%y = "threadblock.exp"(%x) : (i32) -> !threadblock.tile<[64], f32>',
            "expected base type 'threadblock.tile' but got 'builtin.integer'",
        ),
        ('"test.op"() {t = !threadblock.tile<[64], i8>} : () -> ()', "'i8' does not satisfy"),
        (
            '%x = "test.op"() : () -> !threadblock.tile<[64], f32>\n'
            '%y = "threadblock.scale"(%x) : (!threadblock.tile<[64], f32>)'
            " -> !threadblock.tile<[64], f32>",
            'attribute "factor" is expected but not provided',
        ),
        ('"kernel.no_such_operator"() : () -> ()', "kernel.no_such_operator"),
    ],
)
def test_wrong_program_is_rejected(text: str, message: str, ir: ModuleType) -> None:
    with pytest.raises(ir.MLIRError, match=message):
        ir.Module.parse(text)


def test_program_can_be_built(ir: ModuleType) -> None:
    """What a host compiler does: make our operations through its own API."""
    module = ir.Module.parse('%x = "test.op"() : () -> tensor<4xf32>')
    value = module.body.operations[0].result
    with ir.InsertionPoint(module.body):
        factor = ir.FloatAttr.get(ir.F32Type.get(), 0.5)
        ir.Operation.create(
            "kernel.scale", results=[value.type], operands=[value], attributes={"factor": factor}
        )
    assert [op.name for op in parse(str(module)).body.block.ops] == ["test.op", "kernel.scale"]


def test_every_attribute_and_operation_is_exported() -> None:
    text = emit(IrdlTarget(), ModuleOp([]))
    for name in EXPORTED:
        dialect = load_dialect(name)
        assert f"irdl.dialect @{name} " in text
        for op in dialect.operations:
            assert f"irdl.operation @{op.name.partition('.')[2]}" in text


def test_too_many_values_of_a_group() -> None:
    values = ", ".join(f"%x{i}" for i in range(MAX_GROUP + 1))
    lines = [f'%x{i} = "test.op"() : () -> tensor<1xf32>' for i in range(MAX_GROUP + 1)]
    types = ", ".join(["tensor<1xf32>"] * (MAX_GROUP + 1))
    result = f"tensor<{MAX_GROUP + 1}xf32>"
    lines.append(f"%y = kernel.concat {values} {{dim = 0 : i64}} : ({types}) -> {result}")
    module = parse("\n".join(lines))
    with pytest.raises(DiagnosticException, match="at most 16"):
        emit(IrdlGenericTarget(), module)


@irdl_op_definition
class TwoGroupsOp(IRDLOperation):
    """An operation whose operands the export cannot say."""

    name = "thread.two_groups"

    first = var_operand_def()
    second = var_operand_def()

    irdl_options = (AttrSizedOperandSegments(),)


def test_two_variadic_groups_cannot_be_exported() -> None:
    with pytest.raises(ValueError, match="2 variadic groups"):
        segment_sizes(TwoGroupsOp.create())
