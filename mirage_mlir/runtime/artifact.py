"""
What a compile leaves behind: cubins for one or more GPUs and how to launch them.

On disk an artifact is a zip with `manifest.json` and the files that it names:

    manifest.json         format version, tensors, launches, verification, SHA-256 of the rest
    manifest.sha256       SHA-256 of the manifest
    program.mlir          the program as it was written
    <target>.cubin        machine code of all kernels
    <target>.ugraph.mlir  the uGraph that the kernels were made from
    report.txt            the report of the search
    explanation.txt       why these kernels were chosen, where a search chose them

The same artifact is the same bytes whenever it is saved.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import cast

from mirage_mlir.runtime.archive import packed, read_whole, unpacked
from mirage_mlir.runtime.arguments import (
    COUNTERS,
    MAP,
    PACKED,
    Argument,
    TensorMapArgument,
    check_arguments,
    read_element_type,
)
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.runtime.manifest import ArtifactError, Fields
from mirage_mlir.runtime.packed import PackedInput
from mirage_mlir.runtime.plausible import check_signature, check_target, check_tensor

FORMAT = "mirage-artifact"
VERSION = 4
"""Raised when an older reader would misread the file, or a newer one must ask for more."""

OLDEST = 2
"""The first version that is still read; 3 added tensor maps and packed inputs."""

FIRST_WITH_CHECKSUM = 4

MANIFEST = "manifest.json"
CHECKSUM = "manifest.sha256"
PROGRAM = "program.mlir"
REPORT = "report.txt"
EXPLANATION = "explanation.txt"

MODELLED = "modelled_picoseconds"
"""Among the resources of machine code: the time of all its launches in the cost model."""


NOT_VERIFIED = "NOT VERIFIED"
"""The status of code that was returned without a proof; see `EquivalenceReport.fields`."""


@dataclass(frozen=True)
class TensorSpec:
    """What a kernel expects of one tensor; strides are in elements."""

    name: str
    shape: tuple[int, ...]
    element_type: ElementType
    strides: tuple[int, ...]
    constant: bool = False
    """The tensor never changes between calls (a weight)."""

    @cached_property
    def dense(self) -> bool:
        """Whether the elements follow one another without gaps, last dimension innermost."""
        return self.strides == row_major(self.shape)

    @property
    def storage_elements(self) -> int:
        """Elements between the first and the last."""
        return 1 + sum(
            (size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)
        )

    @property
    def storage_bytes(self) -> int:
        """The same in bytes."""
        return self.storage_elements * self.element_type.itemsize

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.element_type.value])


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a dense tensor whose last dimension is innermost."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Launch:
    """
    One kernel launch: grid in blocks, sizes in threads and bytes.

    A kernel that `follows` may start before the previous grid has ended: it waits for that itself.
    """

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    arguments: tuple[Argument, ...]
    follows: bool = False


@dataclass(frozen=True)
class TargetCode:
    """Machine code for one target and the launches, in order, that compute the outputs."""

    target: str
    cubin: bytes
    launches: tuple[Launch, ...]
    scratch_bytes: int
    ugraph: str
    """Text of the uGraph that the kernels were lowered from."""
    resources: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the assembler reported: registers, spill bytes; and the modelled time."""
    tensor_maps: tuple[TensorMapArgument, ...] = ()
    """What the arguments `map:0`, `map:1` and so on of the kernels are."""
    packed: tuple[PackedInput, ...] = ()
    """What `packed:0`, `packed:1` and so on are."""
    counter_bytes: int = 0
    """Memory that is 0 before the first call on a stream, and that calls leave so."""

    def behind_others(self) -> TargetCode:
        """
        The same where each call starts as behind kernels of another library.

        Its first launch waits for the end of what is before it. Of calls in a chain each starts
        inside the end of the one before, which other libraries do not allow.
        """
        first, *others = self.launches
        return replace(self, launches=(replace(first, follows=False), *others))


@dataclass(frozen=True)
class Artifact:
    """A compiled program, independent of the machine that compiled it."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    targets: tuple[TargetCode, ...]
    program: str
    """Text of the program as it was written."""
    report: str = ""
    explanation: str = ""
    """Why its kernels were chosen; empty where no search chose them."""
    verification: Mapping[str, object] = field(default_factory=dict[str, object])
    producer: str = ""

    def __post_init__(self) -> None:
        for spec in (*self.inputs, *self.outputs):
            check_tensor(f"tensor {spec.name!r}", spec)
        for code in self.targets:
            check_target(code)
            self._check_code(code)

    def _check_code(self, code: TargetCode) -> None:
        memory = {
            "input": len(self.inputs),
            "output": len(self.outputs),
            "scratch": code.scratch_bytes,
        }
        pointers = {**memory, PACKED: len(code.packed)} if code.packed else memory
        sizes = {**pointers, MAP: len(code.tensor_maps)} if code.tensor_maps else pointers
        if code.counter_bytes:
            sizes = {**sizes, COUNTERS: code.counter_bytes}
        for launch in code.launches:
            what = f"kernel {launch.kernel} for {code.target}"
            check_arguments(what, launch.arguments, sizes)
        for number, each in enumerate(code.packed):
            what = f"packed input {number} for {code.target}"
            check_arguments(what, [each.tensor], memory)
            _check_extent(what, each.source_bytes, each.tensor, self._bytes_of(code, each.tensor))
        for number, each in enumerate(code.tensor_maps):
            what = f"tensor map {number} for {code.target}"
            check_arguments(what, [each.tensor], pointers)
            _check_extent(what, each.end, each.tensor, self._bytes_of(code, each.tensor))

    def _bytes_of(self, code: TargetCode, tensor: Argument) -> int:
        """Bytes from what an argument points to up to its end."""
        if tensor.kind == "scratch":
            return code.scratch_bytes - tensor.index
        found = {"input": self.inputs, "output": self.outputs, PACKED: code.packed}
        return found[tensor.kind][tensor.index].storage_bytes

    def to_bytes(self) -> bytes:
        """The artifact as the contents of a file."""
        files = {PROGRAM: self.program.encode(), REPORT: self.report.encode()}
        if self.explanation:
            files[EXPLANATION] = self.explanation.encode()
        for code in self.targets:
            files[f"{code.target}.cubin"] = code.cubin
            files[f"{code.target}.ugraph.mlir"] = code.ugraph.encode()
        manifest = json.dumps(self._manifest(files), indent=1).encode()
        checksum = hashlib.sha256(manifest).hexdigest().encode()
        return packed({MANIFEST: manifest, CHECKSUM: checksum, **files})

    def _manifest(self, files: Mapping[str, bytes]) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "producer": self.producer,
            "name": self.name,
            "inputs": [_tensor_fields(spec) for spec in self.inputs],
            "outputs": [_tensor_fields(spec) for spec in self.outputs],
            "targets": {
                code.target: {
                    "scratch_bytes": code.scratch_bytes,
                    "counter_bytes": code.counter_bytes,
                    "resources": dict(code.resources),
                    "launches": [_launch_fields(launch) for launch in code.launches],
                    "tensor_maps": [each.fields() for each in code.tensor_maps],
                    "packed": [each.fields() for each in code.packed],
                }
                for code in self.targets
            },
            "verification": dict(self.verification),
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact to `path`: whole or not at all."""
        write_whole(path, self.to_bytes())

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """Read what `to_bytes` gave; raises `ArtifactError` where it is anything else."""
        files = unpacked(data)
        manifest = _checked_manifest(files)
        targets = manifest.fields("targets")
        read = Artifact(
            name=manifest.text("name"),
            inputs=tuple(map(_read_tensor, manifest.each("inputs"))),
            outputs=tuple(map(_read_tensor, manifest.each("outputs"))),
            targets=tuple(
                _read_target(name, targets.fields(name), files) for name in targets.names()
            ),
            program=_text(files, PROGRAM),
            report=_text(files, REPORT),
            explanation=_text(files, EXPLANATION) if EXPLANATION in files else "",
            verification=manifest.raw("verification"),
            producer=manifest.text("producer"),
        )
        check_signature(read.program, (*read.inputs, *read.outputs))
        return read

    @property
    def unverified(self) -> tuple[str, ...]:
        """The instruction sets whose code was returned without a proof, as the user allowed."""
        return tuple(
            name
            for name, fields in self.verification.items()
            if isinstance(fields, dict)
            and cast(dict[str, object], fields).get("status") == NOT_VERIFIED
        )

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Artifact:
        """
        Read the artifact at `path`.

        Warns of code that was not verified.

        Raises:
            OSError: the file cannot be read.
            ArtifactError: it is no artifact, is damaged, or is of a newer format.
        """
        try:
            found = Artifact.from_bytes(read_whole(path))
        except ArtifactError as error:
            raise ArtifactError(f"{os.fspath(path)} cannot be loaded: {error}") from error
        if unverified := found.unverified:
            names = ", ".join(unverified)
            warnings.warn(f"{os.fspath(path)} is {NOT_VERIFIED} for {names}", stacklevel=3)
        return found


def _check_extent(what: str, end: int, tensor: Argument, size: int) -> None:
    """Nothing is read or written beyond the end of a tensor."""
    if end > size:
        raise ArtifactError(f"{what} covers {end} bytes of {tensor}, which has {size}")


def _tensor_fields(spec: TensorSpec) -> dict[str, object]:
    return {**asdict(spec), "element_type": spec.element_type.value}


def _launch_fields(launch: Launch) -> dict[str, object]:
    return {**asdict(launch), "arguments": list(map(str, launch.arguments))}


def _check_format(manifest: Fields) -> None:
    if (kind := manifest.text("format")) != FORMAT:
        raise ArtifactError(f"its format is {kind!r}, not {FORMAT!r}")
    if not OLDEST <= (version := manifest.number("version")) <= VERSION:
        raise ArtifactError(
            f"its format version is {version}; this mirage_mlir reads {OLDEST} to {VERSION}"
        )


def _checked_manifest(files: Mapping[str, bytes]) -> Fields:
    """The manifest, of a format that is read, which belongs to these files."""
    if MANIFEST not in files:
        raise ArtifactError(f"it has no {MANIFEST}")
    manifest = Fields.parse(files[MANIFEST])
    _check_format(manifest)
    if manifest.number("version") >= FIRST_WITH_CHECKSUM:
        found = hashlib.sha256(files[MANIFEST]).hexdigest().encode()
        if _member(files, CHECKSUM) != found:
            raise ArtifactError(f"its member {MANIFEST} is damaged (SHA-256 differs)")
    hashes = manifest.fields("files")
    _check_hashes(hashes, files)
    if unknown := sorted({*files} - {MANIFEST, CHECKSUM, *hashes.names()}):
        raise ArtifactError(f"it has a member {unknown[0]!r} that its manifest does not name")
    return manifest


def _check_hashes(hashes: Fields, files: Mapping[str, bytes]) -> None:
    for name in hashes.names():
        if hashlib.sha256(_member(files, name)).hexdigest() != hashes.text(name):
            raise ArtifactError(f"its member {name} is damaged (SHA-256 differs)")


def _member(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise ArtifactError(f"it has no member {name}")
    return files[name]


def _text(files: Mapping[str, bytes], name: str) -> str:
    try:
        return _member(files, name).decode()
    except UnicodeDecodeError as error:
        raise ArtifactError(f"its member {name} is no text") from error


def _read_tensor(fields: Fields) -> TensorSpec:
    shape = fields.numbers("shape")
    return TensorSpec(
        name=fields.text("name"),
        shape=shape,
        element_type=read_element_type(fields),
        strides=fields.numbers("strides", len(shape)),
        constant=fields.flag("constant"),
    )


def _read_target(target: str, fields: Fields, files: Mapping[str, bytes]) -> TargetCode:
    resources = fields.fields("resources")
    return TargetCode(
        target=target,
        cubin=_member(files, f"{target}.cubin"),
        launches=tuple(map(_read_launch, fields.each("launches"))),
        scratch_bytes=fields.number("scratch_bytes"),
        ugraph=_text(files, f"{target}.ugraph.mlir"),
        resources={name: resources.number(name) for name in resources.names()},
        # Files of version 2 have none of these.
        tensor_maps=tuple(map(TensorMapArgument.read, _each(fields, "tensor_maps"))),
        packed=tuple(map(PackedInput.read, _each(fields, "packed"))),
        counter_bytes=fields.number("counter_bytes") if fields.has("counter_bytes") else 0,
    )


def _each(fields: Fields, name: str) -> list[Fields]:
    return fields.each(name) if fields.has(name) else []


def _read_launch(fields: Fields) -> Launch:
    return Launch(
        kernel=fields.text("kernel"),
        grid=cast(tuple[int, int, int], fields.numbers("grid", 3)),
        threads=fields.number("threads"),
        shared_bytes=fields.number("shared_bytes"),
        arguments=tuple(map(Argument.parse, fields.texts("arguments"))),
        follows=fields.flag("follows"),
    )
