"""Compiles that are kept on disk: what is found again, by whom, and what is not kept."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import mirage_mlir as mi
from mirage_mlir import cache_main
from mirage_mlir.driver import kept
from mirage_mlir.driver.cache import ARTIFACT, Cache, Key
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.superoptimize import Superoptimized

PROGRAM = """
import sys
import mirage_mlir as mi
graph = mi.new_kernel_graph("program")
x = graph.new_input(dims=(4, 8), name="x")
graph.mark_output(graph.relu(x))
kernel = graph.superoptimize(compile_for=["sm_90a"])
print("compiled" if "mirage_mlir.driver.optimize" in sys.modules else "loaded")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Superoptimized]:
    """The compiles that are made while the test runs."""
    found: list[Superoptimized] = []
    optimize = kept.optimized

    def noted(module: ModuleOp, name: str, options: Options) -> Superoptimized:
        found.append(optimize(module, name, options))
        return found[-1]

    monkeypatch.setattr(kept, "optimized", noted)
    return found


def graph_of(columns: int = 8) -> mi.KernelGraph:
    graph = mi.new_kernel_graph("program")
    graph.mark_output(graph.relu(graph.new_input(dims=(4, columns), name="x")))
    return graph


CHIP = ["sm_90a"]


def test_the_second_time(folder: Path, made: list[Superoptimized]) -> None:
    first = graph_of().superoptimize(compile_for=CHIP).artifact
    second = graph_of().superoptimize(compile_for=CHIP).artifact
    assert len(made) == 1
    assert second.to_bytes() == first.to_bytes()
    # Another program, target or option is another entry; how many processes search is not.
    graph_of(16).superoptimize(compile_for=CHIP)
    graph_of().superoptimize("H100", compile_for=CHIP)
    graph_of().superoptimize(compile_for=CHIP, max_kernels=1)
    assert len(made) == 4
    graph_of().superoptimize(compile_for=CHIP, jobs=2)
    assert len(made) == 4
    graph_of().superoptimize(compile_for=CHIP, cache=False)
    assert len(made) == 5
    assert len(list(folder.glob(f"*{ARTIFACT}"))) == 4


def test_other_code(
    folder: Path, made: list[Superoptimized], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph_of().superoptimize(compile_for=CHIP)
    monkeypatch.setattr("mirage_mlir.driver.cache.code_version", lambda: "another")
    graph_of().superoptimize(compile_for=CHIP)
    assert len(made) == 2


def test_damage(folder: Path, made: list[Superoptimized]) -> None:
    graph_of().superoptimize(compile_for=CHIP)
    (path,) = folder.glob(f"*{ARTIFACT}")
    whole = path.read_bytes()
    for data in (b"", whole[:-9], bytes([*whole[:300], whole[300] ^ 1, *whole[301:]])):
        path.write_bytes(data)
        graph_of().superoptimize(compile_for=CHIP)
    assert len(made) == 4
    assert mi.Artifact.from_bytes(path.read_bytes()).name == "program"


def test_what_is_not_final(
    folder: Path, made: list[Superoptimized], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph_of().superoptimize(compile_for=CHIP)
    (whole,) = made
    (offer,) = whole.offers.values()
    cut = replace(offer, search=replace(offer.search, stopped="the time limit"))
    assert kept.is_final(whole)
    assert not kept.is_final(replace(whole, offers={"sm_90a": cut}))
    marked = replace(whole.artifact, verification={"sm_90a": {"status": "NOT VERIFIED"}})
    assert not kept.is_final(replace(whole, artifact=marked))


@pytest.mark.parametrize("blocked", ["file", "read only"])
def test_a_folder_that_cannot_be_written(
    blocked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "file"
    if blocked == "file":
        place.write_text("")
    else:
        place.mkdir(mode=0o500)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(place / "cache"))
    assert graph_of().superoptimize(compile_for=CHIP).artifact.name == "program"


def process(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "MIRAGE_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_processes_at_once_compile_once(folder: Path) -> None:
    """The others wait for the lock; of one that is killed it is free, and the next compiles."""
    key = kept.key_of(graph_of().to_module(), "program", Options(chips=("sm_90a",)))
    with Cache(folder).locked(key):
        killed, *others = [process(folder) for _ in range(4)]
        time.sleep(1)
        killed.send_signal(signal.SIGKILL)
        assert not list(folder.glob(f"*{ARTIFACT}"))
    printed = [each.communicate()[0] for each in others]
    assert sorted(printed) == ["compiled\n", "loaded\n", "loaded\n"]
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    (path,) = folder.glob(f"*{ARTIFACT}")
    # A later one finds it, and does not write it again.
    before = path.read_bytes()
    assert process(folder).communicate()[0] == "loaded\n"
    assert path.read_bytes() == before


def test_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not used for longest goes first."""
    monkeypatch.setenv("MIRAGE_CACHE_BYTES", "250")
    cache = Cache(tmp_path)
    keys = [Key(f"program {number}", "", {}) for number in range(3)]
    for age, key in zip((30, 20), keys, strict=False):
        cache.keep(key, b"a" * 100)
        os.utime(tmp_path / f"{key.digest()}{ARTIFACT}", (time.time() - age, time.time() - age))
    assert cache.artifact(keys[0]) is not None
    cache.keep(keys[2], b"a" * 100)
    assert [cache.artifact(key) is not None for key in keys] == [True, False, True]


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph_of().superoptimize(compile_for=CHIP)
    assert cache_main.main(["list"]) == 0
    line = capsys.readouterr().out
    assert line.split()[1] == "artifact"
    assert line.split()[-1] == "program"
    assert cache_main.main(["stats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["folder"], found["artifacts"], found["timings"]) == (str(folder), 1, 0)
    assert cache_main.main(["clear", "--older-than", "1"]) == 0
    assert cache_main.main(["clear", line[:6]]) == 0
    assert capsys.readouterr().out == "removed 0 entries\nremoved 1 entry\n"
    assert cache_main.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    with pytest.raises(SystemExit) as ended:
        cache_main.main(["lists"])
    assert ended.value.code == 2


def test_export_says_what_it_leaves_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, a file of no entry was written without a word."""
    for columns in (8, 16):
        graph_of(columns).superoptimize(compile_for=CHIP)
    first, second = sorted(folder.glob(f"*{ARTIFACT}"))
    file = folder.parent / "exported.zip"
    assert cache_main.main(["export", str(file), "xyz"]) == 1
    message = "mirage-cache: error: there is no entry whose key begins with 'xyz'\n"
    assert capsys.readouterr().err == message
    assert not file.exists()
    first.write_bytes(first.read_bytes()[:-100])
    assert cache_main.main(["export", str(file)]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"mirage-cache: warning: left out {first.name}: it is damaged\n"
    assert ": 1 entry, " in printed.out
    assert cache_main.main(["export", str(file), second.name[:8]]) == 0
    assert capsys.readouterr().err == ""


def test_a_size_that_is_no_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_CACHE_BYTES", "2G")
    with pytest.raises(ValueError, match="MIRAGE_CACHE_BYTES is a number of bytes, not '2G'"):
        graph_of().superoptimize(compile_for=CHIP)
    assert cache_main.main(["stats"]) == 1


def test_what_a_later_process_loads(folder: Path) -> None:
    """A kept kernel that is interpreted: dialects and compiler that it does not need take long."""
    program = (
        PROGRAM
        + """
import numpy
kernel(numpy.ones((4, 8), numpy.float16))
slow = ("xdsl.dialects.llvm", "xdsl.dialects.gpu", "xdsl.dialects.arith", "mirage_mlir.search")
print(*(name for name in sys.modules if name.startswith(slow)))
"""
    )
    graph_of().superoptimize(compile_for=CHIP)
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "MIRAGE_CACHE_DIR": str(folder)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "loaded\n\n"
