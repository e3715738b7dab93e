"""Our dialects and passes in a program that uses MLIR's Python bindings."""

import re
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from optional_packages import package
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir import host
from mirage_mlir.bridge.bindings import bindings_module
from mirage_mlir.driver.source import parse_program
from mirage_mlir.passes.pipelines import lowering_passes

ir: Any = bindings_module("ir")
PassManager: Any = bindings_module("passmanager").PassManager

NO_MORE = ", ".join(["0"] * 14)

GRAPH = f"""
func.func @double(%x: tensor<64x32xf16>, %y: tensor<64x1xf16>) -> tensor<64x32xf16> {{
  %z = "kernel.graph_defined"(%x, %y) ({{
  ^bb0(%xb: tensor<64x32xf16>, %yb: tensor<64x1xf16>):
    %xt = "threadblock.load"(%xb) {{grid_map = array<i64: 0>, loop_map = array<i64>}}
      : (tensor<64x32xf16>) -> !threadblock.tile<[16, 32], f16>
    %yt = "threadblock.load"(%yb) {{grid_map = array<i64: 0>, loop_map = array<i64>}}
      : (tensor<64x1xf16>) -> !threadblock.tile<[16, 1], f16>
    %zt = "threadblock.add"(%xt, %yt)
      : (!threadblock.tile<[16, 32], f16>, !threadblock.tile<[16, 1], f16>)
      -> !threadblock.tile<[16, 32], f16>
    "threadblock.store"(%zt) {{grid_map = array<i64: 0>}}
      : (!threadblock.tile<[16, 32], f16>) -> ()
  }}) {{
    grid = array<i64: 4>,
    operandSegmentSizes = array<i32: 1, 1, {NO_MORE}>,
    resultSegmentSizes = array<i32: 1, 0, {NO_MORE}>
  }} : (tensor<64x32xf16>, tensor<64x1xf16>) -> tensor<64x32xf16>
  return %z : tensor<64x32xf16>
}}
"""

LOWERING = ",".join(each.name for each in lowering_passes("H200"))


@pytest.fixture
def context() -> Any:
    """An entered `ir.Context` that knows our dialects."""
    with ir.Context() as context:
        host.load_dialects(context)
        yield context


@pytest.mark.usefixtures("context")
def test_a_graph_loads_and_is_checked():
    assert ir.Module.parse(GRAPH).operation.verify()
    with pytest.raises(ir.MLIRError, match="grid"):
        ir.Module.parse(GRAPH.replace("grid = array<i64: 4>,", ""))


def test_loading_twice_does_nothing(context: Any):
    host.load_dialects(context)
    assert ir.Module.parse(GRAPH).operation.verify()


@pytest.mark.usefixtures("context")
def test_passes_run_among_those_of_the_host():
    module = ir.Module.parse(GRAPH)
    pipeline = PassManager.parse("builtin.module(canonicalize)")
    first, _, others = LOWERING.partition(",")
    pipeline.add(host.python_pass(first))
    pipeline.add(host.python_pass(others))
    pipeline.run(module.operation)
    assert module.operation.verify()
    assert "gpu.container_module" in module.operation.attributes
    (kernels,) = module.body.operations
    assert kernels.operation.name == "gpu.module"
    assert "llvm.func @double_kernel_0" in str(module)


@pytest.mark.usefixtures("context")
def test_locations_survive():
    module = ir.Module.parse(GRAPH)
    host.python_pass("fuse-thread-graphs")(module)
    (function,) = module.body.operations
    assert str(function.location) == 'loc("-":2:1)'


@pytest.mark.usefixtures("context")
def test_what_has_no_place_gets_none():
    """Not a line of the text in which the program crosses over."""
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = "kernel.silu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
      %z = "kernel.exp"(%y) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
      return %z : tensor<4xf32>
    }"""
    module = ir.Module.parse(text)
    host.python_pass("kernel-decompose")(module)
    (function,) = module.body.operations
    places = {op.operation.name: op.location for op in function.regions[0].blocks[0].operations}
    assert str(places["kernel.exp"]) == "loc(unknown)"
    assert str(places["func.return"]) == 'loc("-":4:7)'


@pytest.mark.usefixtures("context")
def test_operations_of_the_host_are_left_alone():
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse('"host.op"() {a = #host.attribute<1>} : () -> ()')
        before = str(module)
        host.python_pass("fuse-thread-graphs")(module)
        assert str(module) == before


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("text", "pipeline", "message"),
    [
        # IRDL knows no shapes: our verifier finds it.
        (GRAPH.replace("grid = array<i64: 4>", "grid = array<i64: 3>"), LOWERING, "-:5:11: error"),
        (GRAPH, "lower-to-nvvm", "-:3:8: error: 'kernel.graph_defined' op has no"),
    ],
)
def test_a_rejected_program_is_left_as_it_was(text: str, pipeline: str, message: str):
    module = ir.Module.parse(text)
    before = str(module)
    with pytest.raises(DiagnosticException) as raised:
        host.python_pass(pipeline)(module)
    assert str(raised.value).startswith(message)
    assert str(module) == before


def test_unknown_passes_and_options():
    with pytest.raises(ValueError, match=r"unknown pass 'fold'; there are .*plan-memory"):
        host.python_pass("fold")
    with pytest.raises(ValueError, match="color"):
        host.python_pass("plan-memory{color=red}")
    with pytest.raises(ValueError, match="no list of passes"):
        host.python_pass("plan-memory{")


SHORT = """
func.func @joined(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>) -> tensor<4x8xf32> {
  %o = kernel.concat %x, %y {dim = 1 : i64} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  func.return %o : tensor<4x8xf32>
}
"""


def test_programs_in_our_own_forms_are_read(context: Any) -> None:
    """The short one, and what --print-op-generic prints."""
    generic = StringIO()
    Printer(stream=generic, print_generic_format=True).print_op(parse_program(SHORT, "joined.mlir"))
    assert "<{" in generic.getvalue()
    for text in (SHORT, generic.getvalue()):
        module = host.parse(text, context, "joined.mlir")
        assert module.operation.verify()
        assert "operandSegmentSizes" in str(module)
        host.python_pass("kernel-decompose")(module)


def test_a_program_that_is_wrong_is_refused_at_its_place(context: Any) -> None:
    with pytest.raises(DiagnosticException, match=r"^joined.mlir:3:8: error: 'kernel.concat' op"):
        host.parse(SHORT.replace("4x5", "3x5"), context, "joined.mlir")


@pytest.mark.usefixtures("context")
def test_operations_are_made_without_sizes_of_segments() -> None:
    module = ir.Module.parse("func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>) { return }")
    block = module.body.operations[0].regions[0].blocks[0]
    i64 = ir.IntegerType.get_signless(64)
    result = ir.Type.parse("tensor<4x8xf32>")
    with ir.Location.unknown(), ir.InsertionPoint.at_block_begin(block):
        dim = {"dim": ir.IntegerAttr.get(i64, 1)}
        host.create("kernel.concat", block.arguments, [result], dim)
        host.create("kernel.exp", [block.arguments[0]], [block.arguments[0].type])
        with pytest.raises(ValueError, match=r"there is no operation 'kernel\.sine'"):
            host.create("kernel.sine")
        with pytest.raises(ValueError, match=r"'kernel\.concat' takes up to 16 values"):
            host.create("kernel.concat", [block.arguments[0]] * 17, [result], dim)
    assert module.operation.verify()
    host.python_pass("kernel-decompose")(module)


def test_two_hosts_in_one_process(context: Any) -> None:
    """Each program stays with the bindings that read it."""
    package("jaxlib")
    other_ir: Any = import_module("jaxlib.mlir.ir")
    other_passes: Any = import_module("jaxlib.mlir.passmanager")
    text = """"builtin.module"() ({
      "func.func"() <{function_type = (tensor<4x8xf32>) -> tensor<4x8xf32>, sym_name = "f"}> ({
      ^bb0(%x: tensor<4x8xf32>):
        %y = "kernel.silu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        "func.return"(%y) : (tensor<4x8xf32>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    with other_ir.Context() as other:
        host.load_dialects(other)
        modules = [host.parse(text, other), host.parse(text, context)]
        managers = [other_passes.PassManager("any", other), PassManager("any", context)]
        for module, manager, kind in zip(modules, managers, (other_ir, ir), strict=True):
            assert isinstance(module, kind.Module)
            manager.add(host.python_pass("kernel-decompose"))
            manager.run(module.operation)
            assert "kernel.sigmoid" in str(module)
            assert module.operation.verify()
        with other_ir.Location.unknown(other), other_ir.InsertionPoint(modules[0].body):
            kind = other_ir.Type.parse("tensor<4x8xf32>")
            made = host.create("kernel.constant", results=[kind])
            assert isinstance(made.operation, other_ir.Operation)


def test_what_jax_lowers_is_compiled_in_its_own_context() -> None:
    """Its contexts are of a class of JAX, its places are calls within calls and have ends."""
    jax: Any = package("jax")

    def layer(x: Any, w: Any) -> Any:
        return jax.numpy.tanh(x @ w)

    like = [jax.ShapeDtypeStruct(shape, jax.numpy.float32) for shape in ((16, 64), (64, 32))]
    module = jax.jit(layer).lower(*like).compiler_ir("stablehlo")
    host.load_dialects(module.context)
    pipeline = "builtin.module(convert-stablehlo-to-kernel,superoptimize{target=H100},canonicalize)"
    host.pass_manager(pipeline, module.context).run(module.operation)
    assert "kernel.graph_defined" in str(module)
    assert "jax.result_info" in str(module)

    def by_size(x: Any) -> Any:
        return jax.lax.sort(x)

    sorting = jax.jit(by_size).lower(like[0]).compiler_ir("stablehlo")
    with pytest.raises(DiagnosticException, match=r"\.py:\d+:\d+: error: 'stablehlo.sort' op"):
        host.python_pass("convert-stablehlo-to-kernel")(sorting)


# One of torch's own, about its export.
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
def test_what_torch_mlir_lowers_is_compiled_in_its_own_context() -> None:
    """With the parameters of the module as constants, which keep their bytes."""
    fx: Any = package("torch_mlir.fx")
    torch: Any = package("torch")
    layer = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.SiLU())
    module = fx.export_and_import(
        layer, torch.randn(16, 64), output_type="linalg-on-tensors", func_name="layer"
    )
    before = re.findall(r'"0x[0-9A-F]+"', str(module))
    pipeline = "builtin.module(convert-linalg-to-kernel,superoptimize{target=H100},canonicalize)"
    host.pass_manager(pipeline, module.context).run(module.operation)
    assert "kernel.graph_defined" in str(module)
    assert len(before) == 2
    assert sorted(re.findall(r'"0x[0-9A-F]+"', str(module))) == sorted(before)


RESOURCES = """
func.func @scaled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %gain = arith.constant dense_resource<gain> : tensor<4xf32>
  %y = "kernel.mul"(%x, %gain) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = "kernel.silu"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
{-# dialect_resources: { builtin: { gain: "0x040000000000803F000000400000404000008040" } } #-}
"""


@pytest.mark.usefixtures("context")
def test_bytes_of_constants_survive() -> None:
    """Each pass, and another program that has the same name for other bytes."""
    first = ir.Module.parse(RESOURCES)
    second = ir.Module.parse(RESOURCES.replace("803F", "0040"))
    for _ in range(2):
        for module in (first, second):
            host.python_pass("kernel-decompose")(module)
    assert '"0x040000000000803F000000400000404000008040"' in str(first)
    assert '"0x0400000000000040000000400000404000008040"' in str(second)


def test_options_are_written_as_on_the_command_line() -> None:
    """In a context that does not know our dialects yet: a truth by its name, a whole number."""
    pipeline = (
        "builtin.module(convert-stablehlo-to-kernel{parts},superoptimize{time-limit=9 top-k=1})"
    )
    with ir.Context() as context:
        manager = host.pass_manager(pipeline, context)
        module = host.parse(SHORT, context)
        manager.run(module.operation)
        assert "kernel.graph_defined" in str(module)


def test_a_pipeline_of_both(context: Any) -> None:
    """In one text: passes of upstream before, between and behind ours."""
    text = """
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %unused = "kernel.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %y = "kernel.silu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }"""
    module = ir.Module.parse(text)
    pipeline = (
        "builtin.module(func.func(canonicalize,cse),kernel-decompose,"
        "superoptimize{target=A100},func.func(canonicalize))"
    )
    host.pass_manager(pipeline, context).run(module.operation)
    assert "kernel.graph_defined" in str(module)
    for wrong, said in {
        "canonicalize": "a pipeline is builtin.module(PASS,...), not 'canonicalize'",
        "builtin.module(superoptimise)": "superoptimise",
        "builtin.module(superoptimize{targets=H100})": "has no option 'targets'",
        "builtin.module(superoptimize{top-k=few})": "'top-k' of 'superoptimize' takes an integer",
        "builtin.module(superoptimize{target=H1})": "'superoptimize': unknown target 'H1'",
        "builtin.module(func.func(cse,superoptimize))": "'superoptimize' is a pass of builtin",
    }.items():
        with pytest.raises(ValueError, match=re.escape(said)):
            host.pass_manager(wrong, context)
