"""A command of the lit tests' server does what a process of its own does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tool_server

SUPPORT = Path(tool_server.__file__).parents[1]

COMMAND = """
import sys

def probe():
    scope = {}
    exec(sys.argv[1], scope)
    return scope.get("code")
"""
"""A command that does what its first argument says."""

SERVED = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from tool_server.server import main
from command import probe
main(lambda: {{"probe": probe}})
"""

INSTALLED = f"""#!{sys.executable}
import sys
from command import probe
sys.exit(probe())
"""

AT_EXIT = """
import atexit, threading, time
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
print("not flushed")
code = 5
"""

ENVIRONMENT = {"X": "of the test", "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}

PLACE = """
import os
print(os.getcwd(), dict(os.environ), oct(os.umask(0)), os.listdir("/proc/self/fd"))
"""

CASES = {
    "nothing returned": "",
    "returned": "code = 2",
    "exit": "import sys; sys.exit(3)",
    "large code": "import sys; sys.exit(256 + 7)",
    "negative code": "code = -1",
    "text": "import sys; sys.exit('why')",
    "exception": "{}['missing']",
    "interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "abort": "import os; os.abort()",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "at exit": AT_EXIT,
    "place": PLACE,
    "input": "import sys; print(sys.stdin.read()); print(sys.stdin.encoding, sys.stdin.errors)",
    "words": "import sys; print(sys.argv[2:])",
    "streams": "import sys; print(1); sys.stdout.flush(); print(2, file=sys.stderr); print(3)",
    "full disk": "import sys; sys.stdout = open('/dev/full', 'w'); print(1)",
    "children": "import subprocess; print(subprocess.check_output(['cat'], input=b'in'))",
    "alone": "import threading; print(threading.active_count())",
}


@pytest.fixture(scope="module", autouse=True)
def _interruptible() -> Iterator[None]:
    """Processes that are started can be interrupted, also where pytest ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command, its server and its script."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "command.py").write_text(COMMAND)
    (folder / "served.py").write_text(SERVED)
    (folder / "installed").write_text(INSTALLED)
    (folder / "installed").chmod(0o700)
    return folder


@contextmanager
def started(place: Path) -> Generator[tuple[subprocess.Popen[str], Path]]:
    """A process that has started a server, as lit does, and the server's command."""
    program = (
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); import os, pathlib, tool_server, time\n"
        f"print(tool_server.start(pathlib.Path({str(place / 'served.py')!r})), flush=True)\n"
        # As a worker of lit, which outlives lit.
        "time.sleep(600 if os.fork() else 15)"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        yield starter, Path(starter.stdout.readline().strip()) / "probe"
        starter.kill()


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Path]:
    """The command of a server."""
    with started(place) as (_, program):
        yield program


def outcome(program: Path, code: str, folder: Path) -> tuple[int, str, list[str]]:
    """Exit code, output and the last line of the errors: those above are frames of a traceback."""
    result = subprocess.run(
        [program, code, "é", "", "two words"],
        input="a program\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        umask=0o027,
        env=ENVIRONMENT,
    )
    return result.returncode, result.stdout, result.stderr.splitlines()[-1:]


@pytest.mark.parametrize("code", CASES.values(), ids=CASES.keys())
def test_like_a_process_of_its_own(code: str, place: Path, served: Path, tmp_path: Path) -> None:
    assert outcome(served, code, tmp_path) == outcome(place / "installed", code, tmp_path)


def test_reader_that_left(place: Path, served: Path) -> None:
    """Python tries to print the rest at its end, and says so in its exit code."""
    codes: list[str] = []
    for program in [served, place / "installed"]:
        script = f"(sleep 0.2; {program} 'print(1)'; echo $? >&2) | true"
        command = ["bash", "-c", script]
        run = subprocess.run(
            command, stderr=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT
        )
        codes.append(run.stderr.splitlines()[-1])
    assert codes == ["120", "120"]


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it holds within ten seconds."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


SLEEPING = """
import subprocess, time
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
time.sleep(60)
"""


def alive(process: int) -> bool:
    """Whether a process runs, or waits for nothing but being asked for its exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_client_leaves_nothing_running(served: Path) -> None:
    with subprocess.Popen([served, SLEEPING], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        grandchild = int(client.stdout.readline())
        assert alive(grandchild)
        client.kill()
    assert eventually(lambda: not alive(grandchild))


def test_a_killed_starter_leaves_nothing_behind(place: Path, served: Path) -> None:
    """Another server, as of another run of lit, whose calls and folder end with it."""
    with started(place) as (starter, program):
        script = program.read_bytes()
        with subprocess.Popen([program, SLEEPING], stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            grandchild = int(client.stdout.readline())
            starter.kill()
            assert client.wait(10) == -signal.SIGABRT
        assert eventually(lambda: not program.parent.exists() and not alive(grandchild))
    assert subprocess.run([served, "code = 3"], check=False).returncode == 3

    lost = place / "lost"
    lost.write_bytes(script)
    lost.chmod(0o700)
    result = subprocess.run([lost, ""], capture_output=True, text=True, check=False)
    assert result.returncode == -signal.SIGABRT
    assert "no answer from the server" in result.stderr


def test_a_closed_stream_is_refused(served: Path) -> None:
    """Its number would be that of the socket."""
    script = f"{served} 'print(1)' <&-"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 128 + signal.SIGABRT
    assert "installed command" in result.stderr


def test_a_server_that_fails_to_start(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text("raise SystemExit(4)")
    with pytest.raises(RuntimeError, match="exit code 4"):
        tool_server.start(server)
