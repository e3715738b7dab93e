"""A compiled program that is called like a function."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from mirage_mlir.runtime import jax_calls
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.cuda_driver import Driver, cuda_driver
from mirage_mlir.runtime.host_tensors import arrays_of, is_on_host, results_like
from mirage_mlir.runtime.launch import LoadedCode, choose_target
from mirage_mlir.runtime.nvtx_ranges import annotated_code
from mirage_mlir.runtime.placement import place_inputs, place_outputs
from mirage_mlir.runtime.tensors import Framework, framework_of

Tensor: TypeAlias = Any
"""A tensor of torch, cupy, numpy or another library with DLPack, all untyped here."""


OF_MIRAGE = {
    "outputs": "out= has the tensors to write to",
    "stream": "kernels run on the current stream of their tensors' library",
}
"""Keywords of calls in Mirage's Python interface, and what to use instead."""


class CompiledKernel:
    """
    A compiled program: call it with tensors.

    `kernel(x, w)`, `kernel([x, w])` and `kernel(inputs=[x, w])` are the same. One output comes back
    as a tensor, several as a tuple. torch CUDA tensors and cupy arrays run on the current stream of
    their library; tensors of other libraries come in, and results go back, through DLPack. Tensors
    in host memory (of numpy, torch, jax, ...) are interpreted, which is slow and needs no GPU, and
    so is a program without inputs. Under `jax.jit` a call is one of a foreign function, which
    does the same. Gradients are not recorded: an input that needs one is refused.
    """

    def __init__(self, artifact: Artifact, driver: Callable[[], Driver] = cuda_driver) -> None:
        self.artifact = artifact
        self._driver = driver
        self._loaded: dict[int, LoadedCode] = {}
        self._loading = threading.Lock()
        # Inputs of which there are packed copies, and how often they had changed in place: while
        # they are here, their memory is no other's.
        self._held: dict[tuple[int, int, int], tuple[Tensor, int]] = {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the kernel to one file, which `mirage_mlir.load` reads."""
        self.artifact.save(path)

    def release(self) -> None:
        """
        Give back packed copies of constants, which may change now; the next call makes new ones.

        No call may be running, and no CUDA graph of one may be replayed afterwards.
        """
        for code in self._loaded.values():
            code.release()
        self._held.clear()

    @property
    def ugraph(self) -> str:
        """The uGraph that was found, as text in the kernel and threadblock dialects."""
        return self.artifact.targets[0].ugraph

    @property
    def report(self) -> str:
        """What was searched, what is proved, and what the kernels need."""
        return self.artifact.report

    def explain(self) -> str:
        """
        Why these kernels were chosen: the terms of the cost model for each, what limits it, what it
        needs, and which candidates lost by how much; empty where no search chose them.
        """
        return self.artifact.explanation

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and other processes, which load the machine code anew."""
        return CompiledKernel, (self.artifact, self._driver)

    def __repr__(self) -> str:
        targets = ", ".join(code.target for code in self.artifact.targets)
        return f"<CompiledKernel {self._signature()} for {targets}>"

    def _repr_svg_(self) -> str | None:
        """The program beside its first uGraph, for notebooks; none without Graphviz."""
        # Pictures are above this layer, as the compiler is.
        from mirage_mlir.view.notebook import kernel_svg

        return kernel_svg(self.artifact)

    def _repr_html_(self) -> str:
        """The same; without Graphviz the uGraph as text."""
        from mirage_mlir.view.notebook import as_html

        return as_html(self._repr_svg_(), f"{self!r}\n\n{self.ugraph}")

    def _signature(self) -> str:
        takes = ", ".join(f"{spec.name}: {spec}" for spec in self.artifact.inputs)
        gives = ", ".join(map(str, self.artifact.outputs))
        return f"{self.artifact.name}({takes}) -> {gives}"

    def __call__(
        self,
        *tensors: Tensor,
        inputs: Sequence[Tensor] | None = None,
        out: Tensor | Sequence[Tensor] | None = None,
        copy: bool = False,
        **unknown: object,
    ) -> Tensor:
        """
        Compute the outputs.

        Args:
            tensors: the inputs, in the program's order, or one list of them.
            inputs: the same as a keyword.
            out: tensor, or one tensor per output, to write to; new ones unless given.
            copy: whether inputs that do not lie in memory as kernels need them (strides, or a start
                that is no multiple of 16 bytes) are copied first; an error otherwise.
            unknown: refused, with what there is instead.

        Raises:
            TypeError: number of inputs, kind of tensor or element type does not fit.
            ValueError: shape, strides, device or alignment does not fit. Nothing was launched.
            CudaError: CUDA is missing or refused.
        """
        if unknown:
            raise _unknown(next(iter(unknown)))
        given = self._collect(tensors, inputs)
        if jax_calls.is_traced(given):
            if out is not None:
                raise TypeError("out= has no meaning under jax.jit, where arrays never change")
            results = jax_calls.call_traced(self, given)
            return results[0] if len(results) == 1 else tuple(results)
        # What computes constants has no tensor that would say where.
        if not given or is_on_host(given[0]):
            results = self._interpret(given, out)
        else:
            results = self._run(given, out, copy=copy)
        return results[0] if len(results) == 1 else tuple(results)

    def _collect(
        self, tensors: tuple[Tensor, ...], inputs: Sequence[Tensor] | None
    ) -> list[Tensor]:
        if inputs is not None and tensors:
            raise TypeError("inputs are given twice, by position and as 'inputs'")
        given: Sequence[Tensor] = tensors if inputs is None else inputs
        if not isinstance(given, list | tuple):
            raise TypeError(f"inputs are a list of tensors, not one {type(given).__qualname__}")
        if len(given) == 1 and isinstance(given[0], list | tuple):
            given = cast(Sequence[Tensor], given[0])
        if len(given) != len(self.artifact.inputs):
            count = f"{len(self.artifact.inputs)} inputs, not {len(given)}"
            raise TypeError(f"{self._signature()} takes {count}")
        return list(given)

    def _collect_outputs(self, out: Tensor | Sequence[Tensor] | None) -> list[Tensor] | None:
        if out is None:
            return None
        given = list(cast(Sequence[Tensor], out)) if isinstance(out, list | tuple) else [out]
        if len(given) != len(self.artifact.outputs):
            count = f"{len(self.artifact.outputs)} outputs, not {len(given)}"
            raise TypeError(f"{self._signature()} writes {count}")
        return given

    def _run(
        self, given: list[Tensor], out: Tensor | Sequence[Tensor] | None, *, copy: bool
    ) -> list[Tensor]:
        sample = given[0]
        framework, native = framework_of(sample)
        asked = [*given]
        places = place_inputs(framework, given, self.artifact, copy=copy)
        device = places[0][0]
        results = self._collect_outputs(out)
        if results is None:
            made = [framework.empty(spec, device) for spec in self.artifact.outputs]
            results = [tensor for tensor, _ in made]
            targets = [address for _, address in made]
        else:
            targets = place_outputs(framework, results, self.artifact, places)
        code = self.loaded(device)
        # The holder lives until the launches are queued, which is long enough: see `scratch`.
        holder, scratch = (
            framework.scratch(code.scratch_bytes, device) if code.scratch_bytes else (None, 0)
        )
        stream = framework.stream(device)
        if code.packed_inputs:
            self._hold(code, framework, given, places, stream)
        # A copy that was made for this call, `place_inputs` put in place of what was asked for.
        copied = any(given[number] is not asked[number] for number in code.constants)
        versions = None if copied else tuple(_version(framework, given[n]) for n in code.constants)
        code.launch([place[1] for place in places], targets, scratch, stream, versions)
        del holder
        return results if native or out is not None else _give_back(results, sample)

    def _hold(
        self,
        code: LoadedCode,
        framework: Framework,
        given: list[Tensor],
        places: list[tuple[int, int]],
        stream: int,
    ) -> None:
        """Keep the inputs that are packed; pack again what has changed since it was."""
        for number in code.packed_inputs:
            tensor, (device, address) = given[number], places[number]
            version = _version(framework, tensor)
            _, known = self._held.get((device, number, address), (None, version))
            if known != version:
                code.refresh(number, address, stream)
            self._held[device, number, address] = tensor, version

    def loaded(self, device: int) -> LoadedCode:
        """The machine code on a device; raises `ValueError` where there is none for it."""
        return self._loaded.get(device) or self._load(device)

    def _load(self, device: int) -> LoadedCode:
        with self._loading:
            if device not in self._loaded:
                driver = self._driver()
                code = choose_target(self.artifact, driver.capability(device))
                constants = [i for i, spec in enumerate(self.artifact.inputs) if spec.constant]
                made = annotated_code(self.artifact.name)
                self._loaded[device] = made(code, driver, device, constants)
            return self._loaded[device]

    def _interpret(
        self, given: list[Tensor], out: Tensor | Sequence[Tensor] | None
    ) -> list[Tensor]:
        # The interpreter needs the compiler, which is above this layer; a GPU does not.
        from mirage_mlir.driver.interpret import interpret

        arrays = arrays_of(given, self.artifact.inputs, "input")
        results = self._collect_outputs(out)
        outputs = self.artifact.outputs
        targets = None if results is None else arrays_of(results, outputs, "output")
        computed = interpret(self.artifact, arrays)
        if results is None or targets is None:
            return results_like(given[0], computed, outputs) if given else list(computed)
        for target, value in zip(targets, computed, strict=True):
            target[...] = value
        return results


def _version(framework: Framework, tensor: Tensor) -> int:
    """Another number after a change in place; always 0 where nobody counts these."""
    return framework.version(tensor) if framework.owns(tensor) else 0


def _unknown(keyword: str) -> TypeError:
    instead = OF_MIRAGE.get(keyword, "there are inputs, out and copy")
    return TypeError(f"a kernel takes no keyword {keyword!r}: {instead}")


def load(path: str | os.PathLike[str]) -> CompiledKernel:
    """The kernel that `CompiledKernel.save` wrote; see `Artifact.load` for the errors."""
    return CompiledKernel(Artifact.load(path))


def _give_back(results: list[Tensor], sample: Tensor) -> list[Tensor]:
    """`results` as tensors of the library of `sample`, where that says how (the array API)."""
    if not hasattr(sample, "__array_namespace__"):
        return results
    return [sample.__array_namespace__().from_dlpack(result) for result in results]
