"""Code of a host, which upstream's own passes take, and that launches what the runtime launches."""

from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import alone, compiler_context, function_named, parse_program
from mirage_mlir.outputs.binary import GpuBinaryTarget
from mirage_mlir.outputs.nvvm import NvvmTarget

ROOT = Path(__file__).parents[2]

TO_LLVM = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries},gpu.module("
    "convert-scf-to-cf,convert-nvvm-to-llvm,convert-to-llvm,reconcile-unrealized-casts),"
    "gpu-module-to-binary{format=isa},convert-scf-to-cf,expand-strided-metadata,gpu-to-llvm,"
    "reconcile-unrealized-casts)"
)

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
    manager: Any = import_module("numba_cuda_mlir._mlir.passmanager")
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
        manager.PassManager.parse(TO_LLVM).run(parsed.operation)
        left = {op.name.partition(".")[0] for op in operations(parsed.operation)}
        # What is left of gpu is translated to LLVM with the binaries.
        assert left <= {"llvm", "gpu"}


HOST = Path(__file__).parent / "Inputs" / "host.mlir"


@pytest.mark.parametrize("format", ["bin", "isa"])
def test_a_host_calls_kernels(format: str) -> None:
    """Its scalars, calls and declarations are there behind all passes."""
    module = parse_program(HOST.read_text(), HOST.name)
    target = GpuBinaryTarget(target="sm_80", format=format)
    text = written(module, target)
    assert text == written(module, target)
    ir: Any = import_module("numba_cuda_mlir._mlir.ir")
    manager: Any = import_module("numba_cuda_mlir._mlir.passmanager")
    with ir.Context():
        parsed = ir.Module.parse(text)
        ops = operations(parsed.operation)
        assert [op.name for op in ops].count("gpu.binary") == 1
        assert "gpu.module" not in [op.name for op in ops]
        called = [str(op.attributes["callee"]) for op in ops if op.name == "func.call"]
        assert sorted(called) == ["@kernels", "@kernels_launch", "@print"]
        rest = TO_LLVM.partition("gpu.module(")[0] + TO_LLVM.partition("{format=isa},")[2]
        manager.PassManager.parse(rest).run(parsed.operation)


def test_packed_inputs() -> None:
    """A function packs in each call, or one packs once and another takes what it made."""
    module = program("ugraphs/rmsnorm_linear.mlir", "ugraph")
    text = written(module, NvvmTarget(target="sm_90a", host=True, pack=True))
    ir: Any = import_module("numba_cuda_mlir._mlir.ir")
    manager: Any = import_module("numba_cuda_mlir._mlir.passmanager")
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
        manager.PassManager.parse(TO_LLVM).run(parsed.operation)
        left = {op.name.partition(".")[0] for op in operations(parsed.operation)}
        assert left <= {"llvm", "gpu"}


def test_formats_are_known() -> None:
    with pytest.raises(ValueError, match="format is bin or isa, not 'fatbin'"):
        GpuBinaryTarget(format="fatbin")
