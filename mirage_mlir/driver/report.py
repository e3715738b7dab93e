"""What a compile did, for people, and what it proved, for machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mirage_mlir.driver.choose import Choice
from mirage_mlir.driver.compile import CompiledFunction


def compile_report(name: str, choices: Sequence[Choice], seconds: Mapping[str, float]) -> str:
    """The report on one function: what was searched, what is proved, what the kernels need."""
    lines = [f"@{name}"]
    described: list[Choice] = []
    for choice in choices:
        if choice.offer not in [other.offer for other in described]:
            described.append(choice)
            search = replace(choice.offer.search, verification=choice.proof.headline)
            lines += [f"  {line}" for line in (*search.lines(), *choice.offer.timing)]
    for choice in choices:
        lines += [f"  {line}" for line in kernel_lines(choice.compiled)]
        lines += [f"    not taken: {reason}" for reason in choice.rejected]
    lines.append(f"  seconds: {_phases(seconds)}")
    return "\n".join(lines) + "\n"


def kernel_lines(compiled: CompiledFunction) -> Iterator[str]:
    """What the kernels for one chip need."""
    cubin = compiled.assembled
    yield (
        f"{compiled.code.target}: {len(compiled.code.launches)} "
        f"kernel{'' if len(compiled.code.launches) == 1 else 's'}, {cubin.registers} registers, "
        f"{cubin.spill_bytes} bytes spilled, {compiled.code.scratch_bytes} bytes of scratch"
    )
    for launch, needs in zip(compiled.code.launches, compiled.resources, strict=True):
        grid = "x".join(map(str, launch.grid))
        yield (
            f"  {launch.kernel}: grid {grid}, {launch.threads} threads, "
            f"{needs.registers} registers, {needs.shared_bytes / 1024:.1f} KB of shared memory, "
            f"{needs.resident} per multiprocessor"
        )
    yield from (f"  {warning}" for warning in cubin.warnings)


def _phases(seconds: Mapping[str, float]) -> str:
    parts = [f"{phase} {spent:.3f}" for phase, spent in seconds.items()]
    return ", ".join([*parts, f"together {sum(seconds.values()):.3f}"])


def verification_fields(choices: Sequence[Choice]) -> dict[str, object]:
    """The verification of each chip's graph as JSON has it."""
    return {choice.compiled.code.target: choice.proof.fields() for choice in choices}
