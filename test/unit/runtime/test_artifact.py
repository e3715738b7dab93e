"""Saving and loading artifacts, whole and damaged."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from artifact_files import members, zipped
from runtime_fakes import artifact, code, code_with_maps, code_with_packed, map_of

from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Artifact, row_major
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.manifest import ArtifactError


def edited(**changes: object) -> bytes:
    """The artifact's file with members of the manifest replaced, and removed where None."""
    files = members(artifact().to_bytes())
    manifest = {**json.loads(files["manifest.json"]), **changes}
    manifest = {name: value for name, value in manifest.items() if value is not None}
    return zipped({**files, "manifest.json": json.dumps(manifest).encode()})


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "f.mirage"
    artifact().save(path)
    assert Artifact.load(path) == artifact()
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.mirage"]


def test_saving_twice_gives_the_same_bytes() -> None:
    assert artifact().to_bytes() == artifact().to_bytes()


def test_every_damaged_byte_is_noticed() -> None:
    """A flipped byte is an `ArtifactError`, or in a place that no content depends on."""
    data = artifact().to_bytes()
    noticed = 0
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        try:
            assert Artifact.from_bytes(bytes(damaged)) == artifact()
        except ArtifactError:
            noticed += 1
    assert noticed > len(data) / 2


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_truncated(length: int) -> None:
    with pytest.raises(ArtifactError, match="not a whole zip file"):
        Artifact.from_bytes(artifact().to_bytes()[:length])


def test_load_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f.mirage"
    path.write_text("not a zip")
    with pytest.raises(ArtifactError, match="cannot be loaded: it is not a whole zip file"):
        Artifact.load(path)


def test_foreign_zip() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ArtifactError, match=r"it has no manifest\.json"):
        Artifact.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "its format is 'other'"),
        ({"version": 99}, "its format version is 99; this mirage_mlir reads 2 to 4"),
        ({"version": 1}, "its format version is 1; this mirage_mlir reads 2 to 4"),
        ({"version": None}, "the manifest has no 'version'"),
        ({"name": 3}, "'name' in the manifest is 3, not a string"),
        ({"inputs": {}}, "'inputs' in the manifest is {}, not a list"),
        ({"inputs": [1]}, r"'inputs\[0\]' is not a JSON object"),
        ({"targets": []}, "'targets' is not a JSON object"),
        ({"targets": {"sm_1": {"resources": {}}}}, r"no member sm_1\.cubin"),
    ],
)
def test_edited_manifest(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        Artifact.from_bytes(edited(**changes))


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("shape", [4, -8], r"'inputs\[0\]\.shape' in the manifest is \[4, -8\]"),
        ("strides", [1], r"not a list of 2 non-negative integers"),
        ("element_type", "i7", "element type 'i7' is unknown"),
        ("constant", 1, r"'inputs\[0\]\.constant' in the manifest is 1, not a boolean"),
    ],
)
def test_edited_input(member: str, value: object, message: str) -> None:
    inputs = [
        {
            "name": "x",
            "shape": [4, 8],
            "element_type": "f16",
            "strides": [8, 1],
            "constant": False,
            member: value,
        }
    ]
    with pytest.raises(ArtifactError, match=message):
        Artifact.from_bytes(edited(inputs=inputs))


def test_changed_cubin() -> None:
    files = {"sm_90a.cubin": "0" * 64}
    with pytest.raises(ArtifactError, match=r"sm_90a\.cubin is damaged \(SHA-256 differs\)"):
        Artifact.from_bytes(edited(files=files))


@pytest.mark.parametrize("text", ["input", "weird:0", "input:-1", "input:x", ""])
def test_argument_spelling(text: str) -> None:
    with pytest.raises(ArtifactError, match="is not a kernel argument"):
        Argument.parse(text)


def test_arguments_are_in_range() -> None:
    launch = replace(code().launches[0], arguments=(Argument("input", 2),))
    with pytest.raises(ArtifactError, match="takes input:2, and there are 2 inputs"):
        artifact(replace(code(), launches=(launch,)))


def test_a_file_of_version_2_is_read() -> None:
    """As it was written before there were tensor maps."""
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(artifact().to_bytes())).read("manifest.json"))
    for fields in manifest["targets"].values():
        del fields["tensor_maps"]
    old = edited(version=2, targets=manifest["targets"])
    assert Artifact.from_bytes(old) == artifact()


def test_tensor_maps_round_trip() -> None:
    with_maps = artifact(code_with_maps(scratch=768))
    assert Artifact.from_bytes(with_maps.to_bytes()) == with_maps
    assert len(with_maps.targets[0].tensor_maps) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tensor": Argument("map", 0)}, "a tensor map is of a tensor, not of 'map:0'"),
        ({"dims": (1,) * 6}, "a tensor map has 1 to 5 dims, not 6"),
        ({"strides": ()}, "a tensor map of 2 dims has 1 strides and a box of 2 sizes, not 0 and 2"),
        ({"box": (8,)}, "has 1 strides and a box of 2 sizes, not 1 and 1"),
        ({"swizzle": 16}, r"a swizzle is one of \(0, 32, 64, 128\) bytes, not 16"),
    ],
)
def test_maps_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        replace(map_of("input:0"), **changes)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (map_of("input:2"), "tensor map 0 for sm_90a takes input:2, and there are 2 inputs"),
        # x has 4x8 elements of two bytes.
        (map_of("input:0", 16), "tensor map 0 for sm_90a covers 80 bytes of input:0, which has 64"),
        (map_of("scratch:704", 16), "covers 80 bytes of scratch:704, which has 64"),
    ],
)
def test_maps_of_what_is_not_there(wrong: TensorMapArgument, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        artifact(replace(code_with_maps(scratch=768), tensor_maps=(wrong, wrong, wrong)))


def test_packed_inputs_round_trip() -> None:
    with_packed = artifact(code_with_packed())
    assert Artifact.from_bytes(with_packed.to_bytes()) == with_packed
    assert len(with_packed.targets[0].packed) == 1


def test_packed_inputs_of_what_is_not_there() -> None:
    good = code_with_packed()
    (packed,) = good.packed
    with pytest.raises(ArtifactError, match="only inputs are packed, not 'output:0'"):
        replace(packed, tensor=Argument("output", 0))
    with pytest.raises(ArtifactError, match="packed input 0 for sm_90a takes input:2, and there"):
        artifact(replace(good, packed=(replace(packed, tensor=Argument("input", 2)),)))
    # x has 4x8 elements of two bytes.
    with pytest.raises(ArtifactError, match="covers 256 bytes of input:0, which has 64"):
        artifact(replace(good, packed=(replace(packed, tensor=Argument("input", 0)),)))
    with pytest.raises(ArtifactError, match=r"takes packed:0, and there are .* 1 tensor maps"):
        artifact(replace(good, packed=()))
    beyond = replace(good.tensor_maps[0], dims=(8, 17))
    with pytest.raises(ArtifactError, match="covers 272 bytes of packed:0, which has 256"):
        artifact(replace(good, tensor_maps=(beyond,)))


def test_a_packing_that_cannot_be() -> None:
    target = json.loads(
        zipfile.ZipFile(io.BytesIO(artifact(code_with_packed()).to_bytes())).read("manifest.json")
    )["targets"]
    target["sm_90a"]["packed"][0]["panel"] = 3
    with pytest.raises(ArtifactError, match="a packing has tiles of whole panels"):
        Artifact.from_bytes(edited(targets=target))


def test_a_kernel_takes_maps_that_are_there() -> None:
    with pytest.raises(ArtifactError, match=r"takes map:1, and there are .* 1 tensor maps"):
        artifact(replace(code_with_maps(), tensor_maps=(map_of("input:0"),)))


def test_where_a_map_ends() -> None:
    map_ = TensorMapArgument(Argument("input", 0), 64, (8, 3), (100,), (8, 2), 0, ElementType.F32)
    assert map_.end == 64 + 2 * 100 + 8 * 4


def test_save_into_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        artifact().save(tmp_path / "none" / "f.mirage")


def test_row_major() -> None:
    assert row_major((2, 3, 4)) == (12, 4, 1)
    assert row_major(()) == ()
