"""Damaged artifacts, and entries of the cache."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
from hostile_case import Case
from xdsl.utils.exceptions import DiagnosticException

import mirage_mlir as mi
from mirage_mlir.driver.cache import Cache, Key
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.remembered import offers_read, offers_written
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.search.report import SearchReport

ARTIFACT, ENTRY = "f.mirage", "entry.json"

PROGRAM = """func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x32xf16> {kernel.constant})
    -> tensor<16x32xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %z = kernel.matmul %y, %w : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %z : tensor<16x32xf16>
}
"""

NOTHING: list[object] = []

OTHERS: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 3, 7, 1025, 2**16, 2**31, 2**63, 10**30, 1.5, float("inf")),
    *("", "x", "sm_80", "sm_90a", "input:0", "input:99", "map:0", "packed:0", "scratch:16", "\0"),
    *(
        "scratch:" + "9" * 5000,
        "f16",
        "f8",
        NOTHING,
        [NOTHING],
        [1, 1, 1],
        [0, 0, 0],
        {},
        {"a": {}},
    ),
)
"""What is put in the place of a value."""


@cache
def artifact() -> bytes:
    """A program compiled for two targets."""
    graph = mi.new_kernel_graph("f")
    x, w = graph.new_input((16, 64)), graph.new_input((64, 32), constant=True)
    graph.mark_output(graph.matmul(graph.rms_norm(x), w))
    return graph.superoptimize(pack=True).artifact.to_bytes()


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip whose checksums fit what it holds, as far as it has a manifest."""
    files = dict(files)
    try:
        manifest = json.loads(files["manifest.json"])
        for name in manifest["files"]:
            manifest["files"][name] = hashlib.sha256(files[name]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()
    except (KeyError, TypeError, ValueError, RecursionError):
        pass
    checksum = hashlib.sha256(files.get("manifest.json", b"")).hexdigest()
    files["manifest.sha256"] = checksum.encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def edit(random: Random, root: Any, key: Any) -> None:
    """Put another value somewhere below `root[key]`, or leave one out."""
    while random.random() < 0.85 and (keys := _keys(root[key])):
        root, key = root[key], random.choice(keys)
    if random.random() < 0.15 and isinstance(root, dict):
        del root[key]
    else:
        root[key] = random.choice(OTHERS)


def _keys(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [*cast(dict[str, object], value)]
    return [*range(len(cast(list[object], value)))] if isinstance(value, list) else []


def artifact_case(random: Random) -> Case:
    """An artifact with bytes, members or values of the manifest changed."""
    kind = random.randrange(8)
    if kind < 2:
        data = _damaged(random, artifact())
    elif kind == 2:
        files = _members(artifact())
        name = random.choice([*files])
        files[name] = _damaged(random, files[name])
        data = _zipped(files)
    elif kind == 3:
        data = _other_members(random)
    else:
        files = _members(artifact())
        manifest = {"manifest": json.loads(files["manifest.json"])}
        for _ in range(random.choice((1, 1, 1, 3))):
            edit(random, manifest, "manifest")
            if not isinstance(manifest.get("manifest"), dict):
                break
        files["manifest.json"] = json.dumps(manifest.get("manifest")).encode()
        data = _zipped(files)
    return Case(files={ARTIFACT: data}, call=load)


def _damaged(random: Random, data: bytes) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(random.choice((1, 1, 4, 40))):
        place = random.randrange(len(changed))
        changed[place] = random.randrange(256)
    if random.random() < 0.3:
        del changed[random.randrange(len(changed)) :]
    return bytes(changed)


def _other_members(random: Random) -> bytes:
    files = _members(artifact())
    one, other = random.choice([*files]), random.choice([*files])
    match random.randrange(6):
        case 0:
            del files[one]
        case 1:
            files[one], files[other] = files[other], files[one]
        case 2:
            files[random.choice(("x", "../x", "/x", "\u00e9", "x" * 1000))] = b"x"
        case 3:
            files[one] = bytes(2**28)
        case 4:
            files["manifest.json"] = random.choice((b"[", b'{"a":', b"[1,")) * 100_000
        case _:
            files |= {f"{number}": b"" for number in range(100)}
    return _zipped(files)


def load(folder: Path) -> int:
    """Load the artifact, look at it, and interpret it: 1 where it is refused."""
    try:
        kernel = mi.load(folder / ARTIFACT)
    except mi.ArtifactError:
        return 1
    assert repr(kernel)
    assert isinstance(kernel.report, str)
    kernel.save(folder / "again.mirage")
    try:
        kernel(*(np.zeros(spec.shape, np.float16) for spec in kernel.artifact.inputs))
    except (TypeError, ValueError, DiagnosticException):
        return 1
    return 0


@cache
def _entry() -> str:
    reference = function_named(parse_program(PROGRAM, "f.mlir"), "f")
    report = SearchReport("f", "H200", kernels=1, cut=["graphs"], phases={"costing": 0.5})
    offer = Offer(reference, True, report, ("timed on a GPU", "  0: 1 us"))
    return json.dumps({"entry": {"offers": offers_written({"sm_90a": offer}), "candidates": []}})


def entry_case(random: Random) -> Case:
    """An entry with values or bytes changed; its checksum may fit."""
    whole = json.loads(_entry())
    for _ in range(random.choice((0, 1, 1, 3))):
        edit(random, whole, "entry")
        if "entry" not in whole:
            whole["entry"] = {}
    text = json.dumps(whole["entry"], sort_keys=True)
    whole["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    data = json.dumps(whole).encode()
    if random.random() < 0.3:
        data = _damaged(random, data)
    if random.random() < 0.1:
        data = random.choice((b"[", b'{"entry":')) * 100_000
    return Case(files={ENTRY: data}, call=remember)


def remember(folder: Path) -> int:
    """Read the entry as a search that is not the first one does: 1 where it is none."""
    key = Key(PROGRAM, "GPU", {})
    kept = Cache(folder / "cache")
    kept.put(key, {})
    (path,) = (folder / "cache").iterdir()
    path.write_bytes((folder / ENTRY).read_bytes())
    entry = kept.get(key)
    if entry is None:
        return 1
    reference = function_named(parse_program(PROGRAM, "f.mlir"), "f")
    try:
        offers = offers_read(entry.get("offers"), reference)
    except (ValueError, DiagnosticException):
        return 1
    for offer in offers.values():
        assert offer.search.lines()
    return 0
