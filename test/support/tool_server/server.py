"""
The server: its fork takes over the streams, folder and environment of `client.py`.

Then it calls the `main` that the installed script calls.
"""

import gc
import json
import os
import select
import signal
import socket
import stat
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

MODULES = ["mirage_mlir.tool.run", "mirage_mlir.driver.session"]
"""Imported before the first call, with all passes and targets: what they import, they share."""

FAILED = 1
"""The exit code of Python after an exception."""


def mirage_opt() -> int:
    from mirage_mlir.opt_main import main

    return main()


def mirage_reduce() -> int:
    from mirage_mlir.reduce_main import main

    return main()


def mirage_translate() -> int:
    from mirage_mlir.translate_main import main

    return main()


def filecheck() -> None:
    from filecheck.main import main

    main()


COMMANDS: dict[str, Callable[[], int | None]] = {
    "mirage-opt": mirage_opt,
    "mirage-reduce": mirage_reduce,
    "mirage-translate": mirage_translate,
    "filecheck": filecheck,
}


def exit_code(command: Callable[[], int | None]) -> int:
    """What the process of the installed script returns."""
    try:
        code = command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int | None) else FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0


def serve(connection: socket.socket) -> None:
    """Run the command that `connection` asks for, as if this process had been started for it."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    with connection.makefile("rb") as lines:
        call = json.loads(lines.readline())
    sys.argv = call["words"]
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])

    def end_with_caller() -> None:
        # lit kills a caller that takes too long.
        connection.recv(1)
        os._exit(FAILED)

    Thread(target=end_with_caller, daemon=True).start()
    code = exit_code(COMMANDS[os.path.basename(sys.argv[0])])
    connection.sendall(bytes([code]))


def fork(connection: socket.socket) -> None:
    """Serve `connection` in a new process."""
    if os.fork():
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        serve(connection)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(FAILED)


def install(folder: Path) -> None:
    """Write the commands into `folder`."""
    client = Path(__file__).with_name("client.py").read_text(encoding="utf-8")
    for name in COMMANDS:
        path = folder / name
        # -IS: Python starts in half the time where it does not look for installed packages.
        path.write_text(f"#!{sys.executable} -IS\n{client}", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def prepare() -> None:
    """Import what the commands import."""
    from mirage_mlir.outputs import TARGETS
    from mirage_mlir.passes import PASSES

    rows = [*PASSES.values(), *TARGETS.values()]
    for module in [*MODULES, *(row.partition(":")[0] for row in rows), "filecheck.main"]:
        import_module(module)
    # Forks share this memory for as long as the collector of garbage leaves it alone.
    gc.collect()
    gc.freeze()
    # A command ends soon; until then it need not look for garbage every 700 values.
    gc.set_threshold(1_000_000, 20, 20)


def main() -> None:
    """Say where the commands are, and serve them until standard input ends."""
    # The starter is interrupted too, and our input ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.join(name, "socket"))
        listening.listen()
        install(Path(name))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        prepare()
        # No fork waits for being asked for its exit code.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            with connection:
                fork(connection)


if __name__ == "__main__":
    main()
