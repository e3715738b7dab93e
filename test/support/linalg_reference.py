"""
Functions of linalg on tensors, run as the dialects of upstream define them: loop by loop.

It shares nothing with the conversion. Numbers are Python's floats, in f64; booleans and integers
Python's own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from mirage_mlir.diagnostics import name_of
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.function import run_function

Array = Any

OPERATORS: Any = import_module("operator")
"""Of Python, untyped."""


def _same(value: Any) -> Any:
    return value


def _all(names: Sequence[str], function: Any) -> dict[str, Any]:
    return {name: function for name in names}


def _larger(first: float, second: float) -> float:
    return max(first, second)


def _smaller(first: float, second: float) -> float:
    return min(first, second)


def _select(condition: bool, first: Any, second: Any) -> Any:
    return first if condition else second


def _reciprocal_root(value: float) -> float:
    return 1 / math.sqrt(value)


def _multiply_and_add(first: float, second: float, third: float) -> float:
    return first * second + third


SCALARS: Mapping[str, Any] = {
    **_all(("arith.addf", "arith.addi"), OPERATORS.add),
    **_all(("arith.subf", "arith.subi"), OPERATORS.sub),
    **_all(("arith.mulf", "arith.muli"), OPERATORS.mul),
    **_all(("arith.extf", "arith.truncf", "arith.index_cast"), _same),
    **_all(("arith.sitofp", "arith.uitofp"), float),
    **_all(("math.fpowi", "math.powf"), OPERATORS.pow),
    "arith.divf": OPERATORS.truediv,
    "arith.negf": OPERATORS.neg,
    "arith.maximumf": _larger,
    "arith.minimumf": _smaller,
    "arith.andi": OPERATORS.and_,
    "arith.ori": OPERATORS.or_,
    "arith.select": _select,
    "math.absf": OPERATORS.abs,
    "math.erf": math.erf,
    "math.exp": math.exp,
    "math.fma": _multiply_and_add,
    "math.rsqrt": _reciprocal_root,
    "math.sqrt": math.sqrt,
    "math.tanh": math.tanh,
}

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQ": OPERATORS.eq,
    "GT": OPERATORS.gt,
    "GE": OPERATORS.ge,
    "LT": OPERATORS.lt,
    "LE": OPERATORS.le,
    "NE": OPERATORS.ne,
}

FLOAT_ORDER = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE", 6: "NE"}
INTEGER_ORDER = {0: "EQ", 1: "NE", 2: "LT", 3: "LE", 4: "GT", 5: "GE"}


def run(module: ModuleOp, name: str, inputs: list[Array]) -> list[Array]:
    """The results of a function of a module, which may call others."""
    function = next(
        op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data == name
    )
    values: dict[SSAValue, Any] = dict(zip(function.body.block.args, inputs, strict=True))
    for op in function.body.block.ops:
        operands = [values[value] for value in op.operands]
        if op.name == "func.return":
            return operands
        if isinstance(op, CallOp):
            values.update(zip(op.results, _called(module, op, operands), strict=True))
            continue
        values.update(zip(op.results, _results(op, operands, values), strict=True))
    raise AssertionError(f"@{name} does not return")


def _called(module: ModuleOp, call: CallOp, operands: list[Array]) -> list[Array]:
    """What a function of kernel operators gives, in f64 without rounding."""
    function = SymbolTable.lookup_symbol(module, call.callee)
    assert isinstance(function, FuncOp)
    inputs = [np.array(array, np.float64) for array in operands]
    return [*run_function(function, inputs, rounding=False)]


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isa(value.type, TensorType[Attribute])
    return value.type.get_shape()


def _results(op: Operation, operands: list[Any], values: Mapping[SSAValue, Any]) -> list[Any]:
    match name_of(op):
        case "arith.constant":
            return [_constant(op)]
        case "tensor.empty":
            return [np.full(_shape(op.results[0]), np.nan, object)]
        case "tensor.expand_shape" | "tensor.collapse_shape":
            return [operands[0].reshape(_shape(op.results[0]))]
        case "tensor.extract_slice":
            return [operands[0][_slices(op)].reshape(_shape(op.results[0]))]
        case name if name.startswith("linalg."):
            return _loops(op, operands, values)
        case name:
            return [SCALARS[name](*operands)]


def _constant(op: Operation) -> Any:
    value: Any = op.properties["value"]
    if hasattr(value, "get_values"):
        numbers = list(value.get_values())
        return np.array(numbers, object).reshape(-1)[0] * np.ones(_shape(op.results[0]), object)
    return value.value.data


def _integers(op: Operation, name: str) -> list[int]:
    found: Any = op.properties[name]
    return [int(value) for value in found.iter_values()]


def _slices(op: Operation) -> tuple[slice, ...]:
    names = ("static_offsets", "static_sizes", "static_strides")
    places = zip(*(_integers(op, name) for name in names), strict=True)
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in places)


def _written_maps(op: Operation) -> Any:
    return op.properties.get("indexing_maps", op.attributes.get("linalg.memoized_indexing_maps"))


def _maps(op: Operation) -> list[Callable[[tuple[int, ...]], tuple[int, ...]]]:
    found: Any = _written_maps(op)
    if found is not None:
        return [lambda at, each=each: tuple(each.data.eval(list(at), [])) for each in found]
    rank = len(_shape(op.results[0]))
    match name_of(op):
        case "linalg.transpose":
            order = _integers(op, "permutation")
            return [lambda at: tuple(at[order.index(d)] for d in range(rank)), lambda at: at]
        case "linalg.broadcast":
            added = _integers(op, "dimensions")
            return [lambda at: tuple(at[d] for d in range(rank) if d not in added), lambda at: at]
        case "linalg.reduce":
            gone = _integers(op, "dimensions")
            return [
                lambda at: at,
                lambda at: tuple(place for dim, place in enumerate(at) if dim not in gone),
            ]
        case "linalg.fill":
            return [lambda at: (), lambda at: at]
        case _:
            return [lambda at: at] * len(op.operands)


def _loops(op: Operation, operands: list[Any], values: Mapping[SSAValue, Any]) -> list[Any]:
    """All steps of all loops, the innermost last."""
    maps, count = _maps(op), len(op.operands) - len(op.results)
    arrays = [np.array(each, object) for each in operands]
    outputs = [array.copy() for array in arrays[count:]]
    for at in product(*map(range, _sizes(op, arrays, maps))):
        places = [each(at) for each in maps]
        elements = [array[place] for array, place in zip(arrays[:count], places, strict=False)]
        elements += [array[place] for array, place in zip(outputs, places[count:], strict=True)]
        for array, place, value in zip(
            outputs, places[count:], _step(op, elements, at, values), strict=True
        ):
            array[place] = value
    return outputs


def _sizes(op: Operation, arrays: list[Any], maps: list[Any]) -> list[int]:
    """Steps of each loop: what an operand has along the dimension that only that loop moves."""
    known: Any = _written_maps(op)
    if known is None:
        return list(arrays[0 if name_of(op) == "linalg.reduce" else -1].shape)
    count = known.data[0].data.num_dims
    sizes: list[int] = []
    for dim in range(count):
        one = tuple(int(number == dim) for number in range(count))
        zero, every = (0,) * count, (1,) * count
        sizes.append(
            next(
                array.shape[axis]
                for array, each in zip(arrays, maps, strict=True)
                for axis in range(array.ndim)
                if (each(zero)[axis], each(one)[axis], each(every)[axis]) == (0, 1, 1)
            )
        )
    return sizes


def _step(
    op: Operation, elements: list[Any], at: tuple[int, ...], values: Mapping[SSAValue, Any]
) -> list[Any]:
    """What one step writes."""
    block = op.regions[0].block
    known = {**values, **dict(zip(block.args, elements, strict=True))}
    result: Any
    for each in block.ops:
        operands = [known[value] for value in each.operands]
        match each.name:
            case "linalg.yield":
                return operands
            case "linalg.index":
                dim: Any = each.properties["dim"]
                place: int = dim.value.data
                result = at[place]
            case "arith.constant":
                result = _constant(each)
            case "arith.cmpf" | "arith.cmpi":
                predicate: Any = each.properties["predicate"]
                order = FLOAT_ORDER if each.name == "arith.cmpf" else INTEGER_ORDER
                result = COMPARISONS[order[predicate.value.data]](*operands)
            case name:
                function: Callable[..., Any] = SCALARS[name]
                result = function(*operands)
        known[each.results[0]] = result
    raise AssertionError("the body yields nothing")
