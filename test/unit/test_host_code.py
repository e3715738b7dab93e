"""Code of a host, which upstream's own passes take, and that launches what the runtime launches."""

from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import alone, compiler_context, function_named, parse_program
from mirage_mlir.outputs.binary import GpuBinaryTarget
from mirage_mlir.outputs.nvvm import NvvmTarget

ROOT = Path(__file__).parents[2]

TO_LLVM = "builtin.module(gpu-module-to-binary{format=isa},gpu-to-llvm)"
"""Nothing has to be converted before: functions on buffers and kernels are ready for these."""

WITH_TENSORS = "builtin.module(one-shot-bufferize{bufferize-function-boundaries},gpu-to-llvm)"
"""Tensors of a host, which have no form in LLVM, become buffers first."""

CASES = {
    "two launches, maps and scratch memory": (
        "ugraphs/attention_split_kv.mlir",
        "ugraph",
        "sm_90a",
    ),
    "a cluster": ("ugraphs/attention_across.mlir", "ugraph", "sm_90a"),
    "counters": ("passes/lowering-split-k.mlir", "split", "sm_80"),
}


def program(path: str, name: str) -> ModuleOp:
    text = (ROOT / "test" / path).read_text()
    return alone(function_named(parse_program(text, path), name))


def written(module: ModuleOp, target: Any) -> str:
    stream = StringIO()
    target.emit(compiler_context(), module, stream)
    return stream.getvalue()


def llvm_ir(text: str, pipeline: str) -> str:
    """What upstream's translation makes of a program behind its passes."""
    ir, passmanager, llvm, everything = (
        cast("Any", import_module(f"numba_cuda_mlir._mlir.{name}"))
        for name in ("ir", "passmanager", "dialects.llvm", "_mlir_libs._mlirRegisterEverything")
    )
    with ir.Context() as context:
        everything.register_llvm_translations(context)
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(pipeline).run(module.operation)
        # What is left of gpu is translated with the binaries.
        assert {op.name.partition(".")[0] for op in operations(module.operation)} <= {"llvm", "gpu"}
        return str(llvm.translate_module_to_llvmir(module.operation))


def constant(value: Any) -> int:
    """What an operand is."""
    return int(value.owner.attributes["value"].value)


def operations(op: Any) -> list[Any]:
    """All that is in an operation."""
    inner = [each for region in op.regions for block in region for each in block]
    return [found for each in inner for found in (each.operation, *operations(each.operation))]


@pytest.mark.parametrize("case", CASES)
def test_launches_are_those_of_the_runtime(case: str) -> None:
    path, name, chip = CASES[case]
    module = program(path, name)
    code = compile_function(module, name, chip).code
    text = written(module, NvvmTarget(target=chip, host=True))
    ir: Any = import_module("numba_cuda_mlir._mlir.ir")
    with ir.Context():
        parsed = ir.Module.parse(text)
        ops = operations(parsed.operation)
        launched = [op for op in ops if op.name == "gpu.launch_func"]
        assert len(launched) == len(code.launches)
        for op, launch in zip(launched, code.launches, strict=True):
            sizes = [int(size) for size in op.attributes["operandSegmentSizes"]]
            clustered = sum(sizes[7:10])
            given = op.operands
            assert tuple(map(constant, list(given)[1:4])) == launch.grid
            assert tuple(map(constant, list(given)[4:7])) == (launch.threads, 1, 1)
            assert (clustered == 3) is (case == "a cluster")
            assert constant(given[7 + clustered]) == launch.shared_bytes
            assert sizes[-2] == len(launch.arguments)
        called = [str(op.attributes["callee"]) for op in ops if op.name == "llvm.call"]
        encoded = [name for name in called if name == "@mgpuTensorMapEncodeTiled"]
        assert called.count(f"@{name}_on_device") == 1
        assert len(encoded) + 1 == len(called)
        assert len(encoded) == len(code.tensor_maps)
        allocated = [op for op in ops if op.name == "gpu.alloc"]
        assert len(allocated) == bool(code.scratch_bytes) + bool(code.counter_bytes)
        assert [op.name for op in ops].count("gpu.memset") == (case == "counters")
    assert f"define void @{name}_on_device(" in llvm_ir(text, TO_LLVM)


HOST = Path(__file__).parent / "Inputs" / "host.mlir"


@pytest.mark.parametrize("format", ["bin", "isa"])
def test_a_host_calls_kernels(format: str) -> None:
    """Its scalars, calls and declarations are there behind all passes."""
    module = parse_program(HOST.read_text(), HOST.name)
    target = GpuBinaryTarget(target="sm_80", format=format)
    text = written(module, target)
    assert text == written(module, target)
    ir: Any = import_module("numba_cuda_mlir._mlir.ir")
    with ir.Context():
        parsed = ir.Module.parse(text)
        ops = operations(parsed.operation)
        assert [op.name for op in ops].count("gpu.binary") == 1
        assert "gpu.module" not in [op.name for op in ops]
        called = [str(op.attributes["callee"]) for op in ops if op.name == "func.call"]
        assert sorted(called) == ["@kernels", "@kernels_launch", "@print"]
    assert "define { ptr, ptr, i64, [2 x i64], [2 x i64] } @host(" in llvm_ir(text, WITH_TENSORS)


def test_packed_inputs() -> None:
    """A function packs in each call, or one packs once and another takes what it made."""
    module = program("ugraphs/rmsnorm_linear.mlir", "ugraph")
    text = written(module, NvvmTarget(target="sm_90a", host=True, pack=True))
    ir: Any = import_module("numba_cuda_mlir._mlir.ir")
    with ir.Context():
        parsed = ir.Module.parse(text)
        names = [str(op.attributes["sym_name"]) for op in parsed.body.operations]
        assert [name for name in names if "pack" in name] == [
            *('"ugraph_packing"', '"ugraph_pack_on_device"', '"ugraph_packed_on_device"'),
            *('"ugraph_pack"', '"ugraph_packed"'),
        ]
        types = {
            str(op.attributes["sym_name"]): str(op.attributes["function_type"])
            for op in parsed.body.operations
            if op.operation.name == "func.func"
        }
        packed = types['"ugraph_pack"'].partition(", ")[2]
        assert types['"ugraph_packed"'].endswith(packed)
        assert types['"ugraph"'] == types['"ugraph_packed"'].replace(f", {packed}", ") -> ()")
    assert "define void @ugraph_packed(" in llvm_ir(text, TO_LLVM)


def test_formats_are_known() -> None:
    with pytest.raises(ValueError, match="format is bin or isa, not 'fatbin'"):
        GpuBinaryTarget(format="fatbin")
