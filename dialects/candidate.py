"""
Functions that claim to compute what another one does, until `verify-equivalence` has compared them.

    func.func private @f__program(...) { ... }
    func.func @f(...) attributes {kernel.implements = @f__program,
        kernel.candidate = #kernel.candidate<"grid(i) loop(j)", 1.1e-05 : f64, false, []>} { ... }
    func.func @f__candidate_1(...) attributes {kernel.implements = @f__program, ...} { ... }

`@f__program` is the program as its author wrote it: passes leave it alone. `superoptimize` writes
the candidates, the best first; `verify-equivalence` keeps what is equal, and removes the marks and
the program. The lowering refuses a function that is still marked.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.diagnostics import fail, invalid
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.launch import WORKSPACE, WorkspaceAttr
from mirage_mlir.suggestions import suggestion

IMPLEMENTS = "kernel.implements"
"""On a function that is not verified: the function that it claims to compute."""

CANDIDATE = "kernel.candidate"
"""On a function that `superoptimize` found: its description."""

ALTERNATIVE = "kernel.alternative"
"""On a function that is verified, but not the best: its rank and its modelled time."""

UNVERIFIED = "kernel.unverified"
"""On a function that was returned without a proof: the reason."""


@irdl_attr_definition
class CandidateAttr(ParametrizedAttribute):
    """
    `#kernel.candidate<"grid(i) loop(j)", 1.1e-05 : f64, false, [array<i64: 4, 7>]>`.

    Its structure, its modelled seconds, whether each operator is a kernel of its own, and, for each
    part of it, pairs of a value of the program and one of the candidate that should be equal.
    Values are numbered: the arguments, then the results of operations in order. Large functions
    are compared part by part along these pairs; a wrong pair makes the comparison fail.
    """

    name = "kernel.candidate"

    structure: StringAttr
    seconds: FloatAttr[Float64Type]
    alone: BoolAttr
    parts: ArrayAttr[DenseArrayBase[I64]]

    @staticmethod
    def of(
        structure: str, seconds: float, *, alone: bool, parts: Sequence[Sequence[int]]
    ) -> "CandidateAttr":
        """The attribute with these facts."""
        arrays = [DenseArrayBase.from_list(i64, part) for part in parts]
        return CandidateAttr(
            StringAttr(structure),
            FloatAttr(seconds, f64),
            BoolAttr.from_bool(alone),
            ArrayAttr(arrays),
        )

    def verify(self) -> None:
        for part in self.parts:
            numbers = part.get_values()
            if len(numbers) % 2 or not numbers or min(numbers) < 0:
                found = ", ".join(map(str, numbers))
                raise VerifyException(f"a part has pairs of numbers of values, not [{found}]")

    @property
    def pairs(self) -> Iterator[Sequence[tuple[int, int]]]:
        """For each part, numbers of values of the program and of the candidate."""
        for part in self.parts:
            numbers = part.get_values()
            yield list(zip(numbers[::2], numbers[1::2], strict=True))


@irdl_attr_definition
class AlternativeAttr(ParametrizedAttribute):
    """`#kernel.alternative<1 : i64, 1.1e-05 : f64>`: its rank and its modelled seconds."""

    name = "kernel.alternative"

    rank: IntegerAttr[I64]
    seconds: FloatAttr[Float64Type]

    def verify(self) -> None:
        if (rank := self.rank.value.data) < 1:
            raise VerifyException(f"the rank of an alternative is at least 1, not {rank}")


@irdl_attr_definition
class UnverifiedAttr(ParametrizedAttribute):
    """`#kernel.unverified<"not proved: ...">`: why nothing shows what a function computes."""

    name = "kernel.unverified"

    reason: StringAttr


def program_of(function: FuncOp) -> str | None:
    """The name of the function that `function` claims to compute; None where it claims nothing."""
    found = function.attributes.get(IMPLEMENTS)
    return found.root_reference.data if isinstance(found, SymbolRefAttr) else None


def candidate_of(function: FuncOp) -> CandidateAttr | None:
    """The search's description of `function`; None if no search wrote it."""
    found = function.attributes.get(CANDIDATE)
    return found if isinstance(found, CandidateAttr) else None


def mark(function: FuncOp, program: str) -> None:
    """Say that `function` claims to compute what the function named `program` does."""
    function.attributes[IMPLEMENTS] = SymbolRefAttr(program)


def describe(function: FuncOp, about: CandidateAttr) -> None:
    """Write the search's description of `function`."""
    function.attributes[CANDIDATE] = about


def mark_alternative(function: FuncOp, rank: int, seconds: float) -> None:
    """Say that `function` is verified, but not the best."""
    function.attributes[ALTERNATIVE] = AlternativeAttr(i64_attr(rank), FloatAttr(seconds, f64))


def mark_unverified(function: FuncOp, reason: str) -> None:
    """Say that `function` was returned though nothing proves it, and why."""
    function.attributes[UNVERIFIED] = UnverifiedAttr(StringAttr(reason))


def unmark(function: FuncOp) -> None:
    """Remove what is said of `function` as a candidate, or as an alternative."""
    for name in (IMPLEMENTS, CANDIDATE, ALTERNATIVE):
        function.attributes.pop(name, None)


def kept_programs(module: ModuleOp) -> dict[str, list[FuncOp]]:
    """The functions that claim to compute each kept program, by the program's name."""
    found: dict[str, list[FuncOp]] = {}
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and (program := program_of(op)) is not None:
            found.setdefault(program, []).append(op)
    return found


def require_verified(module: ModuleOp) -> None:
    """Fail at a function that was found by a search and never compared with its program."""
    for function in [f for found in kept_programs(module).values() for f in found]:
        fail(
            function,
            f"@{function.sym_name.data} is not verified: run verify-equivalence, which compares it "
            f"with @{program_of(function)}",
        )


def verify_candidates(module: ModuleOp) -> None:
    """Raises `InvalidOperation` for attributes of a wrong kind, and for claims about no program."""
    functions = {op.sym_name.data: op for op in module.body.ops if isinstance(op, FuncOp)}
    for function in functions.values():
        _verify_names(function)
        if IMPLEMENTS in function.attributes:
            _verify_claim(function, functions)
        elif CANDIDATE in function.attributes:
            raise invalid(function, f"has {CANDIDATE}, but no {IMPLEMENTS}")


def _verify_names(function: FuncOp) -> None:
    kinds = {
        IMPLEMENTS: SymbolRefAttr,
        CANDIDATE: CandidateAttr,
        ALTERNATIVE: AlternativeAttr,
        UNVERIFIED: UnverifiedAttr,
        WORKSPACE: WorkspaceAttr,
    }
    for name, value in function.attributes.items():
        if not name.startswith("kernel."):
            continue
        if name not in kinds:
            raise invalid(function, f"has no attribute '{name}'{suggestion(name, kinds)}")
        if not isinstance(value, kinds[name]):
            raise invalid(function, f"has a value of another kind for '{name}': {value}")


def _verify_claim(function: FuncOp, functions: dict[str, FuncOp]) -> None:
    found = function.attributes[IMPLEMENTS]
    program = functions.get(program_of(function) or "")
    if program is None or program.is_declaration:
        raise invalid(function, f"claims to compute {found}, of which there is no body")
    if IMPLEMENTS in program.attributes:
        raise invalid(function, f"claims to compute {found}, which is no program itself")
    if program.function_type != function.function_type:
        types = f"{program.function_type}, not {function.function_type}"
        raise invalid(function, f"claims to compute {found}, which has type {types}")
