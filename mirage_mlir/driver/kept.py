"""Whole compiles, kept on disk: the second one of a program neither searches nor compiles."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.cache import Cache, Key, open_cache
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.cuda_driver import CudaDriver
from mirage_mlir.runtime.manifest import ArtifactError

if TYPE_CHECKING:
    from mirage_mlir.driver.superoptimize import Superoptimized

SAME_RESULT = ("jobs", "cache", "quiet")
"""Options that change no result."""


def compiled(module: ModuleOp, name: str, options: Options) -> Artifact:
    """
    The artifact of the function `name` of `module`, kept from before or made now.

    Of processes that ask for one at once, one compiles and the others wait. Kept is only what is
    final: verified, and of a search that nothing cut short. What is found by timing depends on the
    machine, and is kept elsewhere.

    Raises:
        ValueError, CudaError, DiagnosticException: as `optimize`; ValueError also for a server of
            the cache that is none.
    """
    cache = open_cache() if options.cache and not options.profile else Cache(None)
    if not cache.keeps:
        return optimized(module, name, options).artifact
    key = key_of(module, name, options)
    if (known := _known(cache, key)) is not None:
        return known
    with cache.locked(key):
        if (known := _known(cache, key)) is not None:
            return known
        made = optimized(module, name, options)
        if is_final(made):
            cache.keep(key, made.artifact.to_bytes())
        return made.artifact


def known(module: ModuleOp, name: str, options: Options) -> Artifact | None:
    """
    The artifact of a function where it was kept before; nothing is searched.

    Raises:
        CudaError: timing is asked for and there is no GPU.
    """
    cache = open_cache() if options.cache else Cache(None)
    return _known(cache, key_of(module, name, options)) if cache.keeps else None


def known_by(key: Key) -> Artifact | None:
    """The artifact that was kept under `key`, or None."""
    return _known(open_cache(), key)


def key_of(module: ModuleOp, name: str, options: Options) -> Key:
    """What the artifact depends on; where candidates are timed, on the GPU that is there, too."""
    asked = {name: value for name, value in asdict(options).items() if name not in SAME_RESULT}
    device = CudaDriver().name(0) if options.profile else ""
    return Key(text_of(alone(function_named(module, name))), device, asked)


def _known(cache: Cache, key: Key) -> Artifact | None:
    """What was kept; None where it is damaged."""
    data = cache.artifact(key)
    try:
        return None if data is None else Artifact.from_bytes(data)
    except ArtifactError:
        return None


def optimized(module: ModuleOp, name: str, options: Options) -> "Superoptimized":
    """What is made where nothing was kept."""
    # Who takes a kernel from the cache does not load the compiler.
    from mirage_mlir.driver.optimize import optimize

    return optimize(module, name, options)


def is_final(made: "Superoptimized") -> bool:
    """Whether a later compile should find this: nothing cut the search short, all is verified."""
    stopped = any(offer.search.stopped for offer in made.offers.values())
    return not stopped and not made.artifact.unverified
