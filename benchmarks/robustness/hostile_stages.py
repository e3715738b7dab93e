"""
Programs between passes: changed so that they still parse, and put through what is left.

What a pass writes down for those after it is text like everything else, which anybody may edit.
"""

import re
from functools import cache
from io import StringIO
from random import Random

from hostile_case import Case, pipeline, program_case
from hostile_texts import corpus
from xdsl.printer import Printer

from mirage_mlir.driver.source import compiler_context, parse_program
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline

PROGRAMS = (
    """func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %z = kernel.matmul %y, %w : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %z : tensor<16x32xf16>
}""",
    """func.func @f(%x: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %y : tensor<8x256xf32>
}""",
    """func.func @f(%x: tensor<128x256xf16>, %w: tensor<256x512xf16> {kernel.constant},
    %v: tensor<512x64xf16>) -> tensor<128x64xf16> {
  %y = kernel.matmul %x, %w
    : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
  %z = kernel.gelu %y : (tensor<128x512xf16>) -> tensor<128x512xf16>
  %o = kernel.matmul %z, %v
    : (tensor<128x512xf16>, tensor<512x64xf16>) -> tensor<128x64xf16>
  func.return %o : tensor<128x64xf16>
}""",
    """func.func @f(%q: tensor<16x64xf16>, %k: tensor<64x1024xf16>, %v: tensor<1024x64xf16>)
    -> tensor<16x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<16x64xf16>, tensor<64x1024xf16>) -> tensor<16x1024xf16>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<16x1024xf16>) -> tensor<16x1024xf16>
  %o = kernel.matmul %p, %v : (tensor<16x1024xf16>, tensor<1024x64xf16>) -> tensor<16x64xf16>
  func.return %o : tensor<16x64xf16>
}""",
    """func.func @f(%x: tensor<4x6xbf16>, %y: tensor<5x6xbf16>) -> tensor<6x9xbf16> {
  %c = kernel.concat %x, %y {dim = 0 : i64}
    : (tensor<4x6xbf16>, tensor<5x6xbf16>) -> tensor<9x6xbf16>
  %t = kernel.transpose %c {permutation = array<i64: 1, 0>}
    : (tensor<9x6xbf16>) -> tensor<6x9xbf16>
  %e = kernel.exp %t : (tensor<6x9xbf16>) -> tensor<6x9xbf16>
  func.return %e : tensor<6x9xbf16>
}""",
)

TARGETS = ("sm_90a", "sm_80")

PASSES = tuple(each.name for each in lowering_passes("H200"))

WITHOUT_TARGET = ("sink-reductions", "fuse-thread-graphs")


@cache
def stages(program: int, target: str) -> tuple[str, ...]:
    """A program as text: superoptimized, and after each pass of the lowering."""
    context = compiler_context()
    module = parse_program(PROGRAMS[program], "f.mlir")
    SuperoptimizePipeline(target=target).apply(context, module)
    texts: list[str] = []
    for each in (None, *lowering_passes(target)):
        if each is not None:
            each.apply(context, module)
        stream = StringIO()
        Printer(stream=stream, print_generic_format=False).print_op(module)
        texts.append(stream.getvalue())
    return tuple(texts)


def stage_case(random: Random) -> Case:
    """One to three changes between two passes, and those that follow."""
    target = random.choice(TARGETS)
    texts = stages(random.randrange(len(PROGRAMS)), target)
    stage = random.randrange(len(texts))
    text = texts[stage]
    for _ in range(random.choice((1, 1, 2))):
        text = edited(random, text)
    words = [
        f"--{name}" if name in WITHOUT_TARGET else f"--{name}=target={target}"
        for name in PASSES[stage:]
    ]
    if stage == len(texts) - 1 and random.random() < 0.5:
        words.append("--check-lowered-kernels")
    return program_case(text, (*words, *random.choice(((), ("-t", "ptx"), ("-t", "nvvm")))))


def edited(random: Random, text: str) -> str:
    """One change, after which most texts still parse."""
    changes = (_size, _number, _number, _number, _attribute, _attribute, _lines, _operation)
    return random.choice((*changes, _operation, _type, _operand))(random, text)


def _replaced(text: str, match: re.Match[str], new: str) -> str:
    return f"{text[: match.start()]}{new}{text[match.end() :]}"


def _other_number(random: Random, value: int) -> int:
    near = (value + 1, value - 1, 2 * value, value // 2, 3 * value, value + 16)
    return random.choice((*near, *near, 0, -1, 1, 7, 2**20, 2**31, 2**40, 2**62))


def _size(random: Random, text: str) -> str:
    """One size everywhere."""
    sizes = sorted(set(re.findall(r"(?<=[<x])[0-9]+(?=x)", text)))
    if not sizes:
        return text
    old = random.choice(sizes)
    new = str(max(1, _other_number(random, int(old))))
    return re.sub(rf"(?<=[<x]){old}(?=x)", new, text)


def _number(random: Random, text: str) -> str:
    """One number that is no part of a name or a shape."""
    numbers = list(re.finditer(r"(?<![\w.x%<#])-?[0-9]+(?![\w.x])", text))
    if not numbers:
        return text
    match = random.choice(numbers)
    return _replaced(text, match, str(_other_number(random, int(match.group()))))


def _attribute(random: Random, text: str) -> str:
    """One attribute left out, or with the value of another."""
    found = list(re.finditer(r"[a-z_.]+ = (?:array<[^>]*>|#[\w.]+<[^>]*>|[^,{}<>]+)", text))
    if not found:
        return text
    match, other = random.choice(found), random.choice(found)
    name = match.group().partition(" = ")[0]
    value = other.group().partition(" = ")[2]
    new = random.choice((f"{name} = {value}", f"{name} = {value}", "x.y = 1", f"{name} = 1 : i64"))
    return _replaced(text, match, new)


def _lines(random: Random, text: str) -> str:
    """A line and the next exchanged, or one less."""
    lines = text.splitlines()
    one = random.randrange(len(lines) - 1)
    if random.random() < 0.6:
        lines[one], lines[one + 1] = lines[one + 1], lines[one]
    else:
        del lines[one]
    return "\n".join(lines)


ALIKE = (
    "exp log square sqrt rsqrt sigmoid silu relu tanh gelu".split(),
    "add sub mul div max".split(),
    "addf subf mulf divf maximumf maxnumf".split(),
    "addi subi muli divui divsi remui andi ori xori shli shrui".split(),
    "reduce_sum reduce_max reduce_mean".split(),
    "load store".split(),
    "repeat repeat_interleave".split(),
)
"""Operations, without their dialect, that are written in the same way."""


def _operation(random: Random, text: str) -> str:
    """One operation in the place of another that is written in the same way."""
    names = list(re.finditer(r"(?<=\b)(kernel|threadblock|arith|llvm)\.([a-z_0-9]+)\b", text))
    known = [each for each in names if any(each[2] in group for group in ALIKE)]
    if not known:
        return text
    match = random.choice(known)
    group = next(each for each in ALIKE if match[2] in each)
    return _replaced(text, match, f"{match[1]}.{random.choice(group)}")


def _type(random: Random, text: str) -> str:
    """One element type, everywhere or once."""
    old, new = random.sample(("f16", "bf16", "f32"), 2)
    return re.sub(rf"(?<=x){old}\b", new, text, count=random.choice((0, 1)))


def _operand(random: Random, text: str) -> str:
    """One value in the place of another."""
    values = list(re.finditer(r"%\w+", text))
    return _replaced(text, random.choice(values), random.choice(values).group()) if values else text


def consistent_case(random: Random) -> Case:
    """A program of the tests, changed so that it still parses."""
    text = random.choice(corpus())
    for _ in range(random.randint(1, 3)):
        text = edited(random, text)
    return program_case(text, pipeline(random))


def order_case(random: Random) -> Case:
    """A program that is valid, and passes in any order."""
    names = (*PASSES, "superoptimize", "partition-program", "kernel-decompose")
    names += ("algebraic-rewrite", "canonicalize", "cse", "dce", "check-lowered-kernels")
    words = [f"--{random.choice(names)}" for _ in range(random.randint(1, 7))]
    texts = stages(random.randrange(len(PROGRAMS)), random.choice(TARGETS))
    text = random.choice((random.choice(PROGRAMS), random.choice(texts)))
    last = random.choice(((), ("-t", "ptx"), ("-t", "cubin", "-o", "out"), ("--report",)))
    return program_case(text, (*words, *last))
