"""Random programs on square matrices, small enough for brute force."""

from random import Random

from audited_programs import MATMULS, SQUARE, Subject
from residue_tiles import SIZE

from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind

KINDS = ("add", "sub", "mul", "mul", "div", "matmul", "matmul", "exp", "sum_columns", "sum_rows")

LOOPED = {
    "matmul": MATMULS[1:],
    "sum_columns": ("sum_accumulate",),
    "sum_rows": ("rows_accumulate",),
}
"""Chains with an accumulator that go with an operator."""


class RandomProgram:
    """One program; `operators` are those of it. Every value is used."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.builder = ProgramBuilder()
        inputs = [self.builder.input(SQUARE) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.3:
            inputs.append(self.builder.input((1, SIZE)))
        self.values = inputs
        self.used: set[int] = set()
        self.operators: dict[str, None] = {}
        wanted = self.random.randint(2, 3)
        while len(self.operators) < wanted or self._unused() > 1:
            self._add(self.random.choice(KINDS))
        self.builder.output(self.values[-1])

    def _unused(self) -> int:
        return sum(1 for value in self.values if value not in self.used)

    def _operand(self) -> int:
        fresh = [value for value in self.values if value not in self.used]
        return self.random.choice(fresh if fresh and self.random.random() < 0.7 else self.values)

    def _add(self, kind: str) -> None:
        x, y = self._operand(), self._operand()
        (rows, columns), other = self.builder.shape(x), self.builder.shape(y)
        binary = kind in ("add", "sub", "mul", "div")
        fits = all(a == b or 1 in (a, b) for a, b in zip((rows, columns), other, strict=True))
        if binary and (x == y or not fits):
            return
        match kind:
            case "matmul":
                if columns == 1 or columns != other[0]:
                    return
                value = self.builder.matmul(x, y)
            case "exp":
                value = self.builder.function(Function("exp"), x)
            case "sum_columns" | "sum_rows":
                dim = int(kind == "sum_columns")
                if (rows, columns)[dim] == 1:
                    return
                value = self.builder.reduce(Kind.REDUCE_SUM, x, (dim,))
            case _:
                value = self.builder.binary(Kind(kind), x, y)
        self.used |= {x, y} if binary or kind == "matmul" else {x}
        self.values.append(value)
        self.operators[kind] = None


def subject(seed: int, most: int) -> Subject:
    """A random program with the operators that it has, and those that a loop needs."""
    operators = [*RandomProgram(seed).operators]
    further = [name for kind in operators for name in LOOPED.get(kind, ())]
    return Subject(lambda: RandomProgram(seed).builder, (*operators, "accumulate", *further), most)
