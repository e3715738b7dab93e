"""Programs of the tests with tokens and bytes changed."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from hostile_case import Case, pipeline, program_case

ROOT = Path(__file__).parents[2]

FOLDERS = ("test/workloads", "test/ugraphs", "test/passes", "test/dialects", "test/targets")

LARGEST = 6000
"""Characters of a program that is changed: one of many pieces takes longer than a process has."""

SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@!#^]?[\w$.]+|->|\s+|.', re.DOTALL)

WORDS = (
    *("0", "-1", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551616"),
    *("1000000000", "1000000000000000000", "9" * 40, "0x7FC00000", "0xFF800000", "1.0e39"),
    *("-1.0e-40", "nan", "tensor<0xf16>", "tensor<?xf16>", "tensor<*xf16>", "tensor<f64>"),
    *("tensor<4xi1>", "tensor<1000000000x1000000000xf32>", "!threadblock.tile<0xf16>"),
    *("!threadblock.tile<1099511627776xf32>", "!no.type", "#no.attribute", "no.operation"),
    *("f16", "bf16", "f32", "f64", "i64", "index", "none", "unit", "true", "array<i64>"),
    *("array<i64: -1, -1>", "dense<1> : tensor<4xi8>", "loc(unknown)", "affine_map<(a) -> (a)>"),
    *('"', '"\\', "'", "{", "}", "(", ")", "<", ">", "[", "]", "{-#", "#-}", "//", "/*", "->"),
    *("%", "@", "^", "!", "#", "%0", "%999999", "@f", "^bb0", "...", "\u00e9", "\u0663", "\x00"),
    *("\x0b", "\ufeff", "\u202e", '@""', '@"a-b"', "kernel.graph_defined", "threadblock.store"),
)
"""What is put in the place of a token, besides tokens of other programs."""


@cache
def corpus() -> tuple[str, ...]:
    """The programs of the tests, each by itself, without what lit runs."""
    programs: list[str] = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            text = path.read_text(encoding="utf-8")
            lines = [line for line in text.splitlines() if not line.startswith("// RUN")]
            programs += [each for each in SPLIT.split("\n".join(lines)) if "%" in each]
    return tuple(dict.fromkeys(each for each in programs if len(each) <= LARGEST))


@cache
def tokens_of(text: str) -> tuple[str, ...]:
    """The tokens of a program, spaces too; together they are the program."""
    return tuple(TOKEN.findall(text))


def token_case(random: Random) -> Case:
    """One to four tokens changed."""
    tokens = list(tokens_of(random.choice(corpus())))
    for _ in range(random.randint(1, 4)):
        _change(random, tokens)
    return program_case("".join(tokens), pipeline(random))


def _change(random: Random, tokens: list[str]) -> None:
    places = [place for place, token in enumerate(tokens) if not token.isspace()]
    if not places:
        tokens.append(random.choice(WORDS))
        return
    place, other = random.choice(places), random.choice(places)
    match random.randrange(7):
        case 0:
            del tokens[place]
        case 1:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 2:
            tokens[place] = tokens[other]
        case 3:
            tokens[place] = random.choice(WORDS)
        case 4:
            tokens.insert(place, random.choice(WORDS))
        case 5:
            tokens[place] = random.choice(tokens_of(random.choice(corpus())))
        case _:
            tokens[place] = _number_near(random, tokens[place])


def _number_near(random: Random, token: str) -> str:
    """A number in `token` changed, as an index or a size may be."""
    numbers = list(re.finditer(r"[0-9]+", token))
    if not numbers:
        return token * 2
    found = random.choice(numbers)
    value = int(found.group()) if len(found.group()) < 19 else 1
    changed = random.choice([value + 1, value - 1, 2 * value, value * 1000, 0, -value, 7])
    return f"{token[: found.start()]}{changed}{token[found.end() :]}"


def line_case(random: Random) -> Case:
    """Lines left out, repeated, exchanged, or taken from another program."""
    lines = random.choice(corpus()).splitlines()
    for _ in range(random.randint(1, 3)):
        place, other = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(4):
            case 0:
                lines[place] = ""
            case 1:
                lines.insert(place, lines[other])
            case 2:
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                lines.insert(place, random.choice(random.choice(corpus()).splitlines() or [""]))
    return program_case("\n".join(lines), pipeline(random))


def byte_case(random: Random) -> Case:
    """Bytes changed, put in, left out, or cut off at the end."""
    data = bytearray(random.choice(corpus()).encode())
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        place = random.randrange(len(data) + 1)
        match random.randrange(5):
            case 0:
                data[place : place + 1] = bytes([random.randrange(256)])
            case 1:
                data[place:place] = random.randbytes(random.randint(1, 8))
            case 2:
                del data[place : place + random.randint(1, 40)]
            case 3:
                data[place : place + 1] = _printable(random)
            case _:
                del data[max(place, 1) :]
    return program_case(bytes(data), pipeline(random))


def _printable(random: Random) -> bytes:
    return bytes([random.randrange(32, 127)])


def repeated_case(random: Random) -> Case:
    """One thing very often: open brackets, strings without an end, long names and numbers."""
    parts: Sequence[str] = (
        *("(", "[", "{", "<", '"test.op"() ({', "tensor<", "array<i64: ", '"a', "\\", "%x, "),
        *("module {", "// x\n", "a" * 100, "9" * 100, "%0:", "^bb0:", "loc(", "#", "!a<", "\n"),
    )
    count = random.choice((30, 300, 3000, 100_000))
    start = random.choice(("", "%x = ", '"test.op"() {a = ', "func.func @f(", '"'))
    return program_case(start + random.choice(parts) * count, pipeline(random))
