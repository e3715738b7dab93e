"""
Whether the search explains every small graph that brute force finds.

A graph is explained if each of its tiles is a value of the hypergraph of its configuration and each
of its operators an edge there, up to the program's result. A right graph that is not is either
outside the axioms or missed. Outside, some tile is no sub-expression of the program by the axioms
even without indices, so that the paper's search has not got it either: there is no cancellation
(`x * y / y`, `x / (y / z)`, `norm(x / 4)`). An e-graph says so, which knows nothing of normal
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from audited_programs import Subject
from brute_force import BruteForce
from cut_graphs import UNCUT, Found, InputCuts, cuts
from explained_graphs import Explainer, Unexplained
from label_free import LabelFree
from residue_tiles import COMPOSITE, PARTS, SIZE, Tile
from search_programs import in_bf16

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.engine import EXPANDED


class Terms:
    """Tiles as expressions without indices, with the numbers that give their shapes."""

    def __init__(self, brute: BruteForce) -> None:
        self.brute = brute

    def target(self) -> str:
        """The program's result."""
        steps = self.brute.builder.steps
        inputs = iter(range(len(steps)))
        texts: list[str] = []
        for step in steps:
            operands = [texts[operand] for operand in step.operands]
            match step.kind:
                case Kind.INPUT:
                    texts.append(f'(In "x{next(inputs)}")')
                case Kind.CONSTANT:
                    texts.append(_number(step.value))
                case Kind.MATMUL:
                    texts.append(f"(Sum {SIZE} (Mul {operands[0]} {operands[1]}))")
                case Kind.REDUCE_SUM:
                    texts.append(f"(Sum {SIZE ** len(step.reduced)} {operands[0]})")
                case Kind.FUNCTION:
                    assert step.function is not None
                    texts.append(self._one(step.function.name, operands, 1))
                case _:
                    texts.append(self._one(step.kind.value, operands, 1))
        return texts[self.brute.builder.outputs[0].step]

    def tiles(self, cut: InputCuts, found: Found) -> list[str]:
        """All tiles of a graph but the inputs, those inside chains of operators included."""
        tiles = self.brute.tiles(cut)
        texts = [f'(In "x{number}")' for number in range(len(tiles))]
        inside: list[str] = []
        for name, numbers in found.graph:
            operands, names = [tiles[i] for i in numbers], [texts[i] for i in numbers]
            for step in COMPOSITE.get(name, (name,)):
                if step == "accumulate" and not cut.has_loop:
                    continue
                names = [self._one(step, names, _terms(step, operands[0]))]
                inside.append(names[0])
                result = self.brute.numbers.apply(step, operands)
                assert result is not None
                operands = [result]
            tiles.append(operands[0])
            texts.append(names[0])
        return inside

    def _one(self, name: str, operands: Sequence[str], terms: int) -> str:
        first, last = operands[0], operands[-1]
        match name:
            case "add" | "mul" | "div":
                return f"({name.capitalize()} {first} {last})"
            case "sub":
                return f"(Add {first} (Mul {_number(Fraction(-1))} {last}))"
            case "square":
                return f"(Mul {first} {first})"
            case "scale":
                return f"(Mul {first} {_number(self.brute.numbers.scale)})"
            case "matmul" | "sum_rows" | "sum_columns" | "accumulate":
                inside = f"(Mul {first} {last})" if name == "matmul" else first
                return inside if terms == 1 else f"(Sum {terms} {inside})"
            case "silu":
                return f'(Mul {first} (Fn "sigmoid" {first}))'
            case _:
                return f'(Fn "{name}" {first})'


def _number(value: Fraction) -> str:
    return f'(In "{value}")'


def _terms(step: str, operand: Tile) -> int:
    """How many terms a sum has."""
    if step == "accumulate":
        return PARTS
    return operand.shape[0 if step == "sum_rows" else 1]


@dataclass(frozen=True)
class Missed:
    """A right graph that the search should have."""

    cut: InputCuts
    found: Found
    reason: str

    def __str__(self) -> str:
        return f"{self.cut}: {self.found.graph} stored along {self.found.stored}: {self.reason}"


@dataclass
class Outcome:
    """What an audit of one program came to."""

    cuts: int = 0
    complete: int = 0
    """Cuts of which all graphs were enumerated."""
    graphs: int = 0
    """Graphs, not finished ones included, that were looked at."""
    right: int = 0
    """Graphs that compute the program."""
    explained: int = 0
    outside: int = 0
    """Right graphs with a tile that is no part of the program by the axioms without indices."""
    configurations: set[str] = field(default_factory=set[str])
    """Those with right graphs."""
    missed: list[Missed] = field(default_factory=list[Missed])


class Audit:
    """Brute force and the search on one program."""

    def __init__(self, subject: Subject, *, further: bool = False) -> None:
        self.subject = subject
        operators = (*subject.operators, *(subject.further if further else ()))
        self.brute = BruteForce(subject.build(), operators, subject.scale)
        # Brute force knows no rounding: every value may be the operand of a tensor core.
        self.program = in_bf16(resolve(subject.build()))
        self.algebra = Algebra.of(self.program)
        self.configurations = set(one_kernel_configurations(self.program))
        self.outcome = Outcome()
        self.terms = Terms(self.brute)
        self.label_free = LabelFree([self.terms.target()])
        self._explainers: dict[Configuration, list[Explainer]] = {}

    def cuts(self) -> list[InputCuts]:
        """All cuts of the inputs, those first that treat an axis alike wherever it is."""
        return sorted(cuts(self.brute.shapes), key=lambda cut: self.configuration(cut) is None)

    def configuration(self, cut: InputCuts) -> Configuration | None:
        """The configuration of the search that a cut is; None for those that it does not have."""
        grid, loop = _cut_axes(self.program, cut.grid), _cut_axes(self.program, cut.loop)
        if grid is None or loop is None:
            return None
        configuration = Configuration(grid, loop)
        return configuration if configuration in self.configurations else None

    def run(self, cut: InputCuts, most: int, expired: Callable[[], bool] = lambda: False) -> None:
        """Compare all graphs of one cut."""
        outcome = self.outcome
        enumeration = self.brute.enumerate(cut, most, expired)
        outcome.cuts += 1
        outcome.complete += enumeration.complete
        outcome.graphs += enumeration.graphs
        outcome.right += len(enumeration.found)
        for found in enumeration.found:
            reason = self._reason(cut, found)
            if reason is None:
                outcome.explained += 1
                outcome.configurations.add(str(self.configuration(cut)))
            # Tiles come in order: what is made of sub-expressions is one itself or is not.
            elif not all(map(self.label_free.below, self.terms.tiles(cut, found))):
                outcome.outside += 1
            else:
                outcome.missed.append(Missed(cut, found, reason))

    def _reason(self, cut: InputCuts, found: Found) -> str | None:
        """Why a graph is not explained; None if it is."""
        if (configuration := self.configuration(cut)) is None:
            return "the search has no such configuration"
        if configuration not in self._explainers:
            algebras = [self.algebra]
            # As the search does it.
            if configuration.loop and self.algebra.has_products_of_sums:
                algebras.append(Algebra.of(self.program, EXPANDED))
            self._explainers[configuration] = [
                Explainer(algebra, configuration, self.subject.scale) for algebra in algebras
            ]
        reasons: list[str] = []
        for explainer in self._explainers[configuration]:
            try:
                explainer.check(found)
            except Unexplained as error:
                reasons.append(str(error))
            else:
                return None
        return "; ".join(reasons)


def _cut_axes(program: Program, dims: Sequence[int]) -> tuple[str, ...] | None:
    """The axis that is cut, if any; None unless it is one axis, and cut in all inputs with it."""
    pairs = list(zip(program.inputs, dims, strict=True))
    axes = {tensor.axes[dim] for tensor, dim in pairs if dim != UNCUT}
    if not axes:
        return ()
    if len(axes) > 1 or None in axes:
        return None
    (axis,) = axes
    alike = all((dim != UNCUT) == (axis in tensor.axes) for tensor, dim in pairs)
    return (str(axis),) if alike else None
