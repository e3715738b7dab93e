"""
The three ways to name passes on the command line, all read into a list of requests.

    --superoptimize="target=sm_90a time-limit=10"                        (as mlir-opt)
    --pass-pipeline='builtin.module(superoptimize{target=sm_90a},cse)'   (as mlir-opt)
    -p 'superoptimize{target=sm_90a},cse'                                (as xdsl-opt)
"""

import re

from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from mirage_mlir.pass_options import Request, Words
from mirage_mlir.tool.usage import UsageError

ANCHOR = "builtin.module"
"""The operation that every pass of ours and of xDSL's runs on."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_BARE_VALUE = re.compile(r"[^\s,{}'\"]+")
_SPACE = re.compile(r"\s*")


class _Reader:
    """A cursor over the text of a pipeline."""

    def __init__(self, text: str, what: str):
        self.text = text
        self.what = what
        self.at = 0

    def fail(self, message: str) -> UsageError:
        return UsageError(f"{self.what}: {message} at column {self.at + 1} of '{self.text}'")

    def take(self, pattern: re.Pattern[str]) -> str:
        """What `pattern` matches here, which may be nothing."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def skip_space(self) -> None:
        self.take(_SPACE)

    def accept(self, char: str) -> bool:
        if self.text.startswith(char, self.at):
            self.at += len(char)
            return True
        return False

    def expect(self, char: str) -> None:
        if not self.accept(char):
            raise self.fail(f"expected '{char}'")

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)


def _read_value(reader: _Reader) -> str:
    """One value: bare, in quotes, or in braces, which may nest."""
    for quote in "'\"":
        if reader.accept(quote):
            end = reader.text.find(quote, reader.at)
            if end < 0:
                raise reader.fail(f"missing closing {quote}")
            value = reader.text[reader.at : end]
            reader.at = end + 1
            return value
    if reader.accept("{"):
        return _read_braced(reader)
    value = reader.take(_BARE_VALUE)
    if not value:
        raise reader.fail("expected a value")
    return value


def _read_braced(reader: _Reader) -> str:
    start, depth = reader.at, 1
    while depth:
        if reader.done:
            raise reader.fail("missing closing }")
        depth += {"{": 1, "}": -1}.get(reader.text[reader.at], 0)
        reader.at += 1
    return reader.text[start : reader.at - 1]


def _read_options(reader: _Reader, end: str) -> dict[str, Words]:
    """`key=value key=value,value key`, up to `end` (not read), or to the end of the text."""
    options: dict[str, Words] = {}
    reader.skip_space()
    while not reader.done and not (end and reader.text.startswith(end, reader.at)):
        name = reader.take(_NAME)
        if not name:
            raise reader.fail("expected the name of an option")
        if name in options:
            raise reader.fail(f"option '{name}' is given twice")
        words: list[str] = []
        if reader.accept("="):
            words.append(_read_value(reader))
            while reader.accept(","):
                words.append(_read_value(reader))
        options[name] = tuple(words)
        reader.skip_space()
    return options


def parse_flag(name: str, options: str | None) -> Request:
    """The request that `--name=options` makes."""
    if options is None:
        return Request(name)
    reader = _Reader(options, f"--{name}")
    braced = reader.accept("{")
    request = Request(name, _read_options(reader, "}" if braced else ""))
    if braced:
        reader.expect("}")
    if not reader.done:
        raise reader.fail("expected the end")
    return request


def _read_pass(reader: _Reader) -> Request:
    reader.skip_space()
    name = reader.take(_NAME)
    if not name:
        raise reader.fail("expected the name of a pass")
    if reader.text.startswith("(", reader.at):
        raise reader.fail(f"passes run on {ANCHOR}, none can be nested in '{name}',")
    options: dict[str, Words] = {}
    if reader.accept("{"):
        options = _read_options(reader, "}")
        reader.expect("}")
    reader.skip_space()
    return Request(name, options)


def parse_pass_pipeline(text: str) -> list[Request]:
    """The requests of `--pass-pipeline=text`."""
    reader = _Reader(text.strip(), "--pass-pipeline")
    if not reader.accept(ANCHOR):
        raise reader.fail(f"expected '{ANCHOR}(...)'")
    reader.skip_space()
    reader.expect("(")
    reader.skip_space()
    requests: list[Request] = []
    if not reader.accept(")"):
        requests.append(_read_pass(reader))
        while reader.accept(","):
            requests.append(_read_pass(reader))
        reader.expect(")")
    if not reader.done:
        raise reader.fail("expected the end")
    return requests


def parse_xdsl_passes(text: str) -> list[Request]:
    """The requests of `-p text`, in xDSL's own grammar."""
    try:
        return [
            Request(
                spec.name,
                {name: tuple(map(_word, spec.parameters[name])) for name in spec.parameters},
            )
            for spec in parse_pipeline(text)
        ]
    except ArgSpecParseError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise UsageError(f"-p: {reason} in '{text}'") from error


def _word(value: str | bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
