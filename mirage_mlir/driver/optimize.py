"""From a program to machine code: what the Python interface and `mirage-opt` both call."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.executor import Executor
from mirage_mlir.driver.machine import Machine, this_machine
from mirage_mlir.driver.offers import offers, to_time
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import function_named
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.equivalence.comparison_report import Noted, not_noted
from mirage_mlir.passes.frontend.precision import AS_F32, ask_for
from mirage_mlir.targets.target import target_named

if TYPE_CHECKING:
    from mirage_mlir.driver.profile import Profiler


def optimize(
    module: ModuleOp,
    name: str,
    options: Options,
    machine: Machine | Executor | None = None,
    found: Sequence[Offer] = (),
    noted: Noted = not_noted,
    taken: Mapping[str, Offer] | None = None,
) -> Superoptimized:
    """
    Find, verify and compile the kernels for the function `name` of `module`, which stays as it is.

    Args:
        module: the program.
        name: which of its functions.
        options: what to search and compile for, and whether candidates are timed.
        machine: where candidates are timed; if not given on this machine.
        found: all that was found for the target of the options, the best first, where there has
            been a search.
        noted: takes comparisons of candidates that were timed.
        taken: what was chosen by timing, by chip, where that is done.

    Raises:
        ValueError: there is no such function.
        CudaError: timing is asked for and there is no GPU.
        DiagnosticException: the program cannot be compiled; the message says where and why.
    """
    module = as_asked(module, options)
    if not options.profile:
        searched = {target_named(options.target).chip: found} if found else {}
        return superoptimize_function(module, name, options, found=searched)
    profiler = _profiler(machine, options, noted)
    reference = function_named(module, name)
    if known := taken or profiler.remembered(reference):
        return superoptimize_function(module, name, options, known)
    if not found:
        found = list(offers(reference, options.target, options.effort()))
    return profiler.settle(module, name, to_time(found, options.top_k))


def remembered(
    module: ModuleOp, name: str, options: Options, machine: Machine | Executor | None = None
) -> func.FuncOp | None:
    """
    What `optimize` knows by timing, so that no search is needed; None where it knows nothing.

    Raises as `optimize`.
    """
    if not options.profile:
        return None
    profiler = _profiler(machine, options)
    known = profiler.remembered(function_named(as_asked(module, options), name))
    offer = known.get(profiler.chip)
    return None if offer is None else offer.function


def _profiler(
    machine: Machine | Executor | None, options: Options, noted: Noted = not_noted
) -> "Profiler":
    # Imported here: most compiles time nothing.
    from mirage_mlir.driver.profile import Profiler

    return Profiler(machine or this_machine(options.target), options, noted=noted)


def as_asked(module: ModuleOp, options: Options) -> ModuleOp:
    """`module`, with products of f32 as precise as the options ask for."""
    if options.f32 == AS_F32:
        return module
    module = module.clone()
    ask_for(options.f32, module)
    return module
