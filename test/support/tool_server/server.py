"""
The server: its fork takes over the streams, folder and environment of `client.py`.

Then it calls the `main` that the installed script calls, and ends as that does.
"""

import atexit
import gc
import marshal
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import mkdtemp

Code = int | str | None
"""What a script may hand to `sys.exit`."""

Commands = dict[str, Callable[[], Code]]
"""What the installed scripts of these names call."""

NAMES = ["mirage-opt", "mirage-reduce", "mirage-translate", "filecheck"]

MODULES = [
    *["mirage_mlir.tool.run", "mirage_mlir.driver.session"],
    *["numpy.ma", "numpy.random", "xdsl.dialects.test", "xdsl.syntax_printer"],
]
"""Imported before the first call, with all passes and targets: what they import, they share."""

MAX_CALL = 1 << 20
"""More bytes than Linux lets the client send at once."""


def imported() -> Commands:
    """The commands, with what they import."""
    from mirage_mlir.outputs import TARGETS
    from mirage_mlir.passes import PASSES

    rows = [*PASSES.values(), *TARGETS.values()]
    for module in [*MODULES, *(row.partition(":")[0] for row in rows)]:
        import_module(module)
    scripts = entry_points(group="console_scripts")
    return {name: scripts[name].load() for name in NAMES}


def install(folder: Path, commands: Commands) -> None:
    """Write the commands into `folder`."""
    client = Path(__file__).with_name("client.py").read_text(encoding="utf-8")
    for name in commands:
        path = folder / name
        # -IS: Python starts in half the time where it does not look for installed packages.
        path.write_text(f"#!{sys.executable} -IS\n{client}", encoding="utf-8")
        path.chmod(0o700)


Forks = dict[int, tuple[int, socket.socket]]
"""Process and client of each fork, by the file descriptor that says when it ends."""


def kill(process: int) -> None:
    """Kill a fork, and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def settle(forks: Forks, ready: Sequence[object]) -> None:
    """Tell clients how their forks ended; lit kills a client that takes too long: kill its fork."""
    for ended in forks.keys() & ready:
        process, client = forks.pop(ended)
        os.close(ended)
        with client, suppress(OSError):
            client.send(os.waitpid(process, 0)[1].to_bytes(4, sys.byteorder))
    for process, client in forks.values():
        if client in ready:
            kill(process)


def serve(starter: int, listening: socket.socket) -> tuple[bytes, list[int]] | None:
    """Fork for every call until the starter ends; in a fork, return its call and streams."""
    forks: Forks = {}
    while True:
        clients = [client for _, client in forks.values()]
        ready = select.select([starter, listening, *forks, *clients], [], [])[0]
        if starter in ready:
            break
        settle(forks, ready)
        if listening not in ready:
            continue
        client, _ = listening.accept()
        call, streams, _, _ = socket.recv_fds(client, MAX_CALL, 3)
        if not (process := os.fork()):
            for watched in [starter, *forks]:
                os.close(watched)
            for each in [client, *clients]:
                each.close()
            return call, streams
        forks[os.pidfd_open(process)] = process, client
        for stream in streams:
            os.close(stream)
    for process, _ in forks.values():
        kill(process)
    return None


def become(call: bytes, streams: list[int]) -> None:
    """Make this process one that was started for `call`."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    form = sys.stdout.encoding
    sys.stdin = open(0, encoding=form, errors=sys.stdin.errors, closefd=False)
    sys.stdout = open(1, "w", encoding=form, errors=sys.stdout.errors, closefd=False)
    sys.stderr = open(2, "w", 1, encoding=form, errors=sys.stderr.errors, closefd=False)
    sys.argv, folder, umask, environment = marshal.loads(call)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(environment)


codes: list[int] = []
"""The exit code of a fork, when it is known and nothing has to be printed for it."""


def code_of(command: Callable[[], Code]) -> Code:
    """The exit code of a command; one that Python need not print goes to `leave`."""
    try:
        code = command()
    except SystemExit as end:
        code = end.code
    if isinstance(code, int | None):
        codes.append(code or 0)
    return code


def leave() -> None:
    """
    End a fork, after all else that Python does at exit, before it frees each object.

    That would copy the memory which forks share: 40 ms of each call.
    """
    if codes:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(codes[0])


def main(load: Callable[[], Commands] = imported) -> None:
    """Say where the commands are, and serve them until the process of `sys.argv[1]` ends."""
    # The first that is registered is the last to run.
    atexit.register(leave)
    # A pipe would not do: the workers that lit forks would hold its other end.
    starter = os.pidfd_open(int(sys.argv[1]))
    # The starter is interrupted too, and this process ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server, folder = os.getpid(), Path(mkdtemp())
    try:
        commands = load()
        install(folder, commands)
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError("what was imported has started threads, which forks would lack")
        # Forks share this memory for as long as the collector of garbage leaves it alone.
        gc.collect()
        gc.freeze()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(str(folder / "socket"))
            listening.listen()
            sys.stdout.write(f"{folder}\n")
            sys.stdout.flush()
            call = serve(starter, listening)
        if call:
            become(*call)
            sys.exit(code_of(commands[os.path.basename(sys.argv[0])]))
    finally:
        if os.getpid() == server:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
