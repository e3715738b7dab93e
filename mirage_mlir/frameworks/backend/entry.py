"""
The backend `mirage` of `torch.compile`: parts of a model by our kernels, the rest by inductor.

Inductor's own front takes a model to ATen, forward and backward, and calls what is here with each
graph. Parts of it become calls of registered operators; inductor compiles the graph around them,
so that there is no Python of ours between pieces and CUDA graphs capture all.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from math import inf
from typing import Any, TypedDict

from mirage_mlir.api.graph import SearchOptions, options_of
from mirage_mlir.api.options import checked
from mirage_mlir.driver.cache import open_cache
from mirage_mlir.frameworks.backend.graphs import UNCLEAR, GraphCompiler
from mirage_mlir.frameworks.backend.joint_pass import pass_for_inductor
from mirage_mlir.frameworks.backend.kept_graphs import GraphRecord, kept_under, record_of
from mirage_mlir.frameworks.backend.operators import PartProgram
from mirage_mlir.frameworks.backend.report import ModelExplanation, say
from mirage_mlir.frameworks.backend.searches import FoundKernel, find_all
from mirage_mlir.frameworks.backend.small_kernels import few_launches
from mirage_mlir.targets.target import target_named
from mirage_mlir.torch import target_of

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

EFFORTS = ("full", "quick", "none")

RESTS = ("inductor", "eager")


class BackendOptions(TypedDict, total=False):
    """What `torch.compile(..., options={...})` takes."""

    effort: str
    """`full`, the default, searches each sort of part to the end; `quick` for 5 seconds, after
    which the best so far is taken; `none` takes only kernels that were found before."""
    pack: bool
    """Let kernels read packed copies of parameters; no unless given."""
    profile: bool
    """Whether times on this machine's GPU decide: of the best candidates of each search, and of
    each part by our kernels and by inductor's. Unless given they do where there is a GPU; of parts
    for which the models promise much only the candidates are timed then."""
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
        record = self._record(module, inputs)
        asked = False

        def inner(graph: Any, examples: Sequence[Any], **kwargs: Any) -> Any:
            nonlocal asked
            asked = True
            taken = self._rewrite(graph, examples, kwargs.get("static_input_idxs") or (), record)
            if self._options.get("rest") == "eager":
                return _boxed(graph)
            # A model that has nothing for us is compiled as without us.
            with few_launches() if taken else nullcontext():
                return compile_fx.compile_fx_inner(graph, examples, **kwargs)

        with kept_under(record):
            made = compile_fx.compile_fx(
                module, inputs, inner_compile=inner, config_patches=self._patches
            )
        if record is not None and not asked:
            self._say(record.explanation, "torch kept the graph")
            self.explanation.join(record.explanation)
        return made

    @property
    def _patches(self) -> dict[str, object]:
        """Of inductor's configuration, by the mode, and by what runs the rest."""
        patches = {**_inductor_modes()[self._options.get("mode", "default")], **_with_our_pass()}
        if self._options.get("rest") != "eager":
            return patches
        # Inductor's own draws are of a seed, to be drawn again in a backward pass. Torch's
        # operators, which run there, would ignore it.
        return {**patches, "fallback_random": True}

    def _place(self, tensors: Sequence[Any]) -> tuple[str, bool] | None:
        """What to search for where tensors are, and whether that can be timed; None for none."""
        devices = [each.device for each in tensors if isinstance(each, torch.Tensor)]
        if not devices:
            return None
        # A scalar in host memory may stand before the tensors of a GPU.
        device = next((each for each in devices if each.type == "cuda"), devices[0])
        name = self._options.get("target") or target_of(device)
        chips = [target_named(each).chip for each in (name, target_of(device))]
        here = device.type == "cuda" and chips[0] == chips[1]
        return name, here and self._options.get("profile", True)

    def _timed_from(self, timed: bool) -> float:
        """What part of inductor's time the models have to promise for the clock to decide."""
        if not timed:
            return inf
        return 0.0 if self._options.get("profile") else UNCLEAR

    def _record(self, module: Any, inputs: Sequence[Any]) -> GraphRecord | None:
        """Of a graph that torch may keep: with kernels that the cache keeps, too."""
        place = self._place(inputs)
        if place is None or not open_cache().keeps:
            return None
        if self._options.get("effort", "full") != "full" or self._options.get("rest") == "eager":
            return None
        asked: dict[str, object] = {**self._options, "target": place[0], "profile": place[1]}
        return record_of(module, inputs, asked)

    def _rewrite(
        self,
        graph: Any,
        examples: Sequence[Any],
        parameters: Sequence[int],
        record: GraphRecord | None,
    ) -> int:
        """Put kernels in the place of parts of a graph; how many."""
        place = self._place(examples)
        if place is None:
            return 0
        name, timed = place
        compiler = self._compilers.setdefault(
            place,
            GraphCompiler(
                lambda programs: self._search(programs, name, timed),
                target_named(name),
                self.explanation,
                self._timed_from(timed),
            ),
        )
        constants = _unchanged(graph, parameters) if self._options.get("pack") else frozenset[Any]()
        self.explanation.interpreted |= _is_interpreted(examples)
        before = self.explanation.copy()
        taken = compiler.rewrite(graph, constants)
        found = self.explanation.since(before)
        number = sum(node.op == "call_function" for node in graph.graph.nodes)
        self._say(
            found, f"{len(taken)} parts by kernels for {name}, {number} operators around them"
        )
        if record is not None:
            record.add(taken, found, options_of(name, self._search_options(name, timed)))
        return len(taken)

    @staticmethod
    def _say(found: ModelExplanation, outcome: str) -> None:
        for line in (*found.lines(), outcome):
            say(line)

    def _search_options(self, target: str, timed: bool) -> SearchOptions:
        return {
            "compile_for": [target_named(target).chip],
            "profile": timed,
            "pack": self._options.get("pack", False),
            "jobs": max(1, (os.cpu_count() or 1) // 2),
            "quiet": True,
        }

    def _search(
        self, programs: Sequence[PartProgram], target: str, timed: bool
    ) -> list[FoundKernel]:
        options = self._search_options(target, timed)
        return find_all(programs, target, self._options.get("effort", "full"), options)


def _is_interpreted(tensors: Sequence[Any]) -> bool:
    """Whether tensors are in host memory; a scalar among others may be anywhere."""
    devices = [each.device.type for each in tensors if isinstance(each, torch.Tensor)]
    return bool(devices) and {*devices} == {"cpu"}


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


def _with_our_pass() -> dict[str, object]:
    """Of inductor's configuration: `joint_pass`, behind passes of the user's own."""
    before: Any = import_module("torch._inductor.config").joint_custom_post_pass
    several = isinstance(before, list | tuple)
    known: list[Any] = [*before] if several else [] if before is None else [before]
    return {"joint_custom_post_pass": pass_for_inductor(known)}


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
