"""What a user may ask of a whole compile."""

from dataclasses import dataclass

from mirage_mlir.graph.target import target_named

DEFAULT_CHIPS = ("sm_90a", "sm_80")
"""The instruction sets that a result has machine code for, the most capable first."""

DEFAULT_TARGET = "H200"


@dataclass(frozen=True)
class Options:
    """
    How to search and what to compile for.

    Raises:
        ValueError: an option is out of its range.
    """

    target: str = DEFAULT_TARGET
    """The GPU to search for."""
    time_limit: float | None = None
    """Seconds of search after which the best so far is taken."""
    candidates: int = 4
    """How many graphs are tried where the first cannot be lowered, or spills."""
    chips: tuple[str, ...] = DEFAULT_CHIPS
    """Instruction sets to compile for."""

    def __post_init__(self) -> None:
        target_named(self.target)
        for chip in self.chips:
            if target_named(chip).chip != chip:
                raise ValueError(
                    f"'{chip}' is a GPU; its instruction set is {target_named(chip).chip}"
                )
        if not self.chips:
            raise ValueError("there is nothing to compile for: 'chips' is empty")
        if self.candidates < 1:
            raise ValueError(f"candidates is at least 1, not {self.candidates}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit is a positive number of seconds, not {self.time_limit}")
