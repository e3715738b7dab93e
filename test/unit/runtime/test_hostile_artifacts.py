"""Artifacts that somebody made to be refused: each is an `ArtifactError`."""

import hashlib
import io
import json
import tracemalloc
import zipfile
from dataclasses import replace
from typing import Any, cast

import pytest
from artifact_files import members, zipped
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime_fakes import artifact, code, code_with_maps, code_with_packed

from mirage_mlir.runtime import archive
from mirage_mlir.runtime.arguments import Argument
from mirage_mlir.runtime.artifact import Artifact, row_major
from mirage_mlir.runtime.manifest import ArtifactError


def test_a_manifest_of_another_file() -> None:
    files = members(artifact().to_bytes())
    changed = files["manifest.json"].replace(b'"threads": 128', b'"threads": 129')
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**files, "manifest.json": changed}.items():
            archive.writestr(name, data)
    with pytest.raises(ArtifactError, match=r"manifest\.json is damaged \(SHA-256 differs\)"):
        Artifact.from_bytes(buffer.getvalue())


def test_a_bomb_is_not_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    files = members(zipped(members(artifact().to_bytes())))
    monkeypatch.setattr(archive, "MOST_BYTES", 2**24)
    bomb = archive.packed({**files, "report.txt": bytes(2**24)})
    assert len(bomb) < 2**16
    tracemalloc.start()
    with pytest.raises(ArtifactError, match="more than 16777216"):
        Artifact.from_bytes(bomb)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_file_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 2**20)
    with pytest.raises(ArtifactError, match="it has more than 1048576 bytes"):
        Artifact.load("/dev/zero")


def test_members_that_no_artifact_has() -> None:
    files = members(artifact().to_bytes())
    with pytest.raises(ArtifactError, match="'evil' that its manifest does not name"):
        Artifact.from_bytes(zipped({**files, "evil": b"x"}))
    with pytest.raises(ArtifactError, match="members, more than 64"):
        Artifact.from_bytes(zipped({**files, **{f"{number}": b"" for number in range(64)}}))
    buffer = io.BytesIO(zipped(files))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(buffer, "a") as archive,
    ):
        archive.writestr("report.txt", "another")
    with pytest.raises(ArtifactError, match="several members of one name"):
        Artifact.from_bytes(buffer.getvalue())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(ArtifactError, match=r"manifest\.json is compressed by method 14"):
        Artifact.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "the manifest is nested too deep"),
        (b'{"a": ' * 50 + b"1" + b"}" * 50, "the manifest is nested too deep"),
        (b'{"version": ' + b"9" * 5000 + b"}", "the manifest is not JSON"),
        (b'{"version": NaN}', "the manifest is not JSON: NaN is no number"),
        (b"\xff", "the manifest is not JSON"),
        (b"", "the manifest is not JSON"),
        (b"[]", "the manifest is not a JSON object"),
    ],
)
def test_manifests_that_are_none(text: bytes, message: str) -> None:
    files = members(artifact().to_bytes())
    with pytest.raises(ArtifactError, match=message):
        Artifact.from_bytes(zipped({**files, "manifest.json": text}))


def test_texts_that_are_none() -> None:
    files = members(artifact().to_bytes())
    report = b"\xff"
    manifest = json.loads(files["manifest.json"])
    manifest["files"]["report.txt"] = hashlib.sha256(report).hexdigest()
    changed = {"manifest.json": json.dumps(manifest).encode(), "report.txt": report}
    with pytest.raises(ArtifactError, match=r"its member report\.txt is no text"):
        Artifact.from_bytes(zipped({**files, **changed}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": (0, 1, 1)}, r"has a grid of \(0, 1, 1\), which no device launches"),
        ({"grid": (1, 65536, 1)}, "which no device launches"),
        ({"grid": (2**31, 1, 1)}, "which no device launches"),
        ({"threads": 0}, "has 0 threads, not 1 to 1024"),
        ({"threads": 2048}, "has 2048 threads, not 1 to 1024"),
        ({"shared_bytes": 2**20}, "has 1048576 bytes of shared memory, more than 232448"),
        ({"kernel": "a b"}, "kernel 'a b' for sm_90a has a name that no kernel has"),
        ({"arguments": (Argument("input", 0),) * 5000}, "takes 40000 bytes, more than 32764"),
    ],
)
def test_launches_that_no_device_makes(changes: dict[str, Any], message: str) -> None:
    first, second = code().launches
    with pytest.raises(ArtifactError, match=message):
        artifact(replace(code(), launches=(replace(first, **changes), second)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "h100"}, "'h100' is no name of an instruction set"),
        ({"scratch_bytes": 2**50}, "bytes of scratch for sm_90a are more than there are"),
        ({"counter_bytes": 2**50}, "bytes of counters for sm_90a are more than there are"),
    ],
)
def test_targets_that_are_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        artifact(replace(code(), **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (0, 8)}, "tensor 'x' has dim 0 of size 0"),
        ({"shape": (2**40, 8), "strides": (8, 1)}, "elements, more than"),
        ({"shape": (1,) * 40, "strides": (1,) * 40}, "has rank 40, more than 16"),
        ({"strides": (1, 1)}, r"has strides \(1, 1\) for shape \(4, 8\)"),
        ({"strides": (0, 1)}, r"has strides \(0, 1\) for shape \(4, 8\)"),
        ({"strides": (16, 1)}, r"has strides \(16, 1\) for shape \(4, 8\)"),
        ({"strides": (1,)}, "has 2 dims and 1 strides"),
    ],
)
def test_tensors_that_are_none(changes: dict[str, Any], message: str) -> None:
    good = artifact()
    with pytest.raises(ArtifactError, match=message):
        replace(good, inputs=(replace(good.inputs[0], **changes), good.inputs[1]))


def test_tensors_are_those_of_the_program() -> None:
    good = artifact()
    larger = replace(good.inputs[0], shape=(8, 8), strides=row_major((8, 8)))
    with pytest.raises(ArtifactError, match=r"tensor 0 of its program is 4x8xf16.* 8x8xf16"):
        Artifact.from_bytes(replace(good, inputs=(larger, good.inputs[1])).to_bytes())
    with pytest.raises(ArtifactError, match="its program has 3 tensors, and its kernels have 4"):
        Artifact.from_bytes(replace(good, outputs=good.outputs * 2).to_bytes())
    with pytest.raises(ArtifactError, match="its program has no function"):
        Artifact.from_bytes(replace(good, program="builtin.module {}").to_bytes())


NUMBERS: list[object] = [-1, 0, 1, 3, 7, 2**31, 2**63, 10**30, 1.5, 1e400]
WORDS: list[object] = ["", "sm_80", "input:0", "map:9", "packed:0", "scratch:" + "9" * 6000, "\0"]
OTHERS: list[object] = [None, True, [], [[]], {}, {"a": 1}]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_edit_is_an_artifact_error_or_none(data: st.DataObject) -> None:
    """One value anywhere in the manifest is another, and all checksums fit."""
    files = members(artifact(code_with_packed(), code_with_maps("sm_80", 768)).to_bytes())
    manifest = json.loads(files["manifest.json"])
    place, key = manifest, data.draw(st.sampled_from([*manifest]))
    while data.draw(st.integers(0, 3)) and (keys := _keys(place[key])):
        place, key = place[key], data.draw(st.sampled_from(keys))
    place[key] = data.draw(st.sampled_from([*NUMBERS, *WORDS, *OTHERS]))
    try:
        read = Artifact.from_bytes(
            zipped({**files, "manifest.json": json.dumps(manifest).encode()})
        )
    except ArtifactError:
        return
    assert Artifact.from_bytes(read.to_bytes()) == read


def _keys(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [*cast(dict[str, object], value)]
    return [*range(len(cast(list[object], value)))] if isinstance(value, list) else []
