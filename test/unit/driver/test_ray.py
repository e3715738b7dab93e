"""Tuning in a Ray cluster of two nodes whose GPUs are simulated, and whose processes are killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from redis_process import free_port
from sampling import EVERYTHING
from simulated_gpus import HOLD, LOG, SECONDS, machine, without_gpu
from tuned_programs import answers, readings, tasks, tuned, wait_until

from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.ray_executor import ray_executor
from mirage_mlir.driver.tune import Tuned, Tuner
from mirage_mlir.runtime.cuda_driver import CudaError

pytest.importorskip("ray")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    # One process of the run starts a cluster, which takes 15 s.
    pytest.mark.xdist_group("ray"),
]

SUPPORT = Path(__file__).parents[2] / "support"


@dataclass
class TwoNodes:
    """A cluster with one GPU on the first node, and two on the second."""

    cluster: Any
    second: Any
    log: Path
    hold: Path
    client: str
    """The address of its client server."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Generator[TwoNodes]:
    log = tmp_path_factory.mktemp("ray") / "log"
    hold = log.with_name("hold")
    ray: Any = import_module("ray")
    with pytest.MonkeyPatch.context() as patch:
        # What the tests import, for processes that are not started from here, too.
        patch.setenv("PYTHONPATH", os.pathsep.join([str(SUPPORT), *sys.path]))
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setenv(LOG, str(log))
        patch.setenv(HOLD, str(hold))
        patch.setenv(SECONDS, "0.5")
        port = free_port()
        head = {
            "num_cpus": 1,
            "num_gpus": 1,
            "include_dashboard": False,
            "ray_client_server_port": port,
        }
        cluster: Any = import_module("ray.cluster_utils").Cluster(True, head_node_args=head)
        second = cluster.add_node(num_cpus=1, num_gpus=2)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield TwoNodes(cluster, second, log, hold, f"ray://127.0.0.1:{port}")
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The answers of one machine."""
    return answers(tuned(Cache(tmp_path_factory.mktemp("alone"))))


def in_cluster(folder: Path) -> list[Tuned]:
    with closing(ray_executor(machine, "H200")) as executor:
        assert len(executor.timers) == 3
        results = list(Tuner(executor, Cache(folder)).tune(tasks(2)))
    return sorted(results, key=lambda each: each.number)


def readers(log: Path) -> list[int]:
    """The processes that have begun to read candidates."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [int(line.split("\t")[1]) for line in lines if line.startswith("read")]


def test_no_gpu_that_can_be_used(nodes: TwoNodes) -> None:
    with pytest.raises(CudaError, match="no GPU of the Ray cluster can be used: CudaError: "):
        ray_executor(without_gpu, "H200")


def test_a_worker_that_is_killed(nodes: TwoNodes, tmp_path: Path, alone: Any) -> None:
    """What it was at is read by another one, the rest once; the answer is that of one machine."""
    nodes.log.unlink(missing_ok=True)
    killed: list[int] = []

    def kill() -> None:
        wait_until(lambda: bool(readers(nodes.log)))
        killed.append(readers(nodes.log)[0])
        os.kill(killed[0], signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    results = in_cluster(tmp_path / "there")
    killing.join()
    assert [each.problem for each in results] == ["", ""]
    assert set(readings(nodes.log).values()) == {1}
    assert len(readings(nodes.log)) == 6
    assert len(set(readers(nodes.log)) - set(killed)) > 1
    assert answers(results) == alone


FROM_OUTSIDE = """
import json, sys
from pathlib import Path
from simulated_gpus import machine
from tuned_programs import answers, tasks
from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.tune import Tuner
from mirage_mlir.driver.workers import RayWorkforce, parse_workers, workforce
with workforce(parse_workers(sys.argv[1])):
    executor = RayWorkforce(machine).executor("H200")
    assert len(executor.timers) == 3
    results = list(Tuner(executor, Cache(Path(sys.argv[2]))).tune(tasks(2)))
    executor.close()
results.sort(key=lambda each: each.number)
print(json.dumps([[each.problem for each in results], answers(results)]))
"""


def from_outside(nodes: TwoNodes, folder: Path) -> subprocess.CompletedProcess[str]:
    """Tune in another process."""
    words = [sys.executable, "-c", FROM_OUTSIDE, nodes.client, str(folder)]
    # Seconds in which Ray tries to reach a client server that was lost.
    environment = {**os.environ, "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "2"}
    for _ in range(3):
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
        # Where the cores are busy, Ray's own process for a client starts too slowly for Ray.
        if "Starting Ray client server failed" not in done.stderr:
            return done
    pytest.skip("Ray starts no client server in time")


@pytest.mark.skipif(not EVERYTHING, reason="Ray starts its server in up to a minute: make test-all")
def test_a_client(nodes: TwoNodes, tmp_path: Path, alone: Any) -> None:
    """A process that is no node, through the cluster's client server: the same answer."""
    pytest.importorskip("grpc")
    nodes.log.unlink(missing_ok=True)
    done = from_outside(nodes, tmp_path / "there")
    assert done.returncode == 0, done.stderr
    assert set(readings(nodes.log).values()) == {1}
    assert len(readings(nodes.log)) == 6
    assert json.loads(done.stdout) == [["", ""], alone]


@pytest.mark.skipif(not EVERYTHING, reason="one more way to lose a process: make test-all")
def test_a_client_server_that_is_lost(nodes: TwoNodes, tmp_path: Path) -> None:
    """What was not done has a problem; what was read is kept."""
    pytest.importorskip("grpc")
    nodes.log.unlink(missing_ok=True)
    psutil: Any = pytest.importorskip("psutil")

    def lose() -> None:
        wait_until(lambda: nodes.log.exists() and len(readings(nodes.log)) > 0)
        for each in psutil.process_iter(["cmdline"]):
            words = each.info["cmdline"] or ()
            if "ray.util.client.server" in words and f"--address={nodes.cluster.address}" in words:
                each.kill()

    # So that the run cannot end before the server does.
    nodes.hold.touch()
    losing = threading.Thread(target=lose)
    losing.start()
    try:
        done = from_outside(nodes, tmp_path / "there")
        losing.join()
    finally:
        nodes.hold.unlink()
    assert done.returncode == 0, done.stderr
    problems, taken = json.loads(done.stdout)
    # What was asked for just before is missed as that of a lost worker, until Ray notices more.
    lost = ("the Ray cluster was lost", "its worker in the cluster was lost")
    assert all(each.startswith(lost) for each in problems), problems
    assert taken == [None, None]
    kept = [path.read_text() for path in (tmp_path / "there").glob("*.json")]
    # But for those of the three GPUs that were on their way.
    assert sum('"microseconds":' in each for each in kept) >= len(readings(nodes.log)) - 3
    assert sum('"found":' in each for each in kept) > 0


def test_a_node_that_is_lost(nodes: TwoNodes, tmp_path: Path) -> None:
    """Last of all, for nobody brings it back."""
    nodes.log.unlink(missing_ok=True)

    def lose() -> None:
        wait_until(lambda: len(readers(nodes.log)) > 2)
        nodes.cluster.remove_node(nodes.second, allow_graceful=False)

    losing = threading.Thread(target=lose)
    losing.start()
    results = in_cluster(tmp_path / "there")
    losing.join()
    assert [each.problem for each in results] == ["", ""]
    assert len(readings(nodes.log)) == 6
