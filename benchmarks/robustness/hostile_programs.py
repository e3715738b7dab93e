"""Programs of operators with hostile attributes, shapes and surroundings."""

from collections.abc import Sequence
from math import prod
from random import Random

from hostile_case import LOWERING, SEARCH, Case, pipeline, program_case, some

UNARY = ("exp", "log", "square", "sqrt", "rsqrt", "sigmoid", "silu", "relu", "tanh")
BINARY = ("add", "sub", "mul", "div", "max")

PARAMETERS: dict[str, tuple[str, ...]] = {
    "scale": ("factor",),
    "pow": ("exponent",),
    "clamp": ("min", "max"),
    "rms_norm": ("eps",),
    "layer_norm": ("eps",),
    "gelu": ("approximate",),
    "softmax": ("dim",),
    "reduce_sum": ("dims",),
    "reduce_max": ("dims",),
    "reduce_mean": ("dims",),
    "transpose": ("permutation",),
    "repeat": ("dim", "times"),
    "repeat_interleave": ("dim", "times"),
    "slice": ("offsets", "sizes", "strides"),
    "concat": ("dim",),
    "reshape": (),
    "broadcast": (),
    "cast": (),
}
"""The attributes of operators on one tensor."""

SCALARS = (
    *("1.0 : f32", "0.0 : f32", "-0.0 : f32", "-1.0 : f32", "0x7FC00000 : f32"),
    *("0x7F800000 : f32", "0xFF800000 : f32", "3.0e38 : f32", "1.0e-45 : f32", "1.0e39 : f32"),
    *("65505.0 : f32", "0.5 : f32", "100.0 : f32", "2.0 : f64", "2.0", "1 : i64", '"one"'),
)
INTEGERS = (
    *("0 : i64", "1 : i64", "2 : i64", "-1 : i64", "3 : i64", "9223372036854775807 : i64"),
    *("-9223372036854775808 : i64", "1 : i32", "1", "1.0 : f32", "true", "unit", "[1]"),
)
ARRAYS = (
    *("array<i64>", "array<i64: 0>", "array<i64: 1>", "array<i64: 0, 1>", "array<i64: 1, 0>"),
    *("array<i64: 0, 0>", "array<i64: -1, 1>", "array<i64: 2, 2>", "array<i64: 4, 8>"),
    *("array<i64: 9223372036854775807, 1>", "array<i32: 0, 1>", "array<f32: 0.0>", "[0, 1]"),
    *("array<i64: 0, 1, 2, 3>", "0 : i64", "dense<0> : tensor<2xi64>"),
)
STRINGS = ('"none"', '"tanh"', '"Tanh"', '""', '"\\00"', "1 : i64", "unit", "@tanh")

VALUES = {
    **dict.fromkeys(("factor", "exponent", "min", "max", "eps"), SCALARS),
    **dict.fromkeys(("dim", "times"), INTEGERS),
    **dict.fromkeys(("dims", "permutation", "offsets", "sizes", "strides"), ARRAYS),
    "approximate": STRINGS,
}

SIZES = (
    *("1", "1", "2", "3", "4", "7", "8", "64", "127", "1000", "4096", "65537", "1000003"),
    *("2147483647", "4294967296", "1000000000", "1000000000000", "1000000000000000000", "0", "?"),
)
ELEMENTS = ("f16", "f16", "bf16", "f32", "f64", "i32", "index")


def tensor(sizes: Sequence[object], element: str = "f16") -> str:
    """A type."""
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def function(arguments: Sequence[str], body: str, result: str) -> str:
    """A function of tensors `%x0`, `%x1`; `body` makes `%y`."""
    named = ", ".join(f"%x{number}: {kind}" for number, kind in enumerate(arguments))
    head = f"func.func @f({named}) -> {result}"
    return f"{head} {{\n  {body}\n  func.return %y : {result}\n}}\n"


def attribute_case(random: Random) -> Case:
    """One operator with attributes that have any value, are missing, or are misspelt."""
    name = random.choice([*PARAMETERS])
    known = PARAMETERS[name]
    attributes = {each: random.choice(VALUES[each]) for each in known if random.random() < 0.95}
    if random.random() < 0.15:
        attributes[random.choice(("epss", "dimm", "approx", "layout", "x.y"))] = "1 : i64"
    if known and random.random() < 0.05:
        attributes[known[0]] = random.choice((*SCALARS, *INTEGERS, *ARRAYS, *STRINGS))
    text = ", ".join(f"{each} = {value}" for each, value in attributes.items())
    shape = (4, 8)
    kind = tensor(shape)
    result = tensor(random.choice((shape, (4, 1), (1, 8), (8, 4), (8, 8), (4, 16), (32,))))
    if random.random() < 0.5:
        body = f'%y = "kernel.{name}"(%x0) <{{{text}}}> : ({kind}) -> {result}'
    else:
        body = f"%y = kernel.{name} %x0 {{{text}}} : ({kind}) -> {result}"
    return program_case(function([kind], body, result), pipeline(random))


def shape_case(random: Random) -> Case:
    """Operators on tensors of any shape, mostly such as fit each other."""
    sizes = [random.choice(SIZES) for _ in range(random.choice((0, 1, 1, 2, 2, 2, 3, 4, 9, 40)))]
    element = random.choice(ELEMENTS)
    kind = tensor(sizes, element)
    make = random.choice((_elementwise, _binary, _softmax, _reduction, _matmul, _reshape))
    return program_case(make(random, sizes, element, kind), (SEARCH, *_after(random)))


def _after(random: Random) -> tuple[str, ...]:
    return random.choice(((), (), ("--report",), ("-v",), LOWERING, ("-t", "nvvm")))


def _elementwise(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    steps = some(random, UNARY, 4)
    lines = [
        f"%v{number + 1} = kernel.{name} %v{number} : ({kind}) -> {kind}"
        for number, name in enumerate(steps)
    ]
    body = "\n  ".join(lines).replace("%v0 ", "%x0 ").replace(f"%v{len(steps)} ", "%y ")
    return function([kind], body, kind)


def _binary(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    other = [size if random.random() < 0.7 else "1" for size in sizes][random.randint(0, 1) :]
    second = tensor(other, element)
    body = f"%y = kernel.{random.choice(BINARY)} %x0, %x1 : ({kind}, {second}) -> {kind}"
    return function([kind, second], body, kind)


def _softmax(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    dim = random.randint(0, max(0, len(sizes) - 1))
    body = f"%y = kernel.softmax %x0 {{dim = {dim} : i64}} : ({kind}) -> {kind}"
    return function([kind], body, kind)


def _reduction(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    dims = [dim for dim in range(len(sizes)) if random.random() < 0.5]
    left = tensor(["1" if dim in dims else size for dim, size in enumerate(sizes)], element)
    listed = ", ".join(map(str, dims))
    name = random.choice(("reduce_sum", "reduce_max", "reduce_mean"))
    body = f"%y = kernel.{name} %x0 {{dims = array<i64: {listed}>}} : ({kind}) -> {left}"
    return function([kind], body.replace("<i64: >", "<i64>"), left)


def _matmul(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    rows, inner, columns = (random.choice(SIZES) for _ in range(3))
    batch = list(sizes[:2]) if random.random() < 0.3 else []
    kinds = [tensor([*batch, *pair], element) for pair in ((rows, inner), (inner, columns))]
    result = tensor([*batch, rows, columns], element)
    body = f"%y = kernel.matmul %x0, %x1 : ({', '.join(kinds)}) -> {result}"
    return function(kinds, body, result)


def _reshape(random: Random, sizes: Sequence[str], element: str, kind: str) -> str:
    total = prod(int(size) for size in sizes if size.isdecimal())
    result = tensor(random.choice(([total], ["1", total, "1"], [*reversed(sizes)])), element)
    body = f"%v = kernel.reshape %x0 : ({kind}) -> {result}\n  "
    body += f"%y = kernel.relu %v : ({result}) -> {result}"
    return function([kind], body, result)


KERNEL = """func.func @k{n}(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {{
  %y = kernel.{name} %x : (tensor<16x16xf16>) -> tensor<16x16xf16>
  func.return %y : tensor<16x16xf16>
}}
"""

BESIDE = (
    "func.func private @declared(%i: i32) -> i32\n",
    "func.func private @tensors(tensor<16x16xf16>) -> tensor<16x16xf16>\n",
    "func.func @scalar(%i: i32, %r: f32) -> i32 { func.return %i : i32 }\n",
    "func.func @nothing() { func.return }\n",
    "func.func @identity(%x: tensor<4xf16>) -> tensor<4xf16> { func.return %x : tensor<4xf16> }\n",
    "func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> { func.return %x : tensor<4xi32> }\n",
    "func.func @mixed(%x: tensor<4xf16>, %i: index) -> (index, tensor<4xf16>) {\n"
    "  %y = kernel.relu %x : (tensor<4xf16>) -> tensor<4xf16>\n"
    "  func.return %i, %y : index, tensor<4xf16>\n}\n",
    "func.func @calls(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {\n"
    "  %y = func.call @k0(%x) : (tensor<16x16xf16>) -> tensor<16x16xf16>\n"
    "  func.return %y : tensor<16x16xf16>\n}\n",
    "func.func private @loops(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {\n"
    "  %y = func.call @loops(%x) : (tensor<16x16xf16>) -> tensor<16x16xf16>\n"
    "  func.return %y : tensor<16x16xf16>\n}\n",
    "func.func @dead(%x: tensor<16x16xf16>) {\n"
    "  %y = kernel.exp %x : (tensor<16x16xf16>) -> tensor<16x16xf16>\n  func.return\n}\n",
    "func.func @twice(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {\n"
    "  %y = kernel.exp %x : (tensor<4xf16>) -> tensor<4xf16>\n"
    "  func.return %y, %y : tensor<4xf16>, tensor<4xf16>\n}\n",
    "func.func @blocks(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
    "  cf.br ^a(%x : tensor<4xf16>)\n^a(%y: tensor<4xf16>):\n  func.return %y : tensor<4xf16>\n}\n",
    "func.func @branches(%x: tensor<4xf16>, %c: i1) -> tensor<4xf16> {\n"
    "  %y = scf.if %c -> (tensor<4xf16>) {\n"
    "    %z = kernel.exp %x : (tensor<4xf16>) -> tensor<4xf16>\n"
    "    scf.yield %z : tensor<4xf16>\n  } else {\n    scf.yield %x : tensor<4xf16>\n  }\n"
    "  func.return %y : tensor<4xf16>\n}\n",
    "builtin.module @inner {\n  func.func private @hidden()\n}\n",
    '%stray = "test.op"() : () -> tensor<4xf16>\n',
    "gpu.module @device {\n}\n",
)

NAMES = ("a-b", "\u00e9t\u00e9", "1", "", "a b", "../../x", "a\\00b", "x" * 300, "%x", "llvm.trap")


def surroundings_case(random: Random) -> Case:
    """Functions of kernels beside others, some with odd names."""
    parts = [
        KERNEL.format(n=number, name=random.choice(UNARY)) for number in range(random.randint(1, 2))
    ]
    parts += some(random, BESIDE, 4) if random.random() < 0.9 else []
    random.shuffle(parts)
    text = "".join(dict.fromkeys(parts))
    if random.random() < 0.4:
        text = text.replace("@k0", f'@"{random.choice(NAMES)}"')
    return program_case(text, pipeline(random))


def chain_case(random: Random) -> Case:
    """Many operators one after the other, or many results."""
    count = random.choice((50, 200, 500))
    kind = tensor((16, 16))
    names = some(random, (*UNARY, *BINARY), 4)
    lines: list[str] = []
    for number in range(count):
        name = names[number % len(names)]
        before = "%x0" if number == 0 or random.random() < 0.02 else f"%v{number - 1}"
        operands = f"{before}, %x1" if name in BINARY else before
        types = ", ".join([kind] * (1 + (name in BINARY)))
        lines.append(f"%v{number} = kernel.{name} {operands} : ({types}) -> {kind}")
    body = "\n  ".join(lines).replace(f"%v{count - 1} ", "%y ")
    return program_case(function([kind, kind], body, kind), (SEARCH,))
