"""What `--explain` says of a kernel, as rows for people and as numbers of a node."""

from collections.abc import Iterator

from mirage_mlir.driver.explain import ChosenFunction, ChosenKernel, kernel_lines
from mirage_mlir.view.scene import Scene

MODELLED = "modelled time (us)"
DRAM = "through DRAM (MB)"
L2 = "through L2 (MB)"
BLOCKS = "blocks per SM"
REGISTERS = "registers per thread"
SHARED = "shared memory per block (KB)"
LIMIT = "limited by"
VERDICT = "verdict"


def kernel_rows(kernel: ChosenKernel, chip: str) -> dict[str, str]:
    """The lines of `--explain` on a kernel, by what they speak of."""
    return dict(_row(line.strip()) for line in kernel_lines(kernel, chip))


def _row(line: str) -> tuple[str, str]:
    """What a line speaks of, and the rest of it."""
    if line.startswith("grid "):
        return ("tiles" if "; tile " in line else "launch"), line
    for words in ("kernel", "limited by", "modelled"):
        if line.startswith(f"{words} "):
            return words, line.removeprefix(f"{words} ")
    what, _, rest = line.partition(": ")
    return what, rest


def add_numbers(scene: Scene, node: str, kernel: ChosenKernel) -> None:
    """Note the numbers of a kernel at its node."""
    for meaning, value in _numbers(kernel):
        scene.add_number(meaning, node, value)


def _numbers(kernel: ChosenKernel) -> Iterator[tuple[str, float | str]]:
    if (model := kernel.model) is not None:
        yield MODELLED, round(model.seconds * 1e6, 3)
        yield DRAM, round(model.dram_bytes / 1e6, 3)
        yield L2, round(model.l2_bytes / 1e6, 3)
        yield LIMIT, model.limit
    yield BLOCKS, kernel.assembled.resident
    yield REGISTERS, kernel.assembled.registers
    yield SHARED, round(kernel.assembled.shared_bytes / 1024, 1)


def function_rows(chosen: ChosenFunction) -> dict[str, str]:
    """What is known of a whole function on one chip."""
    return {
        "chip": chosen.chip,
        "modelled": f"{chosen.modelled_seconds * 1e6:.2f} us",
        "each operator alone": f"{chosen.alone_seconds * 1e6:.2f} us",
        "candidates": f"{chosen.graphs} graphs, {chosen.instantiations} with tile sizes",
    }
