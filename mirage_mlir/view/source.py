"""What is to be seen of a file: its functions, and what became of each; programs are searched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.explain import ChosenFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import function_named, functions, parse_program
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.equivalence.parts import Pairs
from mirage_mlir.runtime.artifact import MODELLED, Artifact, TargetCode


@dataclass(frozen=True)
class SeenResult:
    """The uGraph of a function for one chip."""

    chip: str
    function: func.FuncOp
    kernel_names: tuple[str, ...]
    verdict: str
    facts: Mapping[str, str]
    chosen: ChosenFunction | None = None
    """Why it was taken, where a search has just been made."""
    pairs: Pairs = ()
    """Numbers of values of the program and of `function` that are equal, kernel by kernel."""


@dataclass(frozen=True)
class Seen:
    """A function as it was written, and its results."""

    name: str
    written: func.FuncOp
    results: tuple[SeenResult, ...] = ()


def is_program(function: func.FuncOp) -> bool:
    """Whether a function has operators on tensors, and no kernel yet."""
    ops = list(function.body.block.ops)
    return any(op.name.startswith("kernel.") for op in ops) and not any(
        isinstance(op, kernel.GraphDefinedOp) for op in ops
    )


def seen_in_text(
    text: str, name: str, options: Options, *, search: bool, only: str | None = None
) -> list[Seen]:
    """
    The functions of a program.

    Args:
        text: the program.
        name: what diagnostics call its file.
        options: how to search.
        search: whether programs without kernels are searched.
        only: the function to show; all unless given.

    Raises:
        ValueError: there is no function `only`, or none at all.
        DiagnosticException: the text is no program, or a search fails; the message says where.
    """
    module = parse_program(text, name)
    wanted = [function_named(module, only)] if only is not None else functions(module)
    if not wanted:
        raise ValueError("the program has no function with a body")
    return [_seen(module, function, options, search=search) for function in wanted]


def _seen(module: ModuleOp, function: func.FuncOp, options: Options, *, search: bool) -> Seen:
    name = function.sym_name.data
    if not (search and is_program(function)):
        return Seen(name, function)
    return seen_of(function, superoptimize_function(module, name, options))


def seen_of(function: func.FuncOp, found: Superoptimized) -> Seen:
    """A program beside what was found for it."""
    results = [
        SeenResult(
            chip=chip,
            function=offer.function,
            kernel_names=tuple(each.title for each in found.explanations[chip].kernels),
            verdict=_status(found.artifact, chip),
            facts=_verification(found.artifact, chip),
            chosen=found.explanations[chip],
            pairs=offer.pairs,
        )
        for chip, offer in found.offers.items()
    ]
    return Seen(function.sym_name.data, function, tuple(results))


def _status(artifact: Artifact, chip: str) -> str:
    fields = cast(Mapping[str, object], artifact.verification.get(chip, {}))
    return str(fields.get("status", "not compared"))


def _verification(artifact: Artifact, chip: str) -> dict[str, str]:
    fields = cast(Mapping[str, object], artifact.verification.get(chip, {}))
    arguments = cast(Sequence[str], fields.get("arguments", ()))
    shown = {"verification": _status(artifact, chip), "by": " and ".join(arguments)}
    return {key: value for key, value in shown.items() if value}


def seen_in_artifact(artifact: Artifact) -> list[Seen]:
    """The program of an artifact and the uGraph of each chip that it has code for."""
    written = function_named(parse_program(artifact.program, "program.mlir"), artifact.name)
    return [Seen(artifact.name, written, tuple(_of_artifact(artifact)))]


def _of_artifact(artifact: Artifact) -> Iterator[SeenResult]:
    for code in artifact.targets:
        (function,) = functions(parse_program(code.ugraph, f"{code.target}.ugraph.mlir"))
        yield SeenResult(
            chip=code.target,
            function=function,
            kernel_names=tuple(launch.kernel for launch in code.launches),
            verdict=_status(artifact, code.target),
            facts={**_verification(artifact, code.target), **_resources(code)},
        )


def _resources(code: TargetCode) -> dict[str, str]:
    facts = {name.replace("_", " "): str(value) for name, value in code.resources.items()}
    if (picoseconds := code.resources.get(MODELLED)) is not None:
        del facts[MODELLED.replace("_", " ")]
        facts["modelled"] = f"{picoseconds / 1e6:.2f} us"
    return facts
