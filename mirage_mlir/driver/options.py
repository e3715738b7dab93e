"""What a user may ask of a whole compile."""

from dataclasses import dataclass

from mirage_mlir.effort import MAX_KERNELS, VERIFY_BUDGET, Effort
from mirage_mlir.passes.frontend.precision import AS_F32, check_precision
from mirage_mlir.targets.target import DEFAULT_CHIPS, DEFAULT_TARGET, target_named


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
    max_kernels: int = MAX_KERNELS
    """Kernels that a plan may have, for a program that is searched as one piece."""
    jobs: int = 1
    """Processes that search; the result is the same for any number."""
    candidates: int = 4
    """How many graphs are tried where the first cannot be lowered, or spills."""
    chips: tuple[str, ...] = DEFAULT_CHIPS
    """Instruction sets to compile for."""
    profile: bool = False
    """Time the best candidates on this machine's GPU, and take the fastest."""
    top_k: int = 8
    """How many candidates are timed."""
    cache: bool = True
    """Keep on disk what was found, and use what was kept."""
    quiet: bool = False
    """Show no progress, on a terminal either."""
    f32: str = AS_F32
    """What products of f32 are: 3xtf32, as precise as f32, or tf32."""
    allow_unverified: bool = False
    """Return the best graph where none is verified; it is marked NOT VERIFIED everywhere."""
    verify_budget: float = VERIFY_BUDGET
    """Seconds that random tests of a result may take; above it normal forms have to prove it."""
    pack: bool = False
    """Let kernels read copies of constant inputs, packed in the first call, where they can."""

    def __post_init__(self) -> None:
        target_named(self.target).require_lowering()
        check_precision(self.f32)
        for chip in self.chips:
            target_named(chip).require_lowering()
            if target_named(chip).chip != chip:
                raise ValueError(
                    f"'{chip}' is a GPU; its instruction set is {target_named(chip).chip}"
                )
        if not self.chips:
            raise ValueError("there is nothing to compile for: 'chips' is empty")
        if self.candidates < 1:
            raise ValueError(f"candidates is at least 1, not {self.candidates}")
        self.effort()

    def target_for(self, chip: str) -> str:
        """The GPU that code for `chip` is made for: that of the search, if it has `chip`."""
        return self.target if target_named(self.target).chip == chip else chip

    def effort(self) -> Effort:
        """How much each search may do; raises `ValueError` for a number out of its range."""
        return Effort(self.time_limit, self.max_kernels, self.jobs, self.top_k, self.verify_budget)
