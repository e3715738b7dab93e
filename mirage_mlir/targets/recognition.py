"""The target that stands for a GPU, by what its vendor calls it."""

import re

from mirage_mlir.targets.target import DEFAULT_CHIPS, DEFAULT_TARGET, GPUS, SUPPORTED


def target_of_gpu(name: str, major: int) -> str:
    """
    What to search for, for a GPU.

    Args:
        name: the vendor's, such as `NVIDIA H100 80GB HBM3` or `NVIDIA A100-SXM4-80GB`.
        major: of its compute capability.

    Returns:
        Its own row; else its instruction set, which stands for one GPU; else the default.
    """
    words = re.split(r"\W+", name)
    own = [each for each in SUPPORTED if each in GPUS and each in words]
    alike = [each for each in DEFAULT_CHIPS if each.startswith(f"sm_{major}")]
    return next(iter([*own, *alike]), DEFAULT_TARGET)
