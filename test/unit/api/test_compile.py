"""From a graph to a kernel that is called, on a machine without a GPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirage_mlir as mi

UGRAPH = """\
func.func @double(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<8x16xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<8x16xf16>) -> !threadblock.tile<4x16xf16>
    %d = threadblock.scale %t {factor = 2.0 : f32}
      : (!threadblock.tile<4x16xf16>) -> !threadblock.tile<4x16xf16>
    threadblock.store %d grid_map [0] : !threadblock.tile<4x16xf16>
  } : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
"""


def build(dtype: object = mi.float16) -> mi.KernelGraph:
    """RMSNorm and a product, small."""
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 64), dtype=dtype, name="x")
    w = graph.new_input(dims=(64, 48), dtype=dtype, constant=True, name="w")
    graph.mark_output(graph.matmul(graph.rms_norm(x), w))
    return graph


@pytest.fixture(scope="module")
def kernel() -> mi.CompiledKernel:
    """The compiled program."""
    return build().superoptimize()


def arrays(dtype: Any = np.float16) -> tuple[Any, Any]:
    """Random inputs."""
    generator = np.random.default_rng(1)
    x, w = generator.standard_normal((4, 64)), generator.standard_normal((64, 48))
    return x.astype(dtype), w.astype(dtype)


def error(output: Any, x: Any, w: Any) -> float:
    """Against float64, relative in the 2-norm."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    wanted = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) @ w
    return float(np.linalg.norm(output.astype(np.float64) - wanted) / np.linalg.norm(wanted))


def test_numpy_is_interpreted(kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    for output in (kernel(x, w), kernel([x, w]), kernel(inputs=(x, w))):
        assert output.dtype == np.float16
        assert error(output, x, w) < 5e-4


def test_interpreted_into_a_given_array(kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    out = np.full((4, 48), np.nan, np.float16)
    assert kernel(x, w, out=out) is out
    assert error(out, x, w) < 5e-4
    with pytest.raises(ValueError, match=r"output 0 has shape \(48, 4\), not \(4, 48\)"):
        kernel(x, w, out=out.T)


def test_bfloat16_as_float32() -> None:
    kernel = build("bfloat16").superoptimize()
    x, w = arrays(np.float32)
    output = kernel(x, w)
    assert error(output, x, w) < 8e-3


def test_wrong_arrays(kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    with pytest.raises(TypeError, match=r"input 0 \('x'\) has type float32, not float16"):
        kernel(x.astype(np.float32), w)
    with pytest.raises(ValueError, match=r"input 1 \('w'\) has shape \(48, 64\), not \(64, 48\)"):
        kernel(x, w.T)
    with pytest.raises(TypeError, match="takes 2 inputs, not 1"):
        kernel(x)
    with pytest.raises(TypeError, match=r"input 1 \('w'\) is a list, not a tensor"):
        kernel(x, w.tolist())


def test_what_was_compiled(kernel: mi.CompiledKernel) -> None:
    artifact = kernel.artifact
    assert [code.target for code in artifact.targets] == ["sm_90a", "sm_80"]
    assert [str(spec) for spec in (*artifact.inputs, *artifact.outputs)] == [
        "4x64xf16",
        "64x48xf16",
        "4x48xf16",
    ]
    assert [(spec.name, spec.constant) for spec in artifact.inputs] == [("x", False), ("w", True)]
    for code in artifact.targets:
        assert code.cubin.startswith(b"\x7fELF")
        assert code.resources["spill_bytes"] == 0
    assert "kernel.graph_defined" in kernel.ugraph
    assert "kernel.rms_norm" in artifact.program
    proof = artifact.verification["sm_90a"]
    assert isinstance(proof, dict)
    assert proof["verdict"] == "equal"
    for words in ("searched", "verified", "registers", "seconds"):
        assert words in kernel.report


def test_saved_and_loaded(kernel: mi.CompiledKernel, tmp_path: Path) -> None:
    kernel.save(tmp_path / "f.mirage")
    loaded = mi.load(tmp_path / "f.mirage")
    assert loaded.artifact == kernel.artifact
    x, w = arrays()
    np.testing.assert_array_equal(loaded(x, w), kernel(x, w))


def test_function_and_method_are_the_same(kernel: mi.CompiledKernel) -> None:
    other = mi.superoptimize(build())
    assert [code.cubin for code in other.artifact.targets] == [
        code.cubin for code in kernel.artifact.targets
    ]


def test_two_outputs() -> None:
    graph = mi.new_kernel_graph()
    x = graph.new_input(dims=(4, 32))
    graph.mark_output(graph.exp(x), graph.reduction(x, 1))
    x_array = np.linspace(-1, 1, 128, dtype=np.float16).reshape(4, 32)
    results: Any = graph.superoptimize(compile_for=["sm_80"])(x_array)
    assert type(results).__name__ == "tuple"
    np.testing.assert_allclose(results[0], np.exp(x_array), rtol=2e-3)
    np.testing.assert_allclose(results[1], x_array.sum(1, keepdims=True), atol=1e-2)


def test_the_tutorial() -> None:
    """RMSNorm with a weight of shape (1, n), and a list of tensors as the one argument."""
    graph = mi.new_kernel_graph()
    x = graph.new_input(dims=(16, 64), dtype=mi.float16)
    g = graph.new_input(dims=(1, 64), dtype=mi.float16)
    w = graph.new_input(dims=(64, 64), dtype=mi.float16)
    graph.mark_output(graph.matmul(graph.rms_norm(x, g), w))
    optimized = mi.superoptimize(graph)
    generator = np.random.default_rng(5)
    shapes = [(16, 64), (1, 64), (64, 64)]
    tensors = [generator.standard_normal(shape).astype(np.float16) for shape in shapes]
    first, gain, last = tensors
    assert error(optimized(tensors), first, gain.astype(np.float64).T * last) < 5e-4


def test_options() -> None:
    with pytest.raises(ValueError, match="unknown target 'H900'"):
        build().superoptimize("H900")
    with pytest.raises(ValueError, match="time-limit is a positive number of seconds, not 0"):
        build().superoptimize(time_limit=0)
    with pytest.raises(ValueError, match="'H100' is a GPU; its instruction set is sm_90a"):
        build().superoptimize(compile_for=["H100"])
    with pytest.raises(ValueError, match="nothing to compile for"):
        build().superoptimize(compile_for=[])


def test_compile_file(tmp_path: Path) -> None:
    path = tmp_path / "double.mlir"
    path.write_text(UGRAPH)
    kernel = mi.compile_file(path)
    x = np.arange(128, dtype=np.float16).reshape(8, 16)
    np.testing.assert_array_equal(kernel(x), 2 * x)
    assert "compiled as it was written" in kernel.report


def test_compile_file_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "double.mlir"
    path.write_text(UGRAPH.replace("scale %t", "scale %s"))
    with pytest.raises(Exception, match=r"double\.mlir:5:\d+: error: use of undeclared value %s"):
        mi.compile_file(path)
    path.write_text(UGRAPH + UGRAPH.replace("@double", "@twice"))
    with pytest.raises(ValueError, match="has 2 functions: double, twice"):
        mi.compile_file(path)
    with pytest.raises(ValueError, match="no function 'triple'; it has 'double', 'twice'"):
        mi.compile_file(path, "triple")
    assert mi.compile_file(path, "twice").artifact.name == "twice"


def test_a_program_without_inputs() -> None:
    graph = mi.new_kernel_graph()
    graph.mark_output(graph.exp(graph.constant(1.0, (4, 4))))
    kernel: Any = graph.superoptimize("sm_80", compile_for=["sm_80"])
    for result in (kernel(), kernel([]), kernel(inputs=[])):
        np.testing.assert_allclose(result, np.full((4, 4), np.e), rtol=1e-6)
    with pytest.raises(TypeError, match="inputs are a list of tensors, not one int"):
        kernel(inputs=3)
