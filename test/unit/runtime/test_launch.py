"""Choosing code for a device, loading it once, launching it with the right arguments."""

from dataclasses import replace

import numpy as np
import pytest
from runtime_fakes import PACKING, FakeDriver, artifact, code, code_with_maps, code_with_packed

from mirage_mlir.runtime.arguments import Argument
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.runtime.launch import MOST_MAPS, LoadedCode, choose_target


@pytest.mark.parametrize(
    ("capability", "target"),
    [((9, 0), "sm_90a"), ((8, 0), "sm_80"), ((8, 6), "sm_86"), ((8, 9), "sm_86")],
)
def test_choose_target(capability: tuple[int, int], target: str) -> None:
    program = artifact(code("sm_80"), code("sm_90a"), code("sm_86"))
    assert choose_target(program, capability).target == target


@pytest.mark.parametrize("capability", [(7, 5), (9, 1), (10, 0)])
def test_no_target(capability: tuple[int, int]) -> None:
    message = rf"'f' was compiled for sm_90a, sm_80; .* {capability[0]}\.{capability[1]}"
    with pytest.raises(ValueError, match=message):
        choose_target(artifact(), capability)


def test_arguments_reach_the_kernels() -> None:
    driver = FakeDriver()
    loaded = LoadedCode(code(scratch=768), driver, 0)
    loaded.launch([1000, 2000], [3000], 5000, 7)
    first, second = driver.launches
    assert (first.kernel, first.arguments) == ("f_kernel_0", [1000, 2000, 5000 + 512])
    assert (second.kernel, second.arguments) == ("f_kernel_1", [3000, 1000])
    assert (first.grid, first.threads, first.shared_bytes) == ((8, 1, 1), 128, 1024)
    assert (second.grid, second.threads, second.shared_bytes) == ((2, 3, 1), 64, 0)
    assert {launch.stream for launch in driver.launches} == {7}


def test_a_kernel_that_follows_is_launched_early() -> None:
    driver, program = FakeDriver(), code()
    first, second = program.launches
    follows = replace(program, launches=(first, replace(second, follows=True)))
    LoadedCode(follows, driver, 0).launch([1, 2], [3], 0, 7)
    assert [launch.kernel for launch in driver.launches] == ["f_kernel_0", "f_kernel_1"]
    assert driver.early == ["f_kernel_1"]


def test_constants_may_have_been_written_just_before_the_first_call() -> None:
    """Early kernels read them at once: the first kernel of the first call is no such kernel."""
    driver, program = FakeDriver(), code()
    first, second = (replace(launch, follows=True) for launch in program.launches)
    loaded = LoadedCode(replace(program, launches=(first, second)), driver, 0, [1])
    for inputs in ([1, 2], [3, 2], [3, 4]):
        loaded.launch(inputs, [5], 0, 7)
    once = ["f_kernel_1"]
    assert driver.early == [*once, "f_kernel_0", *once, *once]


def test_a_second_launch_has_its_own_arguments() -> None:
    driver = FakeDriver()
    loaded = LoadedCode(code(), driver, 0)
    loaded.launch([1, 2], [3], 0, 7)
    loaded.launch([4, 5], [6], 0, 7)
    assert driver.launches[2].arguments == [4, 5, 5]
    assert len(driver.loads) == 1


def test_no_two_streams_share_counters() -> None:
    """Nor two graphs, which may run on any stream; calls on one stream are one after the other."""
    driver, program = FakeDriver(), code()
    first, second = program.launches
    second = replace(second, arguments=(second.arguments[0], Argument("counters", 16)))
    counting = replace(program, launches=(first, second), counter_bytes=32)
    loaded = LoadedCode(counting, driver, 0)
    places: list[int] = []
    for stream, capture in ((7, 0), (8, 0), (7, 0), (7, 1), (7, 1), (7, 2)):
        driver.captures = {stream: capture}
        loaded.launch([1, 2], [3], 0, stream)
        places.append(driver.launches[-1].arguments[1] - 16)
    one, other, again, graph, same, next_graph = places
    assert one == again
    assert graph == same
    assert len({one, other, graph, next_graph}) == 4
    assert driver.counters == [32] * 4


def test_kernels_without_counters_get_none() -> None:
    driver = FakeDriver()
    LoadedCode(code(), driver, 0).launch([1, 2], [3], 0, 7)
    assert not driver.counters


def test_tensor_maps_reach_the_kernels() -> None:
    driver = FakeDriver()
    LoadedCode(code_with_maps(scratch=768), driver, 0).launch([1000, 2000], [3000], 5000, 7)
    first, second = driver.launches
    assert first.arguments == [1000, 2000, 2064]
    assert second.arguments == [3000, 5000 + 512 + 128]


def test_a_tensor_map_is_encoded_once_for_an_address() -> None:
    driver = FakeDriver()
    loaded = LoadedCode(code_with_maps(), driver, 0)
    for inputs in ([1000, 2000], [1000, 2000], [4000, 2000], [1000, 2000]):
        loaded.launch(inputs, [3000], 0, 7)
        assert driver.launches[-2].arguments == [inputs[0], 2000, 2064]
    assert [(each.tensor.index, address) for each, address in driver.encoded] == [
        (0, 1000),
        (1, 2000),
        (0, 4000),
    ]


def test_only_so_many_tensor_maps_are_kept() -> None:
    """A program that makes its inputs anew for each call does not fill the memory."""
    driver = FakeDriver()
    loaded = LoadedCode(code_with_maps(), driver, 0)
    for start in range(16, 16 * (MOST_MAPS + 10), 16):
        loaded.launch([start, 8], [3000], 0, 7)
        assert driver.launches[-2].arguments == [start, 8, 72]
    again = [address for each, address in driver.encoded if each.tensor.index == 1]
    assert again == [8, 8]


def weights(seed: int) -> bytes:
    """The second input of the kernels, 8x16 numbers of 16 bits."""
    return np.random.default_rng(seed).integers(0, 1 << 16, 128).astype(np.uint16).tobytes()


def test_constants_are_packed_in_the_first_call() -> None:
    driver = FakeDriver(current=None, memory={2000: weights(0), 4000: weights(1)})
    loaded = LoadedCode(code_with_packed(), driver, 0, [1])
    for address in (2000, 2000, 4000, 2000):
        loaded.launch([1000, address], [3000], 0, 7)
    one, other = driver.allocated
    for copy, seed in ((one, 0), (other, 1)):
        packed = PACKING.pack(np.frombuffer(weights(seed), np.uint16))
        assert driver.memory[copy] == packed.tobytes()
        assert driver.memory[copy] != weights(seed)
    first = [launch.arguments for launch in driver.launches if launch.kernel == "f_kernel_0"]
    assert first == [[1000, copy, copy] for copy in (one, one, other, one)]
    # Before and after each copy: of what is read, and so that it can be read.
    assert driver.synchronized == 4


def test_nothing_is_packed_while_a_graph_is_captured() -> None:
    driver = FakeDriver(memory={2000: weights(0), 4000: weights(1)})
    loaded = LoadedCode(code_with_packed(), driver, 0, [1])
    loaded.launch([1000, 2000], [3000], 0, 7)
    driver.captures = {7: 1}
    loaded.launch([1000, 2000], [3000], 0, 7)
    with pytest.raises(CudaError, match="call the kernel with them once before"):
        loaded.launch([1000, 4000], [3000], 0, 7)
    assert len(driver.launches) == 4
    driver.captures = {}
    loaded.launch([1000, 4000], [3000], 0, 7)
    assert len(driver.allocated) == 2


def test_packed_constants_may_be_forgotten() -> None:
    driver = FakeDriver(current=None, memory={2000: weights(0)})
    loaded = LoadedCode(code_with_packed(), driver, 0, [1])
    assert loaded.packed_inputs == (1,)
    loaded.launch([1000, 2000], [3000], 0, 7)
    loaded.release()
    assert driver.freed == driver.allocated
    driver.memory[2000] = weights(2)
    loaded.launch([1000, 2000], [3000], 0, 7)
    packed = PACKING.pack(np.frombuffer(weights(2), np.uint16))
    assert driver.memory[driver.allocated[1]] == packed.tobytes()
    assert driver.launches[-2].arguments == [1000, *[driver.allocated[1]] * 2]


def test_nothing_to_forget() -> None:
    driver = FakeDriver()
    loaded = LoadedCode(code(), driver, 0)
    loaded.launch([1, 2], [3], 0, 7)
    loaded.release()
    assert (loaded.packed_inputs, driver.freed) == ((), [])


def test_the_device_is_made_current() -> None:
    driver = FakeDriver(current=None)
    loaded = LoadedCode(code(), driver, 1)
    assert driver.loads == [(1, code().cubin)]
    loaded.launch([1, 2], [3], 0, 7)
    assert {launch.device for launch in driver.launches} == {1}
    assert driver.current is None


def test_too_much_shared_memory() -> None:
    driver = FakeDriver(limit=99 * 1024)
    with pytest.raises(ValueError, match=r"needs 163840 bytes of shared memory; .* has 101376"):
        LoadedCode(code(shared=163840), driver, 0)
    assert driver.loads == []


def test_a_failed_launch_is_reported() -> None:
    driver = FakeDriver()
    loaded = LoadedCode(code(), driver, 0)
    driver.broken = True
    with pytest.raises(CudaError, match="CUDA_ERROR_LAUNCH_FAILED"):
        loaded.launch([1, 2], [3], 0, 7)
    driver.broken = False
    loaded.launch([1, 2], [3], 0, 7)
    assert len(driver.launches) == 2
