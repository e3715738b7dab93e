"""`mirage-opt --explain`: why kernels were chosen, what limits them, what lost; text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod

from mirage_mlir.driver.choose import Choice, TimedCandidate
from mirage_mlir.driver.compile import CompiledFunction, LaunchResources
from mirage_mlir.layouts.layout import WARP_THREADS, ceil_div
from mirage_mlir.passes.analysis.resources import KernelResources
from mirage_mlir.search.multi_kernel.explanation import Contest, KernelExplanation
from mirage_mlir.targets.target import target_named

SHORTEST = 0.005e-6
"""Seconds below which a term is not shown as text: it would be 0.00."""


@dataclass(frozen=True)
class Sharing:
    """What of a launch a kernel is; most are all of it."""

    place: int
    """From 1, the kernel whose blocks start first."""
    kernels: int
    blocks: int
    """Of all kernels of the launch."""


@dataclass(frozen=True)
class ChosenKernel:
    """One kernel: what the model says of it, and what it became."""

    name: str
    model: KernelExplanation | None
    """None for a kernel that the search did not choose: it copies, or a cache had it."""
    scheduled: KernelResources
    assembled: LaunchResources
    sharing: Sharing

    @property
    def title(self) -> str:
        """Its name; one that shares a launch has a name with others, so which of them it is."""
        if self.sharing.kernels == 1:
            return self.name
        return f"{self.name} ({self.sharing.place} of {self.sharing.kernels})"


@dataclass(frozen=True)
class ChosenFunction:
    """The kernels for one chip, and what else there was."""

    name: str
    chip: str
    modelled_seconds: float
    alone_seconds: float
    """Modelled, with each operator as a kernel of its own."""
    graphs: int
    """That were costed, of different structure."""
    instantiations: int
    """Graphs times tile sizes that were costed."""
    kernels: tuple[ChosenKernel, ...]
    contests: tuple[Contest, ...]
    refused: tuple[str, ...]
    """What was left out, and why."""
    verdict: str
    """What verification says of what was taken."""
    timing: tuple[str, ...]
    """How it was chosen by the clock; empty without `--profile`."""
    timed: tuple[TimedCandidate, ...]
    """The candidates that this run timed; a result of the cache has none."""


def explain_choice(choice: Choice) -> ChosenFunction:
    """Why the kernels of `choice` were taken."""
    search, compiled = choice.offer.search, choice.compiled
    launches, found = compiled.code.launches, search.explanation
    models: Sequence[KernelExplanation | None] = [] if found is None else found.kernels
    if len(models) != len(compiled.scheduled):
        models = [None] * len(compiled.scheduled)
    numbers = [at.launch for at in compiled.launched_by]
    parts = zip(numbers, models, compiled.scheduled, strict=True)
    return ChosenFunction(
        name=compiled.name,
        chip=compiled.code.target,
        modelled_seconds=search.modelled,
        alone_seconds=search.modelled_alone,
        graphs=search.graphs,
        instantiations=search.instantiations,
        kernels=tuple(
            ChosenKernel(
                launches[number].kernel, model, scheduled, compiled.resources[number], sharing
            )
            for (number, model, scheduled), sharing in zip(parts, _sharing(compiled), strict=True)
        ),
        contests=() if found is None else found.contests,
        refused=(
            *choice.rejected,
            *search.refused,
            *(f"cut short: {cut}" for cut in search.cut),
        ),
        verdict=choice.proof.headline,
        timing=choice.offer.timing,
        timed=choice.offer.timed,
    )


def _sharing(compiled: CompiledFunction) -> list[Sharing]:
    """What of its launch each kernel is."""
    blocks: dict[int, list[int]] = {}
    for (number, _), scheduled in zip(compiled.launched_by, compiled.scheduled, strict=True):
        blocks.setdefault(number, []).append(prod(scheduled.grid))
    return [
        Sharing(place, len(blocks[number]), sum(blocks[number]))
        for number, place in compiled.launched_by
    ]


def count_text(kernels: Sequence[ChosenKernel]) -> str:
    """How many kernels, and in how many launches where some share one."""
    launches = sum(kernel.sharing.place == 1 for kernel in kernels)
    shared = f" in {_count(launches, 'launch', 'es')}" if launches < len(kernels) else ""
    return _count(len(kernels), "kernel") + shared


def as_json(functions: Mapping[str, Mapping[str, ChosenFunction]]) -> dict[str, object]:
    """What `--explain-json` writes: by function and chip; seconds and bytes throughout."""
    return {
        name: {chip: asdict(chosen) for chip, chosen in chips.items()}
        for name, chips in functions.items()
    }


def explanation_text(chips: Mapping[str, ChosenFunction]) -> str:
    """What `--explain` says of one function."""
    lines = [line for chosen in chips.values() for line in _function(chosen)]
    return "\n".join(lines) + "\n" if lines else ""


def _count(number: int, what: str, plural: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else plural}"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def _function(chosen: ChosenFunction) -> Iterator[str]:
    yield (
        f"@{chosen.name} for {chosen.chip}: {count_text(chosen.kernels)}, modelled "
        f"{_us(chosen.modelled_seconds)}; each operator alone {_us(chosen.alone_seconds)}"
    )
    for kernel in chosen.kernels:
        yield from (f"  {line}" for line in kernel_lines(kernel, chosen.chip))
    yield f"  candidates: {chosen.graphs} graphs, {chosen.instantiations} with tile sizes"
    for contest in chosen.contests:
        yield from (f"  {line}" for line in _contest(contest))
    yield from (f"  refused: {reason}" for reason in chosen.refused)


def kernel_lines(kernel: ChosenKernel, chip: str) -> Iterator[str]:
    """What `--explain` says of one kernel."""
    yield f"kernel {kernel.title}"
    if kernel.sharing.kernels > 1:
        yield (
            f"  shares: one launch with {_count(kernel.sharing.kernels - 1, 'other kernel')}, "
            f"{kernel.sharing.blocks} blocks together; modelled as if it were launched alone"
        )
    model = kernel.model
    if model is not None:
        yield f"  dimensions: {'; '.join(map(str, model.dimensions))}"
        sizes = ", ".join(f"{name} {size}" for name, size in model.tiles.sizes.items())
        yield f"  {model.tiles}; tile {sizes}"
    yield from (f"  {line}" for line in _resources(kernel, chip))
    if model is None:
        yield "  not chosen by a search: no model"
        return
    yield f"  modelled {_us(model.seconds)} = {_terms(model.phases, ' + ')}"
    yield f"  each unit alone: {_terms(model.units, ', ')}"
    yield f"  limited by {model.limit}"
    yield (
        f"  floor: {model.floor_bytes / 1e6:.2f} MB of inputs and outputs at device-memory "
        f"bandwidth {_us(model.floor_seconds)}; moves {model.dram_bytes / 1e6:.2f} MB through "
        f"DRAM, {model.l2_bytes / 1e6:.2f} MB through L2"
    )


def _terms(terms: Mapping[str, float], between: str) -> str:
    shown = [f"{name} {seconds * 1e6:.2f}" for name, seconds in terms.items() if seconds > SHORTEST]
    return between.join(shown)


def _resources(kernel: ChosenKernel, chip: str) -> Iterator[str]:
    scheduled, needs, model = kernel.scheduled, kernel.assembled, kernel.model
    producers = scheduled.producer_warps * WARP_THREADS
    extra = f" + {producers} of TMA producers" if producers else ""
    estimate = f" (estimated {model.registers})" if model is not None else ""
    spilled = f", {needs.spill_bytes} bytes spilled" if needs.spill_bytes else ""
    yield (
        f"grid {'x'.join(map(str, scheduled.grid))}, {scheduled.threads} threads{extra}, "
        f"{needs.registers} registers{estimate}{spilled}, "
        f"{needs.shared_bytes / 1024:.1f} KB of shared memory"
    )
    at_once = target_named(chip).sm_count * needs.resident
    yield (
        f"occupancy: {_count(needs.resident, 'block')} per SM, "
        f"{_count(ceil_div(kernel.sharing.blocks, at_once), 'wave')}; stages: {scheduled.stages}"
    )
    yield f"MMA: {'; '.join(dict.fromkeys(scheduled.mma)) or 'none'}"
    multicast = f", multicast to {scheduled.multicast} blocks" * (scheduled.multicast > 1)
    yield f"copies: {', '.join(scheduled.copies) or 'none'}{multicast}"
    if scheduled.splits > 1:
        way = "device memory" if scheduled.sums_in_workspace else "the cluster's shared memory"
        yield f"split-K: {scheduled.splits} blocks, partial sums through {way}"


def _contest(contest: Contest) -> Iterator[str]:
    yield f"of {contest.kept} kept, the next in the model:"
    for number, one in enumerate(contest.runners_up, start=1):
        differences = "; ".join(one.differences) or "no difference in what is shown here"
        yield (
            f"  {number}. {_us(one.seconds)} ({(one.slower - 1) * 100:+.1f} %), {one.structure}: "
            f"{differences}"
        )
