"""
The backend `mirage` of `torch.compile`: parts of a model by our kernels, the rest by inductor.

Inductor's own front takes a model to ATen, forward and backward, and calls what is here with each
graph. Parts of it become calls of registered operators; inductor compiles the graph around them,
so that there is no Python of ours between pieces and CUDA graphs capture all.
"""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypedDict

from mirage_mlir.api.graph import SearchOptions
from mirage_mlir.api.options import checked
from mirage_mlir.frameworks.backend.graphs import GraphCompiler
from mirage_mlir.frameworks.backend.operators import PartProgram
from mirage_mlir.frameworks.backend.report import ModelExplanation, say
from mirage_mlir.frameworks.backend.searches import FoundKernel, find_all
from mirage_mlir.targets.target import target_named
from mirage_mlir.torch import target_of

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

EFFORTS = ("full", "quick", "none")

RESTS = ("inductor", "eager")


class BackendOptions(TypedDict, total=False):
    """What `torch.compile(..., options={...})` takes."""

    effort: str
    """`full`, the default, searches each sort of part to the end; `quick` for some seconds, after
    which the best so far is taken; `none` takes only kernels that were found before."""
    pack: bool
    """Let kernels read packed copies of parameters; no unless given."""
    profile: bool
    """Time on this machine's GPU: the best candidates of each search, and each part by our kernels
    and by inductor's, which decides; no unless given. Without a GPU the models decide."""
    target: str
    """The GPU to search for; that of the inputs unless given."""
    rest: str
    """What runs what is left: `inductor`, or `eager`, which needs no compiler for the host."""
    mode: str
    """How inductor compiles what is left, such as `reduce-overhead`, which makes CUDA graphs;
    `torch.compile(..., mode=...)` is the same."""


def mirage(
    module: Any,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, object] | None = None,
    mode: str | None = None,
) -> Any:
    """
    Compile a graph of dynamo: what `torch.compile(model, backend="mirage")` calls.

    Args:
        module: the graph, which is taken over.
        inputs: examples of what it takes.
        options: see `BackendOptions`.
        mode: that option; `torch.compile` takes it or options, not both.

    Raises:
        TypeError, ValueError: an option does not exist, or has another type or value.
    """
    modes = {} if mode is None else {"mode": mode}
    return Backend({**(options or {}), **modes})(module, inputs)


class Backend:
    """The backend with its options; `explanation` is of all graphs that it compiled."""

    def __init__(self, options: Mapping[str, object] | None = None) -> None:
        self._options: BackendOptions = _checked(options or {})
        self.explanation = ModelExplanation()
        self._compilers: dict[tuple[str, bool], GraphCompiler] = {}

    def __call__(self, module: Any, inputs: Sequence[Any]) -> Any:
        """The compiled graph."""
        compile_fx: Any = import_module("torch._inductor.compile_fx")
        functorch: Any = import_module("torch._functorch.config")

        def inner(graph: Any, examples: Sequence[Any], **kwargs: Any) -> Any:
            self._rewrite(graph, examples, kwargs.get("static_input_idxs") or ())
            if self._options.get("rest") == "eager":
                return _boxed(graph)
            return compile_fx.compile_fx_inner(graph, examples, **kwargs)

        # What it keeps on disk has been through us, and would come back without our operators.
        with functorch.patch(enable_autograd_cache=False):
            return compile_fx.compile_fx(
                module, inputs, inner_compile=inner, config_patches=self._patches
            )

    @property
    def _patches(self) -> dict[str, object]:
        """Of inductor's configuration, by the mode."""
        return _inductor_modes()[self._options.get("mode", "default")]

    def _rewrite(self, graph: Any, examples: Sequence[Any], parameters: Sequence[int]) -> None:
        tensors = [each for each in examples if isinstance(each, torch.Tensor)]
        if not tensors:
            return
        device = tensors[0].device
        name = self._options.get("target") or target_of(device)
        target = target_named(name)
        here = device.type == "cuda" and target.chip == target_named(target_of(device)).chip
        timed = here and self._options.get("profile", False)
        compiler = self._compilers.setdefault(
            (name, timed),
            GraphCompiler(
                lambda programs: self._search(programs, name, timed),
                target,
                self.explanation,
                timed,
            ),
        )
        constants = _unchanged(graph, parameters) if self._options.get("pack") else frozenset[Any]()
        start = len(self.explanation.parts)
        taken = compiler.rewrite(graph, constants)
        for line in self.explanation.lines(start):
            say(line)
        number = sum(node.op == "call_function" for node in graph.graph.nodes)
        say(f"{taken} parts by kernels for {name}, {number} operators around them")

    def _search(
        self, programs: Sequence[PartProgram], target: str, timed: bool
    ) -> list[FoundKernel]:
        options: SearchOptions = {
            "compile_for": [target_named(target).chip],
            "profile": timed,
            "pack": self._options.get("pack", False),
            "jobs": max(1, (os.cpu_count() or 1) // 2),
            "quiet": True,
        }
        return find_all(programs, target, self._options.get("effort", "full"), options)


def _unchanged(graph: Any, parameters: Sequence[int]) -> frozenset[Any]:
    """The inputs that are parameters or buffers, `parameters` by number, and are not written to."""
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    copy: Any = torch.ops.aten.copy_.default
    written = {node.args[0] for node in graph.graph.nodes if node.target is copy}
    return frozenset(inputs[number] for number in parameters) - written


def _checked(options: Mapping[str, object]) -> BackendOptions:
    hints = {"effort": str, "pack": bool, "profile": bool, "target": str, "rest": str, "mode": str}
    found: Any = checked(options, hints)
    choices = {"effort": EFFORTS, "rest": RESTS, "mode": tuple(_inductor_modes())}
    for name, known in choices.items():
        if found.get(name, known[0]) not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, not {found[name]!r}")
    if found.get("rest") == "eager" and found.get("mode", "default") != "default":
        raise ValueError(f"mode {found['mode']!r} is for inductor, and rest is eager")
    if "target" in found:
        target_named(found["target"]).require_lowering()
    return found


def _inductor_modes() -> dict[str, dict[str, object]]:
    return import_module("torch._inductor").list_mode_options()


def _boxed(graph: Any) -> Any:
    """A graph that runs as it is, called with a list."""

    def run(arguments: list[Any]) -> Any:
        given = list(arguments)
        arguments.clear()
        return graph.forward(*given)

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run
