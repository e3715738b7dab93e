"""
`--verify-diagnostics`: comments say what the compiler must say, and where.

    // expected-error @+1 {{contracts lhs dim 1}}
    %c = kernel.matmul %a, %b : ...

The meaning is that of mlir-opt (`SourceMgrDiagnosticVerifierHandler`): the kinds are error,
warning, remark and note; the place is this line, `@+N`, `@-N`, `@above` and `@below` (the nearest
line without such a comment), or `@unknown`; the text in braces is a part of the message, and
after `-re` the pieces of it within `{{` and `}}` are regular expressions. Each comment stands for
one diagnostic, and each diagnostic needs its comment.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from mirage_mlir.diagnostics import Diagnostic, Severity

_COMMENT = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)

UNKNOWN_LINE = 0


@dataclass
class _Expected:
    severity: Severity
    line: int
    text: str
    pattern: re.Pattern[str]
    written_at: tuple[int, int]
    found: bool = False

    def matches(self, message: str) -> bool:
        return self.pattern.search(" ".join(message.split())) is not None


@dataclass
class ExpectedDiagnostics:
    """The expectations that one chunk states, and what became of them."""

    file: str
    expected: list[_Expected] = field(default_factory=list[_Expected])
    wrong: list[Diagnostic] = field(default_factory=list[Diagnostic])
    """What must be reported: diagnostics that nobody expected, or that did not come."""

    @classmethod
    def of(cls, file: str, text: str, first_line: int = 0) -> "ExpectedDiagnostics":
        """Read the comments in `text`, which starts after `first_line` lines of `file`."""
        result = cls(file)
        last_plain = first_line
        waiting: list[_Expected] = []
        lines = text.split("\n")
        for number, line in enumerate(lines, first_line + 1):
            match = _COMMENT.search(line.rstrip())
            if match is None:
                for expected in waiting:
                    expected.line = number
                waiting = []
                last_plain = number
                continue
            expected = result.read(match, number, last_plain)
            if match["place"] == "below":
                expected.line = first_line + len(lines)
                waiting.append(expected)
        return result

    def read(self, match: re.Match[str], number: int, last_plain: int) -> _Expected:
        """Add the expectation of one comment, which stands on line `number`."""
        place = match["place"] or "+0"
        line = {"unknown": UNKNOWN_LINE, "above": last_plain, "below": number}.get(place)
        expected = _Expected(
            Severity(match["kind"]),
            number + int(place) if line is None else line,
            match["text"],
            self.pattern(match["text"], match["regex"] is not None, (number, match.start() + 1)),
            (number, match.start() + 1),
        )
        self.expected.append(expected)
        return expected

    def pattern(self, text: str, regex: bool, at: tuple[int, int]) -> re.Pattern[str]:
        """A pattern for `text`, in which `{{...}}` are regular expressions if `regex`."""
        if not regex:
            return re.compile(re.escape(text))
        pieces = re.split(r"\{\{(.*?)\}\}", text)
        quoted = [f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(pieces)]
        try:
            return re.compile("".join(quoted))
        except re.error as error:
            message = f"invalid regular expression: {error}"
            self.wrong.append(Diagnostic(Severity.ERROR, message, self.file, *at))
            return re.compile(re.escape(text))

    def see(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Check off what the compiler said."""
        for diagnostic in diagnostics:
            if not self.check_off(diagnostic):
                severity, message = diagnostic.severity, diagnostic.message
                text = f"unexpected {severity}: {message}"
                place = diagnostic.file, diagnostic.line, diagnostic.column
                self.wrong.append(Diagnostic(Severity.ERROR, text, *place))

    def check_off(self, diagnostic: Diagnostic) -> bool:
        for expected in self.expected:
            if (
                not expected.found
                and expected.line == diagnostic.line
                and expected.severity == diagnostic.severity
                and expected.matches(diagnostic.message)
            ):
                expected.found = True
                return True
        return False

    def verdict(self) -> list[Diagnostic]:
        """What was wrong, in all; nothing when exactly the expected diagnostics appeared."""
        missing = [
            Diagnostic(
                Severity.ERROR,
                f'expected {each.severity} "{each.text}" was not produced',
                self.file,
                *each.written_at,
            )
            for each in self.expected
            if not each.found
        ]
        return [*self.wrong, *missing]
