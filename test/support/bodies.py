"""Small functions of kernel operators, from text that leaves out what goes without saying."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import EquivalenceReport, check_equivalence


def programs(inputs: str, result: str, *bodies: str) -> list[FuncOp]:
    """
    Functions of arguments %0, %1, ... that return %r (or %r0, %r1, ... of several results).

    A line of a body is an operator of the kernel dialect with its types as shapes, of f32 unless
    they say otherwise: `%s = add %0, %1 : 4x8 1x8:f16 -> 4x8`. All other lines are MLIR.
    """
    arguments = ", ".join(f"%{i}: {tensor(shape)}" for i, shape in enumerate(inputs.split()))
    types = ", ".join(map(tensor, result.split()))
    several = range(len(result.split()))
    names = ", ".join(f"%r{i}" for i in several) if len(several) > 1 else "%r"
    text = "".join(
        f"func.func @f{number}({arguments}) -> ({types}) {{\n"
        + "\n".join(map(_operator, body.strip().splitlines()))
        + f"\nfunc.return {names} : {types}\n}}\n"
        for number, body in enumerate(bodies)
    )
    return functions(parse_program(text, "test"))


def compare(inputs: str, result: str, *bodies: str, seed: int = 0) -> EquivalenceReport:
    """What is said of two functions."""
    reference, candidate = programs(inputs, result, *bodies)
    return check_equivalence(reference, candidate, seed=seed)


def tensor(shape: str) -> str:
    """A type: `4x8` is one of f32, `4x8:f16` is not."""
    shape, _, element_type = shape.partition(":")
    return f"tensor<{shape}x{element_type or 'f32'}>"


def tile(shape: str) -> str:
    """The same of a tile."""
    return tensor(shape).replace("tensor", "!threadblock.tile")


def slice_of(offsets: str, sizes: str, strides: str = "") -> str:
    """The attributes of a slice, numbers parted by blanks."""
    strides = strides or " ".join("1" for _ in sizes.split())
    parts = zip(("offsets", "sizes", "strides"), (offsets, sizes, strides), strict=True)
    texts = [f"{name} = array<i64: {', '.join(numbers.split())}>" for name, numbers in parts]
    return "{" + ", ".join(texts) + "}"


def _operator(line: str) -> str:
    line = line.strip()
    head, _, types = line.rpartition(" : ")
    operands, arrow, result = types.rpartition("-> ")
    name, equals, rest = head.partition(" = ")
    if not equals or "<" in types or "kernel." in rest or "threadblock." in rest:
        return line
    head = f"{name} = kernel.{rest}"
    if not arrow:
        return f"{head} : {tensor(result)}"
    return f"{head} : ({', '.join(map(tensor, operands.split()))}) -> {tensor(result)}"


def graph(inputs: str, result: str, head: str, body: str) -> str:
    """
    A body of one graph over blocks of a function of such arguments.

    A line of `body` is an operator on tiles, of arguments %a0, %a1, ...: of shapes of f32 as above,
    `T4x8` being that of a tensor.
    """
    shapes = inputs.split()
    types = ", ".join(map(tensor, shapes))
    names = ", ".join(f"%{i}" for i in range(len(shapes)))
    block = ", ".join(f"%a{i}: {tensor(shape)}" for i, shape in enumerate(shapes))
    lines = "\n".join(map(_tile_operator, body.strip().splitlines()))
    outputs = ", ".join(map(tensor, result.split()))
    return (
        f"%r = kernel.graph_defined ins({names}) {head} {{\n^bb0({block}):\n{lines}\n"
        f"}} : ({types}) -> {outputs}"
    )


def _tile_operator(line: str) -> str:
    head, _, types = line.strip().rpartition(" : ")
    name, equals, rest = head.partition(" = ")
    if not equals or head.startswith("store"):
        return f"threadblock.{head} : {_tile(types)}"
    operands, arrow, result = types.rpartition("-> ")
    if not arrow:
        return f"{name} = threadblock.{rest} : {_tile(result)}"
    return (
        f"{name} = threadblock.{rest} : ({', '.join(map(_tile, operands.split()))}) "
        f"-> {_tile(result)}"
    )


def _tile(shape: str) -> str:
    return tensor(shape[1:]) if shape.startswith("T") else tile(shape)
