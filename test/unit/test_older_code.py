"""Code for an older instruction set on the GPU that is there, and what is said of its times."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
from kernels.command_line import parse, uses_compile
from kernels.older_code import (
    ARCH_VARIABLE,
    PORTABLE,
    compile_for,
    compiler,
    generate_by_triton,
    major_for_triton,
    means,
    what_ran,
)
from kernels.ours import search
from kernels.programs import case_named
from kernels.suite import Suite, kernel_of
from peers.table import peers_of

from mirage_mlir.driver.timer import Job, compile_candidate
from mirage_mlir.runtime.launch import choose_target


def test_which_sets_later_gpus_have() -> None:
    assert PORTABLE == ("sm_80",)
    assert compiler(None) is compile_candidate


def test_ours_is_assembled_for_the_gpu_here() -> None:
    """What was generated for sm_80 is what is launched on 9.0, where code of 8.0 does not load."""
    case = case_named("lora b16_k256_r16 f16")
    (found,) = search(case.text(), "sm_80", 1, None).candidates
    job = Job(found.function, case.program, "sm_80")
    of_a100, here = compile_candidate(job), compile_for("sm_90a", job)
    assert here.ptx == of_a100.ptx
    assert ".target sm_80" in here.ptx
    assert here.code.launches == of_a100.code.launches
    assert here.code.cubin != of_a100.code.cubin
    assert here.code.resources["registers"] == here.assembled.registers
    assert not any(launch.follows for launch in here.code.launches)
    assert choose_target(kernel_of(case, here).artifact, (9, 0)) == here.code
    with pytest.raises(ValueError, match="sm_80; the device"):
        choose_target(kernel_of(case, of_a100).artifact, (9, 0))


def test_triton_generates_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def capability(device: int) -> tuple[int, int]:
        return 9, 0

    hopper = SimpleNamespace(cuda=SimpleNamespace(get_device_capability=capability))
    monkeypatch.delenv(ARCH_VARIABLE, raising=False)
    assert major_for_triton(hopper) == 9
    # So that it is taken back in the end.
    monkeypatch.setenv(ARCH_VARIABLE, "")
    generate_by_triton("sm_80")
    assert major_for_triton(hopper) == 8


def arguments_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> Namespace:
    """The command line of these words."""
    monkeypatch.setattr("sys.argv", ["run.py", *words])
    return parse("")


def test_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arguments_of(monkeypatch).code is None
    arguments = arguments_of(monkeypatch, "--code", "sm_80")
    assert (arguments.code, arguments.target) == ("sm_80", "sm_80")
    for words in (["--code", "sm_90a"], ["--code", "sm_80", "--target", "H100"]):
        with pytest.raises(SystemExit):
            arguments_of(monkeypatch, *words)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("matmul b1_n4096 f16", ["eager", "triton_splitk"]),
        ("gqa_llama70b b1_s1024 f16", ["eager", "triton_flashdecoding"]),
        ("rmsnorm 250x512 f32", ["eager", "triton"]),
    ],
)
def test_peers(monkeypatch: pytest.MonkeyPatch, name: str, wanted: list[str]) -> None:
    """Libraries are left out: their code is for the GPU that is there."""
    case = case_named(name)
    suite = Suite(None, arguments_of(monkeypatch, "--code", "sm_80"), compile_candidate, 1.0)
    assert not uses_compile(suite.arguments, case)
    assert [peer.name for peer in suite.peers(case)] == wanted
    assert {peer.name for peer in peers_of(case)} > set(wanted)


def test_what_is_said() -> None:
    rows = [
        {"microseconds": {"mirage, behind others": 8.0, "eager": 16.0, "triton": 10.0, "t": 12.0}},
        {"microseconds": {"mirage": 20.0, "eager": 10.0, "triton": 10.0}},
        {"microseconds": {"eager": 10.0, "triton": 10.0}},
        {"microseconds": {"mirage": 3.0, "eager": 3.0}},
    ]
    said = means("sm_80", rows)
    # sqrt(8/10 * 20/10), and the third root of 8/16 * 20/10 * 3/3
    assert "1.265 (2 cases) of the fastest sm_80 code of Triton" in said
    assert "1.000 (3 cases) of eager PyTorch" in said
    assert "nothing of eager" in means("sm_80", [])
    assert means(None, rows) == ""
    assert what_ran("sm_80", "NVIDIA H200") == "sm_80 code on NVIDIA H200"
    assert what_ran(None, "NVIDIA H200") == "NVIDIA H200"
