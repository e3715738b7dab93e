"""Options of the Python functions: none that does not exist or has another type is taken."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirage_mlir as mi

REJECTED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"time_limt": 3}, TypeError, "unknown option 'time_limt'; did you mean 'time_limit'?"),
    ({"profil": True}, TypeError, "unknown option 'profil'; did you mean 'profile'?"),
    ({"backend": "cuda"}, TypeError, "no option 'backend': kernels are for NVIDIA GPUs; target="),
    ({"config": "mlp"}, TypeError, "there is no option 'config': one search serves all programs"),
    ({"zzz": True}, TypeError, r"unknown option 'zzz' \(there are target, time_limit, "),
    ({"time_limit": "fast"}, TypeError, "time_limit is a number, not 'fast'"),
    ({"time_limit": -1}, ValueError, "time-limit is a positive number of seconds, not -1.0"),
    ({"time_limit": float("nan")}, ValueError, "time_limit is a finite number, not nan"),
    ({"jobs": "4"}, TypeError, "jobs is an integer, not '4'"),
    ({"jobs": True}, TypeError, "jobs is an integer, not True"),
    ({"jobs": 0}, ValueError, "jobs is at least 1, not 0"),
    ({"jobs": 10**6}, ValueError, "jobs is from 1 to 256, not 1000000"),
    ({"max_kernels": 10**23}, ValueError, "max-kernels is from 1 to 64, not 1"),
    ({"top_k": 10**23}, ValueError, "top-k is from 1 to 1000, not 1"),
    ({"compile_for": "sm_80"}, TypeError, r"compile_for is a list, say \['sm_80'\]"),
    ({"compile_for": [80]}, TypeError, r"compile_for is a list of strings, not \[80\]"),
    ({"compile_for": []}, ValueError, "nothing to compile for"),
    ({"compile_for": ["sm_90"]}, ValueError, "unknown target 'sm_90'.*did you mean 'sm_90a'?"),
    ({"profile": 1}, TypeError, "profile is True or False, not 1"),
    ({"cache": "no"}, TypeError, "cache is True or False, not 'no'"),
    ({"f32": None}, TypeError, "f32 is a string, not None"),
    ({"f32": "tf33"}, ValueError, "products of f32 are 3xtf32 or tf32, not 'tf33'"),
    ({"target": 3}, TypeError, "target is a string, not 3"),
    ({"target": "B200"}, ValueError, "cannot be compiled for B200 .*tcgen05, have no lowering"),
    ({"compile_for": ["sm_100a"]}, ValueError, "cannot be compiled for B200 .*have no lowering"),
    ({"target": "h200"}, ValueError, "unknown target 'h200'.*did you mean 'H200'?"),
]


@pytest.mark.parametrize(("options", "error", "message"), REJECTED)
def test_options_that_are_none(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    graph = mi.new_kernel_graph()
    graph.mark_output(graph.exp(graph.new_input((4, 4))))
    with pytest.raises(error, match=message):
        graph.superoptimize(**options)


def test_files_that_are_no_programs(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"f\.mlir is not UTF-8 text"):
        mi.superoptimize_file(path)
    compile_file: Any = mi.compile_file
    path.write_text("func.func @f() { func.return }")
    with pytest.raises(TypeError, match="compile_for is a list"):
        compile_file(path, compile_for="sm_80")
    with pytest.raises(TypeError, match="pack is True or False, not 1"):
        compile_file(path, pack=1)


def test_what_is_no_graph() -> None:
    superoptimize: Any = mi.superoptimize
    with pytest.raises(TypeError, match="superoptimize takes a graph, not int"):
        superoptimize(3)


def test_what_mirage_has() -> None:
    """Its keywords and names, each with what is there instead."""
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 8), strides=(8, 1), dtype=mi.float32)
    message = (
        r"strides \(1, 4\) are not those of a dense tensor of dims \(4, 8\), \(8, 1\): declare"
    )
    with pytest.raises(ValueError, match=message):
        graph.new_input(dims=(4, 8), strides=(1, 4))
    graph.mark_output(x + 1)
    kernel = graph.superoptimize()
    with pytest.raises(TypeError, match="takes no keyword 'stream': kernels run on the current"):
        kernel(np.ones((4, 8), np.float32), stream=0)
    with pytest.raises(TypeError, match="takes no keyword 'x': there are inputs, out and copy"):
        kernel(x=np.ones((4, 8), np.float32))
    package: Any = mi
    with pytest.raises(AttributeError, match="'set_gpu_device_id': kernels run on the device of"):
        package.set_gpu_device_id(0)


def test_operands_that_are_no_tensors() -> None:
    graph = mi.new_kernel_graph("f")
    x, y = (graph.new_input(dims=(8,), dtype=mi.float32) for _ in range(2))
    equal: Any = x == y
    with pytest.raises(TypeError, match=r"not bool: == and != compare objects, and graph\.compare"):
        graph.where(equal, x, y)
    with pytest.raises(ValueError, match="T swaps the last two dimensions, and <Tensor 8xf32> has"):
        _ = x.T
