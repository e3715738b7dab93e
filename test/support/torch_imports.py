"""Functions of torch as programs of the kernel dialect, which are interpreted."""

from collections.abc import Callable
from typing import Any

import numpy as np
from exact_runs import exact_run
from optional_packages import package
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.function import run_function


def imported(function: Callable[..., Any], *args: Any) -> Any:
    """The `ImportedCall` of a call, the tensors of its inputs, and the function of its graph."""
    package("torch")
    from mirage_mlir.frameworks.torch_program import import_call
    from mirage_mlir.frameworks.torch_trace import TracedFunction, pytree

    program = TracedFunction(function)
    leaves, structure = pytree.tree_flatten((args, {}))
    call = import_call(program, leaves, structure, "program")
    op = call.graph.to_module().body.block.first_op
    assert isinstance(op, FuncOp)
    torch = package("torch")
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    return call, [source.find(tensors, program).detach() for source, _ in call.inputs], op


def interpreted(function: Callable[..., Any], *args: Any, exact: bool = True) -> list[Any]:
    """The results that are computed, as arrays: in float64, or as a GPU rounds."""
    call, inputs, op = imported(function, *args)
    if exact:
        made = exact_run(op, [each.double().numpy() for each in inputs])
    else:
        made = run_function(op, [each.float().numpy() for each in inputs])
    return [made[result.kernel] for result in call.results if result.kernel is not None]


def same(found: Any, wanted: Any) -> bool:
    """Whether an array and a tensor are one, but for constants of a program, which are f32."""
    if found.shape != tuple(wanted.shape):
        return False
    return np.allclose(found, wanted.double(), rtol=2e-6, atol=2e-6, equal_nan=True)


def agrees(function: Callable[..., Any], *args: Any) -> bool:
    """Whether the program computes what torch does, in float64; it returns a list."""
    torch = package("torch")
    double = [each.double() for each in args]
    with torch.no_grad():
        wanted = function(*double)
    pairs = zip(interpreted(function, *args), wanted, strict=True)
    return all(same(*pair) for pair in pairs)
